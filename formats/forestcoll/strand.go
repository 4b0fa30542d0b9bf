package forestcoll

import (
	"fmt"

	"collsim/formats/internal/foreign"
)

// strand is a set of chunks of a tree that move as one.
//
// Where every pair of ranks has links of its own, all chunks of a tree are one strand. Each pair
// has a lane that serves the trees in turn, so the trees share the link in proportion to their
// chunks.
//
// Where pairs share links (at switches), the links would be shared equally by pairs, however many
// trees each serves. So each chunk is a strand with lanes of its own. If the busiest link carries n
// strands, every strand gets at least 1/n of the bottleneck's rate on each of its links. All then
// takes (tiles + levels) · n · tile / rate.
type strand struct {
	tree          int
	first, chunks int // of the root's chunks
	number, local int // index among all by root, and among those of its root
	conn          int32
}

// split makes the strands.
func (f *forest) split(d *decoder) error {
	moves := 0
	for i := range f.trees {
		t := &f.trees[i]
		if !d.shared {
			f.strands = append(f.strands, strand{tree: i, first: t.first, chunks: t.chunks})
			continue
		}
		moves += t.chunks * max(t.edges[1]-t.edges[0], 1)
		if t.chunks > maxEdges || moves > maxEdges {
			return &foreign.Error{File: d.file, Line: t.line, Text: fmt.Sprintf(
				"more than %d sends of single chunks", maxEdges)}
		}
		for c := range t.chunks {
			f.strands = append(f.strands, strand{tree: i, first: t.first + c, chunks: 1,
				conn: int32(len(f.strands))})
		}
	}
	f.number()
	if f.most*len(f.names) > maxEdges {
		return &foreign.Error{File: d.file, Text: fmt.Sprintf(
			"%d trees of one root on %d ranks are too many", f.most, len(f.names))}
	}
	return nil
}

// number numbers the strands, root by root.
func (f *forest) number() {
	perRoot := make([]int, len(f.names)+1)
	for i := range f.strands {
		s := &f.strands[i]
		root := f.trees[s.tree].root
		s.local = perRoot[root]
		perRoot[root]++
		f.most = max(f.most, perRoot[root])
	}
	before := 0
	for root, n := range perRoot {
		perRoot[root] = before
		before += n
	}
	for i := range f.strands {
		s := &f.strands[i]
		s.number = perRoot[f.trees[s.tree].root] + s.local
	}
}

// link is a link between two nodes, pair the ranks at the ends of a path. Nodes are numbered in the
// order of their appearance.
type (
	link [2]int
	pair [2]int
)

// walk records the links of a path, and whether different pairs share one.
func (d *decoder) walk(path []node) {
	if d.shared {
		return
	}
	numbers := make([]int, len(path))
	for i, n := range path {
		name := n.String()
		number, ok := d.numbers[name]
		if !ok {
			number = len(d.numbers)
			d.numbers[name] = number
		}
		numbers[i] = number
	}
	ends := pair{numbers[0], numbers[len(numbers)-1]}
	for i := 1; i < len(numbers); i++ {
		l := link{numbers[i-1], numbers[i]}
		if other, ok := d.users[l]; ok && other != ends {
			d.shared = true
			return
		}
		d.users[l] = ends
	}
}
