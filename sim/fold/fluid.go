package fold

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// fluid is the state of fluid sharing: the flows, by the numbers of their messages, and when they
// end. All that an element takes to each other have the same rate, so one stands for them: on a
// link it counts as often as links of its route are of the orbit.
type fluid struct {
	fair *model.Drain // nil: FIFO sharing
}

const never = model.Never

// runFluid goes from instant to instant.
func (e *engine) runFluid() {
	for {
		e.runLanes()
		now := e.fair.NextEnd()
		if len(e.queue) > 0 {
			now = min(now, e.queue[0].First)
		}
		if e.why != "" || now == never {
			return
		}
		e.forget(now)
		now += e.repeat(now)
		e.instant(now)
	}
}

// instant carries out all that happens at a time.
func (e *engine) instant(now unit.Time) {
	for e.why == "" {
		switch {
		case len(e.queue) > 0 && e.queue[0].First == now:
			e.startFlow(e.queue.Pop().Item)
		case e.fair.NextEnd() == now:
			m, _ := e.fair.Next()
			e.drained(m, now)
		default:
			if e.fair.Solve(now); e.fair.Starved >= 0 {
				e.refuse("a link is too slow for its flows")
			}
			return
		}
		e.runLanes()
	}
}

// inject lets a message flow from a moment on. What shares nothing needs no events.
func (e *engine) inject(m int32, at model.Moment) {
	x := e.messages.At(m)
	path := &e.net.network.Routes[x.route]
	for _, h := range e.net.network.LinksOf(path) {
		e.links[h].load += x.carried
	}
	if path.IsShared(x.carried) {
		e.queue.Push(flat.Entry[unit.Time]{First: at.T, Item: m})
		return
	}
	latency := path.Latency
	gone := at.Plus(e.rules.Pace(e.sym.Reps[e.lanes[x.lane].class], x.peers, x.carried))
	e.left(m, gone)
	e.arrived(m, gone.Plus(latency))
}

// startFlow puts a flow on its links.
func (e *engine) startFlow(m int32) {
	x := e.messages.At(m)
	e.fair.Begin(m, x.route, e.rules.PaceRate(e.sym.Reps[e.lanes[x.lane].class], x.peers),
		x.carried)
}

// drained takes a flow off its links that has ended.
func (e *engine) drained(m int32, now unit.Time) {
	e.fair.End(m)
	at, latency := model.Moment{T: now}, e.net.network.Routes[e.messages.At(m).route].Latency
	e.left(m, at)
	e.arrived(m, at.Plus(latency))
}
