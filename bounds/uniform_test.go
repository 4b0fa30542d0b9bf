package bounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// TestUniform: where every rank of a network sees the same, a look at one root finds what a search
// of a network finds of which nobody knows that.
func TestUniform(t *testing.T) {
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter,
		collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter,
		collective.AllToAll, collective.SendRecv, collective.Barrier}
	judged := 0
	for _, c := range []struct {
		preset string
		ranks  int
		shape  []int
	}{
		{"ring", 2, nil}, {"ring", 7, nil}, {"ring", 24, nil}, {"torus", 12, []int{3, 4}},
		{"torus", 24, []int{2, 12}}, {"torus", 30, []int{2, 3, 5}}, {"hypercube", 16, nil},
		{"full-mesh", 9, nil}, {"switch", 9, nil}, {"mesh", 9, []int{3, 3}},
	} {
		p := topology.Params{Preset: c.preset, Ranks: c.ranks, Shape: c.shape, Bandwidth: rate,
			Latency: unit.Microsecond}
		for _, kind := range kinds {
			g, err := topology.Build(p)
			require.NoError(t, err)
			listed := g.Clone()
			listed.Links()
			spec := specOf(kind, len(g.Ranks), 840)
			for root := range len(g.Ranks) {
				if spec.Root = root; root > 0 && !kind.Rooted() {
					break
				}
				want, err := For(spec, listed, Options{})
				require.NoError(t, err)
				s := &search{spec: spec, net: newNetwork(g, len(g.Ranks))}
				if s.isUniform() {
					judged++
				}
				got, err := For(spec, g, Options{})
				require.NoError(t, err)
				require.False(t, g.IsListed())
				require.Equal(t, want, got, "%v from %d on %v", kind, root, p)
			}
		}
	}
	require.Greater(t, judged, 500)
}

// TestUniformCuts: where what is least leads from row to row, the cut between rows is found from
// the rank that is next to the root there, wherever the root is, though the others that are next to
// it are on its side.
func TestUniformCuts(t *testing.T) {
	p := topology.Params{Preset: "torus", Ranks: 12, Shape: []int{2, 6}, Bandwidth: 100 * gigabyte}
	for _, kind := range []collective.Kind{collective.Broadcast, collective.Reduce} {
		for root := range p.Ranks {
			var found [2]cutBound
			for i := range found {
				g, err := topology.Build(p)
				require.NoError(t, err)
				spec := specOf(kind, p.Ranks, 840)
				spec.Root = root
				s := &search{spec: spec, limits: limits{work: MaxWork}, net: newNetwork(g, p.Ranks)}
				for l := range s.net.rate {
					if s.net.from[l]/6 != s.net.to[l]/6 {
						s.net.rate[l] = gigabyte
					}
				}
				if i == 1 { // nobody knows that ranks are alike
					g.Links()
				}
				require.Equal(t, i == 0, s.isUniform())
				s.net.measure()
				s.bandwidth()
				found[i] = s.best
			}
			require.Equal(t, 6*gigabyte, found[0].rate)
			require.Equal(t, found[1].time(), found[0].time())
		}
	}
}
