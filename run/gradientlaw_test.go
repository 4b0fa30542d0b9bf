package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestMaskIsChecked: ranks that keep to themselves are their own transpose, so the law of sums
// cannot tell them from an all_reduce. The mask of max can: each takes its own for the largest.
func TestMaskIsChecked(t *testing.T) {
	s, err := schedule.Parse(`schedule aloof
collective all_reduce float32 max
ranks 2
count 64
rank 0
  lane 0
    copy in into out @0
rank 1
  lane 0
    copy in into out @0
`)
	require.NoError(t, err)
	holds, err := adjoint(s, s, false, 1)
	require.NoError(t, err)
	require.True(t, holds)
	holds, err = adjoint(s, s, true, 1)
	require.NoError(t, err)
	require.False(t, holds)
}

// TestScaleIsChecked: of a mean every input must be scaled, once: one that is not, or twice, is not
// the transpose of a sum that is scaled once.
func TestScaleIsChecked(t *testing.T) {
	parse := func(op, from, in string) *schedule.Schedule {
		s, err := schedule.Parse(`schedule exchange
collective all_reduce float32 ` + op + `
ranks 2
count 64
group 2
rank *
  lane 0
    send in to 1 @0
    recvReduceCopy ` + from + `from 1, ` + in + `in into out @0
`)
		require.NoError(t, err)
		return s
	}
	back := parse("sum", "", "")
	for _, c := range []struct {
		from, in string
		holds    bool
	}{{"scaled ", "scaled ", true}, {"", "scaled ", false}, {"scaled ", "", false}, {"", "", false}} {
		for _, op := range []string{"avg", "premulsum"} {
			holds, err := adjoint(parse(op, c.from, c.in), back, false, 1)
			require.NoError(t, err)
			require.Equal(t, c.holds, holds, "%q %q", c.from, c.in)
		}
	}
}

// TestUnscaled: a gradient that was not scaled, or twice, is found; each way to scale is right.
func TestUnscaled(t *testing.T) {
	for _, spec := range []collective.Spec{
		{Kind: collective.Reduce, Op: collective.Avg, Type: dtype.BFloat16, Ranks: 7},
		{Kind: collective.Reduce, Op: collective.Avg, Avg: collective.AvgPost, Type: dtype.BFloat16,
			Ranks: 7},
		{Kind: collective.Reduce, Op: collective.PremulSum, Factor: 0.3, Type: dtype.BFloat16, Ranks: 7},
	} {
		n := numberOf(spec.Type)
		x := make([]byte, 1<<17) // every number of bfloat16
		for i := range 1 << 16 {
			x[2*i], x[2*i+1] = byte(i), byte(i>>8)
		}
		once := n.scale(&spec, x)
		require.Zero(t, n.unscaled(&spec, x, once))
		require.Positive(t, n.unscaled(&spec, x, x))
		require.Positive(t, n.unscaled(&spec, x, n.scale(&spec, once)))
	}
}
