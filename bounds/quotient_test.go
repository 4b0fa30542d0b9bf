package bounds

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/tier"
	"collsim/topology"
	"collsim/unit"
)

// TestQuotient: where links of a network of alike parts were changed, a search in which one part
// stands for those that are as before finds what a search of all links finds. Of cuts that are as
// narrow it may name another one, now and then.
func TestQuotient(t *testing.T) {
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter,
		collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter,
		collective.Barrier}
	rng, judged, others := rand.New(rand.NewSource(1)), 0, 0
	for _, g := range exchangeableNetworks(t) {
		for range tier.Of(2, 40) {
			g, text := g.Clone(), ""
			for range 1 + rng.Intn(4) {
				pattern, c := g.LinkName(int32(rng.Intn(g.NumLinks()))), randomChange(rng)
				require.NoError(t, g.Override(pattern, c))
				text += fmt.Sprint(" ", pattern, " ", c)
			}
			for _, kind := range kinds {
				spec := specOf(kind, len(g.Ranks), 840)
				if kind.Rooted() {
					spec.Root = rng.Intn(len(g.Ranks))
				}
				listed := g.Clone()
				listed.Links()
				want, err := For(spec, listed, Options{})
				require.NoError(t, err)
				s := &search{spec: spec, limits: limits{work: MaxWork, nodes: AllCutsNodes, links: 1}}
				if len(g.Changes()) == 0 || !s.useQuotient(g) {
					continue // what is alike has a test of its own
				}
				got, err := forWithin(s.limits, spec, g, Options{})
				require.NoError(t, err)
				require.False(t, g.IsListed())
				judged++
				if want.Cut != got.Cut && want.Cut != "" && got.Cut != "" {
					others++
					want.Cut = got.Cut
				}
				require.Equal(t, want, got, "%v on %d ranks of %s%s", kind, len(g.Ranks), g.Preset, text)
			}
		}
	}
	require.Greater(t, judged, 300)
	require.Less(t, others, judged/30)
}

func exchangeableNetworks(t *testing.T) (all []*topology.Graph) {
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
	for _, ranks := range []int{4, 7, 13, 24} {
		add(flat("switch", ranks, rate))
		add(flat("full-mesh", ranks, rate))
	}
	for i, inside := range []string{"switch", "full-mesh", "ring"} {
		for _, between := range []string{"switch", "rails"} {
			for _, slower := range []unit.Rate{1, 9} {
				for _, nics := range []int{4, 2, 1, 8} {
					if between == "rails" && nics != 4 && i > 0 {
						continue
					}
					node, network := flat(inside, 4, rate), flat(between, 0, rate/slower)
					network.NICs = nics
					add(topology.Params{Nodes: 9, Node: &node, Network: &network})
				}
			}
		}
	}
	return all
}

func randomChange(rng *rand.Rand) (c topology.Change) {
	if rng.Intn(3) > 0 {
		c.Share = unit.Share(1 + rng.Intn(2_000_000))
	} else {
		c.Bandwidth = unit.Rate(1+rng.Intn(40)) * gigabyte
	}
	if rng.Intn(3) == 0 {
		latency := unit.Time(rng.Intn(3)) * unit.Microsecond / 2
		c.Latency = &latency
	}
	return c
}
