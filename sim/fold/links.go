package fold

import (
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/topology"
	"collsim/unit"
)

// links are those of a network that a symmetry takes to each other, as one: an orbit, of as many
// links as the symmetry has elements. Its link number 0 stands for all. Only what routes cross is
// looked at, when it is first asked for: that the routes between two ranks, and between the ranks
// that an element takes them to, cross links of the same orbits, alike and as far apart. A network
// that knows itself what moves it into itself need not be looked at but once for each orbit.
type links struct {
	sym    *symmetry.Subgroup
	graph  *topology.Graph
	orbits int

	moves    bool // the network knows of the symmetry
	byAnchor map[model.Alikeness]int32
	places   []place // of each orbit

	// Otherwise, what has been found.
	orbit  []int32 // of each link of the graph, −1 as long as no route crosses it
	number []int32 // of each link, in its orbit
	of     []int32 // the links of each orbit, by number

	// What MaxMin wants: a link for each orbit, and routes from representatives to ranks, as long as
	// somebody uses them. Hops are the same on many routes: each is kept once, and beside each orbit
	// of network.Hops stands in path which it is.
	network model.Network
	path    []int32
	hops    []hop
	byLinks map[[2]int32]int32 // hops, by the link before, −1 where there is none, and the link
	unused  [][]int32          // routes, by the number of their links

	all, here []int32           // routes: of all elements, and of the representative
	ordered   map[[4]int32]bool // ports, of links of orbits
}

// place locates a link of an orbit: hop is its index on the route from src to dst, and number its
// number in the orbit.
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

func newLinks(sym *symmetry.Subgroup, g *topology.Graph, moves bool) *links {
	l := &links{sym: sym, graph: g, moves: moves, byLinks: map[[2]int32]int32{},
		ordered: map[[4]int32]bool{}}
	if l.moves {
		l.byAnchor = map[model.Alikeness]int32{}
		return l
	}
	l.orbit, l.number = make([]int32, g.NumLinks()), make([]int32, g.NumLinks())
	for i := range l.orbit {
		l.orbit[i] = -1
	}
	return l
}

// holds reports whether the symmetry holds of the route from a class's representative to a rank,
// whose hops are known from then on.
func (l *links) holds(class, dst int32) bool {
	if !l.moves && !l.follow(class, dst) {
		return false
	}
	l.look(l.sym.Reps[class], dst)
	return true
}

// look finds the links from a rank to another, and their hops.
func (l *links) look(src, dst int32) {
	l.here = l.graph.Route(int(src), int(dst), l.here[:0])
	before := int32(-1)
	for i, link := range l.here {
		key := [2]int32{before, link}
		h, known := l.byLinks[key]
		if !known {
			from := int32(-1)
			if i > 0 {
				from = l.here[i-1]
			}
			h = int32(len(l.hops))
			l.hops = append(l.hops, l.hop(from, place{src: src, dst: dst, hop: int32(i)}, link))
			l.byLinks[key] = h
		}
		before, l.here[i] = link, h
	}
}

// hop describes a link of a route that is found at p. It comes after the hop from, −1 for none.
func (l *links) hop(from int32, p place, link int32) hop {
	orbit, number := l.place(link, p)
	h := hop{orbit: orbit, number: number, from: -1}
	if from >= 0 {
		last := &l.hops[from]
		h.from = last.orbit
		h.before = l.sym.Sub(last.number, h.number)
		h.port = l.port(last.orbit, h.before)
	}
	return h
}

// route enters the route from a class's representative to a rank, and returns its number.
//
// REQUIRES: holds has reported true.
func (l *links) route(class, dst int32) int32 {
	n := &l.network
	src := l.sym.Reps[class]
	l.look(src, dst)
	number, isNew := l.take(len(l.here))
	if isNew {
		at := int32(len(n.Hops))
		n.Hops = append(n.Hops, l.here...)
		l.path = append(l.path, l.here...)
		n.Routes = append(n.Routes, model.Route{From: at, To: at + int32(len(l.here)), Tree: -1})
	}
	r := &n.Routes[number]
	r.Src, r.Dst, r.Latency, r.Slowest = src, dst, 0, unit.Unlimited
	for i, h := range l.here {
		orbit := l.hops[h].orbit
		n.Hops[r.From+int32(i)], l.path[r.From+int32(i)] = orbit, h
		r.Latency = min(r.Latency+n.Links[orbit].Latency, unit.Forever)
		r.Slowest = min(r.Slowest, n.Links[orbit].Bandwidth)
	}
	return number
}

// take returns the number of an unused route of this many links, or that of a new route.
func (l *links) take(links int) (number int32, isNew bool) {
	if links < len(l.unused) {
		if all := l.unused[links]; len(all) > 0 {
			l.unused[links] = all[:len(all)-1]
			return all[len(all)-1], false
		}
	}
	return int32(len(l.network.Routes)), true
}

// forget says that nobody uses a route any more: its number may be that of another from now on.
func (l *links) forget(route int32) {
	r := &l.network.Routes[route]
	links := int(r.To - r.From)
	for len(l.unused) <= links {
		l.unused = append(l.unused, nil)
	}
	l.unused[links] = append(l.unused[links], route)
}

// onPath returns a hop by its index among the hops of all routes.
func (l *links) onPath(i int32) *hop { return &l.hops[l.path[i]] }

// place returns the orbit of a link, and the link's number in it. p is a place where the link is
// found; if the link begins a new orbit, the orbit keeps p.
func (l *links) place(link int32, p place) (orbit, number int32) {
	if !l.moves {
		return l.orbit[link], l.number[link]
	}
	s, number := model.AlikenessOf(l.graph, l.sym, link)
	p.number, p.isPair = number, s.To >= 0
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
	if l.moves { // it may be a link that was changed
		x = l.graph.Base(link)
	}
	l.network.Links = append(l.network.Links, model.Link{Bandwidth: x.Bandwidth,
		Latency: x.Latency})
}

// port returns the port number of a link of an orbit.
func (l *links) port(orbit, number int32) int32 { return l.graph.Link(l.at(orbit, number)).Port }

// lowest returns the link of an orbit with the lowest index. Links of one kind are numbered in the
// order of their ranks, so that it is number 0. Links between two ranks are an exception if the
// group has several digits, since digits do not carry into each other.
func (l *links) lowest(orbit int32) int32 {
	link := l.at(orbit, 0)
	if l.moves && (!l.places[orbit].isPair || len(l.sym.Group) == 1) {
		return link
	}
	for n := range l.sym.Elements {
		link = min(link, l.at(orbit, int32(n)))
	}
	return link
}

// at returns the index of a link in the network, by its orbit and its number there.
func (l *links) at(orbit, number int32) int32 {
	if l.moves {
		p, s := &l.places[orbit], l.sym
		move := s.Elements[s.Sub(number, p.number)]
		l.all = l.graph.Route(int(s.Group.Add(p.src, move)), int(s.Group.Add(p.dst, move)), l.all[:0])
		return l.all[p.hop]
	}
	return l.of[int(orbit)*len(l.sym.Elements)+int(number)]
}

// follow looks at the routes that all elements take one to. New links become orbits. It reports
// whether the symmetry holds.
func (l *links) follow(class, dst int32) bool {
	to, far := l.sym.Place(dst)
	l.all = l.all[:0]
	each := 0 // links of a route
	for e := range int32(len(l.sym.Elements)) {
		l.all = l.graph.Route(int(l.sym.Rank(class, e)), int(l.sym.Rank(to, l.sym.Add(far, e))), l.all)
		if e == 0 {
			each = len(l.all)
		}
		if len(l.all) != (int(e)+1)*each {
			return false
		}
	}
	for i, from := range l.all[:each] {
		if l.orbit[from] < 0 {
			l.add(from)
		}
		for e := 1; e < len(l.sym.Elements); e++ {
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
	l.of = append(l.of, make([]int32, len(l.sym.Elements))...)
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
	orbit, number := l.orbit[from], l.sym.Add(l.number[from], element)
	if l.orbit[to] >= 0 {
		return l.orbit[to] == orbit && l.number[to] == number
	}
	a, b := l.graph.Link(from), l.graph.Link(to)
	place := &l.of[int(orbit)*len(l.sym.Elements)+int(number)]
	if a.Bandwidth != b.Bandwidth || a.Latency != b.Latency || *place >= 0 {
		return false
	}
	*place, l.orbit[to], l.number[to] = to, orbit, number
	return true
}

// inOrder reports whether the ports of two hops to one link have the same order at all links of the
// orbit. Among requests of one time, the port decides which comes first.
func (l *links) inOrder(a, b *hop) bool {
	key := [4]int32{a.from, a.before, b.from, b.before}
	if known, ok := l.ordered[key]; ok {
		return known
	}
	same := true
	for e := range int32(len(l.sym.Elements)) {
		x, y := l.port(key[0], l.sym.Add(a.before, e)), l.port(key[2], l.sym.Add(b.before, e))
		if same = (x < y) == (a.port < b.port); !same {
			break
		}
	}
	l.ordered[key] = same
	return same
}
