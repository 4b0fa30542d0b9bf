package host

import (
	"slices"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// perform carries out the sub-step that is loaded and returns when it ended.
func (l *lane) perform(ready unit.Time) (end unit.Time, err error) {
	p := l.player
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
		at.Start = p.now()
	}
	value, err := l.value()
	if err != nil {
		return 0, err
	}
	if value != nil {
		at.Bytes = unit.Bytes(len(value.bytes()))
	}
	if p.tracing {
		at.Done = p.now()
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
	if l.step.Post && l.cursor.Last(int32(p.s.Slices)) {
		if err := l.post(); err != nil {
			return 0, err
		}
	}
	if p.tracing {
		at.End = p.now()
		l.stamps = append(l.stamps, at)
	}
	return at.End, nil
}

// post adds one to the lane's counter and rouses who may wait for it.
func (l *lane) post() error {
	if err := l.player.net.landed(l, -1); err != nil {
		return err
	}
	l.posts.Add(1)
	for _, other := range l.follows {
		other.rouse()
	}
	return nil
}

// value is what the sources give together, stored where the step stores it; nil if there is
// nothing to send. The parcel is the lane's.
func (l *lane) value() (*parcel, error) {
	s := &l.step
	if s.Cost > 0 {
		return nil, l.computes()
	}
	if len(s.From) == 0 {
		return nil, nil
	}
	if len(s.To) == 0 && len(s.Send) == 0 { // a wait, or a read that nobody needs
		for _, p := range l.parcels {
			l.player.stock.put(p)
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
		l.player.math.Scale(value.bytes())
	}
	for i := range s.To {
		if err := l.store(&s.To[i], value.bytes()); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// copies does a step that copies one run of elements to another, without a buffer between. Onto
// themselves, they are not touched: that is no access, so nothing need order it.
func (l *lane) copies() bool {
	s := &l.step
	if len(s.From) != 1 || len(s.To) != 1 || len(s.Send) > 0 || s.Scale || s.From[0].Scale ||
		s.From[0].Kind != schedule.Local {
		return false
	}
	rank := int(l.player.rank)
	var from, to schedule.Buffer
	from, l.spans = l.places(l.spans[:0], rank, &s.From[0].Region)
	to, l.others = l.places(l.others[:0], rank, &s.To[0])
	if from == to && slices.Equal(l.spans, l.others) {
		return true
	}
	if len(l.spans) != 1 || len(l.others) != 1 || l.spans[0].Len != l.others[0].Len {
		return false
	}
	a, b := l.spans[0], l.others[0]
	copy(l.player.memory[to][b.Off:b.Off+b.Len], l.player.memory[from][a.Off:a.Off+a.Len])
	return true
}

// places is where in the memory of a rank the elements of a region lie, in bytes.
func (l *lane) places(
	dst []schedule.Span, rank int, g *schedule.Region,
) (home schedule.Buffer, spans []schedule.Span) {
	s, width := l.player.s, int64(l.player.math.Width)
	home, base := s.Home(g.Buffer, rank)
	spans = s.Spans(dst, schedule.Spot{Rank: rank, Channel: l.channel,
		Slice: int(l.cursor.Slice())}, g)
	for i := range spans {
		spans[i].Off, spans[i].Len = (spans[i].Off+base)*width, spans[i].Len*width
	}
	return home, spans
}

// size is the bytes of the spans.
func size(spans []schedule.Span) (n int64) {
	for _, s := range spans {
		n += s.Len
	}
	return n
}

// first makes the value of the first source: a message's own parcel, or a copy.
func (l *lane) first() (*parcel, error) {
	f := &l.step.From[0]
	value := l.parcels[0]
	switch {
	case f.Kind == schedule.Message && value == nil:
		value = l.player.stock.get(0)
	case f.Kind != schedule.Message:
		var err error
		if value, err = l.read(f); err != nil {
			return nil, err
		}
	}
	if f.Scale {
		l.player.math.Scale(value.bytes())
	}
	return value, nil
}

// fold combines the value with source i, on its right.
func (l *lane) fold(value []byte, i int) error {
	f := &l.step.From[i]
	if f.Kind == schedule.Local && !f.Scale {
		home, spans := l.places(l.spans[:0], int(l.player.rank), &f.Region)
		l.spans = spans
		if n := size(spans); n != int64(len(value)) {
			return l.mismatch(int64(len(value)), n)
		}
		for _, s := range spans {
			l.player.math.Combine(value[:s.Len], l.player.memory[home][s.Off:s.Off+s.Len])
			value = value[s.Len:]
		}
		return nil
	}
	operand := l.parcels[i]
	if f.Kind != schedule.Message {
		var err error
		if operand, err = l.read(f); err != nil {
			return err
		}
	} else if operand == nil {
		operand = l.player.stock.get(0)
	}
	if len(operand.bytes()) != len(value) {
		return l.mismatch(int64(len(value)), int64(len(operand.bytes())))
	}
	if f.Scale {
		l.player.math.Scale(operand.bytes())
	}
	l.player.math.Combine(value, operand.bytes())
	l.player.stock.put(operand)
	return nil
}

// read copies a region of this rank, of another, or the sum of those of a team.
func (l *lane) read(f *schedule.Source) (*parcel, error) {
	switch f.Kind {
	case schedule.Local:
		return l.readFrom(l.player.rank, &f.Region)
	case schedule.Get:
		return l.readFrom(f.Peer.Rank, &f.Region)
	}
	var sum *parcel
	for _, rank := range f.Team {
		part, err := l.readFrom(rank, &f.Region)
		switch {
		case err != nil:
			return nil, err
		case sum == nil:
			sum = part
		case len(part.bytes()) != len(sum.bytes()):
			return nil, l.mismatch(int64(len(sum.bytes())), int64(len(part.bytes())))
		default:
			l.player.math.Combine(sum.bytes(), part.bytes())
			l.player.stock.put(part)
		}
	}
	if sum == nil {
		return nil, l.malformed("reads from a team of none")
	}
	return sum, nil
}

func (l *lane) readFrom(rank int32, g *schedule.Region) (*parcel, error) {
	home, spans := l.places(l.spans[:0], int(rank), g)
	l.spans = spans
	value := l.player.stock.get(size(spans))
	if rank == l.player.rank {
		gather(value.bytes(), l.player.memory[home], spans)
		return value, nil
	}
	if err := l.player.net.landed(l, -1); err != nil {
		return nil, err
	}
	return value, l.player.net.get(l, target{rank, home, spans}, value.bytes())
}

// store writes the value to a region.
func (l *lane) store(g *schedule.Region, value []byte) error {
	home, spans := l.places(l.spans[:0], int(l.player.rank), g)
	l.spans = spans
	if n := size(spans); n != int64(len(value)) {
		return l.mismatch(int64(len(value)), n)
	}
	scatter(l.player.memory[home], spans, value)
	return nil
}

// sends hands the value to all destinations; the last that takes its bytes gets the parcel itself.
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
			if err := l.player.net.landed(l, d.Peer.Rank); err != nil {
				return err
			}
		}
		if out := l.out[i]; out != nil {
			out.sent++
			if l.player.tracing {
				out.times = append(out.times, hw.Mark{At: at, Step: l.number})
			}
		}
		var err error
		switch {
		case d.Lands():
			err = l.puts(d, value, l.out[i])
		case value == nil:
			err = l.player.net.send(l, l.out[i], nil)
		case i == last:
			err = l.player.net.send(l, l.out[i], value)
		default:
			twin := l.player.stock.get(int64(len(value.bytes())))
			copy(twin.bytes(), value.bytes())
			err = l.player.net.send(l, l.out[i], twin)
		}
		if err != nil {
			return err
		}
	}
	if last < 0 {
		l.player.stock.put(value)
	}
	return nil
}

// puts stores the value in the memory of a rank, or of all ranks of a team.
func (l *lane) puts(d *schedule.Dest, value *parcel, out *outbound) error {
	ranks := d.Team
	if ranks == nil {
		ranks = []int32{d.Peer.Rank}
	}
	for _, rank := range ranks {
		home, spans := l.places(l.spans[:0], int(rank), &d.Region)
		l.spans = spans
		if value == nil || size(spans) != int64(len(value.bytes())) {
			return l.malformed("puts a value into a region of another size")
		}
		if rank == l.player.rank {
			scatter(l.player.memory[home], spans, value.bytes())
			continue
		}
		if err := l.player.net.put(l, target{rank, home, spans}, value.bytes(), out); err != nil {
			return err
		}
	}
	return nil
}

func (l *lane) malformed(text string) error {
	return l.player.errorf(l.index, int(l.cursor.Step), "%s %s", l.step.Name(), text)
}

func (l *lane) mismatch(have, want int64) error {
	return l.player.errorf(l.index, int(l.cursor.Step), "%s of %d and %d bytes", l.step.Name(), have,
		want)
}

// gather and scatter copy between runs of a memory and bytes side by side.
func gather(dst, memory []byte, spans []schedule.Span) {
	for _, s := range spans {
		dst = dst[copy(dst, memory[s.Off:s.Off+s.Len]):]
	}
}

func scatter(memory []byte, spans []schedule.Span, src []byte) {
	for _, s := range spans {
		src = src[copy(memory[s.Off:s.Off+s.Len], src):]
	}
}
