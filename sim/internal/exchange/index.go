package exchange

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
)

// Index finds the connections of an engine by their lanes, class and tag. Those with a tag are
// found by the number of the one without, which is made for that if need be.
type Index struct{ byLanes, byTag flat.Table }

// NewIndex returns an index of no connections.
func NewIndex() Index { return Index{flat.NewTable(), flat.NewTable()} }

// Find returns the connection between two lanes with the class and tag of a peer; make makes one
// with a tag, or none, that is not there yet.
func (x *Index) Find(src, dst int32, p *schedule.Peer, make func(tag int32) int32) int32 {
	key := uint64(src)<<33 | uint64(dst)<<2 | uint64(p.Class)
	i := x.byLanes.Find(key)
	if i < 0 {
		i = make(0)
		x.byLanes.Put(key, i)
	}
	if p.Tag == 0 {
		return i
	}
	key = uint64(i)<<32 | uint64(uint32(p.Tag))
	tagged := x.byTag.Find(key)
	if tagged < 0 {
		tagged = make(p.Tag)
		x.byTag.Put(key, tagged)
	}
	return tagged
}
