package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

const never = model.Never

// run simulates the schedule to its end, from instant to instant.
//
//	a message is   when                                        here
//	posted         the step of a lane begins that sends it     perform, prepare: it takes a slot
//	sent           all that the step gets has come             send, setOut
//	carried        a link, or a flow over all links, has it    carry, forward; startFlow, drained
//	left           its last byte has: its step may end         left, oneDone
//	arrived        its last byte has: a lane may receive it    arrived
//	received       the step of that lane begins                start, receive
//	over           that step ends: its slot is free again      end
func (e *engine) run() error {
	e.period.start()
	onlyLinks := e.gpu == nil && !e.flows.isOn()
	for e.err == nil {
		if err := e.runLanes(); err != nil {
			return err
		}
		now := e.links.nextAt()
		if !onlyLinks {
			now = min(now, e.flows.next(), e.gpu.next())
		}
		switch {
		case now == never:
			return e.ended()
		case e.rules.Until > 0 && now > e.rules.Until && !e.lanes.areOver():
			return &model.TooLate{Until: e.rules.Until} // of a lane that waits for this, or later
		case onlyLinks:
			e.carry(e.links.next())
		default:
			if err := e.instant(now); err != nil {
				return err
			}
		}
	}
	return e.err
}

// instant carries out all that happens at a time, and all that follows at the same time. Then it
// works out the rates of flows.
func (e *engine) instant(now unit.Time) error {
	e.now = now
	for e.happen(now) {
		if err := e.runLanes(); err != nil {
			return err
		}
		if e.err != nil {
			return e.err
		}
	}
	if !e.flows.isOn() {
		return nil
	}
	if err := e.share(now); err != nil {
		return err
	}
	e.period.leaveOut(now)
	return nil
}

// happen carries out one thing that happens at a time: on devices first, then of flows, then of
// packets; places are given out when nothing else is left. It reports whether there was one.
func (e *engine) happen(now unit.Time) bool {
	switch {
	case e.gpu.next() == now:
		e.gpu.happen(now)
	case e.flows.begins(now):
		e.startFlow(e.flows.pop())
	case e.flows.ends(now):
		e.drained(now)
	case e.links.nextAt() == now:
		e.carry(e.links.next())
	default:
		return e.gpu.giveOut(now)
	}
	return true
}

// ended returns the error of a run in which nothing happens any more, if there is one.
func (e *engine) ended() error {
	if !e.lanes.areOver() {
		if e.faults.any() {
			return e.faults.hang()
		}
		return (&stalled{e}).find()
	}
	return e.unreceived()
}
