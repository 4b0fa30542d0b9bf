package event

import "collsim/sim/model"

// enlist has what is written of a message belong to the step that sends or gets it.
func (e *engine) enlist(m int32) {
	if e.log.isOn() {
		e.enlistOf(m)
	}
}

func (e *engine) enlistOf(m int32) {
	x := &e.messages[m]
	x.entry = e.log.of(x.lane, x.conn >= 0 && e.conns[x.conn].logged > 0)
	if x.flags&multimem > 0 && !e.isFluid {
		x.entry = e.log.places(x.entry, e.timesOnTree(x))
	}
}

// isLogged reports whether times of a message are written: not where they follow from its links.
func (e *engine) isLogged(x *message) bool { return x.conn < 0 || e.conns[x.conn].logged > 0 }

// timesOn returns the number of times in the log for a route: of its links, or when a flow has
// left.
func (e *engine) timesOn(route int32) (n int32) {
	path := &e.network.Routes[route]
	switch {
	case e.isFluid && e.isAlone(path):
		return 0
	case e.isFluid:
		return 1
	case !e.hasPrompt:
		return path.To - path.From
	}
	for _, on := range e.network.LinksOf(path) {
		if !e.links[on].isPrompt {
			n++
		}
	}
	return n
}

// timesOnTree returns the number of times in the log for a multimem message, under FIFO.
func (e *engine) timesOnTree(x *message) int32 {
	n := e.timesOn(x.route)
	if x.kind == getRequest {
		n += e.timesOn(e.wayBack(x.route)) + 1
	}
	return n
}

// startLog has the run write its times for a log.
func (e *engine) startLog(log *model.Log) {
	e.log.heads, e.log.isFull = make([]head, len(e.lanes)), log.Counters != nil
	e.log.err = &e.err
	e.log.byWay = e.ahead.streams != nil || e.rules.Schedule.AnyStep(tellsMore)
	if e.gpu != nil {
		e.gpu.watch = newGPUWatch(e, log)
	}
}
