package symmetry

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSubgroup: every rank is where one element takes the representative of its orbit, elements add
// as ranks do, and generators are elements that move no rank out of its orbit.
func TestSubgroup(t *testing.T) {
	for _, g := range []Group{{1}, {12}, {2, 2, 2}, {3, 4}, {2, 6, 2}} {
		for _, steps := range Subgroups(g, 100, g.Order(), nil) {
			s := NewSubgroup(g, steps)
			require.Len(t, s.Reps, Group(steps).Order())
			require.Len(t, s.Elements, g.Order()/len(s.Reps))
			require.True(t, slices.IsSorted(s.Reps) && slices.IsSorted(s.Elements))
			for rank := range int32(g.Order()) {
				orbit, element := s.Place(rank)
				require.Equal(t, rank, s.Rank(orbit, element), "%v %v", g, steps)
				require.LessOrEqual(t, s.Reps[orbit], rank)
				for _, move := range s.Generators() {
					there, _ := s.Place(move.Of(rank))
					require.Equal(t, orbit, there)
					require.Equal(t, g.Add(rank, move.Of(0)), move.Of(rank))
				}
				for b := range int32(len(s.Elements)) {
					require.Equal(t, g.Add(s.Elements[element], s.Elements[b]),
						s.Elements[s.Add(element, b)])
					require.Equal(t, element, s.Sub(s.Add(element, b), b))
				}
			}
		}
	}
}

// TestSubgroups: the largest subgroups are those that are found where all are listed.
func TestSubgroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for range 300 {
		group := Group{}
		for range 1 + rng.IntN(7) {
			group = append(group, []int32{1, 2, 2, 3, 4, 6, 12}[rng.IntN(7)])
		}
		orbits := min(group.Order()/2, 1<<12)
		require.Equal(t, naiveSubgroups(group, 32, orbits), Subgroups(group, 32, orbits, nil), group)
	}
	flips := Group(slices.Repeat([]int32{2}, 20))
	list := Subgroups(flips, 32, 1<<12, nil)
	require.Len(t, list, 32)
	require.Equal(t, slices.Repeat([]int32{1}, 20), list[0])

	// A pipeline of 8 × 2 stages between replicas and ranks of a node: only these are alike.
	whole := func(t Translation) bool { return t.Size != 16 }
	require.Equal(t, [][]int32{{1, 16, 1}, {1, 16, 2}, {2, 16, 1}},
		Subgroups(Group{128, 16, 8}, 3, 1<<13, whole))
}

// naiveSubgroups lists all of them, and takes the first.
func naiveSubgroups(group Group, some, orbits int) [][]int32 {
	list := [][]int32{{}}
	for _, d := range group {
		var longer [][]int32
		for _, steps := range list {
			for m := int32(1); m <= d; m++ {
				if d%m == 0 {
					longer = append(longer, append(slices.Clone(steps), m))
				}
			}
		}
		list = longer
	}
	count := func(steps []int32) int { return Group(steps).Order() }
	slices.SortStableFunc(list, func(a, b []int32) int { return cmp.Compare(count(a), count(b)) })
	list = slices.DeleteFunc(list, func(steps []int32) bool { return count(steps) > orbits })
	return list[:min(len(list), some)]
}
