package topology

import (
	"fmt"
	"slices"
	"strconv"

	"collsim/symmetry"
)

// formula computes the nodes, links and routes of a network from their numbers. A graph with a
// formula keeps no list of them until a caller asks for the list.
type formula interface {
	size() (nodes, links int)
	node(v int32) Node
	link(i int32) Link // without its name
	// route appends the links from one rank's node to another's.
	route(src, dst int32, buf []int32) []int32
	// apart returns two nodes of ranks without a route between them, if there are any.
	apart() (from, to int32, ok bool)
	anchor(i int32) Anchor
	moves(t Translation) bool
	series() []series
	isAlike() bool
}

// spreader is a formula that also computes the ECMP route of a pair, given its hash.
type spreader interface {
	spread(src, dst int32, seed uint64, buf []int32) []int32
}

// MaxNumbered is the most links of a network that is not listed; a listed one has at most MaxLinks.
const MaxNumbered = 1<<31 - 1

// A Translation may be an automorphism of a network: see Moves.
type Translation = symmetry.Translation

// Anchor identifies a link by its kind and by ranks: a translation of these ranks translates the
// link. So two links of a kind are images of each other if their ranks are.
type Anchor struct {
	Kind     int32
	Rank, To int32 // To is −1 for a link with one rank
}

// Moves reports whether a translation of the ranks is known to be an automorphism of the network.
// It then maps every link to one of the same bandwidth and latency. It maps the route of every pair
// of ranks, link by link, to that of the pair's image. It maps the Anchor of every link to that of
// the link's image. It is not known if a link was changed. Nor is it if a caller has asked for the
// list of links, which may be changed there.
func (g *Graph) Moves(t Translation) bool { return g.isPlain() && g.MovesBut(t) }

// MovesBut reports the same for the network before any changes: Base, and the actual network except
// Changes.
func (g *Graph) MovesBut(t Translation) bool {
	return g.formula != nil && g.Routing == Shortest && g.leaving == nil && g.formula.moves(t) &&
		g.isInOrder()
}

// isInOrder reports whether rank r is on node r, for all r.
func (g *Graph) isInOrder() bool {
	for rank, node := range g.Ranks {
		if int(node) != rank {
			return false
		}
	}
	return true
}

// Anchor returns the anchor of a link.
//
// REQUIRES: Moves, or MovesBut, has reported true.
func (g *Graph) Anchor(link int32) Anchor { return g.formula.anchor(link) }

// Base returns a link by index, as it was before any changes; its name may be missing.
//
// REQUIRES: Moves, or MovesBut, has reported true.
func (g *Graph) Base(i int32) Link { return g.formula.link(i) }

// Nodes lists the nodes: first those of the ranks, in order of rank unless Params.Order moves them;
// then switches.
//
// REQUIRES: Listable; the same holds for Links and everything that needs a list.
func (g *Graph) Nodes() []Node {
	g.list()
	return g.nodes
}

// Links lists the links. The caller may change bandwidths and latencies in the list.
func (g *Graph) Links() []Link {
	g.list()
	return g.links
}

// NumNodes returns the number of nodes.
func (g *Graph) NumNodes() int {
	if g.isListed || g.formula == nil {
		return len(g.nodes)
	}
	nodes, _ := g.formula.size()
	return nodes
}

// NumLinks returns the number of links.
func (g *Graph) NumLinks() int {
	if g.isListed || g.formula == nil {
		return len(g.links)
	}
	_, links := g.formula.size()
	return links
}

// Node returns a node by number.
func (g *Graph) Node(v int32) Node {
	if g.isListed || g.formula == nil {
		return g.nodes[v]
	}
	n := g.formula.node(v)
	n.Name = g.place + n.Name
	return n
}

// Link returns a link by index; its name may be missing, see LinkName.
func (g *Graph) Link(i int32) Link {
	if g.isListed || g.formula == nil {
		return g.links[i]
	}
	l := g.formula.link(i)
	if len(g.changed) > 0 {
		if at, isChanged := g.find(i); isChanged {
			l.Bandwidth, l.Latency = g.changed[at].bandwidth, g.changed[at].latency
		}
	}
	return l
}

// LinkName returns the name of a link: "gpu0->switch".
func (g *Graph) LinkName(i int32) string {
	l := g.Link(i)
	return g.Node(l.From).Name + "->" + g.Node(l.To).Name
}

// Listable returns an error if the network has too many links for a list.
func (g *Graph) Listable() error {
	if n := g.NumLinks(); n > MaxLinks {
		return fmt.Errorf("a %s of %d ranks has %d links; at most %d are listed",
			g.Preset, len(g.Ranks), n, MaxLinks)
	}
	return nil
}

// Samples returns links, by index, such that every other link has the bandwidth and the latency of
// one of them that comes before it.
func (g *Graph) Samples() (samples []int32) {
	if g.isListed || g.formula == nil {
		for i := range g.links {
			samples = append(samples, int32(i))
		}
		return samples
	}
	for i := range g.changed {
		samples = append(samples, g.changed[i].link)
	}
	for _, alike := range g.formula.series() {
		for i, n := alike.first, alike.links; n > 0; i, n = i+alike.step, n-1 {
			if _, isChanged := g.find(i); !isChanged {
				samples = append(samples, i)
				break
			}
		}
	}
	slices.Sort(samples)
	return samples
}

// Alike reports whether all ranks are known to be equivalent: anything true of the routes of one is
// true of those of each. It is known under the conditions of Moves.
func (g *Graph) Alike() bool {
	return g.isPlain() && g.Routing == Shortest && g.leaving == nil && g.formula.isAlike()
}

// IsStar reports whether all ranks are around one switch, also if links are listed or changed.
func (g *Graph) IsStar() bool {
	s, ok := g.formula.(*star)
	return ok && s.hubs == 1 && g.Routing == Shortest
}

// Spokes returns a rank's links to the switch and from it: the first and the last link of its
// routes, which have no others.
//
// REQUIRES: IsStar.
func (g *Graph) Spokes(rank int32) (up, down int32) {
	return g.Ranks[rank], int32(len(g.Ranks)) + g.Ranks[rank]
}

// series is an arithmetic sequence of indices of equal links.
type series struct{ first, step, links int32 }

// one returns the series of all links.
func one(f formula) []series {
	_, links := f.size()
	return []series{{0, 1, int32(links)}}
}

// IsListed reports whether all links are in memory.
func (g *Graph) IsListed() bool { return g.isListed || g.formula == nil }

// list makes the lists of nodes and links, unless they exist.
func (g *Graph) list() {
	if g.isListed || g.formula == nil {
		return
	}
	if err := g.Listable(); err != nil {
		panic(err.Error() + ": Listable was not asked")
	}
	g.isListed = true
	if _, ok := g.formula.(*cluster); ok { // its routes are found in its parts
		g.compose()
	} else {
		nodes, links := g.formula.size()
		g.nodes, g.links = make([]Node, nodes), make([]Link, links)
		for v := range g.nodes {
			g.nodes[v] = g.formula.node(int32(v))
			g.nodes[v].Name = g.place + g.nodes[v].Name
		}
		for i := range g.links {
			l := g.formula.link(int32(i))
			l.Name = g.nodes[l.From].Name + "->" + g.nodes[l.To].Name
			g.links[i] = l
		}
	}
	for _, c := range g.changed {
		g.links[c.link].Bandwidth, g.links[c.link].Latency = c.bandwidth, c.latency
	}
	g.changed = nil
}

// Restricted returns the network with fewer ranks, on the nodes of some of its own; the other nodes
// only forward.
func (g *Graph) Restricted(ranks []int32) *Graph {
	return &Graph{Preset: g.Preset, nodes: g.Nodes(), links: g.Links(), Ranks: ranks}
}

// star is ranks around switches that are not connected: rank r is on switch r mod hubs. Links up
// have the numbers of their ranks, links down follow.
type star struct {
	ranks, hubs int32
	hub         string
	isNumbered  bool // the hubs' names
	like        Link
}

func (s *star) size() (nodes, links int) { return int(s.ranks + s.hubs), int(2 * s.ranks) }

func (s *star) node(v int32) Node {
	if v < s.ranks {
		return Node{Name: rankName(int(v))}
	}
	if s.isNumbered {
		return Node{Name: s.hub + strconv.Itoa(int(v-s.ranks)), Switch: true}
	}
	return Node{Name: s.hub, Switch: true}
}

func (s *star) link(i int32) Link {
	l := s.like
	if i < s.ranks {
		l.From, l.To, l.Port = i, s.ranks+i%s.hubs, i/s.hubs
		return l
	}
	i -= s.ranks
	l.From, l.To = s.ranks+i%s.hubs, i
	return l
}

func (s *star) route(src, dst int32, buf []int32) []int32 { return append(buf, src, s.ranks+dst) }

func (s *star) spread(src, dst int32, _ uint64, buf []int32) []int32 {
	return s.route(src, dst, buf)
}

func (s *star) apart() (from, to int32, ok bool) { return 0, 1, s.hubs > 1 && s.ranks > 1 }

func (s *star) anchor(i int32) Anchor {
	return Anchor{Kind: i / s.ranks, Rank: i % s.ranks, To: -1}
}

func (s *star) series() []series { return one(s) }

func (s *star) isAlike() bool { return s.ranks%s.hubs == 0 }

func (s *star) moves(Translation) bool { return s.hubs == 1 }

// everyPair is a link from each rank to each other: the link from i to i+d, modulo ranks, has the
// number (d−1)·ranks + i.
type everyPair struct {
	ranks int32
	like  Link
}

func (e *everyPair) size() (nodes, links int) {
	return int(e.ranks), int(e.ranks) * int(e.ranks-1)
}

func (e *everyPair) node(v int32) Node { return Node{Name: rankName(int(v))} }

func (e *everyPair) link(i int32) Link {
	l := e.like
	l.From, l.Port = i%e.ranks, i/e.ranks
	l.To = int32((int64(l.From) + int64(l.Port) + 1) % int64(e.ranks))
	return l
}

func (e *everyPair) route(src, dst int32, buf []int32) []int32 {
	d := dst - src
	if d < 0 {
		d += e.ranks
	}
	return append(buf, (d-1)*e.ranks+src)
}

func (e *everyPair) spread(src, dst int32, _ uint64, buf []int32) []int32 {
	return e.route(src, dst, buf)
}

func (e *everyPair) apart() (from, to int32, ok bool) { return 0, 0, false }

func (e *everyPair) anchor(i int32) Anchor {
	l := e.link(i)
	return Anchor{Rank: l.From, To: l.To}
}

func (e *everyPair) series() []series { return one(e) }

func (e *everyPair) isAlike() bool { return true }

func (e *everyPair) moves(Translation) bool { return true }
