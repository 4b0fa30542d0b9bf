package callbacks

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/reference"
	"collsim/schedule"
)

// TestPrograms: kernels, tensors and parts, with messages that arrive in any order, have the bits
// that the interpreter gives.
func TestPrograms(t *testing.T) {
	paths, err := filepath.Glob("../../reference/testdata/programs/*.schedule")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(paths), 7)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		s, err := schedule.Parse(string(text))
		require.NoError(t, err, path)
		r := rand.New(rand.NewPCG(uint64(len(text)), 9))
		env := hw.Env{Repetitions: 3, Iterations: 2}
		if s.Tensors == nil {
			agrees(t, s, env, r)
			continue
		}
		given, err := reference.GivenTensors(s, reference.Normal, 6)
		require.NoError(t, err)
		want, err := reference.RunTensors(s, given, reference.RunOptions{})
		require.NoError(t, err)
		result, err := New(Config{Next: r.IntN}).Run(context.Background(),
			&hw.Job{Schedule: s, Tensors: given, Env: env})
		require.NoError(t, err, path)
		for i := range want {
			for rank := range want[i] {
				require.Equal(t, want[i][rank], append([]byte{}, result.Tensors[i][rank]...),
					"%s: %s on rank %d", path, s.Tensors[i].Name, rank)
			}
		}
	}
}

// A kernel's regions that are not what it reads are reported.
func TestMisfit(t *testing.T) {
	s, err := schedule.Parse(`schedule misfit
collective reduce float32 sum
ranks 1
root 0
count 8
rank 0
  lane 0
    compute (cast 4 float32->float32) in into out @0
`)
	require.NoError(t, err)
	_, err = New(Config{}).Run(context.Background(),
		&hw.Job{Schedule: s, Inputs: [][]byte{make([]byte, 32)}})
	require.EqualError(t, err, "rank 0 lane 0 step 0: step: malformed: compute 32 bytes of "+
		"float32 for a: float32 4 is expected")
}
