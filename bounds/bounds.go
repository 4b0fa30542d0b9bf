package bounds

import (
	"fmt"

	"collsim/collective"
	"collsim/topology"
	"collsim/unit"
)

// Bounds are times that no schedule of a collective beats on a network.
type Bounds struct {
	// Latency is the way of the data: the longest, over all pairs of ranks of which the one needs
	// something of the other, of the shortest ways by latency.
	Latency unit.Time
	// Bandwidth is the time that the bytes need which must cross certain links, with no latency.
	Bandwidth unit.Time
	// Reduction is the time that the additions need if all ranks share them evenly.
	Reduction unit.Time
	// Lower is the largest time that is proven: at least each of the three, and at least the time
	// of any cut that was looked at together with the latency of the shortest route over it.
	Lower unit.Time
	// Cut says which links limit Bandwidth: "link gpu0->switch", "8 links out of gpu0-gpu7". It is
	// empty where Bandwidth is 0.
	Cut string
	// Partial reports that the search was cut short on a network too large for it (see MaxWork).
	// The bounds hold all the same; larger ones may.
	Partial bool
}

// Options is what is known of the ranks besides their number. The zero value knows nothing: then
// ranks take no time for anything.
type Options struct {
	// Overhead is the least time that every step of every rank takes before its first byte leaves.
	Overhead unit.Time
	// ReduceRate is the most bytes of one further source that a lane adds in a second; 0 is any
	// number of bytes.
	ReduceRate unit.Rate
	// Lanes is the largest number of lanes of a rank of the schedules in question; 0 is any number.
	// Lanes add side by side, so without a limit to them there is none to the additions.
	Lanes int
}

// MaxWork is how many times For looks at a link in each of its searches before it ends with what
// it has. It stands for about half a second.
const MaxWork = 1 << 26

// AllCutsNodes is the number of nodes up to which every cut is tried for all_to_all and send_recv.
const AllCutsNodes = 20

// For returns the bounds of a collective on the first ranks of a network; its other ranks, if it
// has more, only forward.
//
// Which links may limit Bandwidth depends on the kind. For gathering and scattering kinds,
// broadcast and reduce all cuts do: the bound is the time of the best fractional schedule
// (broadcast: Edmonds' branchings; all_gather, reduce_scatter: ForestColl, arXiv 2402.06787). For
// all_reduce all cuts do, and a few families of groups (see groupClaims); for all_to_all and
// send_recv all links together, and all cuts of a network of up to AllCutsNodes nodes, of a larger
// one the ports of every rank and a few families of cuts. The optimum of these is a linear program;
// the bound may lie below it.
//
// A network that is too large to be searched link by link, but whose parts are alike and numbered
// (topology.Graph.Few), is judged by one rank, one node, and all of either; where some of its links
// were changed, by a search of a network in which one part stands for all that are as before
// (topology.Graph.Crowd).
//
// Errors name what is wrong with the collective, that it has more ranks than the network, or two
// ranks of which one does not reach the other.
func For(spec collective.Spec, g *topology.Graph, o Options) (Bounds, error) {
	return forWithin(limits{work: MaxWork, nodes: AllCutsNodes, links: mostListed}, spec, g, o)
}

// limits are how far a search goes.
type limits struct {
	work  int64 // of each search
	nodes int   // of a network of which all cuts are tried
	links int   // of a network that is searched though its parts are alike
}

// within is For with other limits.
func forWithin(l limits, spec collective.Spec, g *topology.Graph, o Options) (Bounds, error) {
	if err := spec.Validate(); err != nil {
		return Bounds{}, fmt.Errorf("bounds: %w", err)
	}
	if err := o.validate(); err != nil {
		return Bounds{}, err
	}
	if spec.Ranks > len(g.Ranks) {
		return Bounds{}, fmt.Errorf("bounds: %v on %d ranks, but the network has %d",
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
			return Bounds{}, fmt.Errorf("bounds: %w", err)
		}
		s.net = newNetwork(g, spec.Ranks)
	}
	if !s.net.connected() {
		return Bounds{}, fmt.Errorf("bounds: %w", g.Connected())
	}
	if !moves(spec) {
		return Bounds{}, nil
	}
	s.net.measure()
	s.latency()
	s.bandwidth()
	return s.result(o), nil
}

func (o Options) validate() error {
	switch {
	case o.Overhead < 0 || o.Overhead > unit.Forever:
		return fmt.Errorf("bounds: overhead = %v: a time of at least 0 s is expected", o.Overhead)
	case o.ReduceRate < 0:
		return fmt.Errorf("bounds: reduce rate = %v: at least 0 is expected", o.ReduceRate)
	case o.Lanes < 0:
		return fmt.Errorf("bounds: lanes = %d: at least 0 is expected", o.Lanes)
	}
	return nil
}

// search is one call of For.
type search struct {
	spec   collective.Spec
	net    *network
	limits limits
	found  Bounds

	best     cutBound  // the claim behind found.Bandwidth
	withLead unit.Time // the most that a claim needs together with its lead
}

// bandwidth makes all claims of the kind.
func (s *search) bandwidth() {
	n := len(s.net.ranks)
	switch s.spec.Kind {
	case collective.AllReduce:
		s.groupBounds()
		whole := s.held() // of any one rank: which does not matter, both ways every cut is met
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

// reduction is the time of the additions: of every element the values of all p ranks are combined
// somewhere, which takes p−1 additions, whichever rank does them. The lanes of all ranks do at most
// p·lanes at a time. Where switches add nothing is known.
func (s *search) reduction(o Options) unit.Time {
	if !s.spec.Kind.Reduces() || o.Lanes == 0 || o.ReduceRate == 0 || s.net.graph.Computes() {
		return 0
	}
	p := int64(s.spec.Ranks)
	bytes := product(p-1, s.spec.In(0)*int64(s.spec.Type.Width()))
	rate := product(product(int64(o.ReduceRate), p), int64(o.Lanes))
	return unit.Bytes(bytes).Over(unit.Rate(rate))
}

// others lists the ranks but one; -1 leaves none out.
func others(n, but int) []int {
	ranks := make([]int, 0, n)
	for r := range n {
		if r != but {
			ranks = append(ranks, r)
		}
	}
	return ranks
}
