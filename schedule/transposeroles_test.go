package schedule_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestTransposeRoles: of a broadcast along any tree, whose ranks have roles, one rank of each role
// is run backwards, and every rank does what it does when all are.
func TestTransposeRoles(t *testing.T) {
	roles, of := 0, 0 // all of them, and all ranks
	for seed := range uint64(tier.Of(40, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 29))
		ranks := 2 + rng.IntN(24)
		number, parent := rng.Perm(ranks), make([]int, ranks)
		if rng.IntN(2) == 0 { // in rank order, but for the root
			for i := range number {
				number[i] = (i + int(seed)) % ranks
			}
		}
		children := make([][]int, ranks)
		parent[number[0]] = -1
		for i := 1; i < ranks; i++ {
			up := i - min(i, 1+rng.IntN(3))
			if rng.IntN(2) == 0 {
				up = i &^ (i & -i)
			}
			parent[number[i]] = number[up]
			children[number[up]] = append(children[number[up]], number[i])
		}
		late := rng.IntN(2) // who has children sends a round later, but for the root
		plan := schedule.Plan{Name: "tree", Segment: 4,
			Spec: collective.Spec{Kind: collective.Broadcast, Type: dtype.Int32, Ranks: ranks,
				Root: number[0], Count: int64(1 + rng.IntN(9))},
			Lane: func(l *schedule.Lane) {
				for tile := range l.Tiles() {
					l.Tile(tile)
					if from := parent[l.Rank]; from >= 0 {
						l.Recv(from, l.All())
						l.Round(tile + late)
					} else {
						l.Keep(l.All())
					}
					for _, child := range children[l.Rank] {
						l.Send(child, l.All())
					}
				}
			}}
		all, err := schedule.Build(plan)
		require.NoError(t, err)
		plan.Roles = func(rank int, peers []int32) (int64, []int32) {
			if parent[rank] >= 0 {
				peers = append(peers, int32(parent[rank]))
			}
			for _, child := range children[rank] {
				peers = append(peers, int32(child))
			}
			return int64(min(parent[rank]+1, 1)), peers
		}
		s, err := schedule.Build(plan)
		require.NoError(t, err)
		require.True(t, schedule.Equal(all, s), "seed %d", seed)
		for _, op := range []collective.Op{collective.Sum, collective.Avg} {
			want, err := schedule.Transpose(all, op)
			require.NoError(t, err)
			got, err := schedule.Transpose(s, op)
			require.NoError(t, err)
			require.True(t, got.AlikeInRoles(), "seed %d", seed)
			require.True(t, schedule.Equal(want, got), "seed %d\n%s\n%s", seed, want, got)
			require.Equal(t, want.String(), got.String(), "seed %d", seed)
			require.Equal(t, want.Memory, got.Memory)
			roles, of = roles+got.Roles(), of+ranks
		}
	}
	require.Less(t, 4*roles, 3*of)
}

// TestTransposeRootsRole: a rank of the root's role, which sends what is no broadcast's, has a role
// of its own in the transpose: only the root has an output there.
func TestTransposeRootsRole(t *testing.T) {
	plan := schedule.Plan{Name: "pairs", Spec: collective.Spec{Kind: collective.Broadcast,
		Type: dtype.Int32, Ranks: 4, Count: 3},
		Lane: func(l *schedule.Lane) {
			if l.Rank%2 == 0 {
				l.Send(l.Rank+1, l.Out(0))
			} else {
				l.Recv(l.Rank-1, l.Out(0))
			}
		}}
	all, err := schedule.Build(plan)
	require.NoError(t, err)
	plan.Roles = func(rank int, peers []int32) (int64, []int32) {
		return int64(rank % 2), append(peers, int32(rank^1))
	}
	s, err := schedule.Build(plan)
	require.NoError(t, err)
	require.Equal(t, 2, s.Roles())
	want, err := schedule.Transpose(all, collective.Sum)
	require.NoError(t, err)
	got, err := schedule.Transpose(s, collective.Sum)
	require.NoError(t, err)
	require.Equal(t, want.String(), got.String())
	require.Equal(t, 3, got.Roles())
}
