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
	fair     *model.MaxMin // nil: FIFO sharing
	rests    []rest
	ends     flat.Heap[unit.Time] // of flows; an entry is true if its flow still ends then
	mostEnds int                  // entries above which those that are not true are forgotten
}

// rest is what is left of a flow, and when it ends at its present rate, or notEnding.
type rest struct {
	model.Rest
	ends unit.Time
}

const (
	notEnding unit.Time = -1
	never               = unit.Forever + 1
)

// runFluid goes from instant to instant.
func (e *engine) runFluid() {
	for {
		e.runLanes()
		now := e.nextEnd()
		if len(e.queue) > 0 {
			now = min(now, e.queue[0].First)
		}
		if e.why != "" || now == never {
			return
		}
		now += e.repeat(now)
		e.instant(now)
	}
}

// nextEnd is when the next flow ends.
func (e *engine) nextEnd() unit.Time {
	for len(e.ends) > 0 && e.rests[e.ends[0].Item].ends != e.ends[0].First {
		e.ends.Pop()
	}
	if len(e.ends) == 0 {
		return never
	}
	return e.ends[0].First
}

// instant carries out all that happens at a time.
func (e *engine) instant(now unit.Time) {
	for e.why == "" {
		switch {
		case len(e.queue) > 0 && e.queue[0].First == now:
			e.startFlow(e.queue.Pop().Item)
		case e.nextEnd() == now:
			m := e.ends.Pop().Item
			e.rests[m].ends = notEnding
			e.drained(m, now)
		default:
			e.share(now)
			return
		}
		e.runLanes()
	}
}

// inject lets a message flow from a moment on. What shares nothing needs no events.
func (e *engine) inject(m int32, at model.Moment) {
	x := &e.messages[m]
	path := &e.net.network.Routes[x.route]
	for _, h := range e.net.network.LinksOf(path) {
		e.links[h].load += x.carried
	}
	if path.IsShared(x.carried) {
		e.queue.Push(flat.Entry[unit.Time]{First: at.T, Item: m})
		return
	}
	latency := path.Latency
	gone := at.Plus(e.rules.Pace(e.sym.reps[e.lanes[x.lane].class], x.peers, x.carried))
	e.left(m, gone)
	e.arrived(m, gone.Plus(latency))
}

// startFlow puts a flow on its links.
func (e *engine) startFlow(m int32) {
	x := &e.messages[m]
	e.fair.Begin(m, x.route, e.rules.PaceRate(e.sym.reps[e.lanes[x.lane].class], x.peers))
	e.rests[m] = rest{model.Rest{Work: model.WorkOf(x.carried)}, notEnding}
}

// drained takes a flow off its links that has ended.
func (e *engine) drained(m int32, now unit.Time) {
	e.fair.End(m)
	at, latency := model.Moment{T: now}, e.net.network.Routes[e.messages[m].route].Latency
	e.left(m, at)
	e.arrived(m, at.Plus(latency))
}

// share works out the rates of all flows that a change can have touched, at an instant.
func (e *engine) share(now unit.Time) {
	for e.fair.Next() {
		from := len(e.ends)
		for _, m := range e.fair.Members {
			f, r := &e.fair.Flows[m], &e.rests[m]
			if f.Next == f.Rate {
				continue
			}
			t := r.Change(f.Rate, f.Next, now)
			f.Rate = f.Next
			if t != r.ends {
				r.ends = t
				e.ends = append(e.ends, flat.Entry[unit.Time]{First: t, Item: m})
			}
		}
		if len(e.ends) <= e.mostEnds {
			e.ends.Fix(from)
			continue
		}
		e.ends.Keep(func(x *flat.Entry[unit.Time]) bool { return e.rests[x.Item].ends == x.First })
		e.mostEnds = 2*len(e.ends) + 64
	}
	if e.fair.Starved >= 0 {
		e.refuse("a link is too slow for its flows")
	}
}
