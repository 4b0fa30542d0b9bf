package reference

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestAdjoint: the law holds of a schedule and its transpose, and of no other.
func TestAdjoint(t *testing.T) {
	build := func(kind collective.Kind, name string, op collective.Op, n int64) *schedule.Schedule {
		a, err := algos.Find(kind, name)
		require.NoError(t, err)
		s, err := a.Build(collective.Spec{Kind: kind, Op: op, Type: dtype.BFloat16, Ranks: 5,
			Count: n}, algos.Options{})
		require.NoError(t, err)
		return s
	}
	gather := build(collective.AllGather, "ring", 0, 7)
	scatter := build(collective.ReduceScatter, "ring", collective.Sum, 7)
	for _, c := range []struct {
		name       string
		f, b       *schedule.Schedule
		mask, want bool
	}{
		{"gradient", gather, scatter, false, true},
		{"and back", scatter, gather, false, true},
		{"masked", scatter, gather, true, true},
		{"average", build(collective.AllReduce, "ring", collective.Avg, 7),
			build(collective.AllReduce, "one-shot", collective.Sum, 7), false, true},
		{"another's", gather, build(collective.AllToAll, "pairwise", 0, 7), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Adjoint(c.f, c.b, c.mask, 3)
			if err != nil { // sizes that do not fit are a refusal as well
				require.False(t, c.want, err)
				return
			}
			require.Equal(t, c.want, got)
		})
	}
	// A backward pass that adds one wrong block.
	text := scatter.String()
	damaged := strings.Replace(text, "from 4, in[0] into out", "from 4, in[1] into out", 1)
	require.NotEqual(t, text, damaged, text)
	wrong, err := schedule.Parse(damaged)
	require.NoError(t, err)
	holds, err := Adjoint(gather, wrong, false, 3)
	require.NoError(t, err)
	require.False(t, holds)
}

// TestLocalLaw: shares are those of the full gradient, and a share of another rank is not.
func TestLocalLaw(t *testing.T) {
	for _, spec := range []collective.Spec{
		{Kind: collective.AllReduce, Op: collective.Max, Type: dtype.Float16, Ranks: 5, Count: 9},
		{Kind: collective.AllGather, Type: dtype.Float32, Ranks: 100, Count: 3},
		{Kind: collective.ReduceScatter, Op: collective.Avg, Type: dtype.Int8, Ranks: 4, Count: 1000},
		{Kind: collective.AllToAll, Type: dtype.Float64, Ranks: 3, Count: 2},
		{Kind: collective.AllGatherV, Type: dtype.Float64, Ranks: 3, Splits: [][]int64{{4, 0, 99}}},
	} {
		wrong, count, err := AdjointLocal(spec, 1)
		require.NoError(t, err)
		require.Zero(t, wrong, spec.Kind)
		require.Positive(t, count)
	}
	require.EqualValues(t, 2, shareWrong([]collective.Piece{{Len: 2, From: collective.Zero},
		{Off: 2, Len: 1}}, []uint64{7}, []uint64{1, 0, 8}))
	require.EqualValues(t, 1, shareWrong([]collective.Piece{{Len: 1}}, []uint64{7}, []uint64{7, 0}))
}

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
	holds, err := Adjoint(s, s, false, 1)
	require.NoError(t, err)
	require.True(t, holds)
	holds, err = Adjoint(s, s, true, 1)
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
		for _, op := range []string{"avg", "premulsum(factor=3)"} {
			holds, err := Adjoint(parse(op, c.from, c.in), back, false, 1)
			require.NoError(t, err)
			require.Equal(t, c.holds, holds, "%q %q", c.from, c.in)
		}
	}
}
