package event

import (
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// mostSizes bounds how many sizes the blocks have that a step names which is kept.
const mostSizes = 8

// cutting is what sizes of blocks depend on, besides the block.
type cutting struct {
	buffer               schedule.Buffer
	tile, channel, slice int32
}

// sizes are those that blocks have of a buffer which is cut into several.
type sizes struct {
	known   map[cutting]blockSizes
	bytes   []unit.Bytes
	classes []uint8 // of the blocks: which of their sizes they have
}

// blockSizes are those of a cutting's blocks, in sizes. There are none if they are too many.
type blockSizes struct {
	first, end int32 // of bytes
	classes    int32 // the first
}

// walk is which block a step that is kept names, in an iteration of its loop, and how many further
// that is in the next.
type walk struct{ iteration, block, by, blocks int32 }

// cut is where the sizes are, among those of a step that is kept, that its blocks have.
type cut struct {
	first   int32 // in resolved.sizes
	classes int32 // in sizes.classes
}

// keepSizes keeps what lane i's step in e.step moves and takes, if it can be told: the same in each
// iteration or, if it varies, what one block has of a buffer that is cut in one way on all ranks.
func (e *engine) keepSizes(i int32, varies bool) bool {
	l, s := &e.lanes[i], &e.step
	k, parts, where := &l.step, 1, l.spot()
	k.sizes, k.cuts = k.sizes[:0], k.cuts[:0]
	if s.Moves() {
		parts = int(l.slices)
	}
	if varies {
		return e.keepBlocks(i, parts)
	}
	k.sizes = slices.Grow(k.sizes, parts)
	for where.Slice = range parts {
		n, known := e.rules.Size(where, s)
		if !known {
			return false
		}
		k.sizes = append(k.sizes, e.movedBy(i, n))
	}
	return true
}

// keepBlocks is keepSizes of so many slices whose sizes vary.
func (e *engine) keepBlocks(i int32, parts int) bool {
	l, of := &e.lanes[i], e.step.Sized()
	k, where := &l.step, l.spot()
	if of == nil || of.Buffer >= schedule.FirstTensor {
		return false
	}
	k.walk = e.walkOf(l, int32(e.rules.Schedule.Blocks(of.Buffer)))
	k.cuts = slices.Grow(k.cuts, parts)
	for where.Slice = range parts {
		b := e.sizesOf(where, of)
		if b.first == b.end {
			return false
		}
		k.cuts = append(k.cuts, cut{int32(len(k.sizes)), b.classes})
		each := int(b.end - b.first) // as many in those that follow, about
		k.sizes = slices.Grow(k.sizes, (parts-where.Slice)*each)
		for _, n := range e.sizes.bytes[b.first:b.end] {
			k.sizes = append(k.sizes, e.movedBy(i, n))
		}
	}
	return true
}

// movedBy is what lane i's step in e.step takes if it moves n bytes.
func (e *engine) movedBy(i int32, n unit.Bytes) moved {
	e.moved = n
	return moved{n, e.cost(i)}
}

// sizesOf are those of all blocks in place of a region's.
func (e *engine) sizesOf(where schedule.Spot, of *schedule.Region) blockSizes {
	x, s := &e.sizes, e.rules.Schedule
	key := cutting{of.Buffer, of.Tile, int32(where.Channel), int32(where.Slice)}
	if b, known := x.known[key]; known {
		return b
	}
	b := blockSizes{int32(len(x.bytes)), int32(len(x.bytes)), int32(len(x.classes))}
	one := *of
	for one.First = range int32(s.Blocks(of.Buffer)) {
		n := e.rules.SizeOf(where, &one)
		class := slices.Index(x.bytes[b.first:], n)
		if class < 0 {
			class = len(x.bytes) - int(b.first)
			x.bytes = append(x.bytes, n)
		}
		if class == mostSizes || one.First == 0 && !s.EvenRanks(of.Buffer) {
			x.bytes, x.classes = x.bytes[:b.first], x.classes[:b.classes]
			break
		}
		x.classes = append(x.classes, uint8(class))
	}
	if x.known == nil {
		x.known = map[cutting]blockSizes{}
	}
	b.end = int32(len(x.bytes))
	x.known[key] = b
	return b
}

// movesAgain is what the sub-step moves and takes to which a lane has come, of a step that is kept.
func (e *engine) movesAgain(l *lane) *moved {
	if len(l.step.cuts) > 0 {
		return e.movesBlock(l)
	}
	return &l.step.sizes[l.cursor.Slice()]
}

func (e *engine) movesBlock(l *lane) *moved {
	k := &l.step
	w := &k.walk
	switch l.cursor.Iteration() - w.iteration {
	case 0:
	case 1:
		w.iteration++
		if w.block += w.by; w.block >= w.blocks {
			w.block -= w.blocks
		}
	default: // the loop has begun again
		*w = e.walkOf(l, w.blocks)
	}
	of := &k.cuts[l.cursor.Slice()]
	return &k.sizes[of.first+int32(e.sizes.classes[of.classes+w.block])]
}

// walkOf is the walk of the step to which a lane has come, through so many blocks.
func (e *engine) walkOf(l *lane, blocks int32) walk {
	p, c := e.programs[l.rank], l.cursor
	w := walk{iteration: c.Iteration(), block: p.SizedBlock(&c), blocks: blocks}
	switch _, follow := c.Around(); {
	case len(e.rules.Schedule.Group) > 1: // each block is translated for itself, digit by digit
		w.iteration = -2
	case follow > 0:
		c.Skip(1, 0)
		w.by = (p.SizedBlock(&c) - w.block + blocks) % blocks
	}
	return w
}
