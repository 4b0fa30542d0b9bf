package algos

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// TestLowContentionSMs: as torch says, SMs copy an input that is not symmetric to the workspace of
// an all_gather, and the own block of a reduce_scatter; copy engines do the rest.
func TestLowContentionSMs(t *testing.T) {
	for _, c := range []struct {
		kind      collective.Kind
		symmetric string
		sms       bool
	}{
		{collective.AllGather, "true", false}, {collective.AllGather, "false", true},
		{collective.ReduceScatter, "true", true}, {collective.ReduceScatter, "false", true},
	} {
		a, err := Find(c.kind, "low-contention")
		require.NoError(t, err)
		s, err := a.Build(collective.Spec{Kind: c.kind, Type: dtype.Float32, Op: opOf(c.kind), Ranks: 4,
			Count: 8}, Options{Params: []Param{{Name: "symmetric", Value: c.symmetric}}})
		require.NoError(t, err)
		copies := func(engine schedule.Engine) bool {
			return s.AnyStep(func(step *schedule.Step) bool {
				return step.Launch != nil && step.Launch.Name == "copy" && step.Launch.Engine == engine
			})
		}
		require.True(t, copies(schedule.CopyEngine))
		require.Equal(t, c.sms, copies(0), "%v %s", c.kind, c.symmetric)
	}
}

// opOf returns the sum for a kind that reduces.
func opOf(kind collective.Kind) collective.Op {
	if kind.Reduces() {
		return collective.Sum
	}
	return 0
}
