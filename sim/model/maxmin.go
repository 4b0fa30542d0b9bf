package model

import (
	"cmp"
	"math/bits"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/unit"
)

// MaxMin works out the rates of flows that share links, max-min fairly, in integers of 2⁻²⁰ B/s
// (design §4, fluid sharing; decision 10). Flows are begun and ended; then Next works out, one
// after the other, the parts of the network that these changes can have touched. A flow is named by
// a number of the caller's.
//
// The integers do not depend on the order of links and flows, so they are those that working out
// everything afresh would give.
//
// A link is slack if it has more than all its flows can take, each at the least of its cap and of
// what the links of its route have: it never fills up, so it neither holds back nor joins them. The
// memory of a GPU is such a link, as long as what uses it does not fill it.
type MaxMin struct {
	Flows []Flow // by number; of those that have begun
	// Links and Members are the part that Next has worked out: the links, and the flows on them.
	Links, Members []int32
	// Slack are the links that are slack, or without flows, and on which something has changed.
	Slack []int32
	// Starved is a flow that would not get a single unit, −1 as long as there is none.
	Starved int32
	// Visits of flows on links, solutions, and flows in these: what it has cost.
	Visits, Solutions, Joined int64

	network *Network
	links   []sharedLink
	changed []int32 // links
	loose   []int32 // flows to be looked at whose links may all be slack
	next    int     // of changed, and then of loose, to be looked at
	isPaced bool    // flows have caps
	repeats bool    // a route may cross a link more than once
	caps    []uint64
	seen    []int64 // by flow: twice the round that last saw it, and 1 more when it has its rate
	round   int64
	fills   []filling // by link
	order   flat.Heap[uint64]
	tight   []int32 // the links that fill up next
}

// Flow is a message that flows through all links of its route at once. Rate is the caller's, to be
// set to Next when it lets the flow go on at that.
type Flow struct {
	Rate, Next uint64
	links      []int32
	need       uint64 // B/s of which it gets less, whatever others do; 0: it has not begun
}

// sharedLink is a link and the flows on it.
type sharedLink struct {
	capacity  uint64  // 0 for a link without limit, which nobody need share
	flows     []int32 // in no order
	needs     need    // of all these
	hasChange bool
	isSlack   bool  // after the last change that Next has looked at
	round     int64 // the round that last saw it
	full      uint64
}

// need is a sum of what flows need, in 128 bits.
type need struct{ hi, lo uint64 }

func (n *need) add(x uint64) {
	var carry uint64
	n.lo, carry = bits.Add64(n.lo, x, 0)
	n.hi += carry
}

func (n *need) remove(x uint64) {
	var borrow uint64
	n.lo, borrow = bits.Sub64(n.lo, x, 0)
	n.hi -= borrow
}

// filling is a link in a round: what it has left, for how many flows without a rate.
type filling struct{ left, weight uint64 }

// NewMaxMin has no flows yet. Only where isPaced can their caps be less than what links have.
func NewMaxMin(n *Network, isPaced bool) *MaxMin {
	x := &MaxMin{network: n, Starved: -1, isPaced: isPaced, links: make([]sharedLink, len(n.Links)),
		fills: make([]filling, len(n.Links))}
	for i := range n.Links {
		if b := n.Links[i].Bandwidth; b != unit.Unlimited {
			x.links[i].capacity = FluidRate(b)
		}
	}
	return x
}

// Repeats says that a flow may count more than once on a link, which is then as often on its route:
// where one flow stands for many that are alike.
func (x *MaxMin) Repeats() { x.repeats = true }

// Grow makes room for flows of numbers below n.
func (x *MaxMin) Grow(n int) {
	for len(x.Flows) < n {
		x.Flows, x.caps = append(x.Flows, Flow{}), append(x.caps, 0)
		x.seen = append(x.seen, 0)
	}
}

// Begin puts a flow with a cap on the links of a route.
//
// REQUIRES: one of these has a limit; else the flow shares nothing and needs no rate.
func (x *MaxMin) Begin(f, route int32, limit uint64) {
	r := &x.network.Routes[route]
	most := limit
	if r.Slowest != unit.Unlimited {
		most = min(most, FluidRate(r.Slowest))
	}
	x.caps[f] = limit
	x.Flows[f] = Flow{links: x.network.LinksOf(r), need: most>>unitShift + 1}
	for _, h := range x.Flows[f].links {
		if l := &x.links[h]; l.capacity > 0 {
			l.flows = append(l.flows, f)
			l.needs.add(x.Flows[f].need)
			x.change(h)
		}
	}
	x.loose = append(x.loose, f)
}

// End takes a flow off its links. To look for it in their lists costs less than to work out their
// rates, which must follow.
func (x *MaxMin) End(f int32) {
	for _, h := range x.LinksOf(f) {
		if l := &x.links[h]; l.capacity > 0 {
			i, last := slices.Index(l.flows, f), len(l.flows)-1
			l.flows[i] = l.flows[last]
			l.flows = l.flows[:last]
			l.needs.remove(x.Flows[f].need)
			x.change(h)
		}
	}
	x.Flows[f].need = 0
}

// LinksOf are the links of a flow.
func (x *MaxMin) LinksOf(f int32) []int32 { return x.Flows[f].links }

// On are the flows on a link; no link without limit has any.
func (x *MaxMin) On(link int32) []int32 { return x.links[link].flows }

// IsLimited reports whether a link has a bandwidth to be shared.
func (x *MaxMin) IsLimited(link int32) bool { return x.links[link].capacity > 0 }

// Limit is which link of its route holds a flow back, by the latest solution: the first that is
// full at the flow's rate; −1 where it is the flow's cap.
func (x *MaxMin) Limit(f int32) int32 {
	for i, h := range x.LinksOf(f) {
		if l := &x.links[h]; l.round == x.round && l.full == x.Flows[f].Next {
			return int32(i)
		}
	}
	return -1
}

// change remembers that a link has seen a change.
func (x *MaxMin) change(l int32) {
	if !x.links[l].hasChange {
		x.links[l].hasChange = true
		x.changed = append(x.changed, l)
	}
}

// Next works out the rates of a part of the network that has seen a change: Links, and the Next of
// its Members. It reports whether there was one. Links that no flow joins, directly or over others,
// to one with a change keep their rates: those depend on nothing that has changed. When there is no
// further part, Slack is complete. Where a link is too slow to give every flow one unit, there is
// none either, and Starved is such a flow.
func (x *MaxMin) Next() bool {
	if x.next == 0 {
		x.begin()
	}
	for x.next < len(x.changed) {
		i := x.changed[x.next]
		x.next++
		if l := &x.links[i]; !l.isSlack && l.round != x.round {
			l.round = x.round
			x.Links, x.Members = append(x.Links[:0], i), x.Members[:0]
			return x.solve()
		}
	}
	for x.next < len(x.changed)+len(x.loose) {
		i := x.next - len(x.changed)
		x.next++
		if f := x.loose[i]; x.Flows[f].need > 0 && x.seen[f]>>1 != x.round {
			x.Links, x.Members = x.Links[:0], x.Members[:0]
			x.join(x.loose[i : i+1])
			return x.solve()
		}
	}
	x.changed, x.loose, x.next = x.changed[:0], x.loose[:0], 0
	return false
}

// begin finds out which of the links with a change are slack. The flows of one that no longer holds
// any back get what others leave them.
func (x *MaxMin) begin() {
	x.round++
	x.Slack = x.Slack[:0]
	for _, i := range x.changed {
		l := &x.links[i]
		was := l.isSlack
		l.hasChange = false
		l.isSlack = l.needs.hi == 0 && l.needs.lo <= l.capacity>>unitShift
		if l.isSlack {
			l.round, l.full = x.round, 0
			x.Slack = append(x.Slack, i)
			if !was {
				x.loose = append(x.loose, l.flows...)
			}
		}
	}
}

// alone gives the only member its rate: all that the least of its links has, or its cap.
func (x *MaxMin) alone(m int32) bool {
	rate := x.caps[m]
	for _, l := range x.Links {
		rate = min(rate, x.links[l].capacity)
	}
	if rate == 0 {
		x.Starved = m
		return false
	}
	x.Flows[m].Next = rate
	for _, l := range x.Links {
		if k := &x.links[l]; k.capacity == rate {
			k.full = rate
		}
	}
	return true
}

// solve works out the part that the first links and members are of.
func (x *MaxMin) solve() bool {
	x.Solutions++
	for i := 0; i < len(x.Links); i++ {
		l := &x.links[x.Links[i]]
		l.full = 0
		x.fills[x.Links[i]] = filling{l.capacity, uint64(len(l.flows))}
		x.Visits += int64(len(l.flows))
		x.join(l.flows)
	}
	x.Joined += int64(len(x.Members))
	if len(x.Members) == 1 && !x.repeats {
		return x.alone(x.Members[0])
	}
	return x.fill()
}

// join collects flows that have not been collected yet, and their links.
func (x *MaxMin) join(flows []int32) {
	links, seen, round := x.links, x.seen, x.round
	for _, m := range flows {
		if seen[m] == 2*round {
			continue
		}
		seen[m] = 2 * round
		x.Members = append(x.Members, m)
		for _, h := range x.LinksOf(m) {
			k := &links[h]
			if k.round == round || k.capacity == 0 {
				continue
			}
			k.round = round
			if k.isSlack {
				k.full = 0
				x.Slack = append(x.Slack, h)
			} else {
				x.Links = append(x.Links, h)
			}
		}
	}
}

// fill gives every member its max-min fair rate (progressive filling: Bertsekas and Gallager, Data
// Networks, 1992, section 6.5.2), in integers. The rate rises for all alike until links are full:
// those that have least for each of their flows, rounded down, fill up together. A flow's cap is a
// link of its own.
func (x *MaxMin) fill() bool {
	x.order = x.order[:0]
	for _, l := range x.Links {
		share := x.fills[l].left / x.fills[l].weight
		x.order = append(x.order, flat.Entry[uint64]{First: share, Item: l})
	}
	x.order.Fix(0)
	capped := len(x.Members) // from here on: those that are not fixed, by their caps
	if x.isPaced {
		capped = 0
		slices.SortFunc(x.Members, func(a, b int32) int {
			return cmp.Compare(x.caps[a], x.caps[b])
		})
	}
	for free := len(x.Members); free > 0; {
		least := NoCap
		for capped < len(x.Members) && x.seen[x.Members[capped]]&1 > 0 {
			capped++
		}
		if capped < len(x.Members) {
			least = x.caps[x.Members[capped]]
		}
		if least = x.tightest(least); least == 0 {
			i := slices.IndexFunc(x.Members, func(m int32) bool { return x.seen[m]&1 == 0 })
			x.Starved = x.Members[i]
			return false
		}
		for i := capped; i < len(x.Members) && x.caps[x.Members[i]] == least; i++ {
			free -= x.fix(x.Members[i:i+1], least)
		}
		for _, l := range x.tight {
			x.links[l].full = least
			free -= x.fix(x.links[l].flows, least)
		}
	}
	return true
}

// tightest is the least that a link has for each of its flows, or limit if that is less; x.tight
// are the links that have no more.
func (x *MaxMin) tightest(limit uint64) uint64 {
	x.tight = x.tight[:0]
	for len(x.order) > 0 && x.order[0].First <= limit {
		o := x.order[0]
		l := &x.fills[o.Item]
		if l.weight > 0 {
			share := l.left / l.weight
			if share > o.First { // it has more by now; never less
				o.First = share
				x.order.Replace(o)
				continue
			}
			limit = share
			x.tight = append(x.tight, o.Item)
		}
		x.order.Pop()
	}
	return limit
}

// fix gives flows their rate; it counts those that had none.
func (x *MaxMin) fix(flows []int32, rate uint64) (fixed int) {
	seen, fills := x.seen, x.fills
	for _, m := range flows {
		if seen[m]&1 > 0 {
			continue
		}
		seen[m]++
		fixed++
		x.Flows[m].Next = rate
		for _, h := range x.LinksOf(m) {
			l := &fills[h]
			l.left -= rate // of a link that is slack or without limit, nobody looks
			l.weight--
		}
	}
	return fixed
}
