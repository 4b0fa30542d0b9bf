package algos_test

import (
	"slices"
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

// TestAtLeast: no run takes less than what is found without a schedule, on a switch, on a mesh and
// on a ring, with and without overhead, whatever the count, the channels and the segments; and on
// the mesh without overhead some take exactly that.
func TestAtLeast(t *testing.T) {
	const latency, rate = 700 * unit.Nanosecond, 3 * unit.Rate(unit.GB)
	exact, known := map[string]bool{}, 0
	for _, a := range append(algos.Table(), algos.Further()...) {
		if a.Multimem {
			continue
		}
		for _, ranks := range tier.Of([]int{2, 3, 5, 8}, []int{2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17}) {
			for i, network := range networksOf(t, ranks, latency, rate) {
				for _, overhead := range []unit.Time{0, 300 * unit.Nanosecond} {
					at := algos.Machine{Latency: latency, Step: overhead, Rate: rate, Launch: 5 * overhead}
					for _, spec := range specsOf(a.Kinds, ranks) {
						least, took := atLeast(t, a, spec, network, at)
						require.LessOrEqual(t, least, took, "%s %v network %d", a.Name, spec, i)
						if least > 0 {
							known++
						}
						exact[a.Name] = exact[a.Name] || i == 0 && least > 0 && least == took
					}
				}
			}
		}
	}
	require.Greater(t, known, 2000)
	for _, name := range []string{"ring", "chain", "binomial", "two-shot", "bine", "swing"} {
		require.True(t, exact[name], name)
	}
}

// networksOf returns a mesh, a ring and a switch whose two links have the latency together.
func networksOf(t *testing.T, ranks int, latency unit.Time, rate unit.Rate) []*topology.Graph {
	mesh, err := topology.FullMesh(ranks, rate, latency)
	require.NoError(t, err)
	ring, err := topology.Ring(ranks, rate, latency)
	require.NoError(t, err)
	hub, err := topology.Switch(ranks, rate, latency/2)
	require.NoError(t, err)
	return []*topology.Graph{mesh, ring, hub}
}

// specsOf returns collectives of each kind that has one size, even and not.
func specsOf(kinds []collective.Kind, ranks int) (list []collective.Spec) {
	for _, kind := range kinds {
		if kind.Splits() {
			continue
		}
		for _, count := range []int64{int64(ranks) - 1, 64 * int64(ranks), 1000, 4096} {
			list = append(list, specOf(kind, ranks, count))
		}
	}
	return list
}

// atLeast returns what an algorithm takes at least, and the shortest time that it takes, of several
// channels and segments by turns.
func atLeast(t *testing.T, a algos.Algorithm, spec collective.Spec, g *topology.Graph,
	m algos.Machine) (least, took unit.Time) {
	o := algos.Options{Channels: int(1 + spec.Count&1)}
	if slices.ContainsFunc(a.Params, func(p algos.Param) bool { return p.Name == "segment" }) {
		o.Params = []algos.Param{{Name: "segment", Value: "512 B"}}
	}
	s, err := a.Build(spec, o)
	if err != nil { // other numbers of ranks, or no channels
		return 0, 0
	}
	d := device.Ideal()
	d.Overhead, d.Launch = m.Step, m.Launch
	ran, err := sim.Run(s, sim.Env{Graph: g, Device: d, Sharing: sim.FIFO}, sim.Options{})
	require.NoError(t, err, "%s %v", a.Name, spec)
	return a.AtLeast(spec, o, m), ran.Time
}
