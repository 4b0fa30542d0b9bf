package schedule

import (
	"slices"
	"sync"
)

// Places declares that all ranks do the same in every channel, each at a place of its own in the
// channel's order of the ranks. Lane is called with rank 0 and counts from there. Peer 1 is the
// rank at the next place. Block b of a buffer, which Cuts divide, is that of the place b further
// on. So the schedule is one with the group of rotations, Straight, but for the names of ranks and
// elements.
type Places struct {
	// Rank returns the rank at a place of a channel's order, and Place the place of a rank.
	Rank, Place func(channel, of int) int
	// Cuts divide the buffers into a block for each place.
	Cuts *[3]Cut
	// Tile returns the tile of the plan's own cuts, which have no blocks, that is a block of a tile
	// of Cuts. Nil: the plan's cuts are Cuts, with the blocks of ranks in place of those of places.
	Tile func(tile, block int32) int32
}

// A place is that of a rank in the order of a channel.
type place struct {
	*Places
	channel, shift int
}

// rank returns the rank so many places further on.
func (p *place) rank(on, ranks int) int {
	return p.Rank(p.channel, ((p.shift+on)%ranks+ranks)%ranks)
}

// blocks returns the number of blocks that a lane's author counts in a buffer.
func (p *place) blocks(l *Lane, b Buffer) int {
	if b >= FirstTensor {
		l.misuse("blocks that are counted in places are named by their buffer: In, Out or Scratch")
		return 1
	}
	return int(p.Cuts[b].blocks())
}

// convert names a block, counted in places, by its rank or tile.
func (p *place) convert(r *Region, block, blocks int) {
	switch {
	case blocks == 1:
	case p.Tile == nil:
		r.First = int32(p.rank(block, blocks))
	default:
		r.First, r.Tile = 0, p.Tile(r.Tile, int32((p.shift+block)%blocks))
	}
}

// Straight returns, for a plan with Places, the schedule whose channels all have the order of the
// ranks, on elements in the order of Places.Cuts. The schedule itself is the same but for two
// things: a channel's lanes run on other ranks (Places.Rank), and each element has another place,
// the same on all ranks. It is nil where there is no such schedule.
func Straight(s *Schedule) *Schedule {
	if s.straight == nil || s.Group != nil || s.each != 0 {
		return nil
	}
	made := s.straight()
	if made == nil || s.Spec.Key() != made.Spec.Key() {
		return nil
	}
	t := *made
	t.Slots = s.Slots
	return &t
}

// straightener returns a function that makes the straight schedule of a plan's, when it is first
// called.
func (p Plan) straightener(s *Schedule) func() *Schedule {
	own := *s
	return sync.OnceValue(func() *Schedule {
		places := p.Places
		p.Group, p.Cuts = Rotations(p.Spec.Ranks), places.Cuts
		p.Places, p.Timing, p.Even = nil, nil, false
		t, err := Build(p)
		if err != nil || !places.renames(&own, t) {
			return nil
		}
		return t
	})
}

// renames reports whether places are those of all ranks, each once, and tiles those of all
// elements.
func (p *Places) renames(s, straight *Schedule) bool {
	lanes := straight.Program(0)
	for lane := range lanes.Lanes() {
		channel := lanes.Channel(lane)
		for at := range s.Spec.Ranks {
			rank := p.Rank(channel, at)
			if rank < 0 || rank >= s.Spec.Ranks || p.Place(channel, rank) != at {
				return false
			}
		}
	}
	for b := range s.Cuts {
		if s.Len(Buffer(b), 0) > 0 && !p.renamesOf(s, straight, Buffer(b)) {
			return false
		}
	}
	return true
}

// renamesOf reports whether tiles of a buffer are all of those of the straight schedule, each once
// and of the same length; or whether it is cut as there.
func (p *Places) renamesOf(s, straight *Schedule, b Buffer) bool {
	cut, own := straight.Cuts[b], s.Cuts[b]
	if p.Tile == nil {
		return sameCut(cut, own)
	}
	blocks, tile := cut.blocks(), own.level(Tile)
	if own.blocks() > 1 || tile == nil || cut.level(Tile) == nil {
		return false
	}
	n := s.Len(b, 0)
	seen := make([]bool, tile.parts(n))
	tiles := cut.level(Tile).parts(n)
	if tiles*int64(blocks) != int64(len(seen)) {
		return false
	}
	for t := range int32(tiles) {
		for block := range blocks {
			at := p.Tile(t, block)
			if at < 0 || int(at) >= len(seen) || seen[at] ||
				own.place(n, indices{tile: at}).len != cut.place(n, indices{tile: t, block: block}).len {
				return false
			}
			seen[at] = true
		}
	}
	return true
}

// sameCut reports whether cuts are equal, whether their blocks are translated or not.
func sameCut(a, b Cut) bool {
	return slices.EqualFunc(a, b, func(x, y Level) bool {
		return x.Axis == y.Axis && x.Split == y.Split && x.N == y.N && x.Align == y.Align &&
			x.Mirrored == y.Mirrored && slices.EqualFunc(x.Ends, y.Ends, slices.Equal[[]int64])
	})
}
