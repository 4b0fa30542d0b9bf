package sim

import (
	"math/bits"
	"slices"

	"collsim/unit"
)

// fluid is the state of fluid sharing: flows and what is left of them (of a message, by its
// number), and which links have seen a change since the rates were last worked out.
type fluid struct {
	flows    []flow
	rests    []rest
	seen     []int64 // twice the solution that last saw a flow, and 1 more when it has its rate
	dirty    []int32 // links
	finishes agenda
	now      unit.Time // the instant that is carried out
	solver
}

// flow is a message that is being poured through all links of its route at once: what working out
// rates looks at.
type flow struct {
	rate     uint64 // in units of 2⁻²⁰ B/s
	next     uint64 // the rate of the solution under way
	from, to int32  // its links are engine.hops[from:to]
}

// rest is what is left of a flow.
type rest struct {
	work  work      // as of since
	since unit.Time // when the rate was set
	ends  unit.Time // when it will be drained at this rate
	cap   uint64    // the pace of its lane, in units of 2⁻²⁰ B/s
	place int32     // in finishes, −1 if it is not there
}

// fluidLink is what fluid sharing keeps of a link.
type fluidLink struct {
	capacity uint64  // in units of 2⁻²⁰ B/s; 0 for a link without limit, which nobody need share
	flows    []int32 // in no order
	isDirty  bool
	round    int64 // the solution that last saw it
}

// unitShift makes units of 2⁻²⁰ B/s of bytes per second.
const unitShift = 20

func (l *fluidLink) settle(bandwidth unit.Rate) {
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

// without is the rest of the work, that is at least as much.
func (w work) without(o work) work {
	lo, borrow := bits.Sub64(w.lo, o.lo, 0)
	hi, borrow := bits.Sub64(w.hi, o.hi, borrow)
	if borrow > 0 { // rounded up, it may be done with a little more
		return work{}
	}
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
	for {
		if err := e.settle(); err != nil {
			return err
		}
		now := unit.Forever
		if len(e.queue) > 0 {
			now = e.queue[0].t
		}
		if len(e.finishes) > 0 {
			now = min(now, e.rests[e.finishes[0]].ends)
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
	e.now = now
	for {
		switch {
		case len(e.queue) > 0 && e.queue[0].t == now:
			e.begin(e.queue.pop().item)
		case len(e.finishes) > 0 && e.rests[e.finishes[0]].ends == now:
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
	n, path := e.carried(m), &e.routes[x.route]
	for _, h := range e.hops[path.from:path.to] {
		e.links[h].load += n
	}
	if n > 0 && path.slowest != unit.Unlimited {
		e.queue.push(request{t: at.t, item: m})
		return
	}
	latency, gone := path.latency, at.plus(e.pace(x, n))
	if e.streams != nil {
		e.streamed(m, 0, n, at)
	}
	if e.trace != nil {
		e.poured(m, gone.t)
	}
	e.departed(m, gone)
	e.arrived(m, gone.plus(latency))
}

// begin puts a flow on its links.
func (e *engine) begin(m int32) {
	x := &e.messages[m]
	path := &e.routes[x.route]
	e.spent.begun++
	e.flows[m] = flow{from: path.from, to: path.to}
	e.rests[m] = rest{work: workOf(e.carried(m)), cap: e.cap(x), place: -1}
	if e.why != nil {
		e.why.flow(e, m, e.messages[m].since.t)
	}
	if e.streams != nil {
		e.flowed(m)
	}
	for _, h := range e.hops[path.from:path.to] {
		if l := &e.links[h]; l.capacity > 0 {
			l.flows = append(l.flows, m)
			e.soil(h)
		}
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

// drained takes a flow that has ended off its links. To look for it in their lists costs less than
// to work out their rates, which must follow.
func (e *engine) drained(m int32, now unit.Time) {
	if e.streams != nil {
		if e.halfway(m, now) {
			return
		}
		e.ebbed(m, now)
	}
	e.finishes.remove(0, e.rests)
	e.spent.ended++
	if e.why != nil {
		e.why.lost(m, e.flows[m].rate, now)
	}
	if e.trace != nil {
		e.poured(m, now)
	}
	path := &e.routes[e.messages[m].route]
	for _, h := range e.hops[path.from:path.to] {
		if l := &e.links[h]; l.capacity > 0 {
			i, last := slices.Index(l.flows, m), len(l.flows)-1
			l.flows[i] = l.flows[last]
			l.flows = l.flows[:last]
			e.soil(h)
		}
	}
	at, latency := moment{t: now}, path.latency
	e.departed(m, at)
	e.arrived(m, at.plus(latency))
}

// soil remembers that a link has seen a change.
func (e *engine) soil(l int32) {
	if !e.links[l].isDirty {
		e.links[l].isDirty = true
		e.dirty = append(e.dirty, l)
	}
}
