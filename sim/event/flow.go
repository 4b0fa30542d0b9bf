package event

import (
	"fmt"

	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// flows holds the messages that flow over links, under fluid sharing, or over memories of GPUs.
type flows struct {
	*model.Drain                      // by the numbers of messages; nil: none flows
	queue        flat.Heap[unit.Time] // of messages that will
	least        int                  // flows for which there is room at first
}

func (f *flows) isOn() bool { return f.Drain != nil }

// next returns when the next flow begins or ends; never if none does.
func (f *flows) next() unit.Time {
	if !f.isOn() {
		return never
	}
	at := f.NextEnd()
	if len(f.queue) > 0 {
		at = min(at, f.queue[0].First)
	}
	return at
}

// begins reports whether a flow begins at an instant, and ends whether one ends.
func (f *flows) begins(now unit.Time) bool { return len(f.queue) > 0 && f.queue[0].First == now }
func (f *flows) ends(now unit.Time) bool   { return f.isOn() && f.NextEnd() == now }

// pop takes the next flow that begins.
func (f *flows) pop() (m int32) { return f.queue.Pop().Item }

// later has a message begin to flow at a time.
func (f *flows) later(m int32, at unit.Time) {
	f.queue.Push(flat.Entry[unit.Time]{First: at, Item: m})
}

// isUnderWay reports whether a message is a flow that has a rate.
func (f *flows) isUnderWay(m int32) bool { return int(m) < len(f.Flows) && f.HasRate(m) }

// shift moves the times of all flows on.
func (f *flows) shift(by unit.Time) {
	for i := range f.queue {
		f.queue[i].First += by
	}
	f.Shift(by)
}

// begin puts a flow of n bytes on the links of a route.
func (f *flows) begin(m int32, x *message, limit uint64, n unit.Bytes) {
	if most := int(m) + 1; most > len(f.Flows) {
		f.Grow(max(2*most, f.least))
	}
	f.Begin(m, x.route, limit, n)
}

// inject lets a message flow from a moment on. What shares nothing needs no events.
func (e *engine) inject(m int32, at model.Moment) {
	x := e.conns.message(m)
	n, path := e.conns.carried(m), &e.network.Routes[x.route]
	e.links.load(path, n)
	if path.IsShared(n) {
		if e.links.isAhead() && e.flowAlone(m, at, n) {
			return
		}
		e.flows.later(m, at.T)
		return
	}
	latency, gone := path.Latency, at.Plus(e.pace(x, n))
	if e.ahead.hasStreams() {
		e.ahead.leaving(m, 0, n, at)
	}
	e.report(flowPasses, m, 0, gone.T)
	e.left(m, gone)
	e.arrived(m, gone.Plus(latency))
}

// flowAlone lets a message flow from a moment on that is alone on its links. It does not where that
// would have no rate.
func (e *engine) flowAlone(m int32, at model.Moment, n unit.Bytes) bool {
	x := e.conns.message(m)
	path := &e.network.Routes[x.route]
	if !e.conns.mayGoAhead() || !e.links.isAlone(path) {
		return false
	}
	left, ok := e.drainedAlone(e.conns.at(x.conn), e.lanes.at(x.lane).rank, n, at)
	if ok {
		e.left(m, left)
		e.arrived(m, left.Plus(path.Latency))
	}
	return ok
}

// drainedAlone returns the moment when n bytes of a rank have left that begin to flow at a moment,
// alone on their links. It is not ok where they have no rate.
func (e *engine) drainedAlone(c *connection, rank int32, n unit.Bytes, at model.Moment) (
	left model.Moment, ok bool) {
	if c.flowed != n {
		takes, ok := e.rules.Alone(rank, 1, e.network.Routes[c.route].Slowest, n)
		if !ok {
			return left, false
		}
		c.flowed, c.takes = n, takes
	}
	return model.Moment{T: min(at.T+c.takes, unit.Forever)}, true
}

// startFlow puts a flow on its links.
func (e *engine) startFlow(m int32) {
	x := e.conns.message(m)
	e.flows.begin(m, x, e.capOf(m), e.conns.carried(m))
	e.report(flowStarts, m, 0, x.since.T)
	if e.ahead.hasStreams() {
		e.ahead.flowStarted(m)
	}
}

// pace returns the time that its pacer takes to put out n bytes of a message.
func (e *engine) pace(x *message, n unit.Bytes) unit.Time {
	return e.rules.PaceBy(x.pacer, e.lanes.at(x.lane).rank, x.peers, n)
}

// capOf returns the highest rate that a flow may have.
func (e *engine) capOf(m int32) uint64 {
	x := e.conns.message(m)
	switch {
	case x.pacer == model.LanePace:
		return e.rules.PaceRate(e.lanes.at(x.lane).rank, x.peers)
	case x.kind == computing:
		return e.gpu.limitOf(x.also)
	case x.kind == getRequest:
		return model.NoCap
	}
	return e.rules.PaceRateBy(x.pacer, e.lanes.at(x.lane).rank, x.peers)
}

// drained takes the next flow off its links, which has ended, or notes that so much of it has left
// as its lane waits for.
func (e *engine) drained(now unit.Time) {
	m, isPart := e.flows.Next()
	if isPart {
		e.ahead.partLeft(m, now)
		return
	}
	if e.ahead.hasStreams() {
		e.ahead.flowEnded(m, now)
	}
	e.report(flowEnds, m, 0, now)
	if e.flows.End(m); e.conns.message(m).kind >= copying {
		e.gpu.crossedMemory(m, now)
		return
	}
	if x := e.conns.message(m); e.log.isOn() && e.conns.isLogged(x) {
		e.log.write(aPacket, x.entry, now)
	}
	at, latency := model.Moment{T: now}, e.network.Routes[e.conns.message(m).route].Latency
	e.left(m, at)
	e.arrived(m, at.Plus(latency))
}

// share works out the rates of all flows that a change can have touched, at an instant.
func (e *engine) share(now unit.Time) error {
	e.flows.Solve(now)
	if m := e.flows.Starved; m >= 0 {
		lane := e.conns.message(m).lane
		rank := e.lanes.at(lane).rank
		return fmt.Errorf("rank %d lane %d: what it sends, or a link on its way, is too slow "+
			"to give each of its messages 2^-20 B/s; use sharing = fifo", rank, lane-e.first[rank])
	}
	e.report(ratesChange, 0, 0, now)
	return nil
}
