package bounds

import (
	"math"
	"math/big"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/topology"
	"collsim/unit"
)

// crossing is what must leave the set of ranks in, a bit each, straight from the kind's definition:
// every output element of a rank outside that is made of an input inside.
func crossing(spec collective.Spec, in uint) int64 {
	has := func(r int) bool { return in>>r&1 == 1 }
	total := int64(0)
	whole := map[[2]int64]bool{} // reductions are needed outside once, data too
	for to := range spec.Ranks {
		for _, p := range spec.Want(to) {
			from := p.From
			if from == collective.AllRanks {
				from = bits.TrailingZeros(in) // any rank inside adds to it
			}
			key := [2]int64{int64(p.From), p.InOff}
			if has(to) || in == 0 || !has(from) || p.Len == 0 || whole[key] {
				continue
			}
			whole[key] = true
			total += p.Len
		}
	}
	return total
}

// worstCut is the largest bytes/rate over all cuts, in picoseconds rounded up.
func worstCut(spec collective.Spec, g *topology.Graph) unit.Time {
	worst, _ := worstCuts(spec, g)
	return worst
}

// worstCuts is that, and the largest together with the shortest route over the cut.
func worstCuts(spec collective.Spec, g *topology.Graph) (worst, late unit.Time) {
	lead := leads(spec.Ranks, g)
	for set := uint(0); set < 1<<len(g.Nodes()); set++ {
		ranks := set & (1<<spec.Ranks - 1) // ranks are the first nodes
		bytes := crossing(spec, ranks)
		capacity, unlimited, latency := int64(0), false, unit.Forever
		for i, l := range g.Links() {
			if set>>l.From&1 == 1 && set>>l.To&1 == 0 {
				latency = min(latency, lead[i])
				capacity += int64(l.Bandwidth)
				unlimited = unlimited || l.Bandwidth == unit.Unlimited
			}
		}
		if bytes > 0 {
			took := unit.Time(0)
			if !unlimited {
				took = ratioUp(bytes, capacity)
			}
			worst, late = max(worst, took), max(late, took+latency)
		}
	}
	return worst, late
}

// leads is, of every link, the least latency of a way from a rank over it to a rank.
func leads(ranks int, g *topology.Graph) []unit.Time {
	dist := distances(g)
	lead := make([]unit.Time, len(g.Links()))
	for i, l := range g.Links() {
		before, after := unit.Forever, unit.Forever
		for _, v := range g.Ranks[:ranks] {
			before, after = min(before, dist[v][l.From]), min(after, dist[l.To][v])
		}
		lead[i] = before + l.Latency + after
	}
	return lead
}

// ratioUp is ⌈bytes·10¹²/rate⌉ by the book.
func ratioUp(bytes, rate int64) unit.Time {
	n := new(big.Int).Mul(big.NewInt(bytes), big.NewInt(1_000_000_000_000))
	quo, rem := n.QuoRem(n, big.NewInt(rate), new(big.Int))
	if rem.Sign() > 0 {
		quo.Add(quo, big.NewInt(1))
	}
	return unit.Time(quo.Int64())
}

// TestBandwidthEqualsWorstOfAllCuts holds the flows to trying every set of nodes.
func TestBandwidthEqualsWorstOfAllCuts(t *testing.T) {
	kinds := []collective.Kind{collective.AllGather, collective.AllGatherV, collective.ReduceScatter,
		collective.ReduceScatterV, collective.Broadcast, collective.Reduce, collective.Gather,
		collective.Scatter}
	properties := map[string]func(c randomCase) bool{}
	for _, kind := range kinds {
		properties[kind.String()] = func(c randomCase) bool {
			b, spec, g := c.bounds(kind)
			worst, late := worstCuts(spec, g)
			return b.Bandwidth == worst && (b.Cut == "") == (b.Bandwidth == 0) &&
				b.Lower <= max(late, b.Latency)
		}
	}
	laws(t, 400, properties)
}

// TestCapacitiesAreRounded: where bytes and rates are so large and odd that the capacities of the
// flows are rounded, the cut that is found is the worst, or as good as that.
func TestCapacitiesAreRounded(t *testing.T) {
	laws(t, 300, map[string]func(c randomCase) bool{
		"all_gatherv": func(c randomCase) bool {
			spec, g := c.spec(collective.AllGatherV), c.graph()
			for r := range spec.Splits[0] {
				spec.Splits[0][r] = c.rng.Int63n(1 << 46)
			}
			for l := range g.Links() {
				g.Links()[l].Bandwidth = gigabyte + unit.Rate(c.rng.Int63n(1<<50))
			}
			b, err := For(spec, g, Options{})
			worst := worstCut(spec, g)
			return err == nil && b.Bandwidth <= worst && worst-b.Bandwidth <= 1
		},
	})
}

func TestFraction(t *testing.T) {
	const huge = math.MaxInt64
	tests := []struct {
		num, den [2]int64
		n, d     int64
	}{
		{[2]int64{6, 35}, [2]int64{10, 21}, 1, 1},
		{[2]int64{7, 11}, [2]int64{13, 2}, 77, 26},
		{[2]int64{huge, 4}, [2]int64{huge, 3}, 4, 3},
		{[2]int64{huge, huge - 1}, [2]int64{1, 1}, huge, 1},
		// Over 15·2⁷⁰, which has 11 bits too many; 7 777 777 / 2¹¹ is 3797.7….
		{[2]int64{1, 1 << 10}, [2]int64{3 << 40, 5 << 40}, 1, 15 << 59},
		{[2]int64{7_777_777, 1}, [2]int64{3 << 40, 5 << 30}, 3797, 15 << 59},
	}
	for _, tt := range tests {
		n, d := fraction(tt.num, tt.den)
		require.Equal(t, [2]int64{tt.n, tt.d}, [2]int64{n, d}, "%v / %v", tt.num, tt.den)
	}
}

// TestOtherKindsLieBetween holds all_reduce and traffics, whose optimum is no cut, between what all
// cuts prove and what one can do.
func TestOtherKindsLieBetween(t *testing.T) {
	laws(t, 400, map[string]func(c randomCase) bool{
		"all_reduce": func(c randomCase) bool {
			b, spec, g := c.bounds(collective.AllReduce)
			// It can be done as a reduce_scatter and an all_gather of bytes in blocks as one likes.
			// Blocks that are not whole bytes: as many times the vector as there are ranks, for each.
			part := specOf(collective.ReduceScatter, c.ranks, spec.Count)
			part.Type = dtype.Int8
			scatter := worstCut(part, g)
			part.Kind, part.Op = collective.AllGather, 0
			gather := worstCut(part, g)
			return b.Bandwidth >= worstCut(spec, g) &&
				int64(b.Bandwidth-1)*int64(c.ranks) <= int64(scatter+gather)
		},
		"all_to_all":  trafficLaw(collective.AllToAll),
		"all_to_allv": trafficLaw(collective.AllToAllV),
		"send_recv":   trafficLaw(collective.SendRecv),
	})
}

// trafficLaw says that a traffic needs no less than its worst cut, or its worst port where not all
// cuts are tried, and no more than its busiest link does if everything takes the network's routes.
func trafficLaw(kind collective.Kind) func(c randomCase) bool {
	return func(c randomCase) bool {
		b, spec, g := c.bounds(kind)
		few, err := forWithin(limits{work: MaxWork}, spec, g, Options{})
		if err != nil || few.Bandwidth > b.Bandwidth || worstCut(spec, g) > b.Bandwidth {
			return false
		}
		load := make([]int64, len(g.Links()))
		for to := range spec.Ranks {
			for _, p := range spec.Want(to) {
				for _, l := range g.Route(p.From, to, nil) {
					load[l] += p.Len
				}
			}
		}
		most := unit.Time(0)
		for l, bytes := range load {
			if bytes > 0 && g.Links()[l].Bandwidth != unit.Unlimited {
				most = max(most, ratioUp(bytes, int64(g.Links()[l].Bandwidth)))
			}
		}
		for r := range spec.Ranks {
			if portTime(spec, g, r) > few.Bandwidth {
				return false
			}
		}
		return b.Bandwidth <= most
	}
}

// portTime is what a rank has to send over all links out of it.
func portTime(spec collective.Spec, g *topology.Graph, r int) unit.Time {
	capacity := int64(0)
	for _, l := range g.Links() {
		if l.From == g.Ranks[r] {
			if l.Bandwidth == unit.Unlimited {
				return 0
			}
			capacity += int64(l.Bandwidth)
		}
	}
	return ratioUp(crossing(spec, 1<<r), capacity)
}

// TestLatencyEqualsAllPairs holds the searches to Floyd's algorithm.
func TestLatencyEqualsAllPairs(t *testing.T) {
	properties := map[string]func(c randomCase) bool{}
	for _, kind := range collective.Kinds() {
		properties[kind.String()] = func(c randomCase) bool {
			b, spec, g := c.bounds(kind)
			return b.Latency == longestWay(spec, g)
		}
	}
	laws(t, 150, properties)
}

// distances is Floyd's algorithm: the latency of the shortest way between any two nodes.
func distances(g *topology.Graph) [][]unit.Time {
	n := len(g.Nodes())
	dist := make([][]unit.Time, n)
	for v := range dist {
		dist[v] = make([]unit.Time, n)
		for u := range dist[v] {
			if u != v {
				dist[v][u] = unit.Forever
			}
		}
	}
	for _, l := range g.Links() {
		dist[l.From][l.To] = min(dist[l.From][l.To], l.Latency)
	}
	for k := range n {
		for v := range n {
			for u := range n {
				dist[v][u] = min(dist[v][u], dist[v][k]+dist[k][u])
			}
		}
	}
	return dist
}

func longestWay(spec collective.Spec, g *topology.Graph) unit.Time {
	dist := distances(g)
	longest := unit.Time(0)
	for to := range spec.Ranks {
		pieces := spec.Want(to)
		if spec.Kind == collective.Barrier {
			pieces = []collective.Piece{{From: collective.AllRanks, Len: 1}}
		}
		for _, p := range pieces {
			for from := range spec.Ranks {
				if p.Len > 0 && (p.From == from || p.From == collective.AllRanks) {
					longest = max(longest, dist[g.Ranks[from]][g.Ranks[to]])
				}
			}
		}
	}
	return longest
}

func TestCrossingKnowsTheKinds(t *testing.T) {
	// 4 ranks of 5 elements, ranks 0 and 1 inside.
	for kind, want := range map[collective.Kind]int64{
		collective.AllReduce: 5, collective.AllGather: 10, collective.ReduceScatter: 10,
		collective.Broadcast: 5, collective.Reduce: 0, collective.Gather: 0, collective.Scatter: 10,
		collective.AllToAll: 20, collective.SendRecv: 5,
	} {
		require.Equal(t, want, crossing(specOf(kind, 4, 5), 0b0011), kind)
	}
}
