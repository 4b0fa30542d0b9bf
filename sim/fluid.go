package sim

import (
	"math/bits"

	"collsim/unit"
)

// fluid is the state of fluid sharing: flows (a message's, by its number), where they touch links,
// and which links have seen a change since the rates were last worked out.
type fluid struct {
	flows    []flow
	touches  []touch
	freeOne  int32   // of touches
	dirty    []int32 // links
	finishes agenda
	solver
}

// flow is a message that is being poured through all links of its route at once.
type flow struct {
	work    work      // left, as of since
	since   unit.Time // when rate was set
	ends    unit.Time // when it will be drained at this rate
	rate    uint64    // in units of 2⁻²⁰ B/s
	next    uint64    // the rate of the solution under way
	cap     uint64    // the pace of its lane, likewise
	touches int32     // the first of its touches, −1 for none
	place   int32     // in finishes, −1 if it is not there
	fixed   bool      // in this solution
	round   int64     // of the solution that last saw it
}

// touch is a flow on a link: an element of the link's list, and of the flow's.
type touch struct {
	flow, link int32
	next, prev int32 // on the link
	also       int32 // the flow's next
}

// fluidLink is what fluid sharing keeps of a link.
type fluidLink struct {
	capacity uint64 // in units of 2⁻²⁰ B/s; 0 for a link without limit, which nobody need share
	flows    int32  // the first touch, −1 for none
	count    int32
	isDirty  bool

	// of the solution under way
	round  int64
	left   uint64
	weight uint64 // flows not fixed
}

// unitShift makes units of 2⁻²⁰ B/s of bytes per second.
const unitShift = 20

func (l *fluidLink) settle(bandwidth unit.Rate) {
	l.flows = -1
	if bandwidth != unit.Unlimited {
		l.capacity = uint64(bandwidth) << unitShift
	}
}

// work counts in units of 2⁻²⁰ B/s times picoseconds, in 128 bits.
type work struct{ hi, lo uint64 }

// workOf is what n bytes are. n < 2⁶⁰ makes less than 2¹²⁰.
func workOf(n unit.Bytes) work {
	hi, lo := bits.Mul64(uint64(n), uint64(unit.Second)<<unitShift)
	return work{hi, lo}
}

// less is what is left after a time at a rate.
func (w work) less(rate uint64, t unit.Time) work {
	hi, lo := bits.Mul64(rate, uint64(t))
	lo, borrow := bits.Sub64(w.lo, lo, 0)
	hi, _ = bits.Sub64(w.hi, hi, borrow)
	return work{hi, lo}
}

// over is how long the work takes at a rate, rounded up; Forever where that is longer.
func (w work) over(rate uint64) unit.Time {
	if w.hi >= rate {
		return unit.Forever
	}
	quo, rem := bits.Div64(w.hi, w.lo, rate)
	if rem > 0 && quo < uint64(unit.Forever) {
		quo++
	}
	return unit.Time(min(quo, uint64(unit.Forever)))
}

// runFluid goes from instant to instant: all that starts or ends at one, and all that follows at
// the same instant, and then one solution for the links that have seen a change.
func (e *engine) runFluid() error {
	e.freeOne = -1
	for {
		if err := e.settle(); err != nil {
			return err
		}
		now := unit.Forever
		if len(e.queue) > 0 {
			now = e.queue[0].t
		}
		if len(e.finishes) > 0 {
			now = min(now, e.flows[e.finishes[0]].ends)
		}
		if e.err != nil || len(e.queue) == 0 && len(e.finishes) == 0 {
			return e.err
		}
		if err := e.instant(now); err != nil {
			return err
		}
	}
}

// instant carries out all that happens at a time.
func (e *engine) instant(now unit.Time) error {
	for {
		switch {
		case len(e.queue) > 0 && e.queue[0].t == now:
			e.begin(e.queue.pop().item)
		case len(e.finishes) > 0 && e.flows[e.finishes[0]].ends == now:
			e.drained(e.finishes[0], now)
		default:
			return e.share(now)
		}
		if err := e.settle(); err != nil {
			return err
		}
		if e.err != nil {
			return e.err
		}
	}
}

// pour lets a message flow from a moment on. What shares nothing needs no events.
func (e *engine) pour(m int32, at moment) {
	x := &e.messages[m]
	x.sent = at.t
	n, path := x.carried(), &e.routes[x.route]
	for _, h := range e.hops[path.from:path.to] {
		e.links[h].load += n
	}
	if n > 0 && path.slowest != unit.Unlimited {
		e.queue.push(request{t: at.t, item: m})
		return
	}
	latency, gone := path.latency, at.plus(e.pace(x, n))
	e.departed(m, gone)
	e.arrived(m, gone.plus(latency))
}

// begin puts a flow on its links.
func (e *engine) begin(m int32) {
	x := &e.messages[m]
	f := &e.flows[m]
	e.spent.begun++
	*f = flow{work: workOf(x.bytes), cap: e.cap(x), touches: -1, place: -1}
	path := &e.routes[x.route]
	for k := path.to - 1; k >= path.from; k-- {
		l := &e.links[e.hops[k]]
		if l.capacity == 0 {
			continue
		}
		t := e.newTouch(touch{flow: m, link: e.hops[k], next: l.flows, prev: -1, also: f.touches})
		if l.flows >= 0 {
			e.touches[l.flows].prev = t
		}
		l.flows, f.touches = t, t
		l.count++
		e.soil(e.hops[k])
	}
}

// cap is the pace of the message's lane as a rate: κ over the peers and the rank's slowdown.
func (e *engine) cap(x *message) uint64 {
	rate := e.env.Device.LaneRate
	if x.peers == 0 || rate == unit.Unlimited {
		return ^uint64(0)
	}
	hi, lo := bits.Mul64(uint64(rate), uint64(whole)<<unitShift)
	divisor := uint64(whole)
	if e.env.Slowdown != nil {
		divisor = uint64(e.env.Slowdown[e.lanes[x.lane].rank])
	}
	for _, d := range [2]uint64{divisor, uint64(x.peers)} { // ⌊⌊a/b⌋/c⌋ = ⌊a/bc⌋
		high := hi / d
		lo, _ = bits.Div64(hi%d, lo, d)
		hi = high
	}
	if hi > 0 { // faster than any link that is counted
		return ^uint64(0)
	}
	return lo
}

// drained takes a flow that has ended off its links.
func (e *engine) drained(m int32, now unit.Time) {
	e.finishes.remove(0, e.flows)
	e.spent.ended++
	for t := e.flows[m].touches; t >= 0; {
		x := e.touches[t]
		l := &e.links[x.link]
		if x.prev >= 0 {
			e.touches[x.prev].next = x.next
		} else {
			l.flows = x.next
		}
		if x.next >= 0 {
			e.touches[x.next].prev = x.prev
		}
		l.count--
		e.soil(x.link)
		e.touches[t].next, e.freeOne = e.freeOne, t
		t = x.also
	}
	latency := e.routes[e.messages[m].route].latency
	at := moment{t: now}
	e.departed(m, at)
	e.arrived(m, at.plus(latency))
}

func (e *engine) newTouch(t touch) int32 {
	i := e.freeOne
	if i < 0 {
		e.touches = append(e.touches, t)
		return int32(len(e.touches) - 1)
	}
	e.freeOne = e.touches[i].next
	e.touches[i] = t
	return i
}

// soil remembers that a link has seen a change.
func (e *engine) soil(l int32) {
	if !e.links[l].isDirty {
		e.links[l].isDirty = true
		e.dirty = append(e.dirty, l)
	}
}
