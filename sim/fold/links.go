package fold

import (
	"collsim/sim/model"
	"collsim/topology"
	"collsim/unit"
)

// links are those of a network that a symmetry takes to each other, as one: an orbit, of as many
// links as the symmetry has elements. Its link number 0 stands for all. Only what routes cross is
// looked at, when it is first asked for: that the routes between two ranks, and between the ranks
// that an element takes them to, cross links of the same orbits, alike and as far apart. A network
// that knows itself what moves it into itself need not be looked at but once for each orbit.
type links struct {
	sym    *symmetry
	graph  *topology.Graph
	orbits int

	moves    bool // the network knows of the symmetry
	byAnchor map[seen]int32
	places   []place // of each orbit

	// Otherwise, what has been found.
	orbit  []int32 // of each link of the graph, −1 as long as no route crosses it
	number []int32 // of each link, in its orbit
	of     []int32 // the links of each orbit, by number

	// What MaxMin wants: a link for each orbit, a route for each pair of ranks of which the first is
	// a representative. Beside each hop, how far from a route's beginning: the number of the link,
	// and the port by which what crosses it has come to it, of link 0 of the orbit.
	network model.Network
	hops    []hop
	byRanks map[[2]int32]int32
	refused bool

	all, here []int32           // routes: of all elements, and of the representative
	ordered   map[[4]int32]bool // ports, of links of orbits
}

// seen is a link's anchor, where its rank is the representative: what all links of an orbit have in
// common.
type seen struct{ kind, class, to, far int32 }

// place is where a link of an orbit is found: on a route.
type place struct {
	src, dst, hop, number int32
	isPair                bool // it belongs to two ranks
}

// hop is a link of a route.
type hop struct {
	orbit  int32
	number int32 // of the link, for the representative
	// Of the link before it on the route, where this one is number 0 of its orbit: its orbit, −1
	// where there is none, its number and its port at the node between them.
	from, before, port int32
}

func newLinks(sym *symmetry, g *topology.Graph) *links {
	l := &links{sym: sym, graph: g, moves: sym.moves(g), byRanks: map[[2]int32]int32{},
		ordered: map[[4]int32]bool{}}
	if l.moves {
		l.byAnchor = map[seen]int32{}
		return l
	}
	l.orbit, l.number = make([]int32, g.NumLinks()), make([]int32, g.NumLinks())
	for i := range l.orbit {
		l.orbit[i] = -1
	}
	return l
}

// route is the number of the route from a class's representative to a rank, −1 where the symmetry
// does not hold of it.
func (l *links) route(class, dst int32) int32 {
	key := [2]int32{class, dst}
	if r, ok := l.byRanks[key]; ok {
		return r
	}
	if !l.moves && !l.follow(class, dst) {
		l.refused = true
		l.byRanks[key] = -1
		return -1
	}
	if l.moves {
		l.here = l.graph.Route(int(l.sym.reps[class]), int(dst), l.here[:0])
	}
	n := &l.network
	r := model.Route{Src: l.sym.reps[class], Dst: dst, From: int32(len(n.Hops)),
		Slowest: unit.Unlimited, Tree: -1}
	for i, link := range l.here {
		orbit, number := l.place(link, place{src: r.Src, dst: dst, hop: int32(i)})
		h := hop{orbit: orbit, number: number, from: -1}
		if i > 0 {
			last := &l.hops[len(l.hops)-1]
			h.from = last.orbit
			h.before = l.sym.less(last.number, h.number)
			h.port = l.port(last.orbit, h.before)
		}
		n.Hops, l.hops = append(n.Hops, h.orbit), append(l.hops, h)
		r.Latency = min(r.Latency+n.Links[h.orbit].Latency, unit.Forever)
		r.Slowest = min(r.Slowest, n.Links[h.orbit].Bandwidth)
	}
	r.To = int32(len(n.Hops))
	n.Routes = append(n.Routes, r)
	l.byRanks[key] = int32(len(n.Routes) - 1)
	return l.byRanks[key]
}

// place is which orbit a link is of, and its number in it. It is the link at p.
func (l *links) place(link int32, p place) (orbit, number int32) {
	if !l.moves {
		return l.orbit[link], l.number[link]
	}
	a := l.graph.Anchor(link)
	s := seen{kind: a.Kind, to: -1}
	s.class, p.number = l.sym.place(a.Rank)
	if p.isPair = a.To >= 0; p.isPair {
		to, far := l.sym.place(a.To)
		s.to, s.far = to, l.sym.less(far, p.number)
	}
	orbit, ok := l.byAnchor[s]
	if !ok {
		orbit = int32(len(l.places))
		l.byAnchor[s] = orbit
		l.places = append(l.places, p)
		l.orbits++
		l.append(link)
	}
	return orbit, p.number
}

// append adds the link that stands for an orbit.
func (l *links) append(link int32) {
	x := l.graph.Link(link)
	l.network.Links = append(l.network.Links, model.Link{Bandwidth: x.Bandwidth,
		Latency: x.Latency})
}

// port is that of a link of an orbit.
func (l *links) port(orbit, number int32) int32 { return l.graph.Link(l.at(orbit, number)).Port }

// lowest is the link of an orbit with the lowest index. Links of one kind are numbered as their
// ranks, and so are those between two ranks unless digits are carried apart.
func (l *links) lowest(orbit int32) int32 {
	link := l.at(orbit, 0)
	if l.moves && (!l.places[orbit].isPair || len(l.sym.group) == 1) {
		return link
	}
	for n := range l.sym.elements {
		link = min(link, l.at(orbit, int32(n)))
	}
	return link
}

// at is a link of an orbit.
func (l *links) at(orbit, number int32) int32 {
	if l.moves {
		p, s := &l.places[orbit], l.sym
		move := s.elements[s.less(number, p.number)]
		l.all = l.graph.Route(int(s.group.Add(p.src, move)), int(s.group.Add(p.dst, move)), l.all[:0])
		return l.all[p.hop]
	}
	return l.of[int(orbit)*len(l.sym.elements)+int(number)]
}

// follow looks at the routes that all elements take one to, and leaves that one in here. New links
// become orbits. It reports whether the symmetry holds.
func (l *links) follow(class, dst int32) bool {
	to, far := l.sym.place(dst)
	l.all = l.all[:0]
	each := 0 // links of a route
	for e := range int32(len(l.sym.elements)) {
		l.all = l.graph.Route(int(l.sym.rank(class, e)), int(l.sym.rank(to, l.sym.sum(far, e))), l.all)
		if e == 0 {
			each = len(l.all)
		}
		if len(l.all) != (int(e)+1)*each {
			return false
		}
	}
	l.here = l.all[:each]
	for i, from := range l.here {
		if l.orbit[from] < 0 {
			l.add(from)
		}
		for e := 1; e < len(l.sym.elements); e++ {
			if !l.alike(from, l.all[e*each+i], int32(e)) {
				return false
			}
		}
	}
	return true
}

// add makes a link number 0 of a new orbit.
func (l *links) add(link int32) {
	n := len(l.of)
	l.of = append(l.of, make([]int32, len(l.sym.elements))...)
	for i := range l.of[n:] {
		l.of[n+i] = -1
	}
	l.of[n] = link
	l.orbit[link], l.number[link] = int32(l.orbits), 0
	l.orbits++
	l.append(link)
}

// alike notes that an element takes a link of an orbit to another, and reports whether that can be.
func (l *links) alike(from, to, element int32) bool {
	orbit, number := l.orbit[from], l.sym.sum(l.number[from], element)
	if l.orbit[to] >= 0 {
		return l.orbit[to] == orbit && l.number[to] == number
	}
	a, b := l.graph.Link(from), l.graph.Link(to)
	place := &l.of[int(orbit)*len(l.sym.elements)+int(number)]
	if a.Bandwidth != b.Bandwidth || a.Latency != b.Latency || *place >= 0 {
		return false
	}
	*place, l.orbit[to], l.number[to] = to, orbit, number
	return true
}

// inOrder reports whether what comes by two hops to one link is told apart by the ports that they
// come by in the same way at all links of the orbit.
func (l *links) inOrder(a, b *hop) bool {
	key := [4]int32{a.from, a.before, b.from, b.before}
	if known, ok := l.ordered[key]; ok {
		return known
	}
	same := true
	for e := range int32(len(l.sym.elements)) {
		x, y := l.port(key[0], l.sym.sum(a.before, e)), l.port(key[2], l.sym.sum(b.before, e))
		if same = (x < y) == (a.port < b.port); !same {
			break
		}
	}
	l.ordered[key] = same
	return same
}
