package topology

import (
	"fmt"
	"slices"
	"strconv"
)

// formula is a network whose nodes, links and routes follow from their numbers. A graph that has
// one keeps no list of them until somebody asks for the list.
type formula interface {
	size() (nodes, links int)
	node(v int32) Node
	link(i int32) Link // without its name
	// route appends the links from one rank's node to another's.
	route(src, dst int32, buf []int32) []int32
	// apart is two nodes of ranks that do not reach each other, if there are some.
	apart() (from, to int32, ok bool)
	anchor(i int32) Anchor
	moves(t Translation) bool
	series() []series
	isAlike() bool
}

// spreader is a formula that knows the routes of pairs of a hash, too: those of ECMP.
type spreader interface {
	spread(src, dst int32, seed uint64, buf []int32) []int32
}

// MaxNumbered is how many links of a network can be numbered: one that is not listed may have more
// than MaxLinks.
const MaxNumbered = 1<<31 - 1

// Translation moves ranks in one digit of their numbers: of a digit of Size values that counts
// Weight it adds Step, modulo Size.
type Translation struct{ Size, Weight, Step int32 }

// Of is where a rank comes to.
func (t Translation) Of(rank int32) int32 {
	digit := rank / t.Weight % t.Size
	return rank + ((digit+t.Step)%t.Size-digit)*t.Weight
}

// Anchor is a link as it is seen from ranks: who moves these moves it. Two links of a kind whose
// ranks are moved to each other are moved to each other.
type Anchor struct {
	Kind     int32
	Rank, To int32 // To is −1 of a link that belongs to one rank alone
}

// Moves reports whether a translation of the ranks is known to move the network into itself: it
// takes every link to one of the same bandwidth and latency, the route of every pair of ranks,
// link by link, to that of the pair which it takes them to, and the Anchor of every link to that
// of where it takes the link. It is known of networks of which no link was changed and nobody has
// asked for a list of links, as anything may have been changed in that.
func (g *Graph) Moves(t Translation) bool { return g.isPlain() && g.MovesBut(t) }

// MovesBut reports the same of a network of which links may have been changed: of the network as it
// was before, which is Base and all but Changes.
func (g *Graph) MovesBut(t Translation) bool {
	return g.formula != nil && g.Routing == Shortest && g.leaving == nil && g.formula.moves(t) &&
		g.isInOrder()
}

// isInOrder reports whether ranks are on the nodes of their numbers.
func (g *Graph) isInOrder() bool {
	for rank, node := range g.Ranks {
		if int(node) != rank {
			return false
		}
	}
	return true
}

// Anchor is a link as it is seen from ranks.
//
// REQUIRES: Moves, or MovesBut, has reported true.
func (g *Graph) Anchor(link int32) Anchor { return g.formula.anchor(link) }

// Base is a link by index as it was before anything was changed; its name may be left out.
//
// REQUIRES: Moves, or MovesBut, has reported true.
func (g *Graph) Base(i int32) Link { return g.formula.link(i) }

// Nodes lists the nodes: first those of the ranks, in order of rank but for Params.Order; then
// switches.
//
// REQUIRES: Listable; and so do Links and whatever needs a list.
func (g *Graph) Nodes() []Node {
	g.list()
	return g.nodes
}

// Links lists the links. Bandwidths and latencies may be changed in the list.
func (g *Graph) Links() []Link {
	g.list()
	return g.links
}

// NumNodes is how many nodes there are.
func (g *Graph) NumNodes() int {
	if g.isListed || g.formula == nil {
		return len(g.nodes)
	}
	nodes, _ := g.formula.size()
	return nodes
}

// NumLinks is how many links there are.
func (g *Graph) NumLinks() int {
	if g.isListed || g.formula == nil {
		return len(g.links)
	}
	_, links := g.formula.size()
	return links
}

// Node is a node by number.
func (g *Graph) Node(v int32) Node {
	if g.isListed || g.formula == nil {
		return g.nodes[v]
	}
	n := g.formula.node(v)
	n.Name = g.place + n.Name
	return n
}

// Link is a link by index; its name may be left out, and is LinkName.
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

// LinkName is the name of a link: "gpu0->switch".
func (g *Graph) LinkName(i int32) string {
	l := g.Link(i)
	return g.Node(l.From).Name + "->" + g.Node(l.To).Name
}

// Listable says why a network has no list of its links: it has too many.
func (g *Graph) Listable() error {
	if n := g.NumLinks(); n > MaxLinks {
		return fmt.Errorf("topology: a %s of %d ranks has %d links; at most %d are listed",
			g.Preset, len(g.Ranks), n, MaxLinks)
	}
	return nil
}

// Samples are links, by index, of which each other link has the bandwidth and the latency of one
// that comes before it.
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

// Alike reports whether it is known that all ranks see the same: whatever is so of the routes of
// one is so of those of each. It is known as Moves is.
func (g *Graph) Alike() bool {
	return g.isPlain() && g.Routing == Shortest && g.leaving == nil && g.formula.isAlike()
}

// IsStar reports whether all ranks are around one switch: also if somebody has asked for the list
// of links, or changed some.
func (g *Graph) IsStar() bool {
	s, ok := g.formula.(*star)
	return ok && s.hubs == 1 && g.Routing == Shortest
}

// Spokes are a rank's links to the switch and from it: the first and the last of all its routes,
// which have no others.
//
// REQUIRES: IsStar.
func (g *Graph) Spokes(rank int32) (up, down int32) {
	return g.Ranks[rank], int32(len(g.Ranks)) + g.Ranks[rank]
}

// series is so many links that are alike, by index, each so many after the one before.
type series struct{ first, step, links int32 }

// one is the series of all links.
func one(f formula) []series {
	_, links := f.size()
	return []series{{0, 1, int32(links)}}
}

// IsListed reports whether all links are in memory.
func (g *Graph) IsListed() bool { return g.isListed || g.formula == nil }

// list lists nodes and links, if they are not.
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

// Restricted is the network with other ranks, on the nodes of some of its own: all others only
// forward.
func (g *Graph) Restricted(ranks []int32) *Graph {
	return &Graph{Preset: g.Preset, nodes: g.Nodes(), links: g.Links(), Ranks: ranks}
}

// star is ranks around switches that are not linked: rank r hangs on switch r mod hubs. Links up
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

// everyPair is a link from each rank to each other: that from i to i+d, modulo ranks, has the
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
