package symmetry

import "slices"

// A Graph joins vertices by arcs. Each vertex has its arcs at places, from 0 on, of up to 127.
type Graph struct {
	First []int32 // of each vertex: index of its first arc; then the number of arcs
	To    []int32 // of each arc: the vertex at its other end
	Back  []int8  // of each arc: place of the opposite arc there; −1: the arc does not count
	Label []int32 // of each arc; nil: Back
}

// label returns the label of an arc.
func (g *Graph) label(arc int32) int32 {
	if g.Label == nil {
		return int32(g.Back[arc])
	}
	return g.Label[arc]
}

// Peers returns the vertices at the other ends of a vertex's arcs, by place.
func (g *Graph) Peers(v int32) []int32 { return g.To[g.First[v]:g.First[v+1]] }

// A Partition divides the vertices of a graph into classes, and these into smaller ones. It counts,
// for each class and place, which classes the arcs lead to.
//
// All members of a class have the same number of arcs.
type Partition struct {
	Graph
	Of    []int32    // class of each vertex
	Edges [][][]Edge // of each class, by place

	members [][]int32 // of each class
}

// An Edge counts the members of a class that have an arc of a label, at a place, to a class.
type Edge struct{ Class, Label, Count int32 }

// NewPartition returns the partition of a graph by the class of each vertex, of so many. It keeps
// the list of classes.
func NewPartition(g Graph, of []int32, classes int) *Partition {
	p := &Partition{Graph: g, Of: of, Edges: make([][][]Edge, classes),
		members: make([][]int32, classes)}
	size := make([]int, classes)
	for _, class := range of {
		size[class]++
	}
	for v, class := range of {
		if p.members[class] == nil {
			p.members[class] = make([]int32, 0, size[class])
			p.Edges[class] = make([][]Edge, g.First[v+1]-g.First[v])
		}
		p.members[class] = append(p.members[class], int32(v))
		for place, peer := range p.Peers(int32(v)) {
			if arc := g.First[v] + int32(place); g.Back[arc] >= 0 {
				p.count(class, int32(place), Edge{of[peer], g.label(arc), 1})
			}
		}
	}
	return p
}

// Len returns the number of classes.
func (p *Partition) Len() int { return len(p.members) }

// Members returns the vertices of a class.
func (p *Partition) Members(class int32) []int32 { return p.members[class] }

// Rep returns the first member of a class, which represents it.
func (p *Partition) Rep(class int32) int32 { return p.members[class][0] }

// Size returns the number of vertices of a class.
func (p *Partition) Size(class int32) int32 { return int32(len(p.members[class])) }

// Count returns the number of members of a class that have an arc of a label, at a place, to a
// class.
func (p *Partition) Count(class, place, to, label int32) int32 {
	for _, e := range p.Edges[class][place] {
		if e.Class == to && e.Label == label {
			return e.Count
		}
	}
	return 0
}

// count adds to what an edge counts.
func (p *Partition) count(class, place int32, more Edge) {
	list := p.Edges[class][place]
	for i := range list {
		if e := &list[i]; e.Class == more.Class && e.Label == more.Label {
			if e.Count += more.Count; e.Count == 0 {
				list[i] = list[len(list)-1]
				p.Edges[class][place] = list[:len(list)-1]
			}
			return
		}
	}
	p.Edges[class][place] = append(list, more)
}

// Divide splits a class into the members for which such returns true, and the rest. It makes the
// smaller part a new class, and returns its number.
//
// REQUIRES: such returns true for some members, and false for others.
func (p *Partition) Divide(class int32, such func(v int32) bool) (fresh int32) {
	all := p.members[class]
	end := len(all)
	for i := 0; i < end; {
		if !such(all[i]) {
			i++
			continue
		}
		end--
		all[i], all[end] = all[end], all[i]
	}
	if 2*end < len(all) {
		slices.Reverse(all)
		end = len(all) - end
	}
	return p.cut(class, end)
}

// cut makes the members of a class from an index on a new class, and returns its number.
func (p *Partition) cut(class int32, from int) (fresh int32) {
	all := p.members[class]
	fresh, moved := int32(p.Len()), all[from:]
	p.members[class] = all[:from]
	p.members = append(p.members, moved)
	for _, v := range moved {
		p.Of[v] = fresh
	}
	p.Edges = append(p.Edges, make([][]Edge, len(p.Edges[class])))
	for _, v := range moved {
		p.reconnect(v, class, fresh)
	}
	return fresh
}

// reconnect moves what edges count of a vertex from its class to the new one.
func (p *Partition) reconnect(v, class, fresh int32) {
	for place, peer := range p.Peers(v) {
		arc := p.First[v] + int32(place)
		back := int32(p.Back[arc])
		if back < 0 {
			continue
		}
		place, label, to := int32(place), p.label(arc), p.Of[peer]
		was := to
		if to == fresh {
			was = class
		}
		p.count(class, place, Edge{was, label, -1})
		p.count(fresh, place, Edge{to, label, 1})
		if to != fresh {
			label = p.label(p.First[peer] + back)
			p.count(to, back, Edge{class, label, -1})
			p.count(to, back, Edge{fresh, label, 1})
		}
	}
}

// Refine divides classes until all members of each have, at every place, arcs of one label to one
// class. The result is the coarsest such partition that refines the given one (colour refinement; a
// bisimulation). It reports false as soon as there are more than so many classes.
//
// REQUIRES: all arcs count.
func (p *Partition) Refine(most int) bool {
	if p.Len() > most {
		return false
	}
	at := make([]int32, len(p.Of)) // of each vertex: its index in its class
	for _, all := range p.members {
		for i, v := range all {
			at[v] = int32(i)
		}
	}
	var open []int32 // classes that may be mixed
	isOpen := make([]bool, most+1)
	add := func(class int32) {
		if !isOpen[class] {
			open, isOpen[class] = append(open, class), true
		}
	}
	for class := range p.members {
		add(int32(class))
	}
	for ; len(open) > 0 && p.Len() <= most; open = open[1:] {
		class := open[0]
		isOpen[class] = false
		place, e := p.mixed(class)
		if place < 0 {
			continue
		}
		all := p.members[class]
		last := int32(len(all))
		for _, v := range p.behind(class, place, e) {
			last--
			other := all[last]
			all[last], all[at[v]] = v, other
			at[v], at[other] = last, at[v]
		}
		fresh := p.cut(class, int(last))
		add(class)
		add(fresh)
		for i, v := range p.members[fresh] {
			at[v] = int32(i)
			for _, peer := range p.Peers(v) {
				add(p.Of[peer])
			}
		}
	}
	return p.Len() <= most
}

// mixed returns the first place of a class with several edges, and one that counts at most half of
// the members; −1 if there is none.
func (p *Partition) mixed(class int32) (place int32, e Edge) {
	for place, list := range p.Edges[class] {
		if len(list) > 1 {
			if list[0].Count <= list[1].Count {
				return int32(place), list[0]
			}
			return int32(place), list[1]
		}
	}
	return -1, Edge{}
}

// behind returns the members of a class that an edge at a place counts. It looks for them from the
// smaller end.
func (p *Partition) behind(class, place int32, e Edge) (list []int32) {
	if p.Size(class) <= p.Size(e.Class) {
		for _, v := range p.members[class] {
			if p.leads(v, place, e) {
				list = append(list, v)
			}
		}
		return list
	}
	for _, peer := range p.members[e.Class] {
		for arc := p.First[peer]; arc < p.First[peer+1]; arc++ {
			if v := p.To[arc]; p.Of[v] == class && int32(p.Back[arc]) == place && p.leads(v, place, e) {
				list = append(list, v)
			}
		}
	}
	return list
}

// leads reports whether an edge at a place counts a vertex of its class.
func (p *Partition) leads(v, place int32, e Edge) bool {
	arc := p.First[v] + place
	return p.Of[p.To[arc]] == e.Class && p.label(arc) == e.Label
}

// Example returns the first member of a class that an edge at a place counts.
func (p *Partition) Example(class, place int32, e Edge) int32 {
	all := p.members[class]
	return all[slices.IndexFunc(all, func(v int32) bool { return p.leads(v, place, e) })]
}

// Ordered returns the same partition with members in order, and classes by their first members.
func (p *Partition) Ordered() *Partition {
	numbers, of := Colours[int32]{}, make([]int32, len(p.Of))
	for v, class := range p.Of {
		of[v], _ = numbers.Number(class)
	}
	return NewPartition(p.Graph, of, p.Len())
}
