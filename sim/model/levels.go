package model

import (
	"math/bits"

	"collsim/sim/internal/flat"
)

// The levels of links (progressive filling: Bertsekas and Gallager, Data Networks, 1992, section
// 6.5.2), kept up to date: only links whose level changes are looked at, and they change what is
// left on those that their flows cross.
//
// A link whose level does not follow from the levels of the others is dirty. The lowest is put
// right first, so that most are put right once. As a level that has risen may come down again, this
// could take long where links depend on each other in an unlucky way. So after some patience a
// level that must rise is forgotten, and found when all that are lower have been (as in Ramalingam
// and Reps, An incremental algorithm for a generalization of the shortest-path problem, 1996): then
// every link is put right at most twice.

// levelling is what there is to know while levels are put right.
type levelling struct {
	patience int    // times that each link that has become dirty may be looked at, on average
	looks    int    // that are left
	moves    int64  // so far
	isStrict bool   // patience is over
	now      uint64 // the level that is looked at, then: all that are lower are right
}

// balance is what a link's level follows from: what those of its flows leave that get less than it
// elsewhere, and how many others it has: the first of its flows.
type balance struct {
	left, weight uint64
	isKnown      bool   // else all flows have to be looked at
	isDirty      bool   // the level may not follow
	below        uint64 // more than all that get less elsewhere
}

// level puts all levels right, after what has begun and ended.
func (x *MaxMin) level() {
	x.isStrict, x.looks, x.now = false, 0, 0
	for _, i := range x.changed {
		l := &x.links[i]
		l.hasChange, l.isKnown = false, false
		l.isSlack = l.needs.hi == 0 && l.needs.lo <= l.capacity>>unitShift
		if !l.isSlack {
			x.makeDirty(i)
		}
	}
	for _, i := range x.changed {
		if x.links[i].isSlack && x.levels[i] != NoCap {
			x.listen(i, len(x.links[i].flows))
			x.move(i, NoCap)
		}
	}
	for len(x.dirty) > 0 {
		if x.looks--; x.looks < 0 && !x.isStrict {
			x.isStrict = true
			for i := range x.dirty {
				x.dirty[i].First = 0
			}
		}
		o := x.dirty.Pop()
		x.links[o.Item].isDirty = false
		x.now = o.First
		if to, from := x.look(o.Item), x.levels[o.Item]; to != from {
			x.put(o.Item, from, to)
		}
	}
}

// put puts the level of a link right, or has it wait for lower ones.
func (x *MaxMin) put(i int32, from, to uint64) {
	at := min(from, to)
	switch x.now = at; {
	case !x.isStrict:
		x.move(i, to)
	case len(x.dirty) > 0 && at > x.dirty[0].First:
		x.links[i].isDirty, x.links[i].isKnown = true, false
		x.dirty.Push(flat.Entry[uint64]{First: at, Item: i})
	case from < to && to != NoCap:
		x.move(i, NoCap)
		x.links[i].isDirty, x.links[i].isKnown = true, false
		x.dirty.Push(flat.Entry[uint64]{First: to, Item: i})
	default:
		x.move(i, to)
	}
}

// makeDirty has a link be looked at.
func (x *MaxMin) makeDirty(i int32) {
	l := &x.links[i]
	l.isDirty = true
	if l.round != x.round {
		l.round = x.round
		x.looks += x.patience
	}
	at := x.levels[i]
	switch {
	case x.isStrict:
		at = x.now
	case at == NoCap:
		at = l.capacity / uint64(len(l.flows))
	case l.isKnown && l.weight > 0:
		at = min(at, l.left/l.weight)
	}
	x.dirty.Push(flat.Entry[uint64]{First: at, Item: i})
}

// look is what the level of a link is to be by the levels of others. The balance is as of this
// level; x.others is of all flows that this level or the present one holds back.
func (x *MaxMin) look(i int32) uint64 {
	l := &x.links[i]
	n := uint64(len(l.flows))
	if n == 0 {
		return NoCap
	}
	if !l.isKnown {
		x.weigh(i, l)
	}
	start := l.capacity / n
	if l.isKnown && l.weight > 0 {
		share := l.left / l.weight
		if least := x.listen(i, int(l.weight)); share <= least && share > l.below+n {
			return share // nobody between: so it is
		}
		start = max(start, share-min(share, n+1)) // roundings make less of it at most by this
	}
	x.listen(i, len(l.flows))
	return x.fill(l, start)
}

// listen finds out what the first n flows of a link get elsewhere, and the least of that.
func (x *MaxMin) listen(i int32, n int) uint64 {
	least := NoCap
	x.others = x.others[:0]
	for _, c := range x.links[i].flows[:n] {
		u := x.elsewhere(c, i)
		least = min(least, u)
		x.others = append(x.others, u)
	}
	x.Visits += int64(n)
	return least
}

// elsewhere is the most that a flow's cap and its other links give it.
func (x *MaxMin) elsewhere(c Crossing, i int32) uint64 {
	if c.other >= 0 {
		return x.levels[c.other]
	}
	f := &x.Flows[c.Flow]
	least := f.limit
	for _, h := range f.links {
		if h != i {
			least = min(least, x.levels[h])
		}
	}
	return least
}

// weigh makes the balance of a link known, at its present level, unless that makes no sense.
func (x *MaxMin) weigh(i int32, l *sharedLink) {
	x.listen(i, len(l.flows))
	l.isKnown = x.divide(l, x.levels[i])
}

// divide makes the balance of a link, at a level, of x.others, and reports whether there is one.
func (x *MaxMin) divide(l *sharedLink, at uint64) bool {
	l.left, l.weight, l.below = l.capacity, 0, 0
	for j, u := range x.others {
		switch {
		case u >= at:
			w := int(l.weight)
			x.swap(l, j, w)
			x.others[j], x.others[w] = x.others[w], u
			l.weight++
		case u > l.left:
			return false
		default:
			l.left -= u
			l.below = max(l.below, u+1)
		}
	}
	return true
}

// fill raises the level of a link until it is full, from one at which it is not.
func (x *MaxMin) fill(l *sharedLink, at uint64) uint64 {
	for {
		l.isKnown = x.divide(l, at)
		if l.weight == 0 {
			return NoCap
		}
		share := l.left / l.weight
		if share <= at {
			return at
		}
		at = share
	}
}

// move gives a link that has been looked at a level, and tells the links that its flows cross.
func (x *MaxMin) move(i int32, to uint64) {
	l, from := &x.links[i], x.levels[i]
	x.moves++
	low, high := min(from, to), max(from, to)
	if l.moved != x.round {
		l.moved = x.round
		x.Moved = append(x.Moved, i)
	}
	x.levels[i] = to
	x.Visits += int64(len(x.others))
	for j, u := range x.others {
		if u < low { // held back elsewhere, before and after
			continue
		}
		c := l.flows[j]
		if u <= high {
			x.doubt(c.Flow)
		}
		switch {
		case u == low:
		case c.other >= 0:
			x.touch(c.other, c.Flow, 1-c.hop, from, to)
		default:
			x.spread(i, c.Flow, from, to)
		}
	}
}

// spread tells all other links of a flow that this one's level has changed.
func (x *MaxMin) spread(i, m int32, from, to uint64) {
	f := &x.Flows[m]
	if f.told == x.moves { // the link counts it more than once
		return
	}
	f.told = x.moves
	least, next, at := f.limit, f.limit, int32(-1) // the least of the levels, and that of the others
	for _, k := range f.links {
		switch v := x.levels[k]; {
		case k == i || k == at:
		case v < least:
			least, next, at = v, least, k
		default:
			next = min(next, v)
		}
	}
	for hop, k := range f.links {
		switch {
		case k == at:
			x.touch(k, m, int32(hop), min(next, from), min(next, to))
		case k != i:
			x.touch(k, m, int32(hop), min(least, from), min(least, to))
		}
	}
}

// touch tells a link that a flow may have another rate from others. It is dirty then, if its level
// does not follow any more.
func (x *MaxMin) touch(i, m, hop int32, from, to uint64) {
	l, at := &x.links[i], x.levels[i]
	if from == to || min(from, to) >= at || l.isSlack || !l.isKnown {
		return
	}
	if from < at {
		l.left += from
	} else {
		l.weight--
		x.swap(l, int(x.Flows[m].spots[hop]), int(l.weight))
	}
	switch {
	case to >= at:
		x.swap(l, int(x.Flows[m].spots[hop]), int(l.weight))
		l.weight++
	case to <= l.left:
		l.left -= to
		l.below = max(l.below, to+1)
	default:
		l.isKnown = false
	}
	if x.isStrict || !l.isDirty && !l.follows(at, uint64(len(l.flows))) {
		x.makeDirty(i)
	}
}

// follows reports whether it is clear that the level of a link with n flows is right.
func (b *balance) follows(at, n uint64) bool {
	if at == NoCap || !b.isKnown {
		return b.isKnown && b.weight == 0 && b.left >= n
	}
	hi, all := bits.Mul64(at, b.weight)
	return hi == 0 && all <= b.left && b.left-all < b.weight && at > b.below+n
}
