package model

import (
	"cmp"
	"math/bits"
	"slices"
)

// Where nearly every change changes nearly all levels, as in an all_to_all of many sizes, links
// need not be told which may be wrong, and when. They stand on a ladder then, by level. The lower
// one of the two links of a flow holds it back. After a change all links above the lowest that has
// seen it are gone through, upwards: what the lower ones leave a link is right when it is its turn,
// and what it gives its flows is taken off the higher ones. If it comes out lower than others, it
// takes over the flows that it has in common with these, and steps down; if far higher, it lets go
// of such flows, and climbs.
//
// When that is done, levels are in the order of the ladder, and follow from lower ones: so they
// solve the equations of MaxMin. Of two links with a flow in common that have the same level, which
// both hold it back, the one that stands lower counts it.

// ladder is the links that are not slack, by level; the last are those that are not full. While it
// is kept, the balances of all of them are known.
type ladder struct {
	rungs   []int32 // links
	places  []int32 // by link: its rung
	sides   []sides // by link
	isKept  bool
	isTried bool   // the next solution begins with a ladder
	isTied  bool   // a flow has begun whose links have the same level
	isTwin  []bool // by link: it may have the level of another with which it has a flow in common
	enough  int    // links that a solution gives another level, from which on there is a ladder
	idle    int    // climbs in a row that have changed little
	widest  uint64 // the greatest capacity
	busy    int    // links with flows
	crooked int    // flows whose routes are not plain
}

// sides are whether a link has been the first of a route, and the second.
type sides uint8

// mayMeet reports whether two links may have been on one.
func (s sides) mayMeet(o sides) bool { return (s>>1|s<<1)&o&3 != 0 }

const (
	leap   = 4 // rungs: who rises past so many climbs past all at once
	idling = 8 // climbs of so many steps for each change of a level, and so many in a row
)

// isPlain reports whether what a flow gets on one of its links follows from the level of the other.
func isPlain(links []int32, limit uint64) bool {
	return len(links) == 2 && links[0] != links[1] && limit == NoCap
}

// arrange puts the links on the ladder, if all routes are plain.
func (x *MaxMin) arrange() {
	x.rungs, x.idle, x.isTried, x.isTied = x.rungs[:0], 0, false, false
	if x.crooked > 0 {
		return
	}
	for i := range x.links {
		l, b, at := &x.links[i], &x.balances[i], x.levels[i]
		if l.isSlack && at == NoCap {
			b.isKnown, b.calm = false, 0
			continue
		}
		if !b.isKnown && !l.isSlack {
			x.weigh(int32(i))
		}
		if l.isSlack || !b.isKnown || at == NoCap && b.weight > 0 {
			return
		}
		x.rungs = append(x.rungs, int32(i))
	}
	slices.SortFunc(x.rungs, func(i, k int32) int {
		return cmp.Or(cmp.Compare(x.levels[i], x.levels[k]), cmp.Compare(i, k))
	})
	if x.places == nil {
		x.places, x.isTwin = make([]int32, len(x.links)), make([]bool, len(x.links))
	}
	for p, i := range x.rungs {
		x.places[i] = int32(p)
	}
	for p, i := range x.rungs {
		l, b, at := &x.links[i], &x.balances[i], x.levels[i]
		for j := 0; j < int(b.weight); {
			if k := l.across[j]; x.levels[k] > at || int(x.places[k]) > p {
				j++
				continue
			}
			b.weight--
			x.swap(l, j, int(b.weight))
			b.left -= at
			x.isTwin[i], x.isTwin[l.across[b.weight]] = true, true
		}
		b.rest(at)
	}
	x.isKept = true
}

// rest is what else there is to know of a balance that is right at a level: no more than need be.
func (b *balance) rest(at uint64) { b.calm, b.below = at, min(at, NoCap>>1) }

// climb puts all levels right, or leaves the ladder and says that it has not.
func (x *MaxMin) climb() bool {
	p, steps := len(x.rungs), 0
	for _, i := range x.changed {
		l := &x.links[i]
		if l.isSlack {
			continue
		}
		l.mayClimb = true
		p = min(p, int(x.places[i]))
		hi, _ := bits.Mul64(x.widest, uint64(len(l.flows))+1) // else b.left may not tell that it is < 0
		if hi > 0 || !x.balances[i].isKnown || x.isTied || x.crooked > 0 {
			return x.leaveLadder(false)
		}
	}
	for ; p < len(x.rungs); steps++ {
		i, isTwin := x.rungs[p], false
		if p, isTwin = x.step(p); p < 0 || steps > 16*len(x.rungs) {
			return x.leaveLadder(true)
		}
		x.isTwin[i] = x.isTwin[i] || isTwin
	}
	if x.idle++; len(x.Moved)*idling >= steps {
		x.idle = 0
	}
	if x.idle == idling {
		x.leaveLadder(false)
	}
	return true
}

// leaveLadder leaves all to level: where a climb has begun, from the levels that it has come to.
func (x *MaxMin) leaveLadder(hasBegun bool) bool {
	x.isKept, x.isTied = false, false
	for _, i := range x.rungs {
		if x.isTwin[i] {
			x.isTwin[i] = false
			x.weigh(i)
		}
	}
	if !hasBegun {
		return false
	}
	for _, i := range x.rungs {
		x.balances[i].isKnown, x.balances[i].calm = false, 0
		if len(x.links[i].flows) > 0 {
			x.makeDirty(i)
		}
	}
	for _, i := range x.Moved {
		for _, c := range x.links[i].flows {
			x.doubt(c.Flow)
		}
	}
	return false
}

// step puts the level of the link on a rung right, if all lower ones are, and says which rung comes
// next, or −1, and whether the link is a twin.
func (x *MaxMin) step(p int) (next int, isTwin bool) {
	i := x.rungs[p]
	l, b := &x.links[i], &x.balances[i]
	all := uint64(len(l.flows))
	switch {
	case b.left > l.capacity || b.weight == 0 && b.left < all: // < 0, or too little
		return x.cross(p)
	case b.weight == 0:
		return x.open(p), false
	}
	at := b.share()
	if q := p + leap; l.mayClimb && q < len(x.rungs) && x.levels[x.rungs[q]] < at {
		return x.climbPast(p), false
	}
	enough := p - len(l.flows) - leap // in a tree thousands have one level: to cross takes less then
	for q := p - 1; q >= 0 && at <= near(x.levels[x.rungs[q]], all); q-- {
		if q < enough || x.sides[i].mayMeet(x.sides[x.rungs[q]]) {
			return x.cross(p)
		}
	}
	return x.stepDown(p, at, false), false
}

// near is the highest level that is too near to one for a link with so many flows.
func near(at, flows uint64) uint64 { return at + min(flows+1, NoCap-at) }

// cross has a link take over the flows that it holds back from now on, and step down.
func (x *MaxMin) cross(p int) (next int, isTwin bool) {
	i := x.rungs[p]
	l, b := &x.links[i], &x.balances[i]
	for all, hasMore := uint64(len(l.flows)), false; ; hasMore = true {
		most, at := uint64(0), -1 // of those that get less elsewhere
		for j, k := range l.across[b.weight:] {
			if u := x.levels[k]; u >= most {
				most, at = u, j+int(b.weight)
			}
		}
		x.Visits += int64(len(l.flows)) - int64(b.weight)
		fits, share := b.left <= l.capacity, uint64(0)
		if fits {
			share = b.share()
		}
		switch {
		case b.weight > 0 && (at < 0 || share > near(most, all)):
			return x.stepDown(p, share, hasMore), false
		case b.weight > 0 && most <= near(share, all), b.weight == 0 && fits:
			return x.decide(p, hasMore)
		case !x.takeOver(i, at):
			return -1, false
		}
	}
}

// decide does what cross does where roundings decide.
func (x *MaxMin) decide(p int, hasMore bool) (next int, isTwin bool) {
	i := x.rungs[p]
	l, b := &x.links[i], &x.balances[i]
	to := x.least(l, b)
	for j := int(b.weight); j < len(l.flows); j++ {
		switch u := x.levels[l.across[j]]; {
		case u == to:
			isTwin, x.isTwin[l.across[j]] = true, true
			x.doubt(l.flows[j].Flow)
		case u > to:
			if hasMore = true; !x.takeOver(i, j) {
				return -1, false
			}
		}
	}
	if to == NoCap {
		return x.open(p), false
	}
	return x.stepDown(p, to, hasMore), isTwin
}

// least is the least level at which a link is full, by the levels of others that hold its flows
// back.
func (x *MaxMin) least(l *sharedLink, b *balance) uint64 {
	for at := l.capacity / uint64(len(l.flows)); ; {
		left, others := l.capacity, uint64(b.weight)
		for _, k := range l.across[b.weight:] {
			if u := x.levels[k]; u >= at {
				others++
			} else {
				left -= u
			}
		}
		x.Visits += int64(len(l.flows)) - int64(b.weight)
		if others == 0 {
			return NoCap
		}
		share := left / others
		if share <= at {
			return at
		}
		at = share
	}
}

// takeOver has a link hold a flow back, in place of the other that has.
func (x *MaxMin) takeOver(i int32, j int) bool {
	l, b := &x.links[i], &x.balances[i]
	c, k := l.flows[j], l.across[j]
	other, spot := &x.balances[k], x.Flows[c.Flow].spots[1-c.hop]
	if x.links[k].isSlack || spot >= other.weight {
		return false
	}
	other.weight--
	x.swap(&x.links[k], int(spot), int(other.weight))
	x.swap(l, j, int(b.weight))
	b.weight++
	b.left += x.levels[k]
	other.left -= x.levels[i]
	x.doubt(c.Flow)
	return true
}

// letGo has the other link of a flow hold it back.
func (x *MaxMin) letGo(i int32, j int) bool {
	k, c := x.links[i].across[j], x.links[i].flows[j]
	return x.takeOver(k, int(x.Flows[c.Flow].spots[1-c.hop]))
}

// climbPast has a link let go of the flows that others hold back past which it rises, if these stay
// where they are, and climb past them.
func (x *MaxMin) climbPast(p int) int {
	i, from := x.rungs[p], p
	l, b := &x.links[i], &x.balances[i]
	all, at := uint64(len(l.flows)), uint64(0)
	l.mayClimb = false // others may rise as well, and it would climb past them again and again
	for was := int32(0); was != b.weight; {
		was, at = b.weight, b.share()
		x.Visits += int64(was)
		for j := 0; j < int(b.weight); {
			switch {
			case near(x.levels[l.across[j]], all) >= at:
				j++
			case !x.letGo(i, j):
				return -1
			}
		}
		if b.weight == 0 {
			return x.open(p)
		}
	}
	x.set(i, at)
	for ; p+1 < len(x.rungs) && near(x.levels[x.rungs[p+1]], all) < at; p++ {
		x.seat(p, x.rungs[p+1])
	}
	x.seat(p, i)
	return from
}

// stepDown gives a link a level and the rung for it. If it has taken over flows, those above are
// next.
func (x *MaxMin) stepDown(p int, to uint64, hasMore bool) int {
	i, q := x.rungs[p], p
	x.set(i, to)
	for ; q > 0 && x.levels[x.rungs[q-1]] > to; q-- {
		x.seat(q, x.rungs[q-1])
	}
	x.seat(q, i)
	if hasMore {
		return q + 1
	}
	return p + 1
}

// open has a link not be full.
func (x *MaxMin) open(p int) int {
	i := x.rungs[p]
	if x.levels[i] == NoCap {
		return p + 1
	}
	x.set(i, NoCap)
	for q := p + 1; q < len(x.rungs); q++ {
		x.seat(q-1, x.rungs[q])
	}
	x.seat(len(x.rungs)-1, i)
	return p
}

func (x *MaxMin) seat(p int, i int32) { x.rungs[p], x.places[i] = i, int32(p) }

// set gives a link a level, and the other links of the flows that it holds back what that leaves.
func (x *MaxMin) set(i int32, to uint64) {
	l, b, from := &x.links[i], &x.balances[i], x.levels[i]
	if from == to {
		return
	}
	x.levels[i] = to
	b.rest(to)
	held, balances := l.across[:b.weight], x.balances
	x.Visits += int64(len(held))
	if x.isTwin[i] { // what both have held back, one alone does
		x.isTwin[i] = false
		for j, k := range l.across {
			if x.levels[k] == from {
				x.doubt(l.flows[j].Flow)
			}
		}
	}
	for _, k := range held {
		balances[k].left += from - to
	}
	if l.moved != x.round {
		l.moved = x.round
		x.Moved = append(x.Moved, i)
	}
}
