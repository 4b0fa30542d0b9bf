package nccl_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// stepsOf are the steps of a rank's lanes, as their cursor has them.
func stepsOf(s *schedule.Schedule, rank int) (all []string) {
	var step schedule.Step
	p := s.Program(rank)
	for lane := range p.Lanes() {
		for at := p.Walk(lane); !at.Done(); at.Next(1) {
			p.Load(&at, &step)
			all = append(all, fmt.Sprintf("%d: %v", lane, step))
		}
	}
	return all
}

// TestRolesOfTrees: ranks of a role do what each of them does by itself, in chains and in trees over
// any number of nodes; there are few roles, or none where a rank has too many peers.
func TestRolesOfTrees(t *testing.T) {
	a, err := algos.FindIn(nccl.Table(), collective.AllReduce, "nccl:tree")
	require.NoError(t, err)
	for _, c := range []struct {
		ranks, perNode, channels string
		few                      int // roles at most; 0: none are told
	}{
		{"9", "9", "4", 4}, {"13", "1", "2", 13}, {"70", "1", "4", 24}, {"24", "2", "4", 24},
		{"52", "4", "4", 52}, {"64", "8", "16", 0}, {"33", "3", "2", 24},
	} {
		ranks := 0
		_, err := fmt.Sscan(c.ranks, &ranks)
		require.NoError(t, err)
		for _, count := range tier.Of([]int64{70_000}, []int64{1, 5000, 70_000, 4_000_000}) {
			p := schedule.Plan{Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
				Type: dtype.Float32, Ranks: ranks, Count: count}}
			set := map[string]string{"per_node": c.perNode, "nchannels": c.channels}
			require.NoError(t, a.Plan(&p, func(name string) string {
				if value, ok := set[name]; ok {
					return value
				}
				return a.Param(name, algos.Options{})
			}))
			if c.few == 0 && count >= 70_000 { // on fewer channels there may be
				require.Nil(t, p.Roles, "%v", c)
				continue
			}
			require.NotNil(t, p.Roles, "%v", c)
			shared, err := schedule.Build(p)
			require.NoError(t, err, "%v", c)
			require.LessOrEqual(t, shared.Roles(), max(c.few, 64), "%v", c)
			p.Roles = nil
			each, err := schedule.Build(p)
			require.NoError(t, err, "%v", c)
			for rank := range ranks {
				require.Equal(t, stepsOf(each, rank), stepsOf(shared, rank), "%v: rank %d", c, rank)
			}
		}
	}
}
