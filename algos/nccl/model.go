package nccl

import (
	"math"
	"math/bits"

	"collsim/collective"
	"collsim/dtype"
)

// model is NCCL's cost model (graph/tuning.cc) of a communicator: microseconds and GB/s of 10⁹.
type model struct {
	search
	rings
	name                  string // of the machine
	ranks, nodes, perNode int
	noMulticast           bool // no switch of a node adds and copies
	noAggregation         bool // none between nodes does
	collNet               bool // it is asked for
	env                   *Env
}

func modelOf(m *Machine, r *release, ranks, perNode int) *model {
	nodes, s := ranks/perNode, search{&m.Facts, r}
	return &model{search: s, rings: s.rings(nodes, perNode), name: m.Name, ranks: ranks, nodes: nodes,
		perNode: perNode}
}

// treeCorrection multiplies the bandwidth of a tree, from 64 bytes on by powers of two.
var treeCorrection = [protocols][24]float64{
	LL: {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
	LL128: {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1,
		1},
	Simple: {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9,
		.9, .9},
}

// graph returns the graph that an algorithm uses.
func (m *model) graph(a Algorithm) *graph {
	switch a {
	case Tree, PAT:
		return &m.tree
	case Ring:
		return &m.ring
	case CollNetDirect, CollNetChain:
		g := m.collNetGraph(a)
		return &g
	}
	return &m.nvls
}

// scale returns the index of one node, two, and more.
func (m *model) scale() int { return min(m.nodes, 3) - 1 }

// bandwidth returns an algorithm's bytes of the call over time, in GB/s. 0 means not available.
func (m *model) bandwidth(kind collective.Kind, w Way) float64 {
	g, scale := m.graph(w.Algorithm), m.scale()
	channels, bw := float64(g.channels), g.intra
	if m.nodes > 2 {
		bw = g.inter
	}
	generation := m.generation()
	if m.nodes > 1 { // by the vendor of the processors
		generation = volta
		if m.AMD {
			generation = ampere
		}
	}
	ll, bus := m.llMost[generation][scale], float64(channels*bw)
	switch w.Algorithm {
	case Tree:
		bus = m.treeBandwidth(w.Protocol, bus, ll)
	case Ring:
		switch w.Protocol {
		case LL:
			bus = min(ll, m.shareOfLL(kind)*bus)
		case LL128:
			share := .92
			if m.perNode == 1 {
				share = m.loneLL128
			}
			bus = min(share*bus, channels*m.ringLL128Most[m.generation()][scale])
		}
	case PAT:
		bus *= m.patShare
	case CollNetDirect, CollNetChain:
		return m.collNetBandwidth(w.Algorithm)
	default:
		bus = channels * m.nvlsBandwidth(kind, w.Algorithm)
	}
	blocks := kind == collective.AllGather || kind == collective.ReduceScatter
	switch {
	case w.Algorithm == Tree:
		return bus * .5
	case w.Algorithm.usesSwitch() && m.switchRule != byEfficiency:
		return bus * m.switchShare(kind, w.Algorithm)
	case blocks && w.Algorithm != Ring || w.Algorithm == PAT:
		return bus
	}
	return bus * float64(m.ranks) / float64(m.hops(kind))
}

// treeBandwidth returns the bandwidth of both trees together.
func (m *model) treeBandwidth(p Protocol, bus, ll float64) float64 {
	scale, channels := m.scale(), float64(m.tree.channels)
	bus = min(.92*bus, channels*m.treeMost[m.generation()][scale])
	switch p {
	case LL:
		bus = min(bus/3.8, ll)
	case LL128:
		share := 7. / 9
		if m.nodes > 1 {
			share = 120. / 128
		}
		bus = min(bus*share, channels*m.treeLL128Most[m.generation()][scale])
	}
	if m.tree.fromTop {
		bus *= m.topShare
	}
	return bus
}

// shareOfLL returns the share of a ring's bandwidth that LL has.
func (m *model) shareOfLL(kind collective.Kind) float64 {
	switch {
	case !m.llByKind:
		return .5
	case m.nodes > 1 || kind == collective.AllReduce || kind == collective.Reduce:
		return 1. / 4
	}
	return 1. / 3
}

// hops returns the number of steps of a ring.
func (m *model) hops(kind collective.Kind) int {
	switch kind {
	case collective.AllReduce:
		return 2 * (m.ranks - 1)
	case collective.AllGather, collective.ReduceScatter:
		return m.ranks - 1
	}
	return m.ranks
}

// latency returns the time of a call without its bytes, in microseconds.
func (m *model) latency(kind collective.Kind, w Way) float64 {
	a, p := w.Algorithm, w.Protocol
	g, base := m.graph(a), m.baseLatency[a][p]
	class := pcie
	if g.nvlink {
		class = nvlink
	}
	intra, inter := m.hopLatency[class][a][p], m.hopLatency[network][a][p]
	if m.perNode == 1 && m.loneByTree {
		inter = m.hopLatency[network][Tree][p]
	}
	inter += float64(m.NetLatency)
	if p == Simple { // which flushes what has come
		inter += float64(m.NetLatency)
	}
	levels := float64(bits.Len(uint(m.nodes)) - 1)
	switch a {
	case Tree:
		within := float64(float64(m.perNode-1) * intra)
		return base + float64(2*(within+float64(levels*inter)))
	case NVLS:
		if m.nodes > 1 {
			return base + intra + inter
		}
		return base + intra
	case NVLSTree:
		if m.switchRule == byRing {
			levels = float64(m.nodes - 1)
		}
		return base + intra + float64(2*levels*inter)
	case CollNetDirect, CollNetChain:
		return base + m.collNetLatency(a, intra, inter)
	case PAT:
		return base + float64(levels*inter/3.5) + float64(2.8*float64(m.ranks))
	}
	return base + m.ringLatency(kind, p, class, intra, inter)
}

// ringLatency returns the latency of a ring's hops.
func (m *model) ringLatency(kind collective.Kind, p Protocol, class int, intra,
	inter float64) float64 {
	hops := m.hops(kind)
	if kind == collective.Broadcast || kind == collective.Reduce {
		if m.nodes > 1 {
			class = network
		}
		switch {
		case m.ring.same:
			return m.hopLatency[class][Ring][p]
		case p == Simple:
			return float64(hops) * m.hopLatency[class][Tree][Simple]
		}
		return float64(hops) * m.hopLatency[class][Ring][p]
	}
	if m.nodes > 1 { // what the processors take
		overhead := 1.
		switch {
		case m.env != nil && m.env.hasOverhead:
			overhead = m.env.overhead
		case m.AMD:
			overhead = 2
		}
		if p == Simple {
			overhead *= 3
		}
		intra = max(intra, overhead)
	}
	between := 0
	if m.nodes > 1 {
		between = m.nodes - 1
		if kind == collective.AllReduce {
			between *= 2
			if m.nodeHops {
				between += 2
			}
		}
	}
	return float64(float64(hops-between)*intra) + float64(float64(between)*inter)
}

// time returns the model's time of a call of so many bytes; ok is false where the way is not
// available.
func (m *model) time(spec *collective.Spec, w Way, bytes int64) (us float64, ok bool) {
	bw, lat := m.bandwidth(spec.Kind, w), m.latency(spec.Kind, w)
	if !m.has(spec, w) || bw <= 0 {
		return 0, false
	}
	bw *= m.correction(w, bytes)
	if w == (Way{Ring, Simple}) && spec.Kind == collective.AllReduce && m.nodes > 1 &&
		bytes/int64(m.ring.channels*m.ranks) >= 64 {
		if lat = float64(lat * 1.4); m.generation() == volta {
			lat = float64(lat * (1.9 / 1.4))
		}
	}
	us = lat + float64(float64(bytes)/(1000*bw))
	if w.Algorithm == Ring && m.ranks > 8 && spec.Kind.Reduces() && float8(spec.Type) {
		us *= 1024 // it rounds too often
	}
	return us, true
}

func float8(t dtype.Type) bool { return t == dtype.Float8E4M3 || t == dtype.Float8E5M2 }

// has reports whether the library would take a way at all, by itself.
func (m *model) has(spec *collective.Spec, w Way) bool {
	scaled := spec.Op == collective.Avg || spec.Op == collective.PremulSum
	switch {
	case !w.legal(spec.Kind) || m.env.takes(spec.Kind, w) != "":
		return false
	case w.Protocol == LL128 && !m.ll128 && !m.env.asksLines(spec.Kind):
		return false
	case w.Algorithm.usesSwitch():
		return m.noSwitch(spec, w.Algorithm) == ""
	case w.Algorithm.isCollNet():
		return m.noCollNet(spec, w.Algorithm) == ""
	case w.Algorithm == PAT:
		everywhere := m.env != nil && m.env.allPAT
		return m.hasPAT && (m.perNode == 1 && m.nodes > 1 || everywhere) && !scaled
	}
	return true
}

// whyNone ends an error about ways that all need switches that add: it says what the last one
// lacks.
func (m *model) whyNone(spec *collective.Spec, among []Way) string {
	for i, w := range among {
		why := ""
		switch {
		case w.Algorithm.usesSwitch():
			why = m.noSwitch(spec, w.Algorithm)
		case w.Algorithm.isCollNet():
			why = m.noCollNet(spec, w.Algorithm)
		default:
			return ""
		}
		if i == len(among)-1 && why != "" {
			return ": " + why
		}
	}
	return ""
}

// whyTaken ends an error about a call for which the environment leaves no way.
func (m *model) whyTaken() string {
	if m.env == nil || m.env.text == "" {
		return ""
	}
	return ": " + m.env.text + " leaves none"
}

// channelsFor returns how many channels a call may take of those there are, and how many threads
// each of them has, by how many bytes that leaves a thread (enqueue.cc, topoGetAlgoInfo).
func (m *model) channelsFor(w Way, bytes int64, channels int) (used, threads int) {
	t, least := int64(512), int64(8)
	switch {
	case w.Algorithm.usesSwitch():
		return channels, mostThreads
	case w.Algorithm == CollNetDirect:
		return m.directChannels(bytes, channels), mostThreads
	case w.Algorithm == CollNetChain:
		t, least = mostThreads, 512
	case w.Protocol == LL128:
		t = mostThreads
	case w.Protocol == Simple:
		least = 64
		if w.Algorithm == Ring && m.ring.intra*float64(m.ring.channels) <= 12 {
			t = 256
		}
	case w.Algorithm == Ring:
		least *= int64(m.ranks)
	}
	if !w.Algorithm.isCollNet() { // NCCL_NTHREADS and the thresholds are not for it (tuning.cc)
		t, least = m.env.threadsOf(w.Protocol, t), m.env.threshold(w, least)
	}
	n := int64(channels)
	if least > 0 {
		n = max(1, min(n, bytes/(t*least)))
	}
	if w.Algorithm == Tree && m.allTreeThreads || w.Algorithm == PAT {
		return int(n), mostThreads
	}
	for bytes < n*t*least && t%(4*warp) == 0 {
		t /= 2
	}
	switch w {
	case Way{Ring, Simple}:
		t += warp // that synchronizes
	case Way{Tree, Simple}:
		t += 4 * warp
	}
	return int(n), max(int(t), leastThreads)
}

// callBytes returns the size of a call as NCCL counts it: of the longer of the two buffers.
func callBytes(s *collective.Spec) int64 {
	n := s.Count * int64(s.Type.Width())
	if s.Kind == collective.AllGather || s.Kind == collective.ReduceScatter {
		n *= int64(s.Ranks)
	}
	return n
}

// never is later than any estimate.
var never = math.Inf(1)
