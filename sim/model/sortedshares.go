package model

import (
	"cmp"
	"math/bits"
	"slices"
)

// The second way to update shares. It is for traffic where nearly every change of flows changes
// nearly all shares, as in an all_to_all of many sizes. There it would be slow to mark which shares
// may be wrong. Instead, links stand in ascending order of their shares. Every flow has two links,
// and the earlier one of them is its bottleneck.
//
// After a change, the links from the first changed one on are repaired, in ascending order. When a
// link is reached, all lower shares are final, so its balance is right. Its new share is taken off
// the balances of the links that its flows cross besides. The new share may be lower than those of
// links before it. Then the link takes over the flows that it has in common with them, and moves
// down. If its share is much higher than those of links behind it, it hands such flows over, and
// moves up.
//
// At the end the shares are in the order of the links, and each follows from lower ones: so they
// solve the equations of MaxMin. Two links with a flow in common may have the same share, and both
// hold the flow back. The earlier one has it in its balance.

// sortedShares holds the links that are not unsaturated by their demands, in ascending order of
// their shares; those of share NoCap are last. While it is kept, the balances of all of them are
// known.
type sortedShares struct {
	order     []int32 // links
	positions []int32 // by link: its index in order
	sides     []sides // by link
	isOrdered bool    // order is kept
	willOrder bool    // the next update begins by sorting the links
	isTied    bool    // a flow has begun on two links of one share: which of them counts it is open
	isTwin    []bool  // by link: it may have the same share as another link of one of its flows
	threshold int     // links with another share in one update from which on order is kept
	idle      int     // repairs in a row that have changed few shares
	widest    uint64  // the greatest capacity
	busy      int     // links with flows
	irregular int     // flows whose rate elsewhere is not the share of one link: isPlain is false
}

// sides records whether routes have had a link as their first one (bit 0) and as their second (bit
// 1).
type sides uint8

// mayMeet reports whether a route may have had both links.
func (s sides) mayMeet(o sides) bool { return (s>>1|s<<1)&o&3 != 0 }

const (
	leap = 4 // a link whose share passes so many others moves past all of them at once
	// idling counts links repaired for each share that changes. From this ratio on a repair is
	// idle, and after as many idle repairs in a row the order is dropped.
	idling = 8
)

// isPlain reports whether a flow has just two links and no cap that matters. The rate that it gets
// without one of them is then the share of the other.
func isPlain(links []int32, limit uint64) bool {
	return len(links) == 2 && links[0] != links[1] && limit == NoCap
}

// sortByShare sorts the links and begins to keep them in order. It does nothing if a route is not
// plain or a balance cannot be known.
func (x *MaxMin) sortByShare() {
	x.order, x.idle, x.willOrder, x.isTied = x.order[:0], 0, false, false
	if x.irregular > 0 {
		return
	}
	for i := range x.links {
		l, b, at := &x.links[i], &x.balances[i], x.shares[i]
		if l.isUnsaturated && at == NoCap {
			b.isKnown, b.stable = false, 0
			continue
		}
		if !b.isKnown && !l.isUnsaturated {
			x.recount(int32(i))
		}
		if l.isUnsaturated || !b.isKnown || at == NoCap && b.held > 0 {
			return
		}
		x.order = append(x.order, int32(i))
	}
	slices.SortFunc(x.order, func(i, k int32) int {
		return cmp.Or(cmp.Compare(x.shares[i], x.shares[k]), cmp.Compare(i, k))
	})
	if x.positions == nil {
		x.positions, x.isTwin = make([]int32, len(x.links)), make([]bool, len(x.links))
	}
	for p, i := range x.order {
		x.positions[i] = int32(p)
	}
	for p, i := range x.order {
		l, b, at := &x.links[i], &x.balances[i], x.shares[i]
		for j := 0; j < int(b.held); {
			if k := l.across[j]; x.shares[k] > at || int(x.positions[k]) > p {
				j++
				continue
			}
			b.held--
			x.swap(l, j, int(b.held))
			b.left -= at
			x.isTwin[i], x.isTwin[l.across[b.held]] = true, true
		}
		b.resetMargins(at)
	}
	x.isOrdered = true
}

// resetMargins sets stable and bound for a share that is right. Sorted shares do not keep a tight
// bound.
func (b *balance) resetMargins(at uint64) { b.stable, b.bound = at, min(at, NoCap>>1) }

// repair updates all shares in ascending order. If it has to give up it drops the order, and
// reports false: update evaluates dirty links then.
func (x *MaxMin) repair() bool {
	p, steps := len(x.order), 0
	for _, i := range x.updated {
		l := &x.links[i]
		if l.isUnsaturated {
			continue
		}
		l.mayRise = true
		p = min(p, int(x.positions[i]))
		hi, _ := bits.Mul64(x.widest, uint64(len(l.flows))+1) // else b.left < 0 is not seen
		if hi > 0 || !x.balances[i].isKnown || x.isTied || x.irregular > 0 {
			return x.dropOrder(false)
		}
	}
	for ; p < len(x.order); steps++ {
		i, isTwin := x.order[p], false
		if p, isTwin = x.repairAt(p); p < 0 || steps > 16*len(x.order) {
			return x.dropOrder(true)
		}
		x.isTwin[i] = x.isTwin[i] || isTwin
	}
	if x.idle++; len(x.changed)*idling >= steps {
		x.idle = 0
	}
	if x.idle == idling {
		x.dropOrder(false)
	}
	return true
}

// dropOrder stops keeping links in order. If a repair has begun, all shares that it has left are to
// be evaluated again. It returns false for repair to return.
func (x *MaxMin) dropOrder(hasBegun bool) bool {
	x.isOrdered, x.isTied = false, false
	for _, i := range x.order {
		if x.isTwin[i] {
			x.isTwin[i] = false
			x.recount(i)
		}
	}
	if !hasBegun {
		return false
	}
	for _, i := range x.order {
		x.balances[i].isKnown, x.balances[i].stable = false, 0
		if len(x.links[i].flows) > 0 {
			x.markDirty(i)
		}
	}
	for _, i := range x.changed {
		for _, c := range x.links[i].flows {
			x.addAffected(c.Flow)
		}
	}
	return false
}

// repairAt computes the share of the link at a position, if all lower shares are final. It returns
// the position to repair next, or −1 to give up, and whether the link is a twin.
func (x *MaxMin) repairAt(p int) (next int, isTwin bool) {
	i := x.order[p]
	l, b := &x.links[i], &x.balances[i]
	all := uint64(len(l.flows))
	switch {
	case b.left > l.capacity || b.held == 0 && b.left < all: // less than 0, or saturated
		return x.takeFlows(p)
	case b.held == 0:
		return x.unsaturate(p), false
	}
	at := b.share()
	if q := p + leap; l.mayRise && q < len(x.order) && x.shares[x.order[q]] < at {
		return x.raisePast(p), false
	}
	enough := p - len(l.flows) - leap // in a tree thousands share one value: takeFlows is cheaper
	for q := p - 1; q >= 0 && at <= near(x.shares[x.order[q]], all); q-- {
		if q < enough || x.sides[i].mayMeet(x.sides[x.order[q]]) {
			return x.takeFlows(p)
		}
	}
	return x.lower(p, at, false), false
}

// near returns the highest share that is too close to another one for a link with so many flows:
// roundings may decide which is the bottleneck.
func near(at, flows uint64) uint64 { return at + min(flows+1, NoCap-at) }

// takeFlows has a link become the bottleneck of the flows that it holds back at its new, lower
// share, and moves it down the order. It takes the flow with the highest rate elsewhere first.
func (x *MaxMin) takeFlows(p int) (next int, isTwin bool) {
	i := x.order[p]
	l, b := &x.links[i], &x.balances[i]
	for all, hasMore := uint64(len(l.flows)), false; ; hasMore = true {
		most, at := uint64(0), -1 // the highest rate of a flow that gets less elsewhere
		for j, k := range l.across[b.held:] {
			if u := x.shares[k]; u >= most {
				most, at = u, j+int(b.held)
			}
		}
		x.Visits += int64(len(l.flows)) - int64(b.held)
		fits, share := b.left <= l.capacity, uint64(0)
		if fits {
			share = b.share()
		}
		switch {
		case b.held > 0 && (at < 0 || share > near(most, all)):
			return x.lower(p, share, hasMore), false
		case b.held > 0 && most <= near(share, all), b.held == 0 && fits:
			return x.takeExactly(p, hasMore)
		case !x.takeOver(i, at):
			return -1, false
		}
	}
}

// takeExactly does the same where shares are so near that roundings decide: it computes the share
// from all flows of the link. Links that then have the same share become twins.
func (x *MaxMin) takeExactly(p int, hasMore bool) (next int, isTwin bool) {
	i := x.order[p]
	l, b := &x.links[i], &x.balances[i]
	to := x.least(l, b)
	for j := int(b.held); j < len(l.flows); j++ {
		switch u := x.shares[l.across[j]]; {
		case u == to:
			isTwin, x.isTwin[l.across[j]] = true, true
			x.addAffected(l.flows[j].Flow)
		case u > to:
			if hasMore = true; !x.takeOver(i, j) {
				return -1, false
			}
		}
	}
	if to == NoCap {
		return x.unsaturate(p), false
	}
	return x.lower(p, to, hasMore), isTwin
}

// least returns the least share at which a link is saturated, by the shares of the links that hold
// back its other flows; NoCap if there is none.
func (x *MaxMin) least(l *sharedLink, b *balance) uint64 {
	for at := l.capacity / uint64(len(l.flows)); ; {
		left, others := l.capacity, uint64(b.held)
		for _, k := range l.across[b.held:] {
			if u := x.shares[k]; u >= at {
				others++
			} else {
				left -= u
			}
		}
		x.Visits += int64(len(l.flows)) - int64(b.held)
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

// takeOver makes a link the bottleneck of its j-th flow, in place of the flow's other link. It
// reports false if the other link does not hold the flow back.
func (x *MaxMin) takeOver(i int32, j int) bool {
	l, b := &x.links[i], &x.balances[i]
	c, k := l.flows[j], l.across[j]
	other, spot := &x.balances[k], x.Flows[c.Flow].spots[1-c.hop]
	if x.links[k].isUnsaturated || spot >= other.held {
		return false
	}
	other.held--
	x.swap(&x.links[k], int(spot), int(other.held))
	x.swap(l, j, int(b.held))
	b.held++
	b.left += x.shares[k]
	other.left -= x.shares[i]
	x.addAffected(c.Flow)
	return true
}

// handOver makes the other link of a flow its bottleneck.
func (x *MaxMin) handOver(i int32, j int) bool {
	k, c := x.links[i].across[j], x.links[i].flows[j]
	return x.takeOver(k, int(x.Flows[c.Flow].spots[1-c.hop]))
}

// raisePast moves a link up the order whose share has risen past those of others. Flows that these
// others hold back at their present shares are handed over first. It returns the position to repair
// next.
func (x *MaxMin) raisePast(p int) int {
	i, from := x.order[p], p
	l, b := &x.links[i], &x.balances[i]
	all, at := uint64(len(l.flows)), uint64(0)
	l.mayRise = false // once a repair: the others may rise as well, and be passed again
	for was := int32(0); was != b.held; {
		was, at = b.held, b.share()
		x.Visits += int64(was)
		for j := 0; j < int(b.held); {
			switch {
			case near(x.shares[l.across[j]], all) >= at:
				j++
			case !x.handOver(i, j):
				return -1
			}
		}
		if b.held == 0 {
			return x.unsaturate(p)
		}
	}
	x.setSorted(i, at)
	for ; p+1 < len(x.order) && near(x.shares[x.order[p+1]], all) < at; p++ {
		x.place(p, x.order[p+1])
	}
	x.place(p, i)
	return from
}

// lower sets the share of the link at position p, and moves it down the order as far as that
// requires. It returns the position to repair next, which is p+1 unless hasMore is true. Then the
// link has taken over flows, which may leave more capacity to all links above it. So repair
// continues just above its new position.
func (x *MaxMin) lower(p int, to uint64, hasMore bool) int {
	i, q := x.order[p], p
	x.setSorted(i, to)
	for ; q > 0 && x.shares[x.order[q-1]] > to; q-- {
		x.place(q, x.order[q-1])
	}
	x.place(q, i)
	if hasMore {
		return q + 1
	}
	return p + 1
}

// unsaturate gives a link the share NoCap, and moves it to the end of the order.
func (x *MaxMin) unsaturate(p int) int {
	i := x.order[p]
	if x.shares[i] == NoCap {
		return p + 1
	}
	x.setSorted(i, NoCap)
	for q := p + 1; q < len(x.order); q++ {
		x.place(q-1, x.order[q])
	}
	x.place(len(x.order)-1, i)
	return p
}

// place puts a link at a position of the order.
func (x *MaxMin) place(p int, i int32) { x.order[p], x.positions[i] = i, int32(p) }

// setSorted gives a link a share, and updates what is left in the balances of the links across the
// flows that it holds back.
func (x *MaxMin) setSorted(i int32, to uint64) {
	l, b, from := &x.links[i], &x.balances[i], x.shares[i]
	if from == to {
		return
	}
	x.shares[i] = to
	b.resetMargins(to)
	held, balances := l.across[:b.held], x.balances
	x.Visits += int64(len(held))
	if x.isTwin[i] { // flows that both twins held back may have one bottleneck now
		x.isTwin[i] = false
		for j, k := range l.across {
			if x.shares[k] == from {
				x.addAffected(l.flows[j].Flow)
			}
		}
	}
	for _, k := range held {
		balances[k].left += from - to
	}
	if l.changedIn != x.round {
		l.changedIn = x.round
		x.changed = append(x.changed, i)
	}
}
