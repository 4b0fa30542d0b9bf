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
	p := &packing{n: n, left: slices.Clone(hops), blocked: make([]bool, len(hops))}
	for root, k := range d {
		if k > 0 {
			p.trees = append(p.trees, newTree(n.ranks, root, k))
		}
	}
	for i := 0; i < len(p.trees); i++ {
		clear(p.blocked)
		p.prepare(i)
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
	// blocked says, by hop, that none of the tree that grows can take it: what is left into some set
	// of ranks is all that the later trees without a rank in it need. That stays so while it grows.
	blocked []bool
	later   *flow // over what is left and through the later trees: see prepare
	units   int64 // of the later trees
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
			if t.Depth[y] >= 0 || p.left[h] == 0 || p.blocked[h] {
				continue
			}
			units := p.spare(i, int(h))
			if units == 0 {
				p.blocked[h] = true
				continue
			}
			p.left[h] -= units
			p.later.whole[2*h] = p.left[h]
			if units < t.Units {
				rest := t.clone()
				rest.Units -= units
				t.Units = units
				p.trees = append(p.trees, rest)
				t = &p.trees[i]
				p.prepare(i)
			}
			t.Parent[y], t.Depth[y] = x, t.Depth[x]+1
			t.order = append(t.order, int32(y))
			return true
		}
	}
	return false
}

// prepare makes the flow of spare. Its first arcs are the hops, then those from each rank to a node
// that stands for all later trees, which are closed. From there every later tree leads on to any
// rank that it has reached.
func (p *packing) prepare(i int) {
	n, others := p.n, p.trees[i+1:]
	all := n.ranks
	f := newFlow(n.ranks + 1 + len(others))
	for h, room := range p.left {
		f.add(n.hops[h].from, n.hops[h].to, room)
	}
	for rank := range n.ranks {
		f.add(rank, all, 0)
	}
	p.units = 0
	for j := range others {
		t := &others[j]
		p.units += t.Units
		if len(t.order) == 1 {
			f.add(all, t.Root, t.Units)
			continue
		}
		f.add(all, all+1+j, t.Units)
		for _, v := range t.order {
			f.add(all+1+j, int(v), t.Units)
		}
	}
	p.later = f
}

// spare returns how many units of a tree can take a hop x → y so that every later tree can still be
// completed. That is what reaches y from x, over the hops that are left and through the later
// trees, less the units of those trees.
func (p *packing) spare(i, h int) int64 {
	wanted := min(p.left[h], p.trees[i].Units)
	x, y := p.n.hops[h].from, p.n.hops[h].to
	toLater := &p.later.whole[2*(len(p.n.hops)+x)]
	*toLater = p.units
	found := p.later.run(x, y, p.units+wanted)
	*toLater = 0
	return max(0, found-p.units)
}
