package synth

import (
	"cmp"
	"errors"
	"slices"
)

// A Tree is a spanning tree of the ranks, down which a part of its root's block goes.
type Tree struct {
	Root  int
	Units int64 // parts that it carries, of as many as there are trees of its root
	// Parent is, by rank, the rank before it on the way from the root; −1 for the root.
	Parent []int32
	// Depth is, by rank, how many hops the root is away.
	Depth []int32
}

// pack finds spanning trees of a demand in hops that hold it. It makes one tree after the other and
// adds a hop to it only if what is left still holds the other trees (Bérczi and Frank 2010;
// Schrijver, "Combinatorial Optimization", §53.3). Equal trees of a root are one, as long as all
// can go the same way. Of the hops that can be added the one nearest to the root is, so that trees
// are shallow.
func (n *network) pack(d demand, hops []int64) ([]Tree, error) {
	p := &packing{n: n, left: slices.Clone(hops)}
	for root, k := range d {
		if k > 0 {
			p.trees = append(p.trees, newTree(n.ranks, root, k))
		}
	}
	for i := 0; i < len(p.trees); i++ {
		for len(p.trees[i].order) < n.ranks {
			if !p.grow(i) {
				return nil, errors.New("no hop can be added to a tree")
			}
		}
	}
	trees := make([]Tree, len(p.trees))
	for i, t := range p.trees {
		trees[i] = t.Tree
	}
	slices.SortStableFunc(trees, func(a, b Tree) int { return cmp.Compare(a.Root, b.Root) })
	return trees, nil
}

// A packing is the state of pack: trees before the one that grows are complete.
type packing struct {
	n     *network
	left  []int64 // by hop
	trees []growing
}

// A growing tree has the ranks that it has reached, in the order in which it did.
type growing struct {
	Tree
	order []int32
}

// newTree returns a tree of its root alone.
func newTree(ranks, root int, units int64) growing {
	t := growing{Tree{root, units, slices.Repeat([]int32{-1}, ranks),
		slices.Repeat([]int32{-1}, ranks)}, []int32{int32(root)}}
	t.Depth[root] = 0
	return t
}

// clone returns a tree that grows by itself.
func (t growing) clone() growing {
	t.Parent, t.Depth, t.order = slices.Clone(t.Parent), slices.Clone(t.Depth), slices.Clone(t.order)
	return t
}

// grow adds a hop to a tree. If fewer units than the tree has can take it, the others become a tree
// of their own. It reports false if no hop can be added.
func (p *packing) grow(i int) bool {
	t := &p.trees[i]
	for _, x := range t.order {
		for _, h := range p.n.at[x] {
			y := p.n.hops[h].to
			if t.Depth[y] >= 0 || p.left[h] == 0 {
				continue
			}
			units := p.spare(i, int(h))
			if units == 0 {
				continue
			}
			if units < t.Units {
				rest := t.clone()
				rest.Units -= units
				t.Units = units
				p.trees = append(p.trees, rest)
				t = &p.trees[i]
			}
			p.left[h] -= units
			t.Parent[y], t.Depth[y] = x, t.Depth[x]+1
			t.order = append(t.order, int32(y))
			return true
		}
	}
	return false
}

// spare returns how many units of a tree can take a hop x → y so that every later tree can still be
// completed. That is what reaches y from x, over the hops that are left and, through each later
// tree, from any rank that this has reached, less the units of those trees.
func (p *packing) spare(i, h int) int64 {
	n, others := p.n, p.trees[i+1:]
	wanted := min(p.left[h], p.trees[i].Units)
	x, y := n.hops[h].from, n.hops[h].to
	f := newFlow(n.ranks + len(others))
	for j, room := range p.left {
		if room > 0 {
			f.add(n.hops[j].from, n.hops[j].to, room)
		}
	}
	all := int64(0)
	for j := range others {
		t := &others[j]
		all += t.Units
		if len(t.order) == 1 { // the root alone
			if t.Root != x {
				f.add(x, t.Root, t.Units)
				continue
			}
		}
		f.add(x, n.ranks+j, t.Units)
		for _, v := range t.order {
			f.add(n.ranks+j, int(v), t.Units)
		}
	}
	return max(0, f.run(x, y, all+wanted)-all)
}
