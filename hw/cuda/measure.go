package cuda

import (
	"fmt"

	"collsim/hw"
	"collsim/unit"
)

// between returns the time between two events of a GPU.
func (p *execution) between(g *gpu, from, to uintptr) (unit.Time, error) {
	o := p.device.out
	err := p.device.on(g, "cuEventElapsedTime", address(&o.milliseconds), from, to)
	return unit.Time(float64(o.milliseconds) * float64(unit.Millisecond)), err
}

// since returns the time from the start of the repetition to an event.
func (p *execution) since(number int) (unit.Time, error) {
	g, handle := p.seen(number)
	t, err := p.between(g, p.events[g.index].handle, handle)
	return p.offsets[g.index] + t, err
}

// aligns computes the start of each GPU by the clock of the first. The first GPU recorded an event
// before it started the others, and its own start after they had answered. So their start is at the
// middle, with half the difference as its error.
func (p *execution) aligns() error {
	p.offsets = make([]unit.Time, len(p.gpus))
	if len(p.gpus) == 1 {
		return nil
	}
	around, err := p.between(p.gpus[0], p.startEvent, p.events[0].handle)
	for i := range p.gpus {
		p.offsets[i] = around / 2
	}
	p.offsets[0] = around
	p.skew = max(p.skew, around)
	return err
}

// measure returns the start and the end of each rank of this machine. A rank starts with its GPU.
func (p *execution) measure() (start, finish []unit.Time, err error) {
	if err := p.aligns(); err != nil {
		return nil, nil, err
	}
	begin, end := make([]unit.Time, len(p.here)), make([]unit.Time, len(p.here))
	for i, one := range p.here {
		begin[i] = p.offsets[one.gpu.index]
		end[i] = begin[i]
		for _, l := range one.lanes {
			t, err := p.since(l.last())
			if err != nil {
				return nil, nil, p.of(err, one.number, l.index, -1)
			}
			end[i] = max(end[i], t)
		}
	}
	return begin, end, nil
}

// recordings returns the timelines of this machine's ranks.
func (p *execution) recordings() (all []hw.Recording, err error) {
	all = make([]hw.Recording, len(p.here))
	first := p.here[0].number
	for _, l := range p.lanes {
		var stamps []hw.Stamp
		ready := p.offsets[l.rank.gpu.index]
		for _, s := range l.steps {
			at := hw.Stamp{Ready: ready, Bytes: unit.Bytes(s.bytes)}
			if at.Start, err = p.since(s.begin); err != nil {
				return nil, fmt.Errorf("a timeline: %w", err)
			}
			if at.Done, err = p.since(s.end); err != nil {
				return nil, fmt.Errorf("a timeline: %w", err)
			}
			at.End = at.Done
			stamps, ready = append(stamps, at), at.End
		}
		one := &all[l.rank.number-first]
		one.Lanes = append(one.Lanes, stamps)
		for _, flow := range l.outs {
			for i, m := range flow.Marks {
				flow.Marks[i].At = stamps[m.Step-1].Done
			}
			one.Sent = append(one.Sent, flow)
		}
		for _, flow := range l.ins {
			for i, m := range flow.Marks {
				flow.Marks[i].At = stamps[m.Step-1].Start
			}
			one.Got = append(one.Got, flow)
		}
	}
	return all, nil
}
