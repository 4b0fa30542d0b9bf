package schedule

import (
	"slices"
	"sync"

	"collsim/collective"
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
	isNaming       bool
	named          []int32 // blocks and peers, as the author counts them
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
	p.names(block)
	switch {
	case blocks == 1:
	case p.Tile == nil:
		r.First = int32(p.rank(block, blocks))
	default:
		r.First, r.Tile = 0, p.Tile(r.Tile, int32((p.shift+block)%blocks))
	}
}

// naming calls a function, and returns which blocks and peers it has named, if they are counted in
// places.
func (t *turn) naming(f func()) []int32 {
	if t == nil || t.place == nil {
		f()
		return nil
	}
	p := t.place
	before, was := p.named, p.isNaming
	p.named, p.isNaming = nil, true
	f()
	now := p.named
	p.named, p.isNaming = append(before, now...), was
	return now
}

// names notes a block or a peer for naming.
func (p *place) names(at int) {
	if p.isNaming {
		p.named = append(p.named, int32(at))
	}
}

// refuses explains why an author who counts in places cannot name a region: several blocks are
// those of ranks that need not be next to each other. It is empty for others.
func (t *turn) refuses(r *Region) string {
	if t != nil && t.place != nil && (r.Run != 1 || r.Times != 1 || r.List != nil) {
		return "blocks that are counted in places are named one by one"
	}
	return ""
}

// Straight returns, for a plan with Places, the schedule whose channels all have the order of the
// ranks, on elements in the order of Places.Cuts. The schedule itself is the same but for two
// things: a channel's lanes run on other ranks (Places.Rank), and each element has another place,
// the same on all ranks. Some tiles may be shorter than the blocks of the straight schedule that
// they correspond to. Then strips has, of each of its tiles, the elements of all that do. t is nil
// where there is no such schedule.
func Straight(s *Schedule) (t *Schedule, strips []int64) {
	if s.straight == nil || s.Group != nil || s.each != 0 {
		return nil, nil
	}
	made, strips := s.straight(s.Spec)
	if made == nil {
		return nil, nil
	}
	other := *made
	other.Slots = s.Slots
	return &other, strips
}

// straightener returns a function that makes the straight schedule of a plan's, when it is first
// called for its collective.
func (p Plan) straightener(s *Schedule) func(collective.Spec) (*Schedule, []int64) {
	own, key := *s, s.Spec.Key()
	made := sync.OnceValues(func() (*Schedule, []int64) {
		places := p.Places
		p.Group, p.Cuts = Rotations(p.Spec.Ranks), places.Cuts
		p.Places, p.Timing, p.Even = nil, nil, false
		if tiles := places.Cuts[Input].level(Tile); places.Tile != nil && tiles.Split == Table {
			p.Spec.Count = tiles.Ends[0][len(tiles.Ends[0])-1]
		}
		t, err := Build(p)
		if err != nil || !places.areAll(t) {
			return nil, nil
		}
		strips, ok := places.renames(&own, t)
		if !ok {
			return nil, nil
		}
		return t, strips
	})
	return func(now collective.Spec) (*Schedule, []int64) {
		if now.Key() != key {
			return nil, nil
		}
		return made()
	}
}

// areAll reports whether places are those of all ranks, each once, in all channels of a schedule.
func (p *Places) areAll(s *Schedule) bool {
	lanes := s.Program(0)
	for lane := range lanes.Lanes() {
		channel := lanes.Channel(lane)
		for at := range s.Spec.Ranks {
			rank := p.Rank(channel, at)
			if rank < 0 || rank >= s.Spec.Ranks || p.Place(channel, rank) != at {
				return false
			}
		}
	}
	return true
}

// renames reports whether tiles of a schedule are all blocks of the straight one, each once. They
// must be as long as these or, of a vector, shorter but not empty; strips is then that of Straight.
// Without Tile, the cuts must be the same.
func (p *Places) renames(s, straight *Schedule) (strips []int64, ok bool) {
	isEven := true
	for b := range s.Cuts {
		switch {
		case s.Len(Buffer(b), 0) == 0:
		case p.Tile == nil:
			if !sameCut(straight.Cuts[b], s.Cuts[b]) {
				return nil, false
			}
		default:
			var same bool
			if strips, same, ok = p.renamesTiles(s, straight, Buffer(b)); !ok {
				return nil, false
			}
			isEven = isEven && same
		}
	}
	if isEven {
		return nil, true
	}
	strips = slices.DeleteFunc(strips, func(n int64) bool { return n == 0 }) // as Strips has them
	return strips, s.Spec.Kind == collective.AllReduce && s.Memory == 0 &&
		sameCut(s.Cuts[Input], s.Cuts[Output])
}

// renamesTiles does the work of renames for a buffer. isEven says that tiles are as long as blocks.
func (p *Places) renamesTiles(s, straight *Schedule, b Buffer) (strips []int64, isEven, ok bool) {
	cut, own := straight.Cuts[b], s.Cuts[b]
	blocks, tile := cut.blocks(), own.level(Tile)
	if own.blocks() > 1 || tile == nil || cut.level(Tile) == nil {
		return nil, false, false
	}
	n, of := s.Len(b, 0), straight.Len(b, 0)
	seen, tiles := make([]bool, tile.parts(n)), cut.level(Tile).parts(of)
	strips, isEven = make([]int64, tiles), true
	for t := range int32(tiles) {
		for block := range blocks {
			at := p.Tile(t, block)
			if at < 0 || int(at) >= len(seen) || seen[at] {
				return nil, false, false
			}
			seen[at] = true
			has := own.place(n, indices{tile: at}).len
			most := cut.place(of, indices{tile: t, block: block}).len
			if has > most || has == 0 && most > 0 {
				return nil, false, false
			}
			strips[t] += has
			isEven = isEven && has == most
		}
	}
	return strips, isEven, !slices.Contains(seen, false)
}

// sameCut reports whether cuts are equal, whether their blocks are translated or not.
func sameCut(a, b Cut) bool {
	return slices.EqualFunc(a, b, func(x, y Level) bool {
		return x.Axis == y.Axis && x.Split == y.Split && x.N == y.N && x.Align == y.Align &&
			x.Mirrored == y.Mirrored && slices.EqualFunc(x.Ends, y.Ends, slices.Equal[[]int64])
	})
}
