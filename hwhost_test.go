package collsim_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim"
	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/reference"
	"collsim/schedule"
	"collsim/schedule/foreign"
)

// TestMain lets this test's program be a rank of package host's.
func TestMain(m *testing.M) {
	if code, child := host.Child(); child {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// playedBy has a host play a schedule on numbers.
func playedBy[T dtype.Number](t *testing.T, h hw.Device, s *schedule.Schedule, in [][]T) [][]T {
	t.Helper()
	width := dtype.Of[T]().Width()
	job := hw.Job{Schedule: s, Env: hw.Env{Slots: 8}}
	for rank := range in {
		bytes := make([]byte, len(in[rank])*width)
		dtype.Put(bytes, in[rank])
		if s.Spec.Kind == collective.Barrier {
			bytes = nil
		}
		job.Inputs = append(job.Inputs, bytes)
	}
	result, err := h.Run(context.Background(), &job)
	require.NoError(t, err, "%s %v of %d", s.Name, s.Spec.Kind, s.Spec.Ranks)
	out := make([][]T, len(in))
	for rank := range out {
		out[rank] = make([]T, len(result.Outputs[rank])/width)
		dtype.Get(out[rank], result.Outputs[rank])
	}
	return out
}

// allSchedules calls f with every algorithm × kind at these numbers of ranks.
func allSchedules(ranks []int, f func(a algos.Algorithm, s *schedule.Schedule, r *rand.Rand)) {
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			for _, n := range ranks {
				r := rand.New(rand.NewPCG(uint64(n), 8))
				s, err := a.Build(drivenSpec(kind, n, r), algos.Options{})
				if err == nil { // not for so many ranks
					f(a, s, r)
				}
			}
		}
	}
}

// TestHost: every algorithm, played for real, gives the bits that the interpreter gives: on
// goroutines, and on a process for every rank.
func TestHost(t *testing.T) {
	for _, c := range []struct {
		transport host.Transport
		ranks     []int
		least     int
	}{{host.Goroutines, []int{1, 2, 3, 4, 5, 8}, 150}, {host.Unix, []int{1, 2, 3, 5, 8}, 120},
		{host.TCP, []int{4, 16}, 40}} {
		t.Run(c.transport.String(), func(t *testing.T) {
			h, err := host.New(host.Config{Transport: c.transport})
			require.NoError(t, err)
			defer h.Close()
			runs := 0
			allSchedules(c.ranks, func(a algos.Algorithm, s *schedule.Schedule, r *rand.Rand) {
				in := make([][]float32, s.Spec.Ranks)
				for rank := range in {
					for range s.Spec.In(rank) {
						in[rank] = append(in[rank], float32(r.NormFloat64()))
					}
				}
				want, err := reference.Run(s, in)
				require.NoError(t, err)
				got := playedBy(t, h, s, in)
				for rank := range want {
					require.Equal(t, bitsOf(want[rank]), bitsOf(got[rank]), "%s %v, rank %d of %d",
						a.Name, s.Spec.Kind, rank, s.Spec.Ranks)
				}
				runs++
			})
			require.Greater(t, runs, c.least)
		})
	}
}

// TestHostPlaysOthers: every schedule of others that proves right runs as well, and gives the
// interpreter's bits.
func TestHostPlaysOthers(t *testing.T) {
	h, err := host.New(host.Config{})
	require.NoError(t, err)
	defer h.Close()
	played := 0
	for _, c := range casesOf(t, "msccl_xml") {
		in, err := os.Open(filepath.Join(collected, "msccl_xml", c["file"]))
		require.NoError(t, err)
		f, err := collsim.ReadSchedule(c["file"], in, foreign.Options{})
		in.Close()
		if err != nil || len(f.Found) > 0 || f.Schedule == nil || f.Schedule.Spec.Ranks > 16 {
			continue
		}
		s := f.Schedule
		if _, found := schedule.Verify(s, schedule.VerifyOptions{Slots: 8}); len(found) > 0 {
			continue
		}
		numbers, err := reference.Inputs[float32](s.Spec, reference.Normal, 7)
		require.NoError(t, err)
		want, err := reference.Run(s, numbers)
		require.NoError(t, err)
		got := playedBy(t, h, s, numbers)
		for rank := range want {
			require.True(t, slices.Equal(bitsOf(want[rank]), bitsOf(got[rank])), "%s rank %d",
				c["file"], rank)
		}
		played++
	}
	require.Greater(t, played, 20)
}
