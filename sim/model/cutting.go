package model

import (
	"collsim/schedule"
	"collsim/unit"
)

// Cutting names all that the sizes of a buffer's blocks depend on besides the block: the buffer,
// channel, slice and tile. Tile −1 stands for all tiles together.
type Cutting struct {
	Buffer               schedule.Buffer
	Tile, Channel, Slice int32
}

// TilesOf returns how many tiles a cutting has.
func (r *Rules) TilesOf(c Cutting) int64 {
	if c.Tile < 0 {
		return r.Schedule.Tiles(c.Buffer)
	}
	return 1
}

// Classes appends the class of each block of a cutting, tile by tile. The function class gives the
// class of a size. Classes is not ok where class is not, or where ranks cut the buffer in several
// ways.
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
