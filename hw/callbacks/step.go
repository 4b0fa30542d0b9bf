package callbacks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// callback executes the loaded step.
func (r *run) callback(l *lane) error {
	if r.config.Ran != nil {
		r.config.Ran(l.rank, l.index, l.ran)
	}
	l.ran++
	at := hw.Stamp{Ready: l.last, Start: r.now()}
	if err := r.compute(l); err != nil {
		return err
	}
	value, err := r.value(l)
	if err != nil {
		return err
	}
	at.Done, at.Bytes = r.now(), unit.Bytes(len(value))
	for i := range r.step.Send {
		if err := r.send(l, &r.step.Send[i], value, at.Done); err != nil {
			return err
		}
	}
	for i := range r.step.To {
		if r.step.Kernel != nil {
			break // a kernel has stored its result
		}
		if err := r.store(l, l.rank, &r.step.To[i], value); err != nil {
			return err
		}
	}
	l.last = r.now()
	if at.End = l.last; r.env.Trace {
		l.stamps = append(l.stamps, at)
	}
	return nil
}

// spot returns the position of a lane's step in the schedule, as seen from a rank.
func spot(l *lane, number int) schedule.Spot {
	return schedule.Spot{Rank: number, Channel: l.program.Channel(l.index),
		Slice: int(l.cursor.Slice()), Part: l.program.Part(l.index)}
}

// math returns the arithmetic of a lane's step.
func (r *run) math(l *lane) *hw.Arithmetic {
	return r.ranks[l.rank].MathOf(spot(l, l.rank), &r.step)
}

// compute computes a kernel and stores its result. For an opaque kernel that has a time, it waits
// that long; the only thread is busy meanwhile.
func (r *run) compute(l *lane) error {
	if rank.Computes(&r.step) {
		err := r.ranks[l.rank].Compute(spot(l, l.rank), &r.step, func() error {
			return context.Cause(r.ctx)
		})
		if misfit := (*rank.Misfit)(nil); errors.As(err, &misfit) {
			return malformed(l, "compute %s", misfit.Text)
		}
		if err != nil {
			return err
		}
	}
	if r.step.OpaqueTime() == 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(r.step.OpaqueTime() / unit.Nanosecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.ctx.Done():
		return fmt.Errorf("%w", context.Cause(r.ctx))
	}
}

// value combines the sources of a step, in memory of its own.
func (r *run) value(l *lane) (value []byte, err error) {
	if r.step.Kernel != nil {
		return nil, nil
	}
	math := r.math(l)
	for i := range r.step.From {
		operand, err := r.operand(l, &r.step.From[i])
		switch {
		case err != nil:
			return nil, err
		case i == 0:
			value = operand
		default:
			if err := combine(l, math, value, operand); err != nil {
				return nil, err
			}
		}
	}
	if r.step.Scale {
		math.Scale(value)
	}
	return value, nil
}

// operand returns a copy of a source's elements.
func (r *run) operand(l *lane, f *schedule.Source) (value []byte, err error) {
	math := r.math(l)
	switch f.Kind {
	case schedule.Message:
		value = r.take(l, &f.Peer)
	case schedule.Local:
		value = gather(r.views(l, l.rank, &f.Region))
	case schedule.Get:
		value = gather(r.views(l, int(f.Peer.Rank), &f.Region))
	case schedule.Multimem:
		for i, rank := range f.Team {
			part := gather(r.views(l, int(rank), &f.Region))
			if i == 0 {
				value = part
			} else if err := combine(l, math, value, part); err != nil {
				return nil, err
			}
		}
	}
	if f.Scale {
		math.Scale(value)
	}
	return value, nil
}

// take removes the next message from a peer from the registry, and frees its slot.
func (r *run) take(l *lane, p *schedule.Peer) []byte {
	key := r.incoming(l, p)
	value := r.early[key]
	delete(r.early, key)
	c := key.Connection
	l.got[c]++
	r.held[c]--
	if sender, there := r.full[c]; there {
		delete(r.full, c)
		r.ready = append(r.ready, sender)
	}
	if r.env.Trace {
		l.ins = mark(l.ins, c, hw.Mark{At: r.now(), Step: int32(l.ran)})
	}
	return value
}

// send puts a message in flight, or stores it where it is visible at once.
func (r *run) send(l *lane, d *schedule.Dest, value []byte, at unit.Time) error {
	for _, rank := range d.Team {
		if err := r.store(l, int(rank), &d.Region, value); err != nil {
			return err
		}
	}
	if d.Put && d.Silent {
		if err := r.store(l, int(d.Peer.Rank), &d.Region, value); err != nil {
			return err
		}
	}
	if !d.Message() {
		return nil
	}
	c := to(l, &d.Peer)
	key := r.key(c, l.sent[c])
	if r.config.Fail != nil {
		if err := r.config.Fail(key); err != nil {
			return &Failure{Key: key, Err: err, Where: &hw.Error{Call: "send", Code: "failed",
				Rank: l.rank, Lane: l.index, Step: int(l.cursor.Step),
				Text: fmt.Sprintf("%v: %v", key, err)}}
		}
	}
	m := message{key: key, data: gather([][]byte{value})}
	if d.Put {
		m.dest = &landing{r.views(l, int(d.Peer.Rank), &d.Region), d.Packet}
		if err := fits(l, m.dest.at, value); err != nil {
			return err
		}
	}
	l.sent[c]++
	r.held[c]++
	if r.env.Trace {
		l.outs = mark(l.outs, c, hw.Mark{At: at, Step: int32(l.ran)})
	}
	if !r.loses(l) {
		r.inFlight = append(r.inFlight, m)
	}
	return nil
}

// loses reports whether a fault loses the message that a lane's callback sends first.
func (r *run) loses(l *lane) bool {
	for i := range r.env.Faults {
		if r.env.Faults[i].Loses(l.rank, l.index, int32(l.ran-1)) && !l.struck[i] {
			l.struck[i] = true
			return true
		}
	}
	return false
}

// mark records a message of a connection.
func mark(flows []hw.Messages, c hw.Connection, m hw.Mark) []hw.Messages {
	for i := range flows {
		if flows[i].Connection == c {
			flows[i].Marks = append(flows[i].Marks, m)
			return flows
		}
	}
	return append(flows, hw.Messages{Connection: c, Marks: []hw.Mark{m}})
}

// views returns the parts of a rank's memory that a region names.
func (r *run) views(l *lane, number int, g *schedule.Region) [][]byte {
	home, spans := r.ranks[number].Places(nil, spot(l, number), g)
	views := make([][]byte, len(spans))
	for i, span := range spans {
		views[i] = r.ranks[number].Buffers[home][span.Off:][:span.Len]
	}
	return views
}

// store writes a value to a region of a rank at once.
func (r *run) store(l *lane, rank int, g *schedule.Region, value []byte) error {
	views := r.views(l, rank, g)
	if err := fits(l, views, value); err != nil {
		return err
	}
	scatter(views, value)
	return nil
}

// malformed returns the error of a lane's current step, which is invalid.
func malformed(l *lane, format string, args ...any) error {
	return &hw.Error{Call: "step", Code: "malformed", Rank: l.rank, Lane: l.index,
		Step: int(l.cursor.Step), Text: fmt.Sprintf(format, args...)}
}

// fits returns an error if a value and a region differ in length.
func fits(l *lane, views [][]byte, value []byte) error {
	room := 0
	for _, v := range views {
		room += len(v)
	}
	if room != len(value) {
		return malformed(l, "%d bytes for a region of %d", len(value), room)
	}
	return nil
}

// gather copies the views to contiguous memory.
func gather(views [][]byte) []byte {
	n := 0
	for _, v := range views {
		n += len(v)
	}
	all := hw.Memory(int64(n))[:0]
	for _, v := range views {
		all = append(all, v...)
	}
	return all
}

// scatter copies a value to the views.
func scatter(views [][]byte, value []byte) {
	for _, v := range views {
		value = value[copy(v, value):]
	}
}

// combine sets dst to dst ∘ src, in this order.
func combine(l *lane, math *hw.Arithmetic, dst, src []byte) error {
	if len(dst) != len(src) {
		return malformed(l, "operands of %d and %d bytes", len(dst), len(src))
	}
	math.Combine(dst, src)
	return nil
}

// recordings returns the timelines of a repetition, counted from origin.
func (r *run) recordings(origin unit.Time) []hw.Recording {
	all := make([]hw.Recording, len(r.ranks))
	for number, one := range r.ranks {
		for _, l := range one.lanes {
			all[number].Lanes = append(all[number].Lanes, l.stamps)
			all[number].Sent = append(all[number].Sent, l.outs...)
			all[number].Got = append(all[number].Got, l.ins...)
		}
		all[number].Shift(-origin)
	}
	return all
}
