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
	for isOpen := false; e.err == nil; {
		if err := e.runLanes(); err != nil {
			return err
		}
		next := e.links.nextAt()
		if !onlyLinks {
			next = min(next, e.flows.next(), e.gpu.next())
		}
		switch {
		case isOpen && next != e.now:
			var err error
			if isOpen, err = e.close(e.now); err != nil {
				return err
			}
		case next == never:
			return e.ended()
		case onlyLinks:
			e.carry(e.links.next())
		default:
			e.now, isOpen = next, true
			e.happen(next)
		}
	}
	return e.err
}

// happen lets one thing happen at an instant: on devices first, then to flows, then to packets.
func (e *engine) happen(now unit.Time) {
	switch {
	case e.gpu.next() == now:
		e.gpu.happen(now)
	case e.flows.next() == now:
		if m, begins := e.flows.begins(now); begins {
			e.startFlow(m)
		} else {
			e.drained(now)
		}
	default:
		e.carry(e.links.next())
	}
}

// close ends an instant at which nothing else happens: GPUs give out places, and when they have
// none to give, the rates of flows are worked out. It reports whether anything may follow at that
// instant.
func (e *engine) close(now unit.Time) (goesOn bool, err error) {
	if e.gpu.giveOut(now) {
		return true, nil
	}
	if !e.flows.isOn() {
		return false, nil
	}
	if err = e.share(now); err == nil {
		e.period.leaveOut(now)
	}
	return false, err
}

// ended returns the error of a run in which nothing happens any more, if there is one.
func (e *engine) ended() error {
	if e.lanes.unfinished > 0 {
		return (&stalled{e}).find()
	}
	return e.unreceived()
}
