package sim_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/algos/openmpi"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// onNetworks is a random run of any algorithm, those of libraries as well, on a network of any
// preset with any of its parameters, or of nodes with another one between them.
func onNetworks(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
	tables := [][]algos.Algorithm{algos.Table(), algos.Table(), openmpi.Table(), nccl.Table()}
	for {
		p := anyNetwork(rng, rng.IntN(2) > 0)
		g, err := topology.Build(p)
		var bad *topology.ParamError
		require.True(t, err == nil || errors.As(err, &bad), "%v", err)
		if err != nil || len(g.Ranks) < 2 || len(g.Ranks) > 16<<rng.IntN(3) {
			continue
		}
		ranks := len(g.Ranks)
		table := tables[rng.IntN(len(tables))]
		a := table[rng.IntN(len(table))]
		spec := specOf(a.Kinds[rng.IntN(len(a.Kinds))], ranks)
		if spec.Kind.Rooted() {
			spec.Root = rng.IntN(ranks)
		}
		if spec.Count > 0 {
			spec.Count = int64(ranks * (1 + rng.IntN(300)))
			spec.Count += rng.Int64N(2) * rng.Int64N(100)
		}
		o := algos.Options{Channels: 1 + rng.IntN(6)/4, Slices: 1 + rng.IntN(6)/4,
			Slots: rng.IntN(2) * (1 + rng.IntN(6)), PerNode: ranks / max(p.Nodes, 1)}
		if n := o.PerNode; n < ranks && n <= 8 && rng.IntN(3) == 0 { // own orders, with a group
			o.Channels = n * (1 + rng.IntN(2))
		}
		for _, param := range a.Params {
			if n := len(param.Tries); n > 0 && rng.IntN(2) == 0 {
				o.Params = append(o.Params, algos.Param{Name: param.Name, Value: param.Tries[rng.IntN(n)]})
			}
		}
		s, err := a.Build(spec, o)
		if err != nil { // not all have all numbers of ranks
			continue
		}
		env := simtest.UnevenEnv(t, rng, ranks)
		if rng.IntN(3) > 0 {
			env.Start, env.Slowdown = nil, nil
		}
		if env.Graph = g; rng.IntN(4) == 0 {
			for range 1 + rng.IntN(3) {
				l := &g.Links()[rng.IntN(len(g.Links()))]
				l.Bandwidth, l.Latency = anyLink(rng)
			}
		}
		return s, env
	}
}

// onWiredNodes is a random run of any algorithm on nodes by wires, that mostly differ.
func onWiredNodes(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
	tables := [][]algos.Algorithm{algos.Table(), algos.Table(), openmpi.Table(), nccl.Table()}
	ranks := 2 + rng.IntN(15)
	g, err := topology.Build(simtest.WiredNodes(rng, ranks))
	require.NoError(t, err)
	require.NoError(t, g.Connected())
	require.Len(t, g.Ranks, ranks)
	for {
		table := tables[rng.IntN(len(tables))]
		a := table[rng.IntN(len(table))]
		spec := specOf(a.Kinds[rng.IntN(len(a.Kinds))], ranks)
		if spec.Count > 0 {
			spec.Count = int64(1 + rng.IntN(ranks*300))
		}
		s, err := a.Build(spec, algos.Options{Channels: 1 + rng.IntN(6)/4, Slices: 1 + rng.IntN(6)/4,
			Slots: rng.IntN(2) * (1 + rng.IntN(6))})
		if err != nil { // not all have all numbers of ranks
			continue
		}
		env := simtest.UnevenEnv(t, rng, ranks)
		env.Graph = g
		return s, env
	}
}

// anyLink is what a link has.
func anyLink(rng *rand.Rand) (unit.Rate, unit.Time) {
	const r = simtest.GBs
	rates := []unit.Rate{r, 2 * r, r / 3, 7 * r, unit.Unlimited}
	times := []unit.Time{0, 100 * unit.Nanosecond, 333 * unit.Nanosecond, unit.Microsecond}
	return rates[rng.IntN(5)], times[rng.IntN(4)]
}

// anyNetwork is parameters that may not fit each other.
func anyNetwork(rng *rand.Rand, isCluster bool) topology.Params {
	p := anyPreset(rng)
	if isCluster {
		node, network := anyPreset(rng), p
		node.Ranks, node.Shape, network.Ranks, network.Shape = 1+rng.IntN(8), nil, 0, nil
		if rng.IntN(2) == 0 { // what most clusters have
			network.Preset, network.NICs = []string{"rails", "switch"}[rng.IntN(2)], rng.IntN(5)
			network.K, network.Oversubscription, network.A, network.P, network.H = 0, 0, 0, 0, 0
		}
		p = topology.Params{Nodes: 1 + rng.IntN(8), Node: &node, Network: &network}
	}
	if rng.IntN(8) == 0 {
		p.Routing = topology.ECMP
	}
	if rng.IntN(4) == 0 {
		p.Order = "round-robin"
	}
	return p
}

func anyPreset(rng *rand.Rand) (p topology.Params) {
	presets := topology.Catalogue()
	preset := presets[rng.IntN(len(presets))]
	takes := func(key string) bool { return slices.Contains(preset.Takes, key) && rng.IntN(2) > 0 }
	p.Preset, p.Ranks = preset.Name, 2+rng.IntN(39)
	p.Bandwidth, p.Latency = anyLink(rng)
	if rng.IntN(2) == 0 {
		p.Ranks = 4 << rng.IntN(5)
	}
	if takes("shape") {
		p.Ranks, p.Shape = 0, []int{1 + rng.IntN(5), 1 + rng.IntN(5), 1 + rng.IntN(3)}
	}
	if takes("k") {
		p.K = 2 + rng.IntN(7)
	}
	if takes("oversubscription") {
		p.Oversubscription = unit.Share(1_000_000 * (1 + rng.IntN(4)))
	}
	if takes("a") {
		p.A, p.P, p.H = 1+rng.IntN(4), 1+rng.IntN(4), 1+rng.IntN(3)
	}
	return p
}
