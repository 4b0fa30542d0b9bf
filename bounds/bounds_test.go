package bounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

const (
	rate = 12_500_000_000 * unit.Rate(unit.Byte) // 80 ps a byte
	hop  = 500 * unit.Nanosecond
)

// specOf is a collective of float32, with a sum where it reduces, of so many elements a rank.
func specOf(kind collective.Kind, ranks int, count int64) collective.Spec {
	s := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: count}
	if kind.Reduces() {
		s.Op = collective.Sum
	}
	switch {
	case kind == collective.Barrier:
		s.Count = 0
	case kind == collective.AllToAllV:
		s.Count = 0
		for range ranks {
			s.Splits = append(s.Splits, repeat(count, ranks))
		}
	case kind.Splits():
		s.Count, s.Splits = 0, [][]int64{repeat(count, ranks)}
	}
	return s
}

func repeat(n int64, times int) []int64 {
	row := make([]int64, times)
	for i := range row {
		row[i] = n
	}
	return row
}

func preset(t testing.TB, name string, ranks int) *topology.Graph {
	t.Helper()
	g, err := simtest.Network(name, ranks, rate, hop)
	require.NoError(t, err)
	return g
}

func boundsOf(t testing.TB, spec collective.Spec, g *topology.Graph) Bounds {
	t.Helper()
	b, err := For(spec, g, Options{})
	require.NoError(t, err)
	return b
}

// TestSample is the figure of the package comment and of the design's sample output: 8 ranks around
// a switch, 64 MiB.
func TestSample(t *testing.T) {
	b := boundsOf(t, specOf(collective.AllReduce, 8, 16<<20), preset(t, "switch", 8))
	require.Equal(t, Bounds{
		Latency:   1_000_000,     // 2 · 500 ns
		Bandwidth: 9_395_240_960, // 2 · 7/8 · 2²⁶ B · 80 ps/B
		Lower:     9_396_240_960, // their sum
		Cut:       "all links out of the ranks",
	}, b)
}

// TestClosedForms holds every kind to what is known of the three presets. n is the vector, of 8
// blocks of 8000 B where there are blocks: 8 blocks take 80 · 64000 ps = 5.12 µs on one link.
func TestClosedForms(t *testing.T) {
	const block = 640 * unit.Nanosecond // 8000 B at 80 ps/B
	type figures struct{ latency, bandwidth unit.Time }
	tests := []struct {
		kind               collective.Kind
		sw, mesh, ring     figures
		cutSwitch, cutRing string
	}{
		// The ports: 7 blocks come on one link, on 7 links, on 2 links.
		{collective.AllGather, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 7 * block / 2}, "link switch->gpu0", "2 links into gpu0"},
		{collective.AllGatherV, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 7 * block / 2}, "link switch->gpu0", "2 links into gpu0"},
		{collective.ReduceScatter, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 7 * block / 2}, "link gpu0->switch", "2 links out of gpu0"},
		{collective.ReduceScatterV, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 7 * block / 2}, "link gpu0->switch", "2 links out of gpu0"},
		{collective.Gather, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 7 * block / 2}, "link switch->gpu0", "2 links into gpu0"},
		{collective.Scatter, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 7 * block / 2}, "link gpu0->switch", "2 links out of gpu0"},
		// One block, which is the vector: it comes to everybody.
		{collective.Broadcast, figures{2 * hop, block}, figures{hop, 91_429}, // 640/7 ns, up
			figures{4 * hop, block / 2}, "link switch->gpu1", "2 links into gpu1"},
		{collective.Reduce, figures{2 * hop, block}, figures{hop, 91_429},
			figures{4 * hop, block / 2}, "link gpu1->switch", "2 links out of gpu1"},
		// 2 · 7/8 of the block on 1, 7 and 2 links of each rank.
		{collective.AllReduce, figures{2 * hop, 1_120_000},
			figures{hop, 160_000}, figures{4 * hop, 560_000},
			"all links out of the ranks", "all links out of the ranks"},
		// On the ring a block goes 2·(1+2+3)+4 = 16 links of 7 for all; 8 · 16 blocks on 16 links.
		{collective.AllToAll, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 8 * block}, "link gpu0->switch", "all links together"},
		{collective.AllToAllV, figures{2 * hop, 7 * block}, figures{hop, block},
			figures{4 * hop, 8 * block}, "link gpu0->switch", "all links together"},
		// Over a mesh and a ring a message may take all ways at once, but on the mesh all 4 of the
		// even ranks go over 16 links to the odd ones.
		{collective.SendRecv, figures{2 * hop, block}, figures{hop, block / 4},
			figures{hop, block / 2}, "link gpu0->switch", "2 links out of gpu0"},
		{collective.Barrier, figures{2 * hop, 0}, figures{hop, 0}, figures{4 * hop, 0}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.kind.String(), func(t *testing.T) {
			spec := specOf(tt.kind, 8, 2000)
			on := func(name string, want figures, cut string) {
				b := boundsOf(t, spec, preset(t, name, 8))
				require.Equal(t, want, figures{b.Latency, b.Bandwidth}, name)
				require.False(t, b.Partial)
				if cut != "-" {
					require.Equal(t, cut, b.Cut, name)
				}
			}
			on("switch", tt.sw, tt.cutSwitch)
			on("full-mesh", tt.mesh, "-")
			on("ring", tt.ring, tt.cutRing)
		})
	}
	require.Len(t, tests, len(collective.Kinds()), "a kind is missing above")
}

func TestNothingToDo(t *testing.T) {
	idle := specOf(collective.AllToAllV, 3, 0)
	idle.Splits = [][]int64{{5, 0, 0}, {0, 0, 0}, {0, 0, 7}} // all that moves stays where it is
	for name, spec := range map[string]collective.Spec{
		"one rank":     specOf(collective.AllReduce, 1, 1000),
		"no elements":  specOf(collective.AllGather, 3, 0),
		"no splits":    specOf(collective.AllGatherV, 3, 0),
		"all at home":  idle,
		"one, barrier": specOf(collective.Barrier, 1, 0),
	} {
		require.Zero(t, boundsOf(t, spec, preset(t, "ring", 3)), name)
	}
}

// TestUnevenBlocks is an all_gatherv of 1000, 0, 0 and 3000 elements around a switch.
func TestUnevenBlocks(t *testing.T) {
	spec := specOf(collective.AllGatherV, 4, 0)
	spec.Splits = [][]int64{{1000, 0, 0, 3000}}
	b := boundsOf(t, spec, preset(t, "switch", 4))
	require.Equal(t, 4000*4*80*unit.Picosecond, b.Bandwidth) // ranks 1 and 2 get everything
	require.Equal(t, "link switch->gpu1", b.Cut)
	spec.Kind, spec.Op = collective.ReduceScatterV, collective.Sum
	require.Equal(t, 4000*4*80*unit.Picosecond, boundsOf(t, spec, preset(t, "switch", 4)).Bandwidth)
}

// TestDevice shows what the ranks' own time adds: an overhead to everything that moves, and the
// additions, shared by all lanes of all ranks.
func TestDevice(t *testing.T) {
	spec, g := specOf(collective.AllReduce, 8, 16<<20), preset(t, "switch", 8)
	o := Options{Overhead: 3 * unit.Microsecond, ReduceRate: 10 * gigabyte, Lanes: 1}
	b, err := For(spec, g, o)
	require.NoError(t, err)
	require.Equal(t, Bounds{
		Latency:   4_000_000,
		Bandwidth: 9_395_240_960,
		Reduction: 5_872_025_600, // 7 · 2²⁶ B over 8 · 10 GB/s
		Lower:     9_399_240_960,
		Cut:       "all links out of the ranks",
	}, b)
	reduction := func(spec collective.Spec, o Options) unit.Time {
		b, err := For(spec, g, o)
		require.NoError(t, err)
		return b.Reduction
	}
	twice := Options{ReduceRate: o.ReduceRate, Lanes: 2}
	require.Equal(t, unit.Time(2_936_012_800), reduction(spec, twice))
	require.Zero(t, reduction(spec, Options{ReduceRate: o.ReduceRate}), "any number of lanes")
	require.Zero(t, reduction(spec, Options{Lanes: 1}), "any speed")
	require.Zero(t, reduction(specOf(collective.AllGather, 8, 1000), o), "nothing is added")
	// 7 additions of the vector of 8 blocks of 4000 B: 7 · 32000 B over 80 GB/s.
	require.Equal(t, unit.Time(2_800_000), reduction(specOf(collective.ReduceScatter, 8, 1000), o))
	slow := o
	slow.ReduceRate = 1000
	b, err = For(spec, g, slow)
	require.NoError(t, err)
	require.Equal(t, b.Reduction, b.Lower)
}

// TestHugeValues: bytes and rates whose sums no int64 holds give bounds that are too low, never
// such that are wrong.
func TestHugeValues(t *testing.T) {
	const count = collective.MaxElements / 64
	spec := specOf(collective.AllToAll, 64, count)
	spec.Type = dtype.Float64
	b := boundsOf(t, spec, preset(t, "switch", 64))
	require.Equal(t, unit.Bytes(63*8*count).Over(rate), b.Bandwidth)
	fast, err := topology.FullMesh(64, unit.Unlimited-1, topology.MaxLatency)
	require.NoError(t, err)
	b = boundsOf(t, spec, fast)
	require.Equal(t, topology.MaxLatency, b.Latency)
	require.Zero(t, b.Bandwidth, "63 such links are as good as unlimited")
	slow, err := topology.Ring(64, 1, 0)
	require.NoError(t, err)
	require.Equal(t, unit.Forever, boundsOf(t, spec, slow).Lower)
	require.Equal(t, unit.Forever, boundsOf(t, specOf(collective.AllReduce, 64, count), slow).Lower)
}

// linked is a network of these wires, each with the latency of a hop.
func linked(t testing.TB, wires []topology.Wire) *topology.Graph {
	t.Helper()
	g, err := topology.Links(0, wires)
	require.NoError(t, err)
	for l := range g.Links() {
		g.Links()[l].Latency = hop
	}
	return g
}

// TestWorkIsLimited: a search that is cut short says so, and has what it found by then.
func TestWorkIsLimited(t *testing.T) {
	networks := published()
	for _, name := range []string{"mi250_1", "twolevel_3x4_10_1"} {
		g := linked(t, networks[name])
		for _, kind := range collective.Kinds() {
			spec := specOf(kind, len(g.Ranks), 1000)
			whole := boundsOf(t, spec, g)
			require.False(t, whole.Partial)
			part, err := forWithin(limits{}, spec, g, Options{})
			require.NoError(t, err)
			require.LessOrEqual(t, part.Lower, whole.Lower)
			require.LessOrEqual(t, part.Bandwidth, whole.Bandwidth)
			require.Positive(t, part.Latency+part.Bandwidth)
			if !kind.Rooted() && kind != collective.Barrier {
				require.True(t, part.Partial, "%v on %s", kind, name)
			}
		}
	}
}

// TestThousandRanks: on these networks no search is cut short.
func TestThousandRanks(t *testing.T) {
	for _, g := range []*topology.Graph{preset(t, "switch", 1024), preset(t, "ring", 1024),
		preset(t, "full-mesh", 256), linked(t, grid(32, 32, true)),
		linked(t, cluster(128, 8, 450, 50, 8))} {
		for _, kind := range collective.Kinds() {
			if !kind.Splits() || len(g.Ranks) <= 256 {
				b := boundsOf(t, specOf(kind, len(g.Ranks), 1000), g)
				require.False(t, b.Partial, "%v on %s", kind, g.Preset)
				require.Greater(t, b.Lower, b.Bandwidth)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	oneWay, err := topology.Links(0, []topology.Wire{
		{From: "gpu0", To: "gpu1", Bandwidth: rate},
		{From: "gpu1", To: "gpu2", Bandwidth: rate, Both: true}})
	require.NoError(t, err)
	good := specOf(collective.AllReduce, 3, 5)
	bad := good
	bad.Op = 0
	tests := []struct {
		name string
		spec collective.Spec
		g    *topology.Graph
		o    Options
		want string
	}{
		{"collective", bad, preset(t, "ring", 3), Options{},
			"all_reduce needs an operator"},
		{"ranks", good, preset(t, "ring", 2), Options{},
			"all_reduce on 3 ranks, but the network has 2"},
		{"connection", good, oneWay, Options{}, "no route from gpu1 to gpu0"},
		{"overhead", good, preset(t, "ring", 3), Options{Overhead: -5},
			"overhead = -5 ps: a time of at least 0 s is expected"},
		{"reduce rate", good, preset(t, "ring", 3), Options{ReduceRate: -1},
			"reduce rate = -1 B/s: at least 0 is expected"},
		{"lanes", good, preset(t, "ring", 3), Options{Lanes: -1},
			"lanes = -1: at least 0 is expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := For(tt.spec, tt.g, tt.o)
			require.EqualError(t, err, tt.want)
			require.Zero(t, b)
		})
	}
}
