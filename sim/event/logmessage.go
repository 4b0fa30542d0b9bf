package event

import "collsim/sim/model"

// enlist has what is written of a message belong to the step that sends or gets it.
func (e *engine) enlist(m int32) {
	if e.log.isOn() {
		e.enlistOf(m)
	}
}

func (e *engine) enlistOf(m int32) {
	x := e.conns.message(m)
	of, several := e.log.entryOf(x.lane)
	if x.entry = of; several && (e.log.isByWay() || e.conns.at(x.conn).logged > 0) {
		x.entry = e.log.own(of)
	}
	if x.flags&multimem > 0 && !e.isFluid {
		x.entry = e.log.places(x.entry, e.branches.times(x))
	}
}

// startLog has the run write its times for a log.
func (e *engine) startLog(log *model.Log) {
	byWay := e.ahead.hasStreams() || e.rules.Schedule.AnyStep(tellsMore)
	e.log = writer{heads: make([]head, e.lanes.len()), isFull: log.Counters != nil, byWay: byWay,
		err: &e.err}
	if e.gpu != nil {
		e.gpu.observe(newGPUWatch(e, log))
	}
}
