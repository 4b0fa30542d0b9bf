package model

import (
	"math/bits"

	"collsim/sim/internal/flat"
	"collsim/unit"
)

// MaxMin works out the rates of flows that share links, max-min fairly, in integers of 2⁻²⁰ B/s
// (docs/time.md, fluid sharing; decision 10). Flows are begun and ended; then Solve works out what
// these changes have changed. A flow is named by a number of the caller's.
//
// A flow has the least of its cap and of the levels of its links. The level of a link is the least
// v at which it is full: where ⌊(capacity − what those of its flows take that get less than v
// elsewhere) / the others⌋ is no more than v. Without such a v it never fills up. So levels depend
// on lower ones only, there is but one solution of these equations, and in whatever order it is
// found, the integers are those that working out everything afresh would give.
//
// A link is slack if it has more than all its flows can take, each at the least of its cap and of
// what the links of its route have: it never fills up, and nobody looks at it. The memory of a GPU
// is such a link, as long as what uses it does not fill it.
type MaxMin struct {
	Flows []Flow // by number; of those that have begun
	// Moved are the links to which Solve has given another level, and Unsure the flows that may
	// have another rate, or another link that holds them back, without being held back by one of
	// these before and after.
	Moved, Unsure []int32
	// Starved is a flow that would not get a single unit, −1 as long as there is none.
	Starved int32
	// Visits of flows on links, solutions, and flows on links that moved in these: what it has
	// cost.
	Visits, Solutions, Joined int64

	network  *Network
	links    []sharedLink
	levels   []uint64  // of links; NoCap where they are not full
	balances []balance // of links
	pending  []int32   // links with a change that Solve has not looked at
	changed  []int32   // those it has looked at
	room     []int32   // for spots of flows
	begun    []int32   // flows, since then
	seen     []int64   // by flow: the round that last saw it
	round    int64
	dirty    flat.Queue[uint64] // links whose level may be wrong, by about that
	others   []uint64           // of flows of a link: the least that caps and other links give
	levelling
	ladder
}

// Flow is a message that flows through all links of its route at once. Rate is the caller's, to be
// set to Next when it lets the flow go on at that.
type Flow struct {
	Rate, Next uint64
	links      []int32
	spots      []int32 // where it is among the flows of each of these
	limit      uint64  // its cap, or NoCap where that holds nothing back
	alone      uint64  // the rate that it would have if there were no others
	told       int64   // the move of a link that it has last been told of
	need       uint64  // B/s of which it gets less, whatever others do; 0: it has not begun
}

// sharedLink is a link and the flows on it.
type sharedLink struct {
	capacity  uint64     // 0 for a link without limit, which nobody need share
	flows     []Crossing // those that no other link holds back are the first
	across    []int32    // the only other link of their routes, where no cap matters; else −1
	needs     need       // of all these
	hasChange bool
	mayClimb  bool  // the ladder: past others, as it has seen a change
	isSlack   bool  // after the last change that Solve has looked at
	round     int64 // the last in which it was dirty; negative: after which it was listed
	moved     int64 // the last in which its level has changed
}

// Crossing is a flow on a link of its route.
type Crossing struct{ Flow, hop int32 }

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

// NewMaxMin has no flows yet.
func NewMaxMin(n *Network) *MaxMin {
	x := &MaxMin{network: n, Starved: -1, links: make([]sharedLink, len(n.Links)),
		levels:   make([]uint64, len(n.Links)),
		balances: make([]balance, len(n.Links)), levelling: levelling{patience: 8},
		ladder: ladder{enough: 32}}
	x.dirty.Grow(len(n.Links))
	x.sides = make([]sides, len(n.Links))
	for i := range n.Links {
		x.levels[i], x.balances[i].isClean = NoCap, 1
		x.links[i].isSlack = true
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

// Begin puts a flow with a cap on the links of a route. A link that is on it more than once counts
// it as often: one flow may stand for many that are alike.
//
// REQUIRES: one of these has a limit; else the flow shares nothing and needs no rate.
func (x *MaxMin) Begin(f, route int32, limit uint64) {
	r := &x.network.Routes[route]
	most := limit
	if r.Slowest != unit.Unlimited {
		most = min(most, FluidRate(r.Slowest))
	}
	y, links := &x.Flows[f], x.network.LinksOf(r)
	if cap(y.spots) < len(links) {
		if len(x.room) < len(links) {
			x.room = make([]int32, 1024+len(links))
		}
		y.spots, x.room = x.room[:0:len(links)], x.room[len(links):]
	}
	if most < limit { // then it holds nothing back
		limit = NoCap
	}
	if !isPlain(links, limit) {
		x.crooked++
	}
	*y = Flow{links: links, spots: y.spots[:0], limit: limit, alone: most,
		need: most>>unitShift + 1}
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
			l.needs.add(y.need)
			if len(l.flows) == 1 {
				x.busy++
			}
			x.change(h)
			x.enter(h)
		}
	}
	x.begun = append(x.begun, f)
}

// End takes a flow off its links.
func (x *MaxMin) End(f int32) {
	if !isPlain(x.LinksOf(f), x.Flows[f].limit) {
		x.crooked--
	}
	for i, h := range x.LinksOf(f) {
		if l := &x.links[h]; l.capacity > 0 {
			last := len(l.flows) - 1
			x.leave(h, int(x.Flows[f].spots[i]))
			l.flows, l.across = l.flows[:last], l.across[:last]
			l.needs.remove(x.Flows[f].need)
			if last == 0 {
				x.busy--
			}
			x.change(h)
		}
	}
	x.Flows[f].need = 0
}

// swap swaps two flows of a link.
func (x *MaxMin) swap(l *sharedLink, i, j int) {
	if i == j {
		return
	}
	a, b := l.flows[i], l.flows[j]
	l.flows[i], l.flows[j] = b, a
	l.across[i], l.across[j] = l.across[j], l.across[i]
	x.Flows[b.Flow].spots[b.hop], x.Flows[a.Flow].spots[a.hop] = int32(i), int32(j)
}

// LinksOf are the links of a flow.
func (x *MaxMin) LinksOf(f int32) []int32 { return x.Flows[f].links }

// On are the flows on a link; no link without limit has any.
func (x *MaxMin) On(link int32) []Crossing { return x.links[link].flows }

// IsLimited reports whether a link has a bandwidth to be shared.
func (x *MaxMin) IsLimited(link int32) bool { return x.links[link].capacity > 0 }

// Limit is which link of its route holds a flow back, by the latest solution: the first that is
// full at the flow's rate; −1 where it is the flow's cap.
func (x *MaxMin) Limit(f int32) int32 {
	for i, h := range x.LinksOf(f) {
		if x.levels[h] == x.Flows[f].Next {
			return int32(i)
		}
	}
	return -1
}

// Alone is the rate that a flow would have if there were no others.
func (x *MaxMin) Alone(f int32) uint64 { return x.Flows[f].alone }

// change remembers that a link has seen a change.
func (x *MaxMin) change(l int32) {
	if !x.links[l].hasChange {
		x.links[l].hasChange = true
		x.pending = append(x.pending, l)
	}
}

// Solve works out the rates of all flows that what has begun and ended can have touched: of
// Members, their Next. Where a link is too slow to give every flow one unit, Starved is such a
// flow.
func (x *MaxMin) Solve() {
	x.Moved, x.Unsure = x.Moved[:0], x.Unsure[:0]
	x.pending, x.changed = x.changed[:0], x.pending
	if len(x.changed) == 0 {
		return
	}
	x.round++
	x.Solutions++
	x.level()
	for _, f := range x.begun {
		if x.Flows[f].need > 0 {
			x.doubt(f)
			if x.Flows[f].limit == 0 {
				x.starve(f)
			}
		}
	}
	x.begun = x.begun[:0]
	for _, h := range x.Moved {
		x.Joined += int64(len(x.links[h].flows))
		if x.levels[h] == 0 {
			for _, c := range x.links[h].flows {
				x.starve(c.Flow)
			}
		}
	}
}

// doubt remembers a flow that may have another rate.
func (x *MaxMin) doubt(f int32) {
	if x.seen[f] != x.round {
		x.seen[f] = x.round
		x.Unsure = append(x.Unsure, f)
	}
}

func (x *MaxMin) starve(f int32) {
	if x.Starved < 0 || f < x.Starved {
		x.Starved = f
	}
}

// Rate is the rate of a flow by the latest solution.
func (x *MaxMin) Rate(f int32) uint64 {
	rate := x.Flows[f].limit
	for _, h := range x.Flows[f].links {
		rate = min(rate, x.levels[h])
	}
	return rate
}

// Members are the flows to which the latest solution may have given another rate, or another link
// that holds them back; each has its Next.
func (x *MaxMin) Members() []int32 {
	for _, h := range x.Moved {
		for _, c := range x.links[h].flows {
			x.doubt(c.Flow)
		}
	}
	for _, f := range x.Unsure {
		x.Flows[f].Next = x.Rate(f)
	}
	return x.Unsure
}

// Touched are the links with a limit on which the latest solution may have changed anything,
// appended to a list.
func (x *MaxMin) Touched(list []int32) []int32 {
	add := func(h int32) {
		if l := &x.links[h]; l.round != -x.round && l.capacity > 0 {
			l.round = -x.round
			list = append(list, h)
		}
	}
	for _, h := range x.changed {
		add(h)
	}
	for _, m := range x.Members() {
		for _, h := range x.LinksOf(m) {
			add(h)
		}
	}
	return list
}
