package event

import (
	"fmt"

	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// fluid is the state of fluid sharing.
type fluid struct {
	fair  *model.Drain // the flows, by the numbers of their messages; nil: FIFO sharing
	now   unit.Time    // the instant that is carried out
	spent estimate
}

const never = model.Never

// runFluid goes from instant to instant: all that starts or ends at one, and all that follows at
// the same instant, and then one solution for the links that have seen a change.
func (e *engine) runFluid() error {
	for {
		if err := e.runLanes(); err != nil {
			return err
		}
		now := e.fair.NextEnd()
		if len(e.queue) > 0 {
			now = min(now, e.queue[0].First)
		}
		if e.err != nil || now == never {
			return e.err
		}
		if err := e.instant(now); err != nil {
			return err
		}
		e.period.leaveOut(now)
	}
}

// instant carries out all that happens at a time.
func (e *engine) instant(now unit.Time) error {
	e.now = now
	for {
		switch {
		case len(e.queue) > 0 && e.queue[0].First == now:
			e.startFlow(e.queue.Pop().Item)
		case e.fair.NextEnd() == now:
			e.drained(now)
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
	if e.ahead.streams != nil {
		e.ahead.leaving(m, 0, n, at)
	}
	e.report(flowPasses, m, 0, gone.T)
	e.left(m, gone)
	e.arrived(m, gone.Plus(latency))
}

// startFlow puts a flow on its links.
func (e *engine) startFlow(m int32) {
	x := &e.messages[m]
	if x.kind < copying {
		e.spent.begun++
	}
	e.fair.Begin(m, x.route, e.capOf(m), e.carried(m))
	e.report(flowStarts, m, 0, x.since.T)
	if e.ahead.streams != nil {
		e.ahead.flowStarted(m)
	}
}

// pace returns the time that its pacer takes to put out n bytes of a message.
func (e *engine) pace(x *message, n unit.Bytes) unit.Time {
	return e.rules.PaceBy(x.pacer, e.lanes[x.lane].rank, x.peers, n)
}

// capOf returns the highest rate that a flow may have.
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

// drained takes the next flow off its links, which has ended, or notes that so much of it has left
// as its lane waits for.
func (e *engine) drained(now unit.Time) {
	m, isPart := e.fair.Next()
	if isPart {
		e.ahead.hasRoom(e.ahead.positions[m].stream, model.Moment{T: now})
		return
	}
	if e.ahead.streams != nil {
		e.ahead.flowEnded(m, now)
	}
	e.report(flowEnds, m, 0, now)
	e.fair.End(m)
	if e.messages[m].kind >= copying {
		e.gpu.crossedMemory(m, now)
		return
	}
	if x := &e.messages[m]; e.log.isOn() && e.isLogged(x) {
		e.log.write(aPacket, x.entry, now)
	}
	e.spent.ended++
	at, latency := model.Moment{T: now}, e.network.Routes[e.messages[m].route].Latency
	e.left(m, at)
	e.arrived(m, at.Plus(latency))
}

// share works out the rates of all flows that a change can have touched, at an instant.
func (e *engine) share(now unit.Time) error {
	e.fair.Solve(now)
	if m := e.fair.Starved; m >= 0 {
		lane := e.messages[m].lane
		rank := e.lanes[lane].rank
		return fmt.Errorf("rank %d lane %d: what it sends, or a link on its way, is too slow "+
			"to give each of its messages 2^-20 B/s; use sharing = fifo", rank, lane-e.first[rank])
	}
	e.report(ratesChange, 0, 0, now)
	return e.affordable()
}
