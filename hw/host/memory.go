package host

import (
	"sync/atomic"

	"collsim/schedule"
)

// shared is the network of ranks in one process: the other rank's memory is there.
type shared struct {
	players []*player
	failed  atomic.Pointer[failure]
}

// link joins both ends of every connection. A connection with one end only is refused: its messages
// are never received, or never come.
func (w *shared) link() error {
	for _, p := range w.players {
		for _, out := range p.outs {
			var far *inbound
			if int(out.To) < len(w.players) {
				far = w.players[out.To].byIn[out.Connection]
			}
			if far == nil {
				return oneEnded(out.Connection, sends)
			}
			out.far, far.far = far, out
		}
	}
	for _, p := range w.players {
		for _, in := range p.ins {
			if in.far == nil {
				return oneEnded(in.Connection, receives)
			}
		}
	}
	return nil
}

func (w *shared) send(_ *lane, out *outbound, p *parcel) error {
	out.far.arrive(p)
	return nil
}

func (w *shared) put(_ *lane, to target, value []byte, out *outbound) error {
	scatter(w.players[to.rank].memory[to.home], to.spans, value)
	if out != nil {
		out.far.arrive(nil)
	}
	return nil
}

func (w *shared) landed(*lane, int32) error { return nil }

func (w *shared) get(_ *lane, from target, dst []byte) error {
	gather(dst, w.players[from.rank].memory[from.home], from.spans)
	return nil
}

func (w *shared) free(_ *lane, in *inbound) error {
	if in.far.limit > 0 {
		in.far.freed()
	}
	return nil
}

// writes reports whether any step of a schedule writes to memory that an input lies in: it must
// then be loaded again before the next iteration.
func writes(s *schedule.Schedule) bool {
	if s.Spec.InPlace {
		return true
	}
	var step schedule.Step
	for rank := range s.Spec.Ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				for i := range step.To {
					if step.To[i].Buffer == schedule.Input {
						return true
					}
				}
				for i := range step.Send {
					if d := &step.Send[i]; d.Lands() && d.Region.Buffer == schedule.Input {
						return true
					}
				}
			}
		}
	}
	return false
}
