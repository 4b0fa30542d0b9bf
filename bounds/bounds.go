package bounds

import (
	"fmt"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// Bounds are lower bounds of the time that any schedule of a collective takes on a network.
type Bounds struct {
	// Latency is the largest distance, in latency, between two ranks where one needs data of the
	// other. The distance is that of the shortest path.
	Latency unit.Time
	// Bandwidth is the time in which certain links carry the bytes that must cross them, without
	// latency.
	Bandwidth unit.Time
	// Reduction is the time of the additions if all ranks share them evenly.
	Reduction unit.Time
	// Lower is the largest proven bound. It is at least each of the three. It is also at least the
	// time of any considered cut plus the latency of the shortest route over it.
	Lower unit.Time
	// Cut names the links that limit Bandwidth: "link gpu0->switch", "8 links out of gpu0-gpu7". It
	// is empty where Bandwidth is 0.
	Cut string
	// Partial reports that the search ended early on a network too large for it (see MaxWork). The
	// bounds hold all the same, but larger ones may exist.
	Partial bool
}

// Options describe the ranks. The zero value assumes that ranks take no time for anything.
type Options struct {
	// Overhead is the least time that every step of every rank takes before its first byte leaves.
	Overhead unit.Time
	// ReduceRate is the most bytes of one further source that a lane adds in a second; 0 is
	// unlimited.
	ReduceRate unit.Rate
	// Lanes is the largest number of lanes of a rank; 0 is unlimited. Lanes add concurrently, so
	// without a limit additions have no bound.
	Lanes int
}

// MaxWork bounds the work of each search of For, in links visited. It is about half a second.
const MaxWork = 1 << 26

// AllCutsNodes is the number of nodes up to which every cut is tried for all_to_all and send_recv.
const AllCutsNodes = 20

// For returns the bounds of a collective on the first ranks of a network. Further ranks of the
// network only forward.
//
// The links considered for Bandwidth depend on the kind. For gathering and scattering kinds,
// broadcast and reduce, all cuts are searched. Their bound equals the time of the best fractional
// schedule (broadcast: Edmonds' branchings; all_gather, reduce_scatter: ForestColl, arXiv
// 2402.06787). For all_reduce, all cuts and a few families of groups are considered (see
// groupBounds). For all_to_all and send_recv, all links together are considered, and all cuts of a
// network of up to AllCutsNodes nodes. In a larger network, the ports of every rank and a few
// families of cuts are. The optimum of these two is a linear program, so the bound may be below it.
//
// Some networks are too large to be searched link by link. If their parts are replicas that are
// numbered (topology.Graph.Few), one rank, one node, and all of either are considered. If a few
// links of such a network were changed, its quotient is searched (topology.Graph.Quotient): one
// part stands for all unchanged ones.
//
// Errors name what is wrong with the collective, that it has more ranks than the network, or two
// ranks without a path from one to the other.
func For(spec collective.Spec, g *topology.Graph, o Options) (Bounds, error) {
	return forWithin(limits{work: MaxWork, nodes: AllCutsNodes, links: mostListed}, spec, g, o)
}

// limits bound a search.
type limits struct {
	work  int64 // of each search
	nodes int   // up to which all cuts of a network are tried
	links int   // up to which a network of replicas is searched link by link
}

// forWithin returns the same bounds as For, searched within other limits.
func forWithin(l limits, spec collective.Spec, g *topology.Graph, o Options) (Bounds, error) {
	if err := spec.Validate(); err != nil {
		return Bounds{}, err
	}
	if err := o.validate(); err != nil {
		return Bounds{}, err
	}
	if spec.Ranks > len(g.Ranks) {
		return Bounds{}, fmt.Errorf("%v on %d ranks, but the network has %d",
			spec.Kind, spec.Ranks, len(g.Ranks))
	}
	if spec.Ranks == 1 || spec.Empty() {
		return Bounds{}, nil
	}
	s := &search{spec: spec, limits: l}
	if s.useReplicas(g) {
		return s.result(o), nil
	}
	if !s.useQuotient(g) {
		if err := g.Listable(); err != nil {
			return Bounds{}, err
		}
		s.net = newNetwork(g, spec.Ranks)
	}
	if !s.net.connected() {
		return Bounds{}, fmt.Errorf("%w", g.Connected())
	}
	if !moves(spec) {
		return Bounds{}, nil
	}
	s.net.measure()
	s.latency()
	s.bandwidth()
	return s.result(o), nil
}

// validate returns an error that names an option out of range.
func (o Options) validate() error {
	switch {
	case o.Overhead < 0 || o.Overhead > unit.Forever:
		return fmt.Errorf("overhead = %v: a time of at least 0 s is expected", o.Overhead)
	case o.ReduceRate < 0:
		return fmt.Errorf("reduce rate = %v: at least 0 is expected", o.ReduceRate)
	case o.Lanes < 0:
		return fmt.Errorf("lanes = %d: at least 0 is expected", o.Lanes)
	}
	return nil
}

// A search is the state of one call of For.
type search struct {
	spec   collective.Spec
	net    *network
	limits limits
	found  Bounds

	best     cutBound  // the bound behind found.Bandwidth
	withLead unit.Time // the largest time of a considered bound plus its lead
}

// bandwidth considers all cut bounds of the collective's kind.
func (s *search) bandwidth() {
	n := len(s.net.ranks)
	switch s.spec.Kind {
	case collective.AllReduce:
		s.groupBounds()
		whole := s.held() // rank 0's, without loss: with both directions every cut is met
		s.cuts(cutFamily{held: whole, roots: others(n, 0)})
		s.cuts(cutFamily{held: whole, roots: others(n, 0), into: true})
	case collective.AllGather, collective.AllGatherV:
		s.cuts(cutFamily{held: s.held(), roots: others(n, -1), into: true})
	case collective.ReduceScatter, collective.ReduceScatterV:
		s.cuts(cutFamily{held: s.held(), roots: others(n, -1)})
	case collective.Broadcast:
		s.cuts(cutFamily{held: s.held(), roots: others(n, s.spec.Root), into: true})
	case collective.Reduce:
		s.cuts(cutFamily{held: s.held(), roots: others(n, s.spec.Root)})
	case collective.Gather:
		s.cuts(cutFamily{held: s.held(), roots: []int{s.spec.Root}, into: true})
	case collective.Scatter:
		s.cuts(cutFamily{held: s.held(), roots: []int{s.spec.Root}})
	case collective.AllToAll, collective.AllToAllV, collective.SendRecv:
		s.trafficBounds()
	}
}

// result adds the reduction and puts the parts together.
func (s *search) result(o Options) Bounds {
	b := s.found
	b.Bandwidth = s.best.time()
	b.Reduction = s.reduction(o)
	// No byte leaves before the overhead of the step that sends or asks for it is over.
	b.Latency = plus(b.Latency, o.Overhead)
	b.Lower = max(b.Latency, b.Reduction, plus(s.withLead, o.Overhead))
	return b
}

// reduction returns the time of the additions. Combining the values of all p ranks takes p−1
// additions for every element, whichever rank makes them. The lanes of all ranks make at most
// p·lanes at a time. Nothing is proven where switches add.
func (s *search) reduction(o Options) unit.Time {
	if !s.spec.Kind.Reduces() || o.Lanes == 0 || o.ReduceRate == 0 || s.net.graph.Computes() {
		return 0
	}
	p := int64(s.spec.Ranks)
	bytes := product(p-1, s.spec.In(0)*int64(s.spec.Type.Width()))
	rate := product(product(int64(o.ReduceRate), p), int64(o.Lanes))
	return unit.Bytes(bytes).Over(unit.Rate(rate))
}

// others lists the ranks 0 … n−1 except one; −1 leaves none out.
func others(n, but int) []int {
	ranks := make([]int, 0, n)
	for r := range n {
		if r != but {
			ranks = append(ranks, r)
		}
	}
	return ranks
}
