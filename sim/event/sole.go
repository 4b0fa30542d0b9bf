package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// A link needs a queue to put those in order who ask for it. Where all that crosses it comes from
// one lane, or over one link before, it is asked in order anyway: then it carries at once whatever
// asks, long before its time may have come, and nobody waits in a queue. Under fluid sharing a lane
// that has a link for itself has one flow on it at a time, at a rate that is known from the
// beginning. Lanes so go on as far as is known, which is the same run: what happens follows from
// moments alone.

// origins is where what crosses each link comes from: all the same, or several.
type origins []int32

const (
	nowhere int32 = 0  // nothing crosses it
	several int32 = -1 // else 1 more than a lane, or (under FIFO) than lanes and a link before
)

// comes notes where something comes from that crosses a link.
func (o origins) comes(link, from int32) {
	if o[link] == nowhere {
		o[link] = from
	} else if o[link] != from {
		o[link] = several
	}
}

// findSole finds links that are asked in order, if the run is one in which nothing but two-sided
// messages crosses them, and the programs tell all of these without a walk through their loops.
func (e *engine) findSole() {
	if !e.keepSteps || e.rules.HasMemory() || e.rules.Segment > 0 ||
		e.rules.Switching == model.StoreForward { // the last byte may come in another order
		return
	}
	o := make(origins, len(e.links))
	for rank, p := range e.programs {
		for i := range p.Lanes() {
			lane := e.first[rank] + int32(i)
			if !p.Written(i, &e.step, func(isSame bool) bool { return e.findOrigins(o, lane, isSame) }) {
				return
			}
		}
	}
	for i := range e.links {
		e.links[i].isSole = o[i] > nowhere
	}
	e.isAhead = true
	e.mostAhead = 4*len(e.lanes) + 1<<12
}

// findOrigins notes where the messages of e.step, of a lane, come to their links from. It is false
// where that is not known.
func (e *engine) findOrigins(o origins, lane int32, isSame bool) bool {
	s := &e.step
	if e.gets() > 0 || !isSame && len(s.Send) > 0 {
		return false
	}
	for k := range s.Send {
		d := &s.Send[k]
		if !d.Message() {
			return false
		}
		from := lane + 1
		path := &e.network.Routes[e.network.Route(e.lanes[lane].rank, d.Peer.Rank)]
		for _, on := range e.network.LinksOf(path) {
			if e.isFluid && len(s.Send) > 1 { // they may meet
				from = several
			}
			if o.comes(on, from); !e.isFluid {
				from = int32(len(e.lanes)) + on + 1
			}
		}
	}
	return true
}

// mayGoAhead reports whether lanes may go on before their time: not where messages would pile up that
// are received far later.
func (e *engine) mayGoAhead() bool { return e.freeMessage >= 0 || len(e.messages) < e.mostAhead }

// isAlone reports whether a flow is alone on its links as long as it lasts.
func (e *engine) isAlone(path *model.Route) bool {
	for _, on := range e.network.LinksOf(path) {
		if !e.links[on].isSole {
			return false
		}
	}
	return true
}

// flowAlone lets a message flow from a moment on that is alone on its links. It does not where that
// would have no rate.
func (e *engine) flowAlone(m int32, at model.Moment, n unit.Bytes) bool {
	x := &e.messages[m]
	path := &e.network.Routes[x.route]
	if !e.mayGoAhead() || !e.isAlone(path) {
		return false
	}
	c := &e.conns[x.conn]
	if c.flowed != n {
		t, ok := e.rules.Alone(e.lanes[x.lane].rank, x.peers, path.Slowest, n)
		if !ok {
			return false
		}
		c.flowed, c.flows = n, t
	}
	e.spent.begun++
	e.spent.ended++
	left := model.Moment{T: min(at.T+c.flows, unit.Forever)}
	e.left(m, left)
	e.arrived(m, left.Plus(path.Latency))
	return true
}
