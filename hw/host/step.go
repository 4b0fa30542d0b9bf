package host

import (
	"slices"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// perform carries out the loaded sub-step and returns when it ended.
func (l *lane) perform(ready unit.Time) (end unit.Time, err error) {
	p := l.rank
	if err := l.receives(); err != nil {
		return 0, err
	}
	if err := l.reserves(); err != nil {
		return 0, err
	}
	if err := l.awaits(); err != nil {
		return 0, err
	}
	at := hw.Stamp{Ready: ready}
	if p.tracing {
		at.Start = p.clock.Now()
	}
	value, err := l.value()
	if err != nil {
		return 0, err
	}
	if value != nil {
		at.Bytes = unit.Bytes(len(value.bytes()))
	}
	if p.tracing {
		at.Done = p.clock.Now()
	}
	if err := l.sends(value, at.Done); err != nil {
		return 0, err
	}
	for _, in := range l.in {
		if in != nil {
			if err := p.net.free(l, in); err != nil {
				return 0, err
			}
		}
	}
	if l.step.Post && l.cursor.Last(l.slices) {
		if err := l.post(); err != nil {
			return 0, err
		}
	}
	if p.tracing {
		at.End = p.clock.Now()
		l.stamps = append(l.stamps, at)
	}
	return at.End, nil
}

// post increments the lane's counter and wakes the lanes that may wait for it.
func (l *lane) post() error {
	if err := l.rank.net.landed(l, -1); err != nil {
		return err
	}
	l.posts.Add(1)
	for _, other := range l.follows {
		other.rouse()
	}
	return nil
}

// value combines the sources, and stores the result where the step stores it. It returns nil if
// there is nothing to send. The lane owns the parcel.
func (l *lane) value() (*parcel, error) {
	s := &l.step
	if s.Kernel != nil {
		return nil, l.computes()
	}
	if len(s.From) == 0 {
		return nil, nil
	}
	if len(s.To) == 0 && len(s.Send) == 0 { // a wait, or an unused read
		for _, p := range l.parcels {
			l.rank.stock.put(p)
		}
		return nil, nil
	}
	if l.copies() {
		return nil, nil
	}
	value, err := l.first()
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(s.From); i++ {
		if err := l.fold(value.bytes(), i); err != nil {
			return nil, err
		}
	}
	if s.Scale {
		l.math.Scale(value.bytes())
	}
	for i := range s.To {
		if err := l.store(&s.To[i], value.bytes()); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// copies carries out a step that copies one run of elements to another, without a buffer between.
// It reports whether the step is one. A copy of elements onto themselves does nothing: it is no
// access, so the schedule need not order it.
func (l *lane) copies() bool {
	s := &l.step
	if len(s.From) != 1 || len(s.To) != 1 || len(s.Send) > 0 || s.Scale || s.From[0].Scale ||
		s.From[0].Kind != schedule.Local {
		return false
	}
	number := int(l.rank.number)
	var from, to schedule.Buffer
	from, l.spans = l.places(l.spans[:0], number, &s.From[0].Region)
	to, l.others = l.places(l.others[:0], number, &s.To[0])
	if from == to && slices.Equal(l.spans, l.others) {
		return true
	}
	if len(l.spans) != 1 || len(l.others) != 1 || l.spans[0].Len != l.others[0].Len {
		return false
	}
	a, b := l.spans[0], l.others[0]
	buffers := l.rank.Buffers
	copy(buffers[to][b.Off:b.Off+b.Len], buffers[from][a.Off:a.Off+a.Len])
	return true
}

// places returns where the elements of a region are in the memory of its owner, in bytes.
func (l *lane) places(
	dst []schedule.Span, owner int, g *schedule.Region,
) (home schedule.Buffer, spans []schedule.Span) {
	return l.rank.Places(dst, l.spot(owner), g)
}

// first returns the value of the first source: a message's own parcel, or a copy.
func (l *lane) first() (*parcel, error) {
	f := &l.step.From[0]
	value := l.parcels[0]
	switch {
	case f.Kind == schedule.Message && value == nil:
		value = l.rank.stock.get(0)
	case f.Kind != schedule.Message:
		var err error
		if value, err = l.read(f); err != nil {
			return nil, err
		}
	}
	if f.Scale {
		l.math.Scale(value.bytes())
	}
	return value, nil
}

// fold combines the value with source i, on its right.
func (l *lane) fold(value []byte, i int) error {
	f := &l.step.From[i]
	if f.Kind == schedule.Local && !f.Scale {
		home, spans := l.places(l.spans[:0], int(l.rank.number), &f.Region)
		l.spans = spans
		if n := rank.Size(spans); n != int64(len(value)) {
			return l.mismatch(int64(len(value)), n)
		}
		l.rank.Combine(l.math, value, home, spans)
		return nil
	}
	operand := l.parcels[i]
	if f.Kind != schedule.Message {
		var err error
		if operand, err = l.read(f); err != nil {
			return err
		}
	} else if operand == nil {
		operand = l.rank.stock.get(0)
	}
	if len(operand.bytes()) != len(value) {
		return l.mismatch(int64(len(value)), int64(len(operand.bytes())))
	}
	if f.Scale {
		l.math.Scale(operand.bytes())
	}
	l.math.Combine(value, operand.bytes())
	l.rank.stock.put(operand)
	return nil
}

// read copies a region of this rank or of another, or sums those of a team.
func (l *lane) read(f *schedule.Source) (*parcel, error) {
	switch f.Kind {
	case schedule.Local:
		return l.readFrom(l.rank.number, &f.Region)
	case schedule.Get:
		return l.readFrom(f.Peer.Rank, &f.Region)
	}
	var sum *parcel
	for _, number := range f.Team {
		part, err := l.readFrom(number, &f.Region)
		switch {
		case err != nil:
			return nil, err
		case sum == nil:
			sum = part
		case len(part.bytes()) != len(sum.bytes()):
			return nil, l.mismatch(int64(len(sum.bytes())), int64(len(part.bytes())))
		default:
			l.math.Combine(sum.bytes(), part.bytes())
			l.rank.stock.put(part)
		}
	}
	if sum == nil {
		return nil, l.malformed("reads from a team of none")
	}
	return sum, nil
}

// readFrom copies a region of a rank.
func (l *lane) readFrom(number int32, g *schedule.Region) (*parcel, error) {
	home, spans := l.places(l.spans[:0], int(number), g)
	l.spans = spans
	value := l.rank.stock.get(rank.Size(spans))
	if number == l.rank.number {
		l.rank.Gather(value.bytes(), home, spans)
		return value, nil
	}
	if err := l.rank.net.landed(l, -1); err != nil {
		return nil, err
	}
	return value, l.rank.net.get(l, target{number, home, spans}, value.bytes())
}

// store writes the value to a region.
func (l *lane) store(g *schedule.Region, value []byte) error {
	home, spans := l.places(l.spans[:0], int(l.rank.number), g)
	l.spans = spans
	if n := rank.Size(spans); n != int64(len(value)) {
		return l.mismatch(int64(len(value)), n)
	}
	l.rank.Scatter(home, spans, value)
	return nil
}

// sends sends the value to all destinations. The last one that takes its bytes gets the parcel
// itself; others get copies.
func (l *lane) sends(value *parcel, at unit.Time) error {
	last := -1
	for i := range l.step.Send {
		if !l.step.Send[i].Lands() {
			last = i
		}
	}
	for i := range l.step.Send {
		d := &l.step.Send[i]
		if d.Message() && !d.Relaxed {
			if err := l.rank.net.landed(l, d.Peer.Rank); err != nil {
				return err
			}
		}
		if out := l.out[i]; out != nil && l.rank.tracing {
			out.times = append(out.times, hw.Mark{At: at, Step: l.number})
		}
		var err error
		switch {
		case l.rank.faults != nil && l.loses(i): // nor does what follows on its connection arrive
		case d.Lands():
			err = l.puts(d, value, l.out[i])
		case value == nil:
			err = l.rank.net.send(l, l.out[i], nil)
		case i == last:
			err = l.rank.net.send(l, l.out[i], value)
		default:
			twin := l.rank.stock.get(int64(len(value.bytes())))
			copy(twin.bytes(), value.bytes())
			err = l.rank.net.send(l, l.out[i], twin)
		}
		if err != nil {
			return err
		}
	}
	if last < 0 {
		l.rank.stock.put(value)
	}
	return nil
}

// puts stores the value in the memory of a rank, or of all ranks of a team.
func (l *lane) puts(d *schedule.Dest, value *parcel, out *outbound) error {
	ranks := d.Team
	if ranks == nil {
		ranks = []int32{d.Peer.Rank}
	}
	for _, number := range ranks {
		home, spans := l.places(l.spans[:0], int(number), &d.Region)
		l.spans = spans
		if value == nil || rank.Size(spans) != int64(len(value.bytes())) {
			return l.malformed("puts a value into a region of another size")
		}
		if number == l.rank.number {
			l.rank.Scatter(home, spans, value.bytes())
			continue
		}
		if err := l.rank.net.put(l, target{number, home, spans}, value.bytes(), out); err != nil {
			return err
		}
	}
	return nil
}

// malformed returns the error of the current step.
func (l *lane) malformed(text string) error {
	return l.rank.malformed(l.index, int(l.cursor.Step), "%s %s", l.step.Name(), text)
}

// mismatch returns the error of operands of different sizes.
func (l *lane) mismatch(have, want int64) error {
	return l.rank.malformed(l.index, int(l.cursor.Step), "%s of %d and %d bytes", l.step.Name(), have,
		want)
}
