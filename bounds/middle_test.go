package bounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/topology"
	"collsim/unit"
)

// TestMiddle: of a tree of three levels the middle is the root, three links from every rank, though
// other switches have more links; of a switch it is the switch; a torus has none.
func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		p    topology.Params
		want unit.Time // from the middle to the farthest rank; 0: there is none
	}{
		{topology.Params{Preset: "tree", Ranks: 64, K: 4}, 3 * unit.Microsecond},
		{topology.Params{Preset: "switch", Ranks: 64}, unit.Microsecond},
		{topology.Params{Preset: "torus", Shape: []int{4, 4}}, 0},
	} {
		c.p.Bandwidth, c.p.Latency = rate, unit.Microsecond
		g, err := topology.Build(c.p)
		require.NoError(t, err)
		ranks := len(g.Ranks)
		m := newNetwork(g, ranks).newMiddle(ranks)
		require.Equal(t, c.want, m.from, c.p.Preset)
		require.Equal(t, c.want > 0, m.to != nil)
	}
}
