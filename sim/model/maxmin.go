package model

import (
	"math/bits"

	"collsim/sim/internal/flat"
	"collsim/unit"
)

// MaxMin keeps the max-min fair rates of flows that share links, as flows begin and end. Rates are
// integers of 2⁻²⁰ B/s (docs/time.md, fluid sharing; decision 10). Begin and End change the flows;
// Solve then updates only the rates that these changes affect. The caller numbers the flows. The
// rates are those of FairRates.
//
// A flow's rate is the least of its cap and of the bottleneck shares of its links. The share of a
// link is the least v at which the link is saturated. It is saturated at v if
//
//	⌊(capacity − the rates of its flows that get less than v elsewhere) / its other flows⌋ ≤ v.
//
// A link without such a v is unsaturated, and its share is NoCap. A share depends on lower shares
// only, so these equations have one solution. Any order of computing it gives the same integers.
//
// SimGrid's maxmin.cpp has the same lists: its constraints are the links, its variables the flows,
// and its modified set is pending. It fills a modified part of the system afresh; MaxMin keeps a
// balance for each link, and repairs the shares that do not follow from their balance any more.
type MaxMin struct {
	Flows []Flow // by number; a flow that has not begun, or has ended, has demand 0
	// Starved is the least number of a flow that no rate is left for; −1 while there is none. All
	// rates are then without meaning: the simulation fails.
	Starved int32
	// Visits counts flows looked at, on a link; Solutions counts calls of Solve that had something to
	// do; Joined counts the flows on links whose share changed. They measure the work done.
	Visits, Solutions, Joined int64

	network *Network
	links   []sharedLink // by link of the network
	// shares holds the bottleneck share of each link: the rate of the flows that it holds back. It is
	// NoCap for an unsaturated link. It stands apart from links, as most reads need nothing else.
	shares   []uint64
	balances []balance // by link: the sums that its share follows from
	pending  []int32   // links on which flows have begun or ended since the last Solve
	updated  []int32   // the links that were pending when the last Solve began
	changed  []int32   // links to which the last Solve has given another share
	// affected lists flows that may have got another rate or bottleneck in the last Solve. It may
	// leave out flows whose bottleneck was a changed link and still is: Members adds these.
	affected []int32
	begun    []int32            // flows that have begun since the last Solve
	seen     []int64            // by flow: the round in which it was last added to affected
	round    int64              // counts calls of Solve; a mark of an earlier round is out of date
	spare    []int32            // memory for the spots of flows, allocated in large pieces
	dirty    flat.Queue[uint64] // links whose share may be wrong, by an estimate of the right share
	gathered []uint64           // by flow of the link at hand: the result of gather
	incremental
	sortedShares
}

// Flow is a message that flows through all links of its route at the same time, at one rate.
type Flow struct {
	// Rate is the rate at which the flow goes on: the caller sets it to Next, which Members has set
	// from the latest solution.
	Rate, Next uint64
	links      []int32 // its route
	spots      []int32 // by link of its route: its index among the flows of that link
	limit      uint64  // its cap; NoCap where a link of its route is slower in any case
	alone      uint64  // its rate if it were the only flow: the least of cap and capacities
	lastChange int64   // the change of a share that touchOthers has last applied to it
	demand     uint64  // a bound on its rate in whole B/s, rounded up; 0 before Begin and after End
}

// sharedLink is a link and the flows that cross it.
type sharedLink struct {
	capacity uint64 // 0 for a link without limit: no list has its flows
	// flows are in two groups while the link's balance is known: the first balance.held are those
	// that this link holds back, and the others have a lower bottleneck elsewhere.
	flows []Crossing
	// across holds, for each of flows, the other link of its route if it has two links and no cap
	// that matters; else −1. The rate that such a flow gets elsewhere is the share of that link.
	across  []int32
	demands demand // the sum of the demands of its flows
	// isUnsaturated: all demands together are less than the capacity, as of the last Solve. The link
	// cannot hold back any flow and needs no balance. A GPU's memory is mostly such a link.
	isUnsaturated bool
	hasChange     bool  // it is in pending
	mayRise       bool  // sorted shares: it may be moved up the order in this repair
	round         int64 // the last round in which it was dirty; its negative: Touched has listed it
	changedIn     int64 // the last round in which its share has changed
}

// Crossing is a place where a flow crosses a link: the flow and the index of the link in its route.
type Crossing struct{ Flow, hop int32 }

// demand is a sum of the demands of flows, in 128 bits.
type demand struct{ hi, lo uint64 }

// add adds a demand.
func (d *demand) add(x uint64) {
	var carry uint64
	d.lo, carry = bits.Add64(d.lo, x, 0)
	d.hi += carry
}

// remove subtracts a demand that was added.
func (d *demand) remove(x uint64) {
	var borrow uint64
	d.lo, borrow = bits.Sub64(d.lo, x, 0)
	d.hi -= borrow
}

// NewMaxMin returns the solver for the links of a network, without flows.
func NewMaxMin(n *Network) *MaxMin {
	x := &MaxMin{network: n, Starved: -1, links: make([]sharedLink, len(n.Links)),
		shares:   make([]uint64, len(n.Links)),
		balances: make([]balance, len(n.Links)), incremental: incremental{patience: 8},
		sortedShares: sortedShares{threshold: 32}}
	x.dirty.Grow(len(n.Links))
	x.sides = make([]sides, len(n.Links))
	for i := range n.Links {
		x.shares[i], x.balances[i].isClean = NoCap, 1
		x.links[i].isUnsaturated = true
		if b := n.Links[i].Bandwidth; b != unit.Unlimited {
			x.links[i].capacity = FluidRate(b)
			x.widest = max(x.widest, FluidRate(b))
		}
	}
	return x
}

// Grow makes room for flows of numbers below n.
func (x *MaxMin) Grow(n int) {
	more := max(n-len(x.Flows), 0)
	x.Flows = append(x.Flows, make([]Flow, more)...)
	x.seen = append(x.seen, make([]int64, more)...)
}

// Begin puts a flow with a cap on the links of a route. The flow counts as often on a link as the
// route crosses it, since one flow may stand for many equal ones. The next Solve gives it a rate.
//
// REQUIRES: a link of the route has a limit; else the flow shares nothing and needs no rate.
func (x *MaxMin) Begin(f, route int32, limit uint64) {
	r := &x.network.Routes[route]
	most := limit
	if r.Slowest != unit.Unlimited {
		most = min(most, FluidRate(r.Slowest))
	}
	y, links := &x.Flows[f], x.network.LinksOf(r)
	if cap(y.spots) < len(links) {
		if len(x.spare) < len(links) {
			x.spare = make([]int32, 1024+len(links))
		}
		y.spots, x.spare = x.spare[:0:len(links)], x.spare[len(links):]
	}
	if most < limit { // a link is slower than the cap, which never matters then
		limit = NoCap
	}
	if !isPlain(links, limit) {
		x.irregular++
	}
	*y = Flow{links: links, spots: y.spots[:0], limit: limit, alone: most,
		demand: most>>unitShift + 1}
	for i, h := range y.links {
		l := &x.links[h]
		y.spots = append(y.spots, int32(len(l.flows)))
		if l.capacity > 0 {
			other := int32(-1)
			if isPlain(links, limit) {
				x.sides[h] |= 1 << i
				other = links[1-i]
			}
			l.flows, l.across = append(l.flows, Crossing{f, int32(i)}), append(l.across, other)
			l.demands.add(y.demand)
			if len(l.flows) == 1 {
				x.busy++
			}
			x.addPending(h)
			x.insert(h)
		}
	}
	x.begun = append(x.begun, f)
}

// End removes a flow from its links. The next Solve gives what it had to the others.
func (x *MaxMin) End(f int32) {
	if !isPlain(x.linksOf(f), x.Flows[f].limit) {
		x.irregular--
	}
	for i, h := range x.linksOf(f) {
		if l := &x.links[h]; l.capacity > 0 {
			last := len(l.flows) - 1
			x.remove(h, int(x.Flows[f].spots[i]))
			l.flows, l.across = l.flows[:last], l.across[:last]
			l.demands.remove(x.Flows[f].demand)
			if last == 0 {
				x.busy--
			}
			x.addPending(h)
		}
	}
	x.Flows[f].demand = 0
}

// swap exchanges the places of two flows in the list of a link.
func (x *MaxMin) swap(l *sharedLink, i, j int) {
	if i == j {
		return
	}
	a, b := l.flows[i], l.flows[j]
	l.flows[i], l.flows[j] = b, a
	l.across[i], l.across[j] = l.across[j], l.across[i]
	x.Flows[b.Flow].spots[b.hop], x.Flows[a.Flow].spots[a.hop] = int32(i), int32(j)
}

// linksOf returns the links of a flow's route.
func (x *MaxMin) linksOf(f int32) []int32 { return x.Flows[f].links }

// On returns the flows on a link; none for a link without limit.
func (x *MaxMin) On(link int32) []Crossing { return x.links[link].flows }

// IsLimited reports whether a link has a bandwidth to be shared.
func (x *MaxMin) IsLimited(link int32) bool { return x.links[link].capacity > 0 }

// Limit returns a flow's bottleneck in the latest solution, as an index of its route: the first
// link whose share is the flow's rate. It returns −1 where the flow's cap holds it back.
func (x *MaxMin) Limit(f int32) int32 {
	for i, h := range x.linksOf(f) {
		if x.shares[h] == x.Flows[f].Next {
			return int32(i)
		}
	}
	return -1
}

// Alone returns the rate that a flow would have if it were the only one.
func (x *MaxMin) Alone(f int32) uint64 { return x.Flows[f].alone }

// addPending has the next Solve look at a link, on which a flow has begun or ended.
func (x *MaxMin) addPending(l int32) {
	if !x.links[l].hasChange {
		x.links[l].hasChange = true
		x.pending = append(x.pending, l)
	}
}

// Solve updates the shares of links after the flows that have begun and ended since the last call.
// Members then has the flows with another rate. Where a link cannot give each of its flows one
// unit, Solve sets Starved.
func (x *MaxMin) Solve() {
	x.changed, x.affected = x.changed[:0], x.affected[:0]
	x.pending, x.updated = x.updated[:0], x.pending
	if len(x.updated) == 0 {
		return
	}
	x.round++
	x.Solutions++
	x.update()
	for _, f := range x.begun {
		if x.Flows[f].demand > 0 {
			x.addAffected(f)
			if x.Flows[f].limit == 0 {
				x.starve(f)
			}
		}
	}
	x.begun = x.begun[:0]
	for _, h := range x.changed {
		x.Joined += int64(len(x.links[h].flows))
		if x.shares[h] == 0 {
			for _, c := range x.links[h].flows {
				x.starve(c.Flow)
			}
		}
	}
}

// addAffected notes that a flow may have another rate, once a round.
func (x *MaxMin) addAffected(f int32) {
	if x.seen[f] != x.round {
		x.seen[f] = x.round
		x.affected = append(x.affected, f)
	}
}

// starve notes a flow that gets nothing.
func (x *MaxMin) starve(f int32) {
	if x.Starved < 0 || f < x.Starved {
		x.Starved = f
	}
}

// Rate returns the rate of a flow in the latest solution: the least of its cap and the shares of
// its links.
func (x *MaxMin) Rate(f int32) uint64 {
	rate := x.Flows[f].limit
	for _, h := range x.Flows[f].links {
		rate = min(rate, x.shares[h])
	}
	return rate
}

// Members returns the flows to which the latest solution may have given another rate or another
// bottleneck, and sets their Next.
func (x *MaxMin) Members() []int32 {
	for _, h := range x.changed {
		for _, c := range x.links[h].flows {
			x.addAffected(c.Flow)
		}
	}
	for _, f := range x.affected {
		x.Flows[f].Next = x.Rate(f)
	}
	return x.affected
}

// Touched appends to a list the links with a limit whose flows, or rates of flows, the latest
// solution may have changed.
func (x *MaxMin) Touched(list []int32) []int32 {
	add := func(h int32) {
		if l := &x.links[h]; l.round != -x.round && l.capacity > 0 {
			l.round = -x.round
			list = append(list, h)
		}
	}
	for _, h := range x.updated {
		add(h)
	}
	for _, m := range x.Members() {
		for _, h := range x.linksOf(m) {
			add(h)
		}
	}
	return list
}
