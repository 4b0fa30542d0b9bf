package model

// Incremental updates of shares. FairRates fills all links from zero. MaxMin looks only at links
// whose share changes, and at the links that their flows cross besides.
//
// A link whose share does not follow from the shares of the others is dirty. The dirty link with
// the lowest share is evaluated first, so that most links are evaluated once. A share that has
// risen may fall again, which could take long where links depend on each other in an unlucky way.
// So evaluations have a budget. When it is spent, a share that must rise is first set to NoCap, and
// computed when all lower ones are final. Then every link is evaluated at most twice. (G.
// Ramalingam and T. Reps, An Incremental Algorithm for a Generalization of the Shortest-Path
// Problem, 1996, treats increases so.)

// incremental is the state of one update of shares.
type incremental struct {
	patience   int        // evaluations that each link that becomes dirty adds to the budget
	budget     int        // evaluations left before isStrict
	changes    int64      // counts changes of shares, in all updates: names one for Flow.lastChange
	newlyDirty [256]int32 // scratch of touchRun: links to be marked dirty, and one place more
	isStrict   bool       // the budget is spent: shares become final in ascending order
	frontier   uint64     // where isStrict: the share at hand; all lower shares are final
}

// update computes all shares after the flows that have begun and ended. It repairs the sorted
// shares where these are kept, and else evaluates dirty links until none is left.
func (x *MaxMin) update() {
	x.isStrict, x.budget, x.frontier = false, 0, 0
	for _, i := range x.updated {
		l, was := &x.links[i], x.links[i].isUnsaturated
		l.hasChange = false
		l.isUnsaturated = l.demands.hi == 0 && l.demands.lo <= l.capacity>>unitShift
		if x.isOrdered && l.isUnsaturated != was {
			x.dropOrder(false)
		}
	}
	if x.willOrder {
		x.sortByShare()
	}
	if x.isOrdered && x.repair() {
		return
	}
	for _, i := range x.updated {
		if x.links[i].isUnsaturated {
			x.balances[i].isKnown, x.balances[i].stable = false, 0
		} else {
			x.markDirty(i)
		}
	}
	for _, i := range x.updated {
		if x.links[i].isUnsaturated && x.shares[i] != NoCap {
			x.setShare(i, NoCap, len(x.links[i].flows))
		}
	}
	for x.dirty.Len() > 0 {
		if x.budget--; x.budget < 0 && !x.isStrict {
			x.isStrict = true
			x.dirty.Each(func(uint64) uint64 { return 0 })
		}
		var i int32
		i, x.frontier = x.dirty.First()
		x.dirty.Remove(i)
		b := &x.balances[i]
		b.isClean = 1
		if to, n := x.evaluate(i); to != x.shares[i] {
			x.apply(i, to, n)
		}
		if b.stable = 0; b.isKnown {
			b.stable = x.shares[i]
		}
	}
	x.willOrder = len(x.changed) >= x.threshold && 4*len(x.changed) >= x.busy && x.irregular == 0
}

// apply gives a link the share that evaluate has found, or puts it off until lower shares are
// final. The first n of its flows include all that the new share or the present one holds back.
func (x *MaxMin) apply(i int32, to uint64, n int) {
	from := x.shares[i]
	at := min(from, to)
	switch x.frontier = at; {
	case !x.isStrict:
		x.setShare(i, to, n)
	case x.dirty.Len() > 0 && at > x.lowestDirty():
		x.requeue(i, at)
	case from < to && to != NoCap:
		x.setShare(i, NoCap, n)
		x.requeue(i, to)
	default:
		x.setShare(i, to, n)
	}
}

// lowestDirty returns the lowest estimated share of a dirty link.
func (x *MaxMin) lowestDirty() uint64 {
	_, at := x.dirty.First()
	return at
}

// requeue has a link be evaluated from scratch when all shares below one are final.
func (x *MaxMin) requeue(i int32, at uint64) {
	x.balances[i].isClean, x.balances[i].isKnown = 0, false
	x.dirty.Set(i, at)
}

// markDirty queues a link for evaluation, at an estimate of its new share.
func (x *MaxMin) markDirty(i int32) {
	l, b := &x.links[i], &x.balances[i]
	b.isClean = 0
	if l.round != x.round {
		l.round = x.round
		x.budget += x.patience
	}
	at := x.shares[i]
	switch {
	case x.isStrict:
		at = x.frontier
	case at == NoCap:
		at = l.capacity / uint64(len(l.flows))
	case b.isKnown && b.held > 0:
		at = min(at, b.share())
	}
	x.dirty.Set(i, at)
}

// setShare gives a link a share, and updates the balances of the links that its flows cross. The
// first n of its flows include all that the new share or the present one holds back. If the share
// rises past the rate that a flow gets elsewhere, it does not hold that flow back any more. The
// link is then dirty again.
func (x *MaxMin) setShare(i int32, to uint64, n int) {
	l, b, from := &x.links[i], &x.balances[i], x.shares[i]
	x.changes++
	low, high := min(from, to), max(from, to)
	if l.changedIn != x.round {
		l.changedIn = x.round
		x.changed = append(x.changed, i)
	}
	x.shares[i] = to
	x.Visits += int64(n)
	isAgain := false
	for j := 0; j < n; j++ {
		u, c, k := x.rateElsewhere(l, i, j), l.flows[j], l.across[j]
		if u < low { // another link is its bottleneck, before and after
			continue
		}
		if u > high && k >= 0 && !x.isStrict {
			if passed := x.touchRun(l.across[j:min(n, j+len(x.newlyDirty)-1)], from, to); passed > 0 {
				j += passed - 1
				continue
			}
		}
		if u <= high {
			x.addAffected(c.Flow)
		}
		switch {
		case u == low:
		case k >= 0:
			x.touch(k, c.Flow, 1-c.hop, from, to)
		default:
			x.touchOthers(i, c.Flow, from, to)
		}
		if u < to && j < int(b.held) && b.isKnown && !x.isStrict {
			if isAgain = true; x.demote(l, b, j, u) {
				j, n = j-1, n-1
			}
		}
	}
	if isAgain {
		x.markDirty(i)
	}
}

// touchRun does the work of touch for a run of links across flows. The run ends before the first
// link that was or will be the bottleneck of its flow. touchRun returns its length. Nearly all
// links are in such runs, and nearly all time is spent here. So the loop only collects the links
// that become dirty, without a branch, and marks them afterwards.
func (x *MaxMin) touchRun(links []int32, from, to uint64) int {
	balances, fresh, high, n, j := x.balances, &x.newlyDirty, max(from, to), uint8(0), 0
	for _, k := range links {
		i := uint(k)
		if i >= uint(len(balances)) {
			break
		}
		b := &balances[i]
		left := b.left + from
		if b.stable <= high || left < to {
			break
		}
		b.left = left - to
		b.bound = max(b.bound, to+1)
		fresh[n] = k
		n += b.isClean
		b.isClean = 0
		j++
	}
	for _, k := range fresh[:n] {
		x.balances[k].isClean = 1
		x.checkClean(k)
	}
	return j
}

// touchOthers updates the balances of all other links of a flow after a link has changed its share.
// The rate that the flow gets elsewhere is, for each of them, the least of the cap and the other
// shares.
func (x *MaxMin) touchOthers(i, m int32, from, to uint64) {
	f := &x.Flows[m]
	if f.lastChange == x.changes { // its route crosses the link more than once
		return
	}
	f.lastChange = x.changes
	least, next, at := f.limit, f.limit, int32(-1) // the least rate, the next, the link of the least
	for _, k := range f.links {
		switch v := x.shares[k]; {
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

// touch updates the balance of a link after the rate that a flow gets elsewhere has changed. The
// flow may move between the group that the link holds back and the rest. The link becomes dirty if
// its share does not follow from its balance any more.
func (x *MaxMin) touch(i, m, hop int32, from, to uint64) {
	b, at := &x.balances[i], x.shares[i]
	if from == to || min(from, to) >= at || !b.isKnown {
		return
	}
	l := &x.links[i]
	if from < at {
		b.left += from
	} else {
		b.held--
		x.swap(l, int(x.Flows[m].spots[hop]), int(b.held))
	}
	switch {
	case to >= at:
		x.swap(l, int(x.Flows[m].spots[hop]), int(b.held))
		b.held++
	case to <= b.left:
		b.left -= to
		b.bound = max(b.bound, to+1)
	default:
		b.isKnown, b.stable = false, 0
	}
	x.checkClean(i)
}

// checkClean marks a link dirty whose balance has changed, unless its share still follows from it.
func (x *MaxMin) checkClean(i int32) {
	b := &x.balances[i]
	if x.isStrict || b.isClean > 0 && !b.follows(x.shares[i], uint64(len(x.links[i].flows))) {
		x.markDirty(i)
	}
}
