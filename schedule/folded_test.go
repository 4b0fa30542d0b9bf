package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/symmetry"
)

// ringOf makes a ring all_reduce.
func ringOf(t *testing.T, ranks int, count int64) *schedule.Schedule {
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: ranks, Count: count}, algos.Options{})
	require.NoError(t, err)
	return s
}

// TestFoldTeam: which ranks of a team stand for which, and across what.
func TestFoldTeam(t *testing.T) {
	nodes := symmetry.NewSubgroup(symmetry.Group{3, 2}, []int32{1, 2}) // from node to node
	ranks, f, err := schedule.FoldTeam(nodes, []int{1, 3, 5})          // a rail
	require.NoError(t, err)
	require.Equal(t, []int{1}, ranks)
	require.Equal(t, []int{0}, f.Seats)
	require.Equal(t, []int32{0, 0, 0}, f.Stands)
	require.Equal(t, []int32{0, 1, 2}, f.Across)

	ranks, f, err = schedule.FoldTeam(nodes, []int{1, 0}) // a node
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, ranks)
	require.Nil(t, f, "the whole has all of them")

	_, _, err = schedule.FoldTeam(nodes, []int{0, 3})
	require.EqualError(t, err, "rank 3 of a team is represented by a rank of another")
	_, _, err = schedule.FoldTeam(nodes, []int{1, 3})
	require.EqualError(t, err, "a translation takes a part of a team out of it")
}

// TestFoldFits: a ring of four turns by any number of ranks; it does not turn in pairs, nor where
// its blocks are of two sizes.
func TestFoldFits(t *testing.T) {
	turns := symmetry.NewSubgroup(symmetry.Group{4}, []int32{1})
	pairs := symmetry.NewSubgroup(symmetry.Group{2, 2}, []int32{1, 1})
	team := []int{0, 1, 2, 3}
	_, f, err := schedule.FoldTeam(turns, team)
	require.NoError(t, err)
	require.Empty(t, f.Fits(ringOf(t, 4, 8)))
	require.Equal(t, "its blocks are not of one size", f.Fits(ringOf(t, 4, 9)))
	require.Equal(t, "4 ranks are to execute a schedule of 5", f.Fits(ringOf(t, 5, 10)))
	_, f, err = schedule.FoldTeam(pairs, team)
	require.NoError(t, err)
	require.Equal(t, "its group does not have the translations of the whole", f.Fits(ringOf(t, 4, 8)))
}
