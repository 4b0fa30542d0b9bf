package mpi

import (
	"errors"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// perform carries out the sub-step. REQUIRES: everything that it waits for has arrived.
func (l *lane) perform() error {
	p := l.rank
	value, err := l.value()
	if err != nil {
		return err
	}
	l.at.Bytes, l.at.Done = 0, p.clock()
	if value != nil {
		l.at.Bytes = unit.Bytes(len(value.memory))
	}
	for i := range l.step.Send {
		out := p.outs[hw.ConnectionTo(p.number, l.index, &l.step.Send[i].Peer)]
		if p.tracing {
			out.times = append(out.times, hw.Mark{At: l.at.Done, Step: l.number})
		}
		if out.limit > 0 {
			out.used++
		}
		if err := p.post(value, out.To, out.tag); err != nil {
			return err
		}
	}
	if len(l.step.Send) == 0 {
		p.stock.put(value)
	}
	for i := range l.sources {
		if in := l.sources[i].in; in != nil && in.frees {
			if err := p.post(nil, in.From, in.tag+1); err != nil {
				return err
			}
		}
	}
	if l.step.Post && l.cursor.Last(l.slices) {
		l.posts++
	}
	if p.tracing {
		l.at.End = p.Now()
		l.stamps = append(l.stamps, l.at)
		l.at.Ready = l.at.End
	}
	return nil
}

// value combines the sources, and stores the result where the step stores it. It returns nil if
// there is nothing to send. The lane owns the parcel.
func (l *lane) value() (*parcel, error) {
	s, p := &l.step, l.rank
	if rank.Computes(s) {
		return nil, l.computes()
	}
	if s.OpaqueTime() > 0 || len(s.From) == 0 {
		return nil, nil
	}
	if len(s.To) == 0 && len(s.Send) == 0 { // a wait, or an unused read
		for i := range l.sources {
			p.stock.put(l.sources[i].parcel)
		}
		return nil, nil
	}
	var value *parcel
	for i := range s.From {
		if f := &s.From[i]; value != nil && f.Kind == schedule.Local && !f.Scale {
			if err := l.fold(value.memory, &f.Region); err != nil {
				return nil, err
			}
			continue
		}
		operand := l.operand(i)
		if s.From[i].Scale {
			l.math.Scale(operand.memory)
		}
		if value == nil {
			value = operand
			continue
		}
		if len(operand.memory) != len(value.memory) {
			return nil, l.mismatch(len(value.memory), len(operand.memory))
		}
		l.math.Combine(value.memory, operand.memory)
		p.stock.put(operand)
	}
	if s.Scale {
		l.math.Scale(value.memory)
	}
	for i := range s.To {
		home, n := l.places(&s.To[i])
		if n != int64(len(value.memory)) {
			return nil, l.mismatch(len(value.memory), int(n))
		}
		p.Scatter(home, l.spans, value.memory)
	}
	return value, nil
}

// computes computes a kernel and stores its result. It counts as progress, but no message moves
// meanwhile.
func (l *lane) computes() error {
	err := l.rank.Compute(l.spot(), &l.step, func() error {
		l.rank.moved.Add(1)
		return nil
	})
	if misfit := (*rank.Misfit)(nil); errors.As(err, &misfit) {
		return hw.Malformed(l.rank.number, l.index, int(l.cursor.Step), "compute %s", misfit.Text)
	}
	return err
}

// fold combines the value with the elements of a region, on its right, in place.
func (l *lane) fold(value []byte, g *schedule.Region) error {
	home, n := l.places(g)
	if n != int64(len(value)) {
		return l.mismatch(len(value), int(n))
	}
	l.rank.Combine(l.math, value, home, l.spans)
	return nil
}

// operand returns a source's message, or a copy of its elements.
func (l *lane) operand(i int) *parcel {
	if l.step.From[i].Kind == schedule.Message {
		return l.sources[i].parcel
	}
	home, n := l.places(&l.step.From[i].Region)
	copied := l.rank.stock.get(n)
	l.rank.Gather(copied.memory, home, l.spans)
	return copied
}

// places stores in spans where the elements of a region are, and returns their size in bytes.
func (l *lane) places(g *schedule.Region) (home schedule.Buffer, n int64) {
	home, l.spans = l.rank.Places(l.spans[:0], l.spot(), g)
	return home, rank.Size(l.spans)
}

// mismatch returns the error of operands of different sizes.
func (l *lane) mismatch(have, want int) error {
	return hw.Malformed(l.rank.number, l.index, int(l.cursor.Step), "%s of %d and %d bytes",
		l.step.Name(), have, want)
}
