package model

import "math/bits"

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
// elsewhere, and how many others it has: the first of its flows. That of a slack link is not known.
type balance struct {
	left, weight uint64
	below        uint64 // more than all that get less elsewhere
	isKnown      bool   // else all flows have to be looked at
	isDirty      bool   // the level may not follow
}

// level puts all levels right, after what has begun and ended.
func (x *MaxMin) level() {
	x.isStrict, x.looks, x.now = false, 0, 0
	for _, i := range x.changed {
		l := &x.links[i]
		l.hasChange, x.balances[i].isKnown = false, false
		l.isSlack = l.needs.hi == 0 && l.needs.lo <= l.capacity>>unitShift
		if !l.isSlack {
			x.makeDirty(i)
		}
	}
	for _, i := range x.changed {
		if x.links[i].isSlack && x.levels[i] != NoCap {
			x.move(i, NoCap, len(x.links[i].flows))
		}
	}
	for x.dirty.Len() > 0 {
		if x.looks--; x.looks < 0 && !x.isStrict {
			x.isStrict = true
			x.dirty.Each(func(uint64) uint64 { return 0 })
		}
		var i int32
		i, x.now = x.dirty.First()
		x.dirty.Remove(i)
		x.balances[i].isDirty = false
		if to, n := x.look(i); to != x.levels[i] {
			x.put(i, to, n)
		}
	}
}

// put puts the level of a link right, or has it wait for lower ones. The first n of its flows are
// all that this level or the present one holds back.
func (x *MaxMin) put(i int32, to uint64, n int) {
	from := x.levels[i]
	at := min(from, to)
	switch x.now = at; {
	case !x.isStrict:
		x.move(i, to, n)
	case x.dirty.Len() > 0 && at > x.lowest():
		x.again(i, at)
	case from < to && to != NoCap:
		x.move(i, NoCap, n)
		x.again(i, to)
	default:
		x.move(i, to, n)
	}
}

// lowest is the lowest level that is to be looked at.
func (x *MaxMin) lowest() uint64 {
	_, at := x.dirty.First()
	return at
}

// again has a link be looked at afresh, when all that are lower have been.
func (x *MaxMin) again(i int32, at uint64) {
	x.balances[i].isDirty, x.balances[i].isKnown = true, false
	x.dirty.Set(i, at)
}

// makeDirty has a link be looked at.
func (x *MaxMin) makeDirty(i int32) {
	l, b := &x.links[i], &x.balances[i]
	b.isDirty = true
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
	case b.isKnown && b.weight > 0:
		at = min(at, b.left/b.weight)
	}
	x.dirty.Set(i, at)
}

// look is what the level of a link is to be by the levels of others, and how many of its flows,
// which are the first, this level or the present one holds back. The balance is as of this level.
func (x *MaxMin) look(i int32) (to uint64, n int) {
	l, b := &x.links[i], &x.balances[i]
	all := uint64(len(l.flows))
	if all == 0 {
		return NoCap, 0
	}
	if !b.isKnown {
		x.weigh(i)
	}
	start := l.capacity / all
	if b.isKnown && b.weight > 0 {
		held := b.weight
		share := x.settle(i)
		switch {
		case !b.isKnown:
		case b.weight > 0 && share > b.below+all: // nobody between: so it is
			return share, int(max(held, b.weight))
		case b.weight == 0 && b.left >= all: // it has more than all can take
			return NoCap, int(held)
		}
		// Roundings make less of it at most by this. What settle came to is no more than the level.
		start = max(start, share-min(share, all+1))
	}
	x.listen(i)
	return x.fill(i, start), len(l.flows)
}

// listen finds out what all flows of a link get elsewhere.
func (x *MaxMin) listen(i int32) {
	l := &x.links[i]
	x.others = x.others[:0]
	for j := range l.flows {
		x.others = append(x.others, x.elsewhere(l, i, j))
	}
	x.Visits += int64(len(l.flows))
}

// elsewhere is the most that its cap and its other links give a flow of a link.
func (x *MaxMin) elsewhere(l *sharedLink, i int32, j int) uint64 {
	if k := l.across[j]; k >= 0 {
		return x.levels[k]
	}
	f := &x.Flows[l.flows[j].Flow]
	least := f.limit
	for _, h := range f.links {
		if h != i {
			least = min(least, x.levels[h])
		}
	}
	return least
}

// weigh makes the balance of a link known, at its present level, unless that makes no sense.
func (x *MaxMin) weigh(i int32) {
	x.listen(i)
	x.balances[i].isKnown = x.divide(i, x.levels[i])
}

// divide makes the balance of a link, at a level, of x.others, and reports whether there is one.
func (x *MaxMin) divide(i int32, at uint64) bool {
	l, b := &x.links[i], &x.balances[i]
	b.left, b.weight, b.below = l.capacity, 0, 0
	for j, u := range x.others {
		switch {
		case u >= at:
			w := int(b.weight)
			x.swap(l, j, w)
			x.others[j], x.others[w] = x.others[w], u
			b.weight++
		case u > b.left:
			return false
		default:
			b.left -= u
			b.below = max(b.below, u+1)
		}
	}
	return true
}

// fill raises the level of a link until it is full, from one at which it is not.
func (x *MaxMin) fill(i int32, at uint64) uint64 {
	b := &x.balances[i]
	for {
		b.isKnown = x.divide(i, at)
		if b.weight == 0 {
			return NoCap
		}
		share := b.left / b.weight
		if share <= at {
			return at
		}
		at = share
	}
}

// settle makes the balance of a link one of a level that it follows from, as far as roundings let
// it, and says which: b.below is then no more than need be if that is near. Those that get less
// elsewhere are told from the others anew, which are few where little has changed.
func (x *MaxMin) settle(i int32) (share uint64) {
	l, b := &x.links[i], &x.balances[i]
	n := len(l.flows)
	for b.weight > 0 {
		share = b.left / b.weight
		was := int(b.weight)
		for j := 0; j < int(b.weight); {
			u := x.elsewhere(l, i, j)
			if u >= share {
				j++
				continue
			}
			if u > b.left {
				b.isKnown = false
				return share
			}
			b.weight--
			x.swap(l, j, int(b.weight))
			b.left -= u
			b.below = max(b.below, u+1)
		}
		x.Visits += int64(was)
		if int(b.weight) < was {
			continue
		}
		if share > b.below+uint64(n) {
			break
		}
		x.Visits += int64(n - was)
		b.below = 0
		for j := was; j < n; j++ {
			u := x.elsewhere(l, i, j)
			if u < share {
				b.below = max(b.below, u+1)
				continue
			}
			x.swap(l, j, int(b.weight))
			b.weight++
			b.left += u
		}
		if int(b.weight) == was {
			break
		}
	}
	return share
}

// move gives a link that has been looked at a level, and tells the links that its flows cross: of
// the first n, which are all that this level or the present one holds back.
func (x *MaxMin) move(i int32, to uint64, n int) {
	l, from := &x.links[i], x.levels[i]
	x.moves++
	low, high := min(from, to), max(from, to)
	if l.moved != x.round {
		l.moved = x.round
		x.Moved = append(x.Moved, i)
	}
	x.levels[i] = to
	x.Visits += int64(n)
	isStrict := x.isStrict
	for j, k := range l.across[:n] {
		if k >= 0 && x.levels[k] > high {
			// Held back here, before and after: what happens nearly always, of touch.
			b := &x.balances[k]
			if !b.isKnown {
				continue
			}
			b.left += from
			b.isKnown = to <= b.left
			b.left -= to
			b.below = max(b.below, to+1)
			if !b.isDirty || isStrict {
				x.suspect(k)
			}
			continue
		}
		u, c := x.elsewhere(l, i, j), l.flows[j]
		if u < low { // held back elsewhere, before and after
			continue
		}
		if u <= high {
			x.doubt(c.Flow)
		}
		switch {
		case u == low:
		case k >= 0:
			x.touch(k, c.Flow, 1-c.hop, from, to)
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
	b, at := &x.balances[i], x.levels[i]
	if from == to || min(from, to) >= at || !b.isKnown {
		return
	}
	l := &x.links[i]
	if from < at {
		b.left += from
	} else {
		b.weight--
		x.swap(l, int(x.Flows[m].spots[hop]), int(b.weight))
	}
	switch {
	case to >= at:
		x.swap(l, int(x.Flows[m].spots[hop]), int(b.weight))
		b.weight++
	case to <= b.left:
		b.left -= to
		b.below = max(b.below, to+1)
	default:
		b.isKnown = false
	}
	x.suspect(i)
}

// suspect has a link be looked at whose balance has changed, unless its level follows all the same.
func (x *MaxMin) suspect(i int32) {
	b := &x.balances[i]
	if x.isStrict || !b.isDirty && !b.follows(x.levels[i], uint64(len(x.links[i].flows))) {
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
