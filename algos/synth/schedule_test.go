package synth

import (
	"math/rand"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/bounds"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// kinds lists the collectives that synth makes.
func kinds() (list []collective.Kind) {
	for _, a := range Table() {
		list = append(list, a.Kinds...)
	}
	return list
}

// build makes the schedule of a collective.
func build(t require.TestingT, spec collective.Spec, o algos.Options) *schedule.Schedule {
	a, err := algos.FindIn(Table(), spec.Kind, Name)
	require.NoError(t, err)
	s, err := a.Build(spec, o)
	require.NoError(t, err)
	return s
}

// specOf returns a collective of int32.
func specOf(kind collective.Kind, ranks int, count int64) collective.Spec {
	spec := collective.Spec{Kind: kind, Type: dtype.Int32, Ranks: ranks, Count: count}
	if kind.Reduces() {
		spec.Op = collective.Sum
	}
	return spec
}

// TestRandomNetworks: on random networks, every kind in every form is proven, computes exact
// numbers, and is not faster than the bound.
func TestRandomNetworks(t *testing.T) {
	property := func(seed int64) bool {
		r := rand.New(rand.NewSource(seed))
		g := randomGraph(t, r)
		list := kinds()
		spec := specOf(list[r.Intn(len(list))], len(g.Ranks), int64(r.Intn(300)))
		spec.InPlace = r.Intn(2) == 0
		if spec.Kind.Reduces() && r.Intn(2) == 0 {
			spec.Type, spec.Op = dtype.Float32, collective.Avg
		}
		if spec.Kind == collective.Broadcast || spec.Kind == collective.Reduce {
			spec.Root = r.Intn(spec.Ranks)
		}
		network := &algos.Network{Graph: g, Step: unit.Time(r.Intn(2)) * unit.Microsecond}
		s := build(t, spec, algos.Options{Channels: r.Intn(3), Network: network})
		p, found := proof.Verify(s, proof.Options{Iterations: 2})
		require.Empty(t, found, "%v", seed)
		report, err := reference.Check(s, reference.CheckOptions{})
		require.NoError(t, err)
		require.Contains(t, []reference.Verdict{reference.NumbersExact, reference.NumbersBounded},
			report.Numbers)
		ran, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Slots: max(1, p.MinSlots)},
			sim.Options{})
		require.NoError(t, err)
		b, err := bounds.For(spec, g, bounds.Options{})
		require.NoError(t, err)
		require.GreaterOrEqual(t, ran.Time, b.Lower)
		return true
	}
	parameters := gopter.DefaultTestParametersWithSeed(6)
	parameters.MinSuccessfulTests = tier.Of(300, 5000)
	properties := gopter.NewProperties(parameters)
	properties.Property("proven and exact", prop.ForAll(property, gen.Int64()))
	properties.TestingRun(t)
}

// TestDeterministic: another network of the same wires gives the same text.
func TestDeterministic(t *testing.T) {
	for _, kind := range kinds() {
		text := func() string {
			g := graph(t, published()["a100_2"])
			return build(t, specOf(kind, len(g.Ranks), 640),
				algos.Options{Network: &algos.Network{Graph: g}}).String()
		}
		require.Equal(t, text(), text(), kind)
	}
}

// long returns how long a collective of many bytes takes without latency, and its bound.
func long(t *testing.T, g *topology.Graph, kind collective.Kind) (took, bound unit.Time) {
	spec := specOf(kind, len(g.Ranks), 1<<22)
	s := build(t, spec, algos.Options{Network: &algos.Network{Graph: g}})
	ran, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal(), Slots: 8}, sim.Options{})
	require.NoError(t, err)
	b, err := bounds.For(spec, g, bounds.Options{})
	require.NoError(t, err)
	return ran.Time, b.Lower
}

// TestNearBound: on the networks of ForestColl's optima, simulated times of long vectors are within
// a twentieth of the bounds, and those of all_to_all within a quarter.
func TestNearBound(t *testing.T) {
	names := []string{"mesh3x3", "dgx1_v100", "twolevel_3x4_10_1"}
	if tier.Long {
		names = nil
		for name := range published() {
			names = append(names, name)
		}
	}
	for _, name := range names {
		g := graph(t, published()[name])
		for _, kind := range kinds() {
			took, bound := long(t, g, kind)
			share := float64(bound) / float64(took)
			t.Logf("%s %v: %.1f %%", name, kind, 100*share)
			if kind == collective.AllToAll {
				require.GreaterOrEqual(t, share, 1/1.25, "%s %v", name, kind)
				continue
			}
			require.GreaterOrEqual(t, share, 0.95, "%s %v", name, kind)
		}
	}
}

// TestLoads: every message of an all_gather, routed as the simulation routes it, adds up on every
// link to no more than the link carries in the time that the trees are made for.
func TestLoads(t *testing.T) {
	for name, wires := range published() {
		g := graph(t, wires)
		network := &algos.Network{Graph: g}
		spec := specOf(collective.AllGather, len(g.Ranks), 5040*16)
		m := maker{spec: spec, options: algos.Options{Network: network}, trees: mostTrees}
		list, err := m.ways()
		require.NoError(t, err)
		for _, w := range list {
			s, err := schedule.Build(layout{spec: spec, channels: 1, tiles: 3}.spread(w.down))
			require.NoError(t, err)
			load := make([]unit.Bytes, g.NumLinks())
			_, err = schedule.Execute(s, schedule.Limits{}, schedule.Hooks{
				Step: func(v *schedule.Visit) error {
					bytes, known := s.Bytes(v.Spot(), v.Step)
					require.True(t, known)
					for _, d := range v.Step.Send {
						for _, l := range g.Route(int(v.Rank), int(d.Peer.Rank), nil) {
							load[l] += unit.Bytes(bytes)
						}
					}
					return nil
				}})
			require.NoError(t, err)
			allowed := unit.Bytes(spec.Count * 4 / w.down.Units).Over(w.down.Each)
			for l, bytes := range load {
				require.LessOrEqual(t, bytes.Over(g.Link(int32(l)).Bandwidth), allowed, "%s %s", name,
					g.LinkName(int32(l)))
			}
		}
	}
}
