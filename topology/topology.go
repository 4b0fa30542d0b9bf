package topology

import (
	"slices"
	"strconv"

	"collsim/unit"
)

// Graph is a network. Links keep their index; after the first Route only bandwidths and latencies
// may change (as by Override). In a network with a formula (every preset, and clusters of nodes on
// a switch or on rails) links are numbered. They are not listed until a caller asks for the list,
// or changes more than a few. A Graph caches routes: it is not safe for concurrent use.
type Graph struct {
	Preset string // its origin: "switch", "torus", …; "links"; "cluster"
	// first the ranks' nodes, in order of rank unless Params.Order moves them; then switches
	nodes   []Node
	links   []Link  // directed
	Ranks   []int32 // the node of each rank
	Routing Routing // may be changed at any time

	formula  formula   // computes nodes and links without a list; nil if there is none
	changed  []changed // links that differ from the formula, by index; none if listed
	isListed bool      // a caller has asked for the lists
	place    string    // prefix of the names of nodes, besides those of the formula

	grid  *grid  // computes all distances; nil if not a grid
	parts *parts // of a cluster; else nil
	// leaving holds the rule by which messages leave the nodes of a cluster; nil: by the NICs on
	// the route.
	leaving *leaving
	routes  routes
}

// Node is an end or a fork of links. A rank's node is named "gpu0", "gpu1", …, in a cluster
// "node2/gpu3": names belong to places, and a Params.Order moves ranks between them.
type Node struct {
	Name   string
	Switch bool // not a rank's; true for a NIC
	// Multicast and Reduce say that a switch can copy incoming data to several ranks, and add data
	// of several ranks and send the sum. See Multimem.
	Multicast, Reduce bool
}

// Link is a directed wire with a queue at its beginning.
type Link struct {
	Name      string // "gpu0->switch"
	From, To  int32  // nodes
	Bandwidth unit.Rate
	Latency   unit.Time // of its first byte, from end to end
	Port      int32     // index among the links into To

	extra int32 // its length in a route, less one
}

// Limits of a network. The number of ranks bounds tables by rank. The number of links bounds lists
// (a full mesh of 4096 ranks fits; see MaxNumbered). The latency keeps the sum along any route
// below unit.Forever.
const (
	MaxRanks   = 1 << 20
	MaxLinks   = 1 << 24
	MaxLatency = 1000 * unit.Second
)

// Switch returns ranks around one switch. Each rank has a link up and a link down, so a message
// crosses two links and pays the latency of both. Up-links have the indices 0…ranks-1, down-links
// follow.
func Switch(ranks int, bandwidth unit.Rate, latency unit.Time) (*Graph, error) {
	like := Link{Bandwidth: bandwidth, Latency: latency}
	if err := wanted("switch", ranks, 2*int64(ranks), MaxNumbered, like); err != nil {
		return nil, err
	}
	return newNumbered("switch", ranks,
		&star{ranks: int32(ranks), hubs: 1, hub: "switch", like: like}), nil
}

// FullMesh returns ranks with a link from each to each other. The link from i to i+d (modulo ranks)
// has the index (d-1)·ranks + i, so that all ranks see the same ports.
func FullMesh(ranks int, bandwidth unit.Rate, latency unit.Time) (*Graph, error) {
	links := int64(ranks) * (int64(ranks) - 1)
	like := Link{Bandwidth: bandwidth, Latency: latency}
	if err := wanted("full-mesh", ranks, links, MaxNumbered, like); err != nil {
		return nil, err
	}
	return newNumbered("full-mesh", ranks, &everyPair{ranks: int32(ranks), like: like}), nil
}

// Ring returns ranks in a circle with a link to either neighbour; two ranks have one link in each
// direction, not two. The links to the next rank have the indices 0…ranks-1, those to the previous
// one follow. So halfway round the tie goes to the next rank, everywhere.
func Ring(ranks int, bandwidth unit.Rate, latency unit.Time) (*Graph, error) {
	like := Link{Bandwidth: bandwidth, Latency: latency}
	if err := wanted("ring", ranks, 2*int64(ranks), MaxNumbered, like); err != nil {
		return nil, err
	}
	n := int32(ranks)
	g := newNumbered("ring", ranks, newWrapped(n, like, dimension{stride: 1, size: n}))
	g.grid = &grid{[]int32{n}, true}
	return g, nil
}

// newNumbered returns a network with a formula; its ranks are the first nodes.
func newNumbered(preset string, ranks int, f formula) *Graph {
	g := &Graph{Preset: preset, formula: f, Ranks: make([]int32, ranks)}
	for i := range g.Ranks {
		g.Ranks[i] = int32(i)
	}
	return g
}

// newGraph returns the nodes of the ranks without links, after checking the parameters.
func newGraph(preset string, ranks int, links int64, like Link) (*Graph, error) {
	if err := wanted(preset, ranks, links, MaxLinks, like); err != nil {
		return nil, err
	}
	g := &Graph{Preset: preset, links: make([]Link, 0, links)}
	for i := range ranks {
		g.Ranks = append(g.Ranks, g.addNode(rankName(i), false))
	}
	return g, nil
}

// wanted checks the parameters: the number of ranks, that of links against most, and the link that
// all are like.
func wanted(preset string, ranks int, links, most int64, like Link) error {
	if ranks < 1 || ranks > MaxRanks {
		return badRanks(ranks)
	}
	if links > most {
		return badParam("ranks", ranks, "a %s of as many has %d links; the limit is %d",
			preset, links, most)
	}
	if why := badBandwidth(like.Bandwidth); why != "" {
		return &ParamError{"bandwidth", like.Bandwidth.String(), why}
	}
	if why := badLatency(like.Latency); why != "" {
		return &ParamError{"latency", like.Latency.String(), why}
	}
	return nil
}

func badRanks(ranks int) error {
	return badParam("ranks", ranks, "1 to %d are expected", MaxRanks)
}

func rankName(rank int) string { return "gpu" + strconv.Itoa(rank) }

func badBandwidth(r unit.Rate) string {
	if r <= 0 {
		return "a rate above zero is expected"
	}
	return ""
}

func badLatency(t unit.Time) string {
	if t < 0 || t > MaxLatency {
		return "a time from 0 s to " + MaxLatency.String() + " is expected"
	}
	return ""
}

func (g *Graph) addNode(name string, isSwitch bool) int32 {
	g.nodes = append(g.nodes, Node{Name: name, Switch: isSwitch})
	return int32(len(g.nodes) - 1)
}

// addLink appends a link; numbered must follow when all are there.
func (g *Graph) addLink(from, to int32, bandwidth unit.Rate, latency unit.Time) {
	g.links = append(g.links, Link{
		Name: g.nodes[from].Name + "->" + g.nodes[to].Name,
		From: from, To: to, Bandwidth: bandwidth, Latency: latency,
	})
}

// numbered gives every link its port and returns g.
func (g *Graph) numbered() *Graph {
	into := make([]int32, len(g.nodes))
	for i := range g.links {
		l := &g.links[i]
		l.Port = into[l.To]
		into[l.To]++
	}
	return g
}

// Clone returns a deep copy.
func (g *Graph) Clone() *Graph {
	c := &Graph{
		Preset:  g.Preset,
		nodes:   slices.Clone(g.nodes),
		links:   slices.Clone(g.links),
		Ranks:   slices.Clone(g.Ranks),
		Routing: g.Routing,
		grid:    g.grid, // never changes
		leaving: g.leaving,
	}
	if g.parts != nil {
		c.parts = g.parts.clone()
	}
	c.formula, c.changed, c.isListed = g.formula, slices.Clone(g.changed), g.isListed
	c.place = g.place
	if of, ok := g.formula.(*cluster); ok {
		c.formula = of.clone(c.parts)
	}
	return c
}
