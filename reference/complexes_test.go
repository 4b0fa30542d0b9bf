package reference

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestComplexIsTwoPlanes: of every algorithm and kind, the outputs of complex numbers are those of
// their real parts alone and of their imaginary parts alone, as the same algorithm has them of
// float32; so are the outputs by definition. Blocks are uneven, and there are slices.
func TestComplexIsTwoPlanes(t *testing.T) {
	tried := 0
	for i, a := range algos.Table() {
		for _, kind := range a.Kinds {
			if kind == collective.Barrier {
				continue
			}
			for turn, ranks := range []int{2, 5, 8} {
				spec := collective.Spec{Kind: kind, Type: dtype.Complex64, Ranks: ranks, Count: 13,
					InPlace: (i+turn)%2 == 0 && kind != collective.AllToAllV}
				if kind.Reduces() {
					spec.Op = collective.OpsOf(spec.Type)[(i+turn)%3]
				}
				if spec.Op == collective.PremulSum {
					spec.Factor = 0.3
				}
				if kind.Splits() {
					spec.Splits, spec.Count = unevenSplits(kind, ranks), 0
				}
				plane := spec
				plane.Type = dtype.Float32
				s, err := a.Build(spec, algos.Options{Slices: 1 + turn})
				var unfit *algos.Unfit
				if errors.As(err, &unfit) {
					continue
				}
				require.NoError(t, err)
				of, err := a.Build(plane, algos.Options{Slices: 1 + turn})
				require.NoError(t, err)
				twoPlanes(t, s, of, a.Name)
				tried++
			}
		}
	}
	require.Greater(t, tried, 50)
}

// unevenSplits are sizes of blocks with some of 0.
func unevenSplits(kind collective.Kind, ranks int) (splits [][]int64) {
	rows := 1
	if kind == collective.AllToAllV {
		rows = ranks
	}
	for r := range rows {
		row := make([]int64, ranks)
		for q := range row {
			row[q] = int64((3*r + 5*q) % 7)
		}
		splits = append(splits, row)
	}
	return splits
}

func twoPlanes(t *testing.T, s, plane *schedule.Schedule, name string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 9))
	spec := &s.Spec
	inputs := make([][]byte, spec.Ranks)
	parts := [2][][]byte{make([][]byte, spec.Ranks), make([][]byte, spec.Ranks)}
	for rank := range inputs {
		for range spec.In(rank) {
			for k := range parts {
				x := put([]float32{float32(rng.NormFloat64())})
				inputs[rank] = append(inputs[rank], x...)
				parts[k][rank] = append(parts[k][rank], x...)
			}
		}
	}
	got, err := RunBytes(s, inputs, RunOptions{})
	require.NoError(t, err, "%s %+v", name, spec)
	defined, err := typeOf(spec.Type).define(spec, inputs)
	require.NoError(t, err)
	for k, part := range parts {
		want, err := RunBytes(plane, part, RunOptions{})
		require.NoError(t, err)
		right, err := typeOf(dtype.Float32).define(&plane.Spec, part)
		require.NoError(t, err)
		for rank := range want {
			require.Equal(t, want[rank], planeOf(got[rank], k), "%s %+v: rank %d", name, spec, rank)
			require.Equal(t, right[rank], planeOf(defined[rank], k), "%s %+v: rank %d", name, spec, rank)
		}
	}
}

// planeOf is the real parts of complex64, or the imaginary ones.
func planeOf(elements []byte, k int) []byte {
	plane := []byte{}
	for at := 4 * k; at < len(elements); at += 8 {
		plane = append(plane, elements[at:at+4]...)
	}
	return plane
}

// TestComplexFindings: a mismatch names the complex number, with the part that is wrong, and a
// smaller count that fits into memory is one of whole numbers.
func TestComplexFindings(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	build := func(count int64) (*schedule.Schedule, error) {
		return a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
			Type: dtype.Complex128, Ranks: 3, Count: count}, algos.Options{})
	}
	s, err := build(100_003)
	require.NoError(t, err)
	r, err := Check(s, CheckOptions{Memory: 1 << 20, Rebuild: build})
	require.NoError(t, err)
	require.Equal(t, NumbersExact, r.Numbers)
	require.Less(t, r.Checked, int64(1<<20/16/3))
	require.EqualValues(t, 1, r.Checked%3) // as 100,003 is, so that chunks are as uneven
	r, err = Check(s, CheckOptions{Data: Normal})
	require.NoError(t, err)
	require.EqualValues(t, 100_003, r.Checked)
	require.Equal(t, NumbersBounded, r.Numbers)

	// A copy of what the rank has in place of the sum.
	wrong, err := schedule.Parse("schedule wrong\ncollective all_reduce complex64 sum\nranks 2\n" +
		"count 5\ngroup 2\nrank *\n  lane 0\n    copy in into out\n")
	require.NoError(t, err)
	r, err = Check(wrong, CheckOptions{Data: Normal})
	require.NoError(t, err)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.EqualValues(t, 20, r.Wrong)
	require.Regexp(t, `^rank 0 element 0 is .* \(real part\); .* \(real part\) is wanted$`,
		r.First.String())
}
