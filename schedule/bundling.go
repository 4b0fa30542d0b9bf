package schedule

import (
	"slices"

	"collsim/kernel"
)

// A bundler collects lanes. Lanes that differ by constant strides become one bundle.
type bundler struct {
	last    alike // the bundle that the next lane may join
	written code  // the bundles before it
	compact *compactor
}

// alike is a bundle under construction.
type alike struct {
	bundle
	knots []knot // with strides from lane to lane if there are two lanes or more
}

// add appends a lane. It returns nodes that are no longer used, for reuse.
func (b *bundler) add(channel int32, knots []knot, mods *moduli) (unused []knot) {
	r, g := roll{mods: mods}, &b.last
	switch {
	case g.count == 1 && r.alike(g.knots, knots):
		g.knots, unused = stride(g.knots, knots, mods), knots
		g.channelStride = channel - g.channel
	case g.count > 1 && g.channel+g.count*g.channelStride == channel &&
		r.continues(g.knots, knots, g.count):
		unused = knots
	default:
		b.finish()
		unused = g.knots
		*g = alike{bundle{first: b.written.lanes, channel: channel}, knots}
	}
	g.count++
	b.written.lanes++
	return unused
}

// finish writes the last bundle.
func (b *bundler) finish() {
	g, c := &b.last, &b.written
	if g.count == 0 {
		return
	}
	g.from = int32(len(c.nodes))
	b.flatten(g.knots, g.count > 1)
	g.to = int32(len(c.nodes))
	c.bundles = append(c.bundles, g.bundle)
}

// code returns the collected lanes as flat code.
func (b *bundler) code() *code {
	b.finish()
	return &b.written
}

// clone returns a copy in memory of its size.
func (c *code) clone() *code {
	return &code{bundles: slices.Clone(c.bundles), nodes: slices.Clone(c.nodes),
		leaves: slices.Clone(c.leaves), lanes: c.lanes, numbers: slices.Clone(c.numbers),
		kernels: slices.Clone(c.kernels)}
}

// emptied returns a code without lanes, in the memory of one that is not used any more.
func (c *code) emptied() code {
	return code{bundles: c.bundles[:0], nodes: c.nodes[:0], leaves: c.leaves[:0],
		numbers: c.numbers[:0], kernels: c.kernels[:0]}
}

// flatten appends nodes and leaves for knots.
func (b *bundler) flatten(knots []knot, bundled bool) {
	c := &b.written
	for i := range knots {
		k := &knots[i]
		at := len(c.nodes)
		if k.step == nil {
			c.nodes = append(c.nodes, node{leaf: -1, count: k.count})
			b.flatten(k.body, bundled)
			c.nodes[at].size = int32(len(c.nodes) - at - 1)
			continue
		}
		if b.compact != nil && !bundled && len(k.strides) == 0 {
			c.nodes = append(c.nodes, b.compact.node(c, k))
			continue
		}
		l := leaf{step: k.step.clone(), moves: k.step.Moves()}
		l.step.shift(k.values, 1)
		if !bundled {
			l.strides = append(l.strides, nil)
		}
		for _, s := range k.strides {
			l.strides = append(l.strides, nonzero(s))
		}
		c.nodes = append(c.nodes, node{leaf: int32(len(c.leaves))})
		c.leaves = append(c.leaves, l)
	}
}

// nonzero returns a stride, or nil if it is all zeros.
func nonzero(s []int32) []int32 {
	for _, x := range s {
		if x != 0 {
			return s
		}
	}
	return nil
}

// A compactor writes steps that are in no loop, and alone in their bundle, as numbers: variables,
// tags and kernels. Steps that differ in these alone share a leaf. So a long program that repeats
// little consists of such numbers.
type compactor struct {
	leaves  map[outline][]int32  // of the code
	kernels map[*kernel.Op]int32 // places in the code's
}

// outline distinguishes steps that cannot share a leaf, but for collisions of hashes.
type outline struct {
	shape    uint64
	computes bool
}

// newCompactor has written nothing yet.
func newCompactor() *compactor {
	return &compactor{map[outline][]int32{}, map[*kernel.Op]int32{}}
}

// node appends the numbers of a step to a code, and returns its node. The step of the knot is
// changed.
func (w *compactor) node(c *code, k *knot) node {
	if len(c.numbers) == 0 {
		c.numbers = append(c.numbers, 0) // place 0 stands for no numbers
	}
	n := node{count: int32(len(c.numbers))}
	c.numbers = append(c.numbers, k.values...)
	k.step.tags(func(tag *int32) {
		c.numbers = append(c.numbers, *tag)
		*tag = 0
	})
	op := k.step.Kernel
	if op != nil {
		place, known := w.kernels[op]
		if !known {
			place = int32(len(c.kernels))
			w.kernels[op], c.kernels = place, append(c.kernels, op)
		}
		c.numbers = append(c.numbers, place)
		k.step.Kernel = nil
	}
	like := outline{k.step.shape(), op != nil}
	for _, i := range w.leaves[like] {
		other := c.leaves[i].step
		if other.Kernel = nil; other.equal(k.step) {
			n.leaf = i
			return n
		}
	}
	n.leaf = int32(len(c.leaves))
	w.leaves[like] = append(w.leaves[like], n.leaf)
	l := leaf{step: k.step.clone()}
	l.step.Kernel = op // the first of those to come
	l.moves = l.step.Moves()
	c.leaves = append(c.leaves, l)
	return n
}
