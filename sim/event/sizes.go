package event

import (
	"math"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// KeptSizes bounds how many sizes the blocks have that a step names which is kept, and mostCells
// how many blocks of all tiles are looked at for that.
const (
	KeptSizes = 8
	mostCells = 1 << 20
)

// sizes are those that blocks have of a buffer which is cut into several.
type sizes struct {
	known   map[model.Cutting]blockSizes
	bytes   []unit.Bytes
	classes []uint8 // of the blocks, tile by tile: which of their sizes they have
}

// blockSizes are those of a cutting's blocks, in sizes. There are none if they are too many.
type blockSizes struct {
	first, end int32 // of bytes
	classes    int32 // the first
}

// walk is which block a step that is kept names, in an iteration of its loop, and how much further
// that is in the next: one of a number of blocks, of a tile.
type walk struct {
	iteration, block, by, blocks int32
	tile, tileBy                 int32
	isTiled                      bool // else the tile stays
}

// cell returns the index of the walk's block. If the walk is tiled, the blocks of all tiles are
// numbered together, tile by tile.
func (w *walk) cell() int32 {
	if w.isTiled {
		return w.tile*w.blocks + w.block
	}
	return w.block
}

// cut locates the sizes of the blocks of a step that is kept.
type cut struct {
	first   int32 // in resolved.sizes
	classes int32 // in sizes.classes
}

// keepSizes keeps what lane i's step in e.step moves and takes, and reports whether it could. The
// sizes have to be the same in each iteration. Or, if they vary, the step has to move one block of
// a buffer that is cut in the same way on all ranks.
func (r *repeater) keepSizes(i int32, varies bool) bool {
	e := r.e
	l, s := e.lanes.at(i), &e.step
	k, parts, where := &l.step, 1, l.spot()
	k.sizes, k.cuts = k.sizes[:0], k.cuts[:0]
	if s.Moves() {
		parts = int(l.slices)
	}
	if varies {
		return r.keepBlocks(i, parts)
	}
	for where.Slice = range parts {
		n, known := e.rules.Size(where, s)
		if !known {
			return false
		}
		k.sizes = slices.Grow(k.sizes, parts-where.Slice)
		k.sizes = append(k.sizes, r.movedBy(i, n))
	}
	return true
}

// keepBlocks does what keepSizes does for a step that moves one of several blocks of different
// sizes, cut into this many slices.
func (r *repeater) keepBlocks(i int32, parts int) bool {
	e := r.e
	l, of := e.lanes.at(i), e.step.Sized()
	k := &l.step
	if of == nil || of.Buffer >= schedule.FirstTensor {
		return false
	}
	blocks := int32(e.rules.Schedule.Blocks(of.Buffer))
	k.walk = r.walkOf(l, blocks, e.programs[l.rank].ChangesTile(&l.cursor))
	key := model.Cutting{Buffer: of.Buffer, Tile: of.Tile, Channel: l.channel}
	if k.walk.isTiled {
		key.Tile = -1
	}
	k.cuts = slices.Grow(k.cuts, parts)
	for key.Slice = range int32(parts) {
		b := r.sizesOf(key)
		if b.first == b.end {
			return false
		}
		k.cuts = append(k.cuts, cut{int32(len(k.sizes)), b.classes})
		each := int(b.end - b.first) // as many in those that follow, about
		k.sizes = slices.Grow(k.sizes, (parts-int(key.Slice))*each)
		for _, n := range r.sizes.bytes[b.first:b.end] {
			k.sizes = append(k.sizes, r.movedBy(i, n))
		}
	}
	return true
}

// movedBy returns what lane i's step in e.step takes if it moves n bytes.
func (r *repeater) movedBy(i int32, n unit.Bytes) moved {
	e := r.e
	e.moved = n
	return moved{n, e.cost(i)}
}

// sizesOf returns the sizes of all blocks of a cutting; none unless they are the same on all ranks.
func (r *repeater) sizesOf(of model.Cutting) blockSizes {
	e, x := r.e, &r.sizes
	if b, known := x.known[of]; known {
		return b
	}
	if x.known == nil {
		x.known = map[model.Cutting]blockSizes{}
	}
	b := blockSizes{int32(len(x.bytes)), int32(len(x.bytes)), int32(len(x.classes))}
	most := mostCells / int64(e.rules.Schedule.Blocks(of.Buffer))
	if e.rules.TilesOf(of) <= most && len(x.classes) <= math.MaxInt32-mostCells {
		all, ok := e.rules.Classes(x.classes, of, func(n unit.Bytes) (uint8, bool) {
			class := slices.Index(x.bytes[b.first:], n)
			if class < 0 {
				class = len(x.bytes) - int(b.first)
				x.bytes = append(x.bytes, n)
			}
			return uint8(class), class < KeptSizes
		})
		if ok {
			x.classes = all
		} else {
			x.bytes = x.bytes[:b.first]
		}
	}
	b.end = int32(len(x.bytes))
	x.known[of] = b
	return b
}

// moves returns what a lane's present sub-step moves and takes, for a step that is kept.
func (r *repeater) moves(l *lane) *moved {
	if len(l.step.cuts) > 0 {
		return r.movesBlock(l)
	}
	return &l.step.sizes[l.cursor.Slice()]
}

func (r *repeater) movesBlock(l *lane) *moved {
	k := &l.step
	w := &k.walk
	switch l.cursor.Iteration() - w.iteration {
	case 0:
	case 1:
		w.iteration++
		w.tile += w.tileBy
		if w.block += w.by; w.block >= w.blocks {
			w.block -= w.blocks
		}
	default: // the loop has begun again
		*w = r.walkOf(l, w.blocks, w.isTiled)
	}
	of := &k.cuts[l.cursor.Slice()]
	return &k.sizes[of.first+int32(r.sizes.classes[of.classes+w.cell()])]
}

// walkOf returns the walk of a lane's present step through this many blocks, or from tile to tile.
func (r *repeater) walkOf(l *lane, blocks int32, isTiled bool) walk {
	e := r.e
	p, c := e.programs[l.rank], l.cursor
	w := walk{iteration: c.Iteration(), blocks: blocks, isTiled: isTiled}
	w.tile, w.block = p.SizedBlock(&c)
	switch _, follow := c.Around(); {
	case len(e.rules.Schedule.Group) > 1: // each block is translated for itself, digit by digit
		w.iteration = -2
	case follow > 0:
		c.Skip(1, 0)
		tile, block := p.SizedBlock(&c)
		w.tileBy, w.by = tile-w.tile, (block-w.block+blocks)%blocks
	}
	return w
}
