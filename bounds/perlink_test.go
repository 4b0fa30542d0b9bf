package bounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/internal/tier"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestAlike: of networks of alike parts, one part of each kind tells what a search of all links
// finds; a claim more may tell of more latency. No algorithm is faster.
func TestAlike(t *testing.T) {
	judged := 0
	for _, g := range alikeNetworks(t) {
		for _, kind := range collective.Kinds() {
			if kind.Splits() || kind == collective.SendRecv {
				continue
			}
			spec := specOf(kind, len(g.Ranks), 840)
			want, err := For(spec, g.Clone(), Options{})
			require.NoError(t, err)
			without := limits{work: MaxWork, nodes: AllCutsNodes, links: 1}
			few := g.Clone()
			got, err := forWithin(without, spec, few, Options{})
			require.NoError(t, err)
			require.False(t, few.IsListed())
			judged++
			if want.Cut != got.Cut && want.Bandwidth == got.Bandwidth && got.Cut != "" {
				want.Cut = got.Cut // as narrow
			}
			require.GreaterOrEqual(t, got.Lower, want.Lower)
			for i, a := range algos.Table() {
				if !a.Does(kind) || tier.Of((i+judged)%4 != 0, false) { // a quarter, by turns
					continue
				}
				if s, err := a.Build(spec, algos.Options{}); err == nil {
					r, err := sim.Run(s, sim.Env{Graph: g.Clone(), Device: device.Ideal()}, sim.Options{})
					require.NoError(t, err)
					require.GreaterOrEqual(t, r.Time, got.Lower, "%s", a.Name)
				}
			}
			want.Lower = got.Lower
			require.Equal(t, want, got, "%v on %d ranks of %s", kind, len(g.Ranks), g.Preset)
		}
	}
	require.Greater(t, judged, 100)
}

func alikeNetworks(t *testing.T) (all []*topology.Graph) {
	t.Helper()
	add := func(p topology.Params) {
		g, err := topology.Build(p)
		require.NoError(t, err)
		all = append(all, g)
	}
	flat := func(preset string, ranks int, bandwidth unit.Rate) topology.Params {
		return topology.Params{Preset: preset, Ranks: ranks, Bandwidth: bandwidth,
			Latency: unit.Microsecond}
	}
	for _, ranks := range []int{3, 4, 7, 24} {
		add(flat("switch", ranks, rate))
		add(flat("full-mesh", ranks, rate))
	}
	for _, inside := range []string{"switch", "full-mesh", "ring"} {
		for _, between := range []string{"switch", "rails"} {
			for _, slower := range []unit.Rate{1, 2, 9, 50} {
				for _, nodes := range []int{2, 3, 8} {
					if nodes == 8 && slower != 9 && !tier.Long {
						continue
					}
					node, network := flat(inside, 4, rate), flat(between, 0, rate/slower)
					add(topology.Params{Nodes: nodes, Node: &node, Network: &network})
				}
			}
		}
	}
	return all
}
