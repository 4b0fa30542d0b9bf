package event

import (
	"fmt"

	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// fluid is the state of fluid sharing: the flows, by the numbers of their messages, and when they
// end.
type fluid struct {
	fair     *model.MaxMin // nil: FIFO sharing
	rests    []rest
	ends     flat.Heap[unit.Time] // of flows; an entry is true if its flow still ends then
	mostEnds int                  // entries above which those that are not true are forgotten
	now      unit.Time            // the instant that is carried out
	spent    estimate
}

// rest is what is left of a flow, and when it ends at its present rate, or notEnding.
type rest struct {
	model.Rest
	ends unit.Time
}

const (
	notEnding unit.Time = -1 // of a flow without a rate, and of what is no flow
	never               = unit.Forever + 1
)

// runFluid goes from instant to instant: all that starts or ends at one, and all that follows at
// the same instant, and then one solution for the links that have seen a change.
func (e *engine) runFluid() error {
	for {
		if err := e.runLanes(); err != nil {
			return err
		}
		now := e.nextEnd()
		if len(e.queue) > 0 {
			now = min(now, e.queue[0].First)
		}
		if e.err != nil || now == never {
			return e.err
		}
		if err := e.instant(now); err != nil {
			return err
		}
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
func (e *engine) instant(now unit.Time) error {
	e.now = now
	for {
		switch {
		case len(e.queue) > 0 && e.queue[0].First == now:
			e.startFlow(e.queue.Pop().Item)
		case e.nextEnd() == now:
			m := e.ends.Pop().Item
			e.rests[m].ends = notEnding
			e.drained(m, now)
		default:
			return e.share(now)
		}
		if err := e.runLanes(); err != nil {
			return err
		}
		if e.err != nil {
			return e.err
		}
	}
}

// inject lets a message flow from a moment on. What shares nothing needs no events.
func (e *engine) inject(m int32, at model.Moment) {
	x := &e.messages[m]
	n, path := e.carried(m), &e.network.Routes[x.route]
	for _, h := range e.network.LinksOf(path) {
		e.links[h].load += n
	}
	if path.IsShared(n) {
		if e.isAhead && e.flowAlone(m, at, n) {
			return
		}
		e.queue.Push(flat.Entry[unit.Time]{First: at.T, Item: m})
		return
	}
	latency, gone := path.Latency, at.Plus(e.pace(x, n))
	if e.streams != nil {
		e.leaving(m, 0, n, at)
	}
	e.tell(flowPasses, m, 0, gone.T)
	e.left(m, gone)
	e.arrived(m, gone.Plus(latency))
}

// startFlow puts a flow on its links.
func (e *engine) startFlow(m int32) {
	x := &e.messages[m]
	if x.kind < copying {
		e.spent.begun++
	}
	e.fair.Begin(m, x.route, e.capOf(m))
	e.rests[m] = rest{model.Rest{Work: model.WorkOf(e.carried(m))}, notEnding}
	e.tell(flowStarts, m, 0, x.since.T)
	if e.streams != nil {
		e.flowStarted(m)
	}
}

// pace is how long n bytes of a message take to be put out.
func (e *engine) pace(x *message, n unit.Bytes) unit.Time {
	return e.rules.PaceBy(x.pacer, e.lanes[x.lane].rank, x.peers, n)
}

// capOf is the most that a flow may have.
func (e *engine) capOf(m int32) uint64 {
	x := &e.messages[m]
	switch {
	case x.pacer == model.LanePace:
		return e.rules.PaceRate(e.lanes[x.lane].rank, x.peers)
	case x.kind == computing:
		return e.gpu.waves[x.also].limit
	case x.kind == getRequest:
		return model.NoCap
	}
	return e.rules.PaceRateBy(x.pacer, e.lanes[x.lane].rank, x.peers)
}

// drained takes a flow off its links that has ended, or notes that so much of it has left as its
// lane waits for.
func (e *engine) drained(m int32, now unit.Time) {
	if e.streams != nil {
		if e.halfway(m, now) {
			return
		}
		e.flowEnded(m, now)
	}
	e.tell(flowEnds, m, 0, now)
	e.fair.End(m)
	if e.messages[m].kind >= copying {
		e.crossedMemory(m, now)
		return
	}
	e.spent.ended++
	at, latency := model.Moment{T: now}, e.network.Routes[e.messages[m].route].Latency
	e.left(m, at)
	e.arrived(m, at.Plus(latency))
}

// share works out the rates of all flows that a change can have touched, at an instant.
func (e *engine) share(now unit.Time) error {
	for e.fair.Next() {
		e.tell(ratesChange, 0, 0, now)
		from := len(e.ends)
		for _, m := range e.fair.Members {
			e.setRate(m, now)
		}
		if len(e.ends) <= e.mostEnds {
			e.ends.Fix(from)
			continue
		}
		e.ends.Keep(func(x *flat.Entry[unit.Time]) bool { return e.rests[x.Item].ends == x.First })
		e.mostEnds = 2*len(e.ends) + 64
	}
	e.tell(linksSlack, 0, 0, now)
	if m := e.fair.Starved; m >= 0 {
		lane := e.messages[m].lane
		rank := e.lanes[lane].rank
		return fmt.Errorf("sim: rank %d lane %d: what it sends, or a link on its way, is too slow "+
			"to give each of its messages 2^-20 B/s; use sharing = fifo", rank, lane-e.first[rank])
	}
	return e.affordable()
}

// setRate makes a flow go on at the rate of the solution. Its end is appended to those to come, out
// of order.
func (e *engine) setRate(m int32, now unit.Time) {
	f := &e.fair.Flows[m]
	if f.Next == f.Rate {
		return
	}
	r := &e.rests[m]
	t := r.Change(f.Rate, f.Next, now)
	f.Rate = f.Next
	if e.streams != nil {
		t = e.endOf(m)
	}
	if t != r.ends {
		r.ends = t
		e.ends = append(e.ends, flat.Entry[unit.Time]{First: t, Item: m})
	}
}

// reschedule has the end of a flow among those to come, which has changed without its rate.
func (e *engine) reschedule(m int32) {
	if t := e.endOf(m); t != e.rests[m].ends {
		e.rests[m].ends = t
		e.ends.Push(flat.Entry[unit.Time]{First: t, Item: m})
	}
}

// endOf is when a flow ends at its rate, or when so much has left as its lane waits for.
func (e *engine) endOf(m int32) unit.Time {
	but := model.Work{}
	if e.streams != nil {
		but = e.positions[m].beyond
	}
	return e.rests[m].Ends(e.fair.Flows[m].Rate, but)
}
