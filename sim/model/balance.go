package model

import "math/bits"

// balance is what a link's level follows from: what those of its flows leave that get less than it
// elsewhere, and how many others it has: the first of its flows. That of a slack link is not known.
type balance struct {
	left    uint64
	below   uint64 // more than all that get less elsewhere
	calm    uint64 // the level, if the balance is known; else 0: what is less changes left alone
	weight  int32
	isKnown bool  // else all flows have to be looked at
	isClean uint8 // 1: the level follows; 0: it may not
}

// share is what it leaves each of the others; 0 if there are none.
func (b *balance) share() uint64 {
	if b.weight == 0 {
		return 0
	}
	return b.left / uint64(b.weight)
}

// follows reports whether it is clear that the level of a link with n flows is right.
func (b *balance) follows(at, n uint64) bool {
	if at == NoCap || !b.isKnown {
		return b.isKnown && b.weight == 0 && b.left >= n
	}
	hi, all := bits.Mul64(at, uint64(b.weight))
	return hi == 0 && all <= b.left && b.left-all < uint64(b.weight) && at > b.below+n
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
	if b.isKnown {
		held, share := b.weight, b.share()
		if share <= b.below+all { // else move finds those that get less elsewhere
			share = x.settle(i)
		}
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
		share := b.share()
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
	safe := x.levels[i] // none that it holds back gets less elsewhere
	for b.weight > 0 {
		share = b.share()
		was := int(b.weight)
		if share > safe {
			safe = share
			for j := 0; j < int(b.weight); {
				u := x.elsewhere(l, i, j)
				if u >= share {
					j++
					continue
				}
				if !x.cede(l, b, j, u) {
					return share
				}
			}
			x.Visits += int64(was)
			if int(b.weight) < was {
				continue
			}
		}
		if share > b.below+uint64(n) {
			break
		}
		x.Visits += int64(n - was)
		b.below, safe = 0, share
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

// cede counts a flow that a link has held back among those that get less elsewhere, so much. If
// that cannot be, its balance is not known any more.
func (x *MaxMin) cede(l *sharedLink, b *balance, j int, u uint64) bool {
	if b.isKnown = u <= b.left; b.isKnown {
		b.weight--
		x.swap(l, j, int(b.weight))
		b.left -= u
		b.below = max(b.below, u+1)
	}
	return b.isKnown
}

// enter counts a flow that has begun, which is the last of a link.
func (x *MaxMin) enter(i int32) {
	l, b := &x.links[i], &x.balances[i]
	if !b.isKnown {
		return
	}
	last := len(l.flows) - 1
	switch u := x.elsewhere(l, i, last); {
	case u >= x.levels[i]:
		x.isTied = x.isTied || u == x.levels[i]
		x.swap(l, int(b.weight), last)
		b.weight++
	case u <= b.left:
		b.left -= u
		b.below = max(b.below, u+1)
	default:
		b.isKnown, b.calm = false, 0
	}
}

// leave does not count a flow of a link any more, and makes it the last.
func (x *MaxMin) leave(i int32, spot int) {
	l, b := &x.links[i], &x.balances[i]
	if b.isKnown {
		if spot < int(b.weight) {
			b.weight--
			x.swap(l, spot, int(b.weight))
			spot = int(b.weight)
		} else {
			b.left += x.elsewhere(l, i, spot)
		}
	}
	x.swap(l, spot, len(l.flows)-1)
}
