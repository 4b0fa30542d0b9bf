package model

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
	patience int        // times that each link that has become dirty may be looked at, on average
	looks    int        // that are left
	moves    int64      // so far
	fresh    [256]int32 // links that become dirty in a pass, and one more
	isStrict bool       // patience is over
	now      uint64     // the level that is looked at, then: all that are lower are right
}

// level puts all levels right, after what has begun and ended.
func (x *MaxMin) level() {
	x.isStrict, x.looks, x.now = false, 0, 0
	for _, i := range x.changed {
		l, was := &x.links[i], x.links[i].isSlack
		l.hasChange = false
		l.isSlack = l.needs.hi == 0 && l.needs.lo <= l.capacity>>unitShift
		if x.isKept && l.isSlack != was {
			x.leaveLadder(false)
		}
	}
	if x.isTried {
		x.arrange()
	}
	if x.isKept && x.climb() {
		return
	}
	for _, i := range x.changed {
		if x.links[i].isSlack {
			x.balances[i].isKnown, x.balances[i].calm = false, 0
		} else {
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
		b := &x.balances[i]
		b.isClean = 1
		if to, n := x.look(i); to != x.levels[i] {
			x.put(i, to, n)
		}
		if b.calm = 0; b.isKnown {
			b.calm = x.levels[i]
		}
	}
	x.isTried = len(x.Moved) >= x.enough && 4*len(x.Moved) >= x.busy && x.crooked == 0
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
	x.balances[i].isClean, x.balances[i].isKnown = 0, false
	x.dirty.Set(i, at)
}

// makeDirty has a link be looked at.
func (x *MaxMin) makeDirty(i int32) {
	l, b := &x.links[i], &x.balances[i]
	b.isClean = 0
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
		at = min(at, b.share())
	}
	x.dirty.Set(i, at)
}

// move gives a link that has been looked at a level, and tells the links that its flows cross: of
// the first n, which are all that this level or the present one holds back. Where the level has
// risen past what a flow gets elsewhere, it holds that flow back no more, and is dirty again.
func (x *MaxMin) move(i int32, to uint64, n int) {
	l, b, from := &x.links[i], &x.balances[i], x.levels[i]
	x.moves++
	low, high := min(from, to), max(from, to)
	if l.moved != x.round {
		l.moved = x.round
		x.Moved = append(x.Moved, i)
	}
	x.levels[i] = to
	x.Visits += int64(n)
	isAgain := false
	for j := 0; j < n; j++ {
		u, c, k := x.elsewhere(l, i, j), l.flows[j], l.across[j]
		if u < low { // held back elsewhere, before and after
			continue
		}
		if u > high && k >= 0 && !x.isStrict {
			if passed := x.pass(l.across[j:min(n, j+len(x.fresh)-1)], from, to); passed > 0 {
				j += passed - 1
				continue
			}
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
		if u < to && j < int(b.weight) && b.isKnown && !x.isStrict {
			if isAgain = true; x.cede(l, b, j, u) {
				j, n = j-1, n-1
			}
		}
	}
	if isAgain {
		x.makeDirty(i)
	}
}

// pass does what touch does for the links across some flows, of which it returns how many: up to
// the first that was held back across there or will be. There are few of these, and nearly all time
// is spent here: so a link that becomes dirty is only noted, without a branch, and queued later.
func (x *MaxMin) pass(links []int32, from, to uint64) int {
	balances, fresh, high, n, j := x.balances, &x.fresh, max(from, to), uint8(0), 0
	for _, k := range links {
		i := uint(k)
		if i >= uint(len(balances)) {
			break
		}
		b := &balances[i]
		left := b.left + from
		if b.calm <= high || left < to {
			break
		}
		b.left = left - to
		b.below = max(b.below, to+1)
		fresh[n] = k
		n += b.isClean
		b.isClean = 0
		j++
	}
	for _, k := range fresh[:n] {
		x.balances[k].isClean = 1
		x.suspect(k)
	}
	return j
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
		b.isKnown, b.calm = false, 0
	}
	x.suspect(i)
}

// suspect has a link be looked at whose balance has changed, unless its level follows all the same.
func (x *MaxMin) suspect(i int32) {
	b := &x.balances[i]
	if x.isStrict || b.isClean > 0 && !b.follows(x.levels[i], uint64(len(x.links[i].flows))) {
		x.makeDirty(i)
	}
}
