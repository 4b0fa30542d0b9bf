package reference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/schedule"
)

// TestWorkOfProgram: of two ranks, each multiplies [4, 8] by [8, 3] twice, 192 operations; by
// definition [8, 8] by [8, 3] once, 384. Memories have 336 bytes a rank in 144 elements, and so
// have values by definition, beside what bounds errors; 160 bytes are what the largest step has in
// hand.
func TestWorkOfProgram(t *testing.T) {
	s := parse(t, gatherMatmul(2))
	w, err := WorkOfProgram(s, CheckOptions{Memory: 1 << 20})
	require.NoError(t, err)
	require.Positive(t, w.Steps)
	want := ProgramWork{Steps: w.Steps, Bytes: 4*336 + 160 + 2*144*bytesPerDoubt,
		FLOPs: 4*192 + 2*384}
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
	require.Equal(t, want, w)

	w, err = WorkOfProgram(s, CheckOptions{Memory: 1 << 20, FLOPs: 1000})
	require.NoError(t, err)
	require.Zero(t, w)
}
