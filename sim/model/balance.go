package model

import "math/bits"

// balance holds the sums that a link's bottleneck share follows from. The flows of the link are in
// two groups: the first held flows, which it holds back, and those that get less elsewhere. The
// share is ⌊left / held⌋, up to roundings. The balance of an unsaturated link is not known.
type balance struct {
	left   uint64 // the capacity less the rates of the flows that get less elsewhere
	bound  uint64 // greater than each rate of a flow that gets less elsewhere
	stable uint64 // the share if the balance is known, else 0; lower rates only change left
	held   int32  // the number of flows that the link holds back
	// isKnown: left, bound and held are right; else evaluate sums up all flows.
	isKnown bool
	isClean uint8 // 1: the share follows from the balance; 0: the link is or will be dirty
}

// share returns the capacity left for each flow that the link holds back, rounded down; 0 if it
// holds back none.
func (b *balance) share() uint64 {
	if b.held == 0 {
		return 0
	}
	return b.left / uint64(b.held)
}

// follows reports whether a share surely follows from the balance of a link with n flows. It asks
// for a distance of n between the share and the rates of flows with another bottleneck. Within that
// distance roundings could decide which flows the link holds back.
func (b *balance) follows(at, n uint64) bool {
	if at == NoCap || !b.isKnown {
		return b.isKnown && b.held == 0 && b.left >= n
	}
	hi, all := bits.Mul64(at, uint64(b.held))
	return hi == 0 && all <= b.left && b.left-all < uint64(b.held) && at > b.bound+n
}

// evaluate returns the share that a link has by the shares of the others, and makes its balance
// that of this share. The first n of its flows include all that the returned share or the present
// one holds back.
func (x *MaxMin) evaluate(i int32) (to uint64, n int) {
	l, b := &x.links[i], &x.balances[i]
	all := uint64(len(l.flows))
	if all == 0 {
		return NoCap, 0
	}
	if !b.isKnown {
		x.recount(i)
	}
	start := l.capacity / all
	if b.isKnown {
		held, share := b.held, b.share()
		if share <= b.bound+all { // else setShare finds those that get less elsewhere
			share = x.refine(i)
		}
		switch {
		case !b.isKnown:
		case b.held > 0 && share > b.bound+all: // no rate is near it: the groups are right
			return share, int(max(held, b.held))
		case b.held == 0 && b.left >= all: // all flows get less elsewhere, and some is left
			return NoCap, int(held)
		}
		// Roundings lower the share by at most all + 1. What refine returned is never too high else.
		start = max(start, share-min(share, all+1))
	}
	x.gather(i)
	return x.fill(i, start), len(l.flows)
}

// gather fills gathered with the rates that all flows of a link get elsewhere.
func (x *MaxMin) gather(i int32) {
	l := &x.links[i]
	x.gathered = x.gathered[:0]
	for j := range l.flows {
		x.gathered = append(x.gathered, x.rateElsewhere(l, i, j))
	}
	x.Visits += int64(len(l.flows))
}

// rateElsewhere returns the rate that the j-th flow of a link would have without that link: the
// least of its cap and the shares of its other links.
func (x *MaxMin) rateElsewhere(l *sharedLink, i int32, j int) uint64 {
	if k := l.across[j]; k >= 0 {
		return x.shares[k]
	}
	f := &x.Flows[l.flows[j].Flow]
	least := f.limit
	for _, h := range f.links {
		if h != i {
			least = min(least, x.shares[h])
		}
	}
	return least
}

// recount computes the balance of a link at its present share from all of its flows. The balance
// stays unknown if flows with a bottleneck elsewhere take more than the capacity: the shares are
// not final then.
func (x *MaxMin) recount(i int32) {
	x.gather(i)
	x.balances[i].isKnown = x.partition(i, x.shares[i])
}

// partition computes the balance of a link at a share from gathered, and sorts its flows into the
// two groups. It reports false if the flows that get less elsewhere exceed the capacity.
func (x *MaxMin) partition(i int32, at uint64) bool {
	l, b := &x.links[i], &x.balances[i]
	b.left, b.held, b.bound = l.capacity, 0, 0
	for j, u := range x.gathered {
		switch {
		case u >= at:
			w := int(b.held)
			x.swap(l, j, w)
			x.gathered[j], x.gathered[w] = x.gathered[w], u
			b.held++
		case u > b.left:
			return false
		default:
			b.left -= u
			b.bound = max(b.bound, u+1)
		}
	}
	return true
}

// fill returns the share of a link by progressive filling. It starts at a share at which the link
// is not saturated, and raises it until the link is. gathered holds the rates that its flows get
// elsewhere.
func (x *MaxMin) fill(i int32, at uint64) uint64 {
	b := &x.balances[i]
	for {
		b.isKnown = x.partition(i, at)
		if b.held == 0 {
			return NoCap
		}
		share := b.share()
		if share <= at {
			return at
		}
		at = share
	}
}

// refine moves flows between the two groups of a link until they agree with the share that the
// balance gives, and returns this share. Few flows have to move where little has changed. It stops
// where roundings decide; else bound is tight, and the caller can rely on the share.
func (x *MaxMin) refine(i int32) (share uint64) {
	l, b := &x.links[i], &x.balances[i]
	n := len(l.flows)
	safe := x.shares[i] // each flow that the link holds back gets this much elsewhere
	for b.held > 0 {
		share = b.share()
		was := int(b.held)
		if share > safe {
			safe = share
			for j := 0; j < int(b.held); {
				u := x.rateElsewhere(l, i, j)
				if u >= share {
					j++
					continue
				}
				if !x.demote(l, b, j, u) {
					return share
				}
			}
			x.Visits += int64(was)
			if int(b.held) < was {
				continue
			}
		}
		if share > b.bound+uint64(n) {
			break
		}
		x.Visits += int64(n - was)
		b.bound, safe = 0, share
		for j := was; j < n; j++ {
			u := x.rateElsewhere(l, i, j)
			if u < share {
				b.bound = max(b.bound, u+1)
				continue
			}
			x.swap(l, j, int(b.held))
			b.held++
			b.left += u
		}
		if int(b.held) == was {
			break
		}
	}
	return share
}

// demote moves a flow that a link has held back to those that get less elsewhere, at a rate u. It
// reports false, and the balance becomes unknown, if less than u is left.
func (x *MaxMin) demote(l *sharedLink, b *balance, j int, u uint64) bool {
	if b.isKnown = u <= b.left; b.isKnown {
		b.held--
		x.swap(l, j, int(b.held))
		b.left -= u
		b.bound = max(b.bound, u+1)
	}
	return b.isKnown
}

// insert adds the last flow of a link, which has begun, to the balance.
func (x *MaxMin) insert(i int32) {
	l, b := &x.links[i], &x.balances[i]
	if !b.isKnown {
		return
	}
	last := len(l.flows) - 1
	switch u := x.rateElsewhere(l, i, last); {
	case u >= x.shares[i]:
		x.isTied = x.isTied || u == x.shares[i]
		x.swap(l, int(b.held), last)
		b.held++
	case u <= b.left:
		b.left -= u
		b.bound = max(b.bound, u+1)
	default:
		b.isKnown, b.stable = false, 0
	}
}

// remove takes a flow of a link out of the balance, and makes it the last in the list.
func (x *MaxMin) remove(i int32, spot int) {
	l, b := &x.links[i], &x.balances[i]
	if b.isKnown {
		if spot < int(b.held) {
			b.held--
			x.swap(l, spot, int(b.held))
			spot = int(b.held)
		} else {
			b.left += x.rateElsewhere(l, i, spot)
		}
	}
	x.swap(l, spot, len(l.flows)-1)
}
