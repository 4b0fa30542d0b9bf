package nccl_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// TestRolesOfTrees: ranks of a role do what each does by itself, in chains and in trees over any
// number of nodes; there are few roles.
func TestRolesOfTrees(t *testing.T) {
	a, err := algos.FindIn(nccl.Table(), collective.AllReduce, "nccl:tree")
	require.NoError(t, err)
	for _, c := range []struct {
		ranks, perNode, channels string
		roles                    int // of 70,000 elements
	}{
		{"9", "9", "4", 4}, {"13", "1", "2", 5}, {"70", "1", "4", 4}, {"24", "2", "4", 8},
		{"52", "4", "4", 20}, {"33", "3", "2", 12}, {"64", "8", "16", 35},
		{"160", "8", "16", 37},
		{"128", "32", "64", 57},
	} {
		ranks := 0
		_, err := fmt.Sscan(c.ranks, &ranks)
		require.NoError(t, err)
		for _, count := range tier.Of([]int64{70_000}, []int64{1, 5000, 70_000, 4_000_000}) {
			if count > 70_000 && ranks > 64 { // of as many roles, with more of the same steps
				continue
			}
			p := schedule.Plan{Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
				Type: dtype.Float32, Ranks: ranks, Count: count}}
			set := map[string]string{"per_node": c.perNode, "nchannels": c.channels}
			require.NoError(t, a.Plan(&p, func(name string) string {
				if value, ok := set[name]; ok {
					return value
				}
				return a.Param(name, algos.Options{})
			}))
			require.NotNil(t, p.Roles, "%v", c)
			shared, err := schedule.Build(p)
			require.NoError(t, err, "%v", c)
			if count == 70_000 {
				require.Equal(t, c.roles, shared.Roles(), "%v", c)
			}
			p.Roles = nil
			each, err := schedule.Build(p)
			require.NoError(t, err, "%v", c)
			if schedule.Equal(each, shared) {
				continue
			}
			for rank := range ranks { // which says where they differ
				require.Equal(t, algostest.StepsOf(each, rank), algostest.StepsOf(shared, rank),
					"%v: rank %d", c, rank)
			}
			require.Fail(t, "not equal", "%v", c)
		}
	}
}
