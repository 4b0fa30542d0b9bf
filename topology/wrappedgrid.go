package topology

import "slices"

// wrapped is the formula of a grid with wraparound. Its links come in blocks, each with one link of
// every rank. A dimension has a block to the next coordinate, then one to the coordinate before,
// unless that is the same.
type wrapped struct {
	ranks int32
	dims  []dimension
	like  Link
}

// dimension is a dimension of a grid: the coordinate is v / stride modulo size.
type dimension struct {
	stride, size int32
	block        int32 // first link to the next coordinate
}

// by returns the node that is so many coordinates further, around the end.
func (d dimension) by(v, step int32) int32 {
	return Translation{Size: d.size, Weight: d.stride, Step: step}.Of(v)
}

// newWrapped returns the grid of dimensions, in the order of their links. Dimensions of one
// coordinate have none.
func newWrapped(ranks int32, like Link, dims ...dimension) *wrapped {
	w := &wrapped{ranks: ranks, like: like}
	block := int32(0)
	for _, d := range dims {
		if d.size < 2 {
			continue
		}
		d.block = block
		if block++; d.size > 2 {
			block++
		}
		w.dims = append(w.dims, d)
	}
	return w
}

func (w *wrapped) blocks() int32 {
	if len(w.dims) == 0 {
		return 0
	}
	last := w.dims[len(w.dims)-1]
	return last.block + min(last.size-1, 2)
}

func (w *wrapped) size() (nodes, links int) {
	return int(w.ranks), int(w.ranks) * int(w.blocks())
}

func (w *wrapped) node(v int32) Node { return Node{Name: rankName(int(v))} }

func (w *wrapped) link(i int32) Link {
	block, v := i/w.ranks, i%w.ranks
	at := 0
	for at+1 < len(w.dims) && w.dims[at+1].block <= block {
		at++
	}
	d, l := w.dims[at], w.like
	step := int32(1)
	if block > d.block {
		step = d.size - 1
	}
	l.From, l.To, l.Port = v, d.by(v, step), block
	return l
}

// route corrects one dimension after the other; halfway round it goes to the next coordinate.
func (w *wrapped) route(src, dst int32, buf []int32) []int32 {
	for _, d := range w.dims {
		ahead := (dst/d.stride%d.size - src/d.stride%d.size + d.size) % d.size
		block, step := d.block, int32(1)
		if ahead > d.size/2 {
			ahead, block, step = d.size-ahead, d.block+1, d.size-1
		}
		for range ahead {
			buf = append(buf, block*w.ranks+src)
			src = d.by(src, step)
		}
	}
	return buf
}

func (w *wrapped) spread(src, dst int32, seed uint64, buf []int32) []int32 {
	for src != dst {
		p := pick{seed: seed, best: -1}
		for _, d := range w.dims {
			ahead := (dst/d.stride%d.size - src/d.stride%d.size + d.size) % d.size
			if ahead > 0 && ahead <= d.size/2 {
				p.try(d.block*w.ranks + src)
			}
			if ahead >= d.size-d.size/2 && d.size > 2 {
				p.try((d.block+1)*w.ranks + src)
			}
		}
		buf = append(buf, p.best)
		src = w.link(p.best).To
	}
	return buf
}

func (w *wrapped) apart() (from, to int32, ok bool) { return 0, 0, false }

func (w *wrapped) anchor(i int32) Anchor {
	return Anchor{Kind: i / w.ranks, Rank: i % w.ranks, To: -1}
}

func (w *wrapped) series() []series { return one(w) }

func (w *wrapped) isAlike() bool { return true }

// moves accepts translations of a single coordinate.
func (w *wrapped) moves(t Translation) bool {
	return slices.ContainsFunc(w.dims, func(d dimension) bool {
		return int64(t.Size)*int64(t.Weight) == int64(d.size)*int64(d.stride) &&
			int64(t.Step)*int64(t.Weight)%int64(d.stride) == 0
	})
}
