package event

import "collsim/unit"

// runGPU goes from instant to instant, as runFluid does. At each it carries out first what happens
// on devices, then what flows or asks for links, and gives out places when nothing else is left;
// what that makes possible at the same instant follows in the same order. The rates of flows are
// worked out last.
func (e *engine) runGPU() error {
	if e.err != nil {
		return e.err
	}
	for {
		if err := e.runLanes(); err != nil {
			return err
		}
		now := e.requests.next()
		if e.fair != nil {
			now = min(now, e.fair.NextEnd())
		}
		if len(e.queue) > 0 {
			now = min(now, e.queue[0].First)
		}
		if len(e.gpu.due) > 0 {
			now = min(now, e.gpu.due[0].First)
		}
		if e.err != nil || now == never {
			return e.err
		}
		for e.atInstant(now) {
			if err := e.runLanes(); err != nil {
				return err
			}
			if e.err != nil {
				return e.err
			}
		}
		if e.fair != nil {
			if err := e.share(now); err != nil {
				return err
			}
			e.period.leaveOut(now)
		}
	}
}

// atInstant carries out one thing that happens at a time, and reports whether there was one.
func (e *engine) atInstant(now unit.Time) bool {
	e.now = now
	g := e.gpu
	switch {
	case len(g.due) > 0 && g.due[0].First == now:
		g.changes++
		due := g.due.Pop()
		happens[due.Second](g, due.Item, now)
	case e.fair != nil && e.fair.NextEnd() == now:
		e.drained(now)
	case len(e.queue) > 0 && e.queue[0].First == now:
		e.startFlow(e.queue.Pop().Item)
	case e.requests.next() == now:
		e.serve(e.requests.pop())
	case len(g.dirty) > 0:
		g.changes++
		e.gpu.dispatch(now)
	default:
		return false
	}
	return true
}

// happens has the function that handles each dueKind.
var happens = [...]func(g *gpus, item int32, now unit.Time){
	claimComes: (*gpus).come, bracketEnds: (*gpus).endBracket, waveEnds: (*gpus).endWave,
	flowBegins: (*gpus).beginFlow, waveBegins: (*gpus).beginWave,
}
