package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/reference"
	"collsim/schedule"
)

// programs are those that the interpreter's tests hold against their definitions: programs, and
// composed schedules.
func programs(t *testing.T) (all []*schedule.Schedule) {
	t.Helper()
	paths, err := filepath.Glob("../../reference/testdata/programs/*.schedule")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		s, err := schedule.Parse(string(text))
		require.NoError(t, err, path)
		all = append(all, s)
	}
	require.GreaterOrEqual(t, len(all), 7)
	return all
}

// agreeOnTensors executes a program and compares every bit of its results with the interpreter's,
// on data of which the order of additions counts.
func agreeOnTensors(t *testing.T, h *Host, s *schedule.Schedule, env hw.Env) *hw.Result {
	t.Helper()
	given, err := reference.GivenTensors(s, reference.Normal, 6)
	require.NoError(t, err)
	want, err := reference.RunTensors(s, given, reference.RunOptions{})
	require.NoError(t, err)
	result, err := h.Run(context.Background(), &hw.Job{Schedule: s, Tensors: given, Env: env})
	require.NoError(t, err, s.Name)
	require.Len(t, result.Tensors, len(s.Tensors))
	for i := range s.Tensors {
		if !s.Tensors[i].Role.IsResult() {
			require.Nil(t, result.Tensors[i])
			continue
		}
		for rank := range s.Spec.Ranks {
			require.Equal(t, want[i][rank], append([]byte{}, result.Tensors[i][rank]...),
				"%s: %s on rank %d", s.Name, s.Tensors[i].Name, rank)
		}
	}
	return result
}

// TestPrograms: kernels, gets, puts and parts, in shared memory and between processes, bit for bit.
func TestPrograms(t *testing.T) {
	for _, transport := range []Transport{Goroutines, Unix} {
		h := open(t, Config{Transport: transport})
		for _, s := range programs(t) {
			if s.Tensors == nil {
				agree(t, h, s, hw.Env{Repetitions: 2, Iterations: 2})
				continue
			}
			result := agreeOnTensors(t, h, s, hw.Env{Repetitions: 3, Iterations: 2, Trace: true})
			require.Len(t, result.Repetitions, 3)
			computes := 0
			for _, v := range result.Trace.Intervals {
				if v.Kind.String() == "compute" {
					computes++
				}
			}
			require.Equal(t, strings.Count(s.String(), "compute (") > 0, computes > 0, s.Name)
		}
	}
}

// A step that writes to what is given: it is given again before the next iteration.
func TestGivenAgain(t *testing.T) {
	s := hwtest.Doubled(t)
	agreeOnTensors(t, open(t, Config{}), s, hw.Env{Iterations: 3})
}

// What of a job's tensors, or of a kernel's regions, is not what it should be is said.
func TestProgramRefusals(t *testing.T) {
	h, s := open(t, Config{}), programs(t)[0]
	given, err := reference.GivenTensors(s, reference.Exact, 6)
	require.NoError(t, err)
	run := func(tensors [][][]byte) error {
		_, err := h.Run(context.Background(), &hw.Job{Schedule: s, Tensors: tensors})
		return err
	}
	require.EqualError(t, run(nil), "values of 0 tensors: 4 are expected")
	short := append([][][]byte{}, given...)
	short[1] = [][]byte{given[1][0], given[1][1][:2]}
	require.EqualError(t, run(short), "tensor b has 2 bytes on rank 1: 48 are expected")
	s, err = schedule.Parse(`schedule misfit
collective reduce float32 sum
ranks 1
root 0
count 8
rank 0
  lane 0
    compute (cast 4 float32->float32) in into out @0
`)
	require.NoError(t, err)
	_, err = h.Run(context.Background(), &hw.Job{Schedule: s, Inputs: [][]byte{make([]byte, 32)}})
	require.EqualError(t, err, "rank 0 lane 0 step 0: step: malformed: compute 32 bytes of "+
		"float32 for a: float32 4 is expected")
}

// A large matmul is computed in pieces, and ends when it is to.
func TestLongMatmul(t *testing.T) {
	s, err := schedule.Parse(`schedule long
collective custom float32
ranks 1
tensor a given float32 200x1024
tensor b given float32 1024x1500
tensor c result float32 200x1500
define c = (matmul m=200 k=1024 n=1500 float32*float32->float32) of a, b
rank 0
  lane 0
    compute (matmul m=200 k=1024 n=1500 float32*float32->float32) a, b into c @0
`)
	require.NoError(t, err)
	agreeOnTensors(t, open(t, Config{}), s, hw.Env{})
}
