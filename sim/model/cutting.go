package model

import (
	"collsim/schedule"
	"collsim/unit"
)

// Cutting is what the sizes of a buffer's blocks depend on, besides the block; and, if Tile is −1,
// besides the tile.
type Cutting struct {
	Buffer               schedule.Buffer
	Tile, Channel, Slice int32
}

// TilesOf is how many tiles a cutting is of.
func (r *Rules) TilesOf(c Cutting) int64 {
	if c.Tile < 0 {
		return r.Schedule.Tiles(c.Buffer)
	}
	return 1
}

// Classes appends of which class each block of a cutting is, tile by tile, as class has it of their
// sizes. It is not ok where that is not, or ranks cut the buffer in several ways.
func (r *Rules) Classes(dst []uint8, c Cutting, class func(n unit.Bytes) (of uint8, ok bool)) (
	[]uint8, bool) {
	s := r.Schedule
	if !s.EvenRanks(c.Buffer) {
		return dst, false
	}
	where := schedule.Spot{Channel: int(c.Channel), Slice: int(c.Slice)}
	one := schedule.Region{Buffer: c.Buffer, Tile: max(c.Tile, 0), Run: 1, Times: 1}
	for range r.TilesOf(c) {
		for one.First = range int32(s.Blocks(c.Buffer)) {
			of, ok := class(r.SizeOf(where, &one))
			if !ok {
				return dst, false
			}
			dst = append(dst, of)
		}
		one.Tile++
	}
	return dst, true
}
