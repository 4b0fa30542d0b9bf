package reference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// TestWorkOfProgram: of two ranks, each multiplies [4, 8] by [8, 3] twice, 192 operations on 68
// elements; by definition [8, 8] by [8, 3] once, 384 on 112. 32 elements of a and 24 of b are made
// on each. A copy and a get move 64 bytes, the definition of all_gather 128. Memories have 336
// bytes a rank, and so have values by definition; a and b are held once more, and 160 bytes are
// what the largest step has in hand.
func TestWorkOfProgram(t *testing.T) {
	s := parse(t, gatherMatmul(2))
	w, err := WorkOfProgram(s, CheckOptions{Memory: 1 << 20})
	require.NoError(t, err)
	steps := w.Steps
	require.Positive(t, steps)
	want := ProgramWork{By: 1, Steps: steps, Bytes: 4*336 + 2*112 + 160, FLOPs: 4*192 + 2*384,
		Elements: 4*68 + 2*112, Packed: 4*68 + 2*112, Given: 112, Moved: 2*(64+64) + 2*128}
	require.Equal(t, want, w)

	smaller := func(by int64) (*schedule.Schedule, error) {
		if by < 4 {
			return parse(t, gatherMatmul(4)), nil
		}
		return s, nil
	}
	w, err = WorkOfProgram(parse(t, gatherMatmul(4)), CheckOptions{Memory: 1 << 20, FLOPs: 2000,
		Smaller: smaller})
	require.NoError(t, err)
	want.By = 4
	require.Equal(t, want, w)

	w, err = WorkOfProgram(s, CheckOptions{Memory: 1 << 20, FLOPs: 1000})
	require.NoError(t, err)
	require.Equal(t, ProgramWork{By: 1,
		Why: "the check's kernels have 1.54e+03 operations; at most 1e+03 are computed"}, w)
}

// TestWorkOfRoundedProgram: where numbers are random, a sum of 3 ranks' elements may be off, and so
// may what is made of it: 6 elements are added up by definition for all ranks, 18 addends. The
// kernel that reads them, 6 and 6 elements on each rank, is then carried out in float64 twice more.
func TestWorkOfRoundedProgram(t *testing.T) {
	s := parse(t, `schedule sum-and-double
collective custom float32
ranks 3
group 3
tensor a given float32 6
tensor b inner float32 6
tensor c result float32 6
define b = all_reduce sum count=6 of a
define c = (scale 6 by=2 float32->float32) of b
rank *
  lane 0
    compute (scale 6 by=2 float32->float32) a into c @0
`)
	w, err := WorkOfProgram(s, CheckOptions{Memory: 1 << 20, Data: Normal})
	require.NoError(t, err)
	require.Equal(t, ProgramWork{By: 1, Steps: 3, Bytes: w.Bytes, FLOPs: 3*6*2 + 2*3*6,
		WideFLOPs: 2 * 3 * 6, Elements: 2 * 3 * 12, Bounded: 2 * 3 * 12, Given: 18,
		Moved: 3 * 24, Added: 18, Doubted: 18}, w)
	w, err = WorkOfProgram(s, CheckOptions{Memory: 1 << 20})
	require.NoError(t, err)
	require.Zero(t, w.Doubted+w.Bounded+w.WideFLOPs, "whole numbers are not rounded")
}
