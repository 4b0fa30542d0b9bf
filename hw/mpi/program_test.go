package mpi

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/reference"
	"collsim/schedule"
)

// TestPrograms: kernels, tensors and parts have the bits that the interpreter gives where ranks
// exchange messages; one-sided programs are refused by name.
func TestPrograms(t *testing.T) {
	d := device(t, Config{})
	d.meet(t, 8)
	executed, refused := 0, 0
	paths, err := filepath.Glob("../../reference/testdata/programs/*.schedule")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(paths), 7)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		s, err := schedule.Parse(string(text))
		require.NoError(t, err, path)
		job := &hw.Job{Schedule: s, Env: hw.Env{Repetitions: 2}}
		if s.Tensors == nil {
			job.Inputs = sensitive(&s.Spec, 5)
			r, err := d.Run(context.Background(), job)
			require.NoError(t, err, path)
			require.Zero(t, differing(t, oracle(t, s, job.Inputs), r.Outputs), path)
			executed++
			continue
		}
		job.Tensors, err = reference.GivenTensors(s, reference.Normal, 6)
		require.NoError(t, err)
		r, err := d.Run(context.Background(), job)
		if s.OneSided() {
			require.ErrorContains(t, err, "is one-sided: messages alone can't execute it")
			refused++
			continue
		}
		require.NoError(t, err, path)
		want, err := reference.RunTensors(s, job.Tensors, reference.RunOptions{})
		require.NoError(t, err)
		for i := range want {
			for rank := range want[i] {
				require.Equal(t, want[i][rank], append([]byte{}, r.Tensors[i][rank]...),
					"%s: %s on rank %d", path, s.Tensors[i].Name, rank)
			}
		}
		executed++
	}
	require.Equal(t, []int{3, 4}, []int{executed, refused})
}
