package mpi

import (
	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// perform carries out the sub-step, of which all that it waits for is there.
func (l *lane) perform() error {
	p := l.player
	value, err := l.value()
	if err != nil {
		return err
	}
	l.at.Bytes, l.at.Done = 0, p.clock()
	if value != nil {
		l.at.Bytes = unit.Bytes(len(value.memory))
	}
	for i := range l.step.Send {
		out := p.outs[connectionTo(p.rank, l.index, &l.step.Send[i].Peer)]
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
	if l.step.Post && l.cursor.Last(int32(p.s.Slices)) {
		l.posts++
	}
	if p.tracing {
		l.at.End = p.now()
		l.stamps = append(l.stamps, l.at)
		l.at.Ready = l.at.End
	}
	return nil
}

// value is what the sources give together, stored where the step stores it; nil if there is
// nothing to send. The parcel is the lane's.
func (l *lane) value() (*parcel, error) {
	s, p := &l.step, l.player
	if s.Cost > 0 || len(s.From) == 0 {
		return nil, nil
	}
	if len(s.To) == 0 && len(s.Send) == 0 { // a wait, or a read that nobody needs
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
			p.math.Scale(operand.memory)
		}
		if value == nil {
			value = operand
			continue
		}
		if len(operand.memory) != len(value.memory) {
			return nil, l.mismatch(len(value.memory), len(operand.memory))
		}
		p.math.Combine(value.memory, operand.memory)
		p.stock.put(operand)
	}
	if s.Scale {
		p.math.Scale(value.memory)
	}
	for i := range s.To {
		home, n := l.places(&s.To[i])
		if n != int64(len(value.memory)) {
			return nil, l.mismatch(len(value.memory), int(n))
		}
		src := value.memory
		for _, span := range l.spans {
			src = src[copy(p.memory[home][span.Off:span.Off+span.Len], src):]
		}
	}
	return value, nil
}

// fold combines the value with the elements of a region, on its right, where they lie.
func (l *lane) fold(value []byte, g *schedule.Region) error {
	home, n := l.places(g)
	if n != int64(len(value)) {
		return l.mismatch(len(value), int(n))
	}
	for _, span := range l.spans {
		l.player.math.Combine(value[:span.Len], l.player.memory[home][span.Off:span.Off+span.Len])
		value = value[span.Len:]
	}
	return nil
}

// operand is a source's message, or a copy of its elements.
func (l *lane) operand(i int) *parcel {
	if l.step.From[i].Kind == schedule.Message {
		return l.sources[i].parcel
	}
	home, n := l.places(&l.step.From[i].Region)
	copied := l.player.stock.get(n)
	dst := copied.memory
	for _, span := range l.spans {
		dst = dst[copy(dst, l.player.memory[home][span.Off:span.Off+span.Len]):]
	}
	return copied
}

// places leaves in spans where the elements of a region lie, in bytes, and says how many they are.
func (l *lane) places(g *schedule.Region) (home schedule.Buffer, n int64) {
	s, rank, width := l.player.s, l.player.rank, int64(l.player.math.Width)
	home, base := s.Home(g.Buffer, rank)
	l.spans = s.Spans(l.spans[:0], schedule.Spot{Rank: rank, Channel: l.channel,
		Slice: int(l.cursor.Slice())}, g)
	for i := range l.spans {
		span := &l.spans[i]
		span.Off, span.Len = (span.Off+base)*width, span.Len*width
		n += span.Len
	}
	return home, n
}

func (l *lane) mismatch(have, want int) error {
	return malformed(l.player.rank, l.index, int(l.cursor.Step), "%s of %d and %d bytes",
		l.step.Name(), have, want)
}
