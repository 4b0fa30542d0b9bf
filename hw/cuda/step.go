package cuda

import (
	"collsim/hw"
	"collsim/schedule"
)

// A run is contiguous memory of a GPU.
type run struct {
	on *gpu
	at uint64
	n  int64
}

// An operand is a source of a step: its runs, and its flags (kernels.go).
type operand struct {
	runs  []run
	flags byte
}

// perform plans the loaded sub-step: its waits, its work, and the event at its end.
func (p *execution) perform(l *lane) error {
	if err := p.enter(l); err != nil {
		return err
	}
	l.deps, l.brought, l.roomed = l.deps[:0], l.brought[:0], 0
	p.awaits(l)
	var operands []operand
	var taken []parcel
	var err error
	if p.step.Kernel == nil {
		if operands, taken, err = p.operands(l); err != nil {
			return err
		}
	}
	n, err := p.bytes(l, operands)
	if err != nil {
		return err
	}
	destinations, sent, err := p.destinations(l, n)
	if err != nil {
		return err
	}
	for _, dep := range l.deps {
		if dep.crossing == 0 {
			p.wait(l, dep.event)
		} else {
			p.hear(l, dep.crossing)
		}
	}
	s := subStep{step: l.cursor.Step, begin: l.last(), bytes: n,
		deps: append([]depended{}, l.deps...)}
	if p.env.Trace {
		if s.begin, err = p.record(l); err != nil {
			return err
		}
	}
	for _, o := range l.brought {
		p.emit(l, o)
	}
	switch {
	case l.rank.remote:
	case p.step.Kernel != nil:
		err = p.kernel(l)
	case n > 0 && len(destinations) > 0:
		err = p.compute(l, operands, destinations, n)
	}
	if err != nil {
		return err
	}
	if err := p.cross(l, taken, sent); err != nil {
		return err
	}
	if s.end, err = p.record(l); err != nil {
		return err
	}
	l.steps = append(l.steps, s)
	p.pass(l, taken, sent, s.end)
	return nil
}

// awaits collects the schedule's events that a step waits for.
func (p *execution) awaits(l *lane) {
	if l.cursor.Slice() > 0 {
		return
	}
	for _, e := range p.step.Await {
		if e.Value > 0 {
			event := l.rank.lanes[e.Lane].posts[e.Value-1]
			l.deps = append(l.deps, depended{event, anEvent, l.rank.number, int(e.Lane), 0})
		}
	}
}

// bytes returns the size of a step's operands, which must be equal.
func (p *execution) bytes(l *lane, operands []operand) (n int64, err error) {
	for i := range operands {
		if of := size(operands[i].runs); i == 0 {
			n = of
		} else if of != n {
			return 0, hw.Malformed(l.rank.number, l.index, int(l.cursor.Step),
				"operands of %d and %d bytes", n, of)
		}
	}
	return n, nil
}

// A parcel is a message with its connection.
type parcel struct {
	to *connection
	message
}

// pass hands sent messages to their receivers, and places of received messages back to their
// senders. Both become usable at the given event.
func (p *execution) pass(l *lane, taken, sent []parcel, event int) {
	number := int32(len(l.steps))
	for _, m := range taken {
		m.event = event
		if m.n > 0 {
			m.to.free = append(m.to.free, m.place)
		}
		m.to.held--
		if m.to.sender != nil {
			p.ready = append(p.ready, m.to.sender)
			m.to.sender = nil
		}
		if p.env.Trace {
			l.ins = mark(l.ins, m.to.Connection, number)
		}
	}
	for _, m := range sent {
		m.event = event
		m.to.messages = append(m.to.messages, m.message)
		m.to.held++
		if m.to.receiver != nil {
			p.ready = append(p.ready, m.to.receiver)
			m.to.receiver = nil
		}
		if p.env.Trace {
			l.outs = mark(l.outs, m.to.Connection, number)
		}
	}
}

// mark records a message of a connection in a sub-step.
func mark(flows []hw.Messages, c hw.Connection, step int32) []hw.Messages {
	for i := range flows {
		if flows[i].Connection == c {
			flows[i].Marks = append(flows[i].Marks, hw.Mark{Step: step})
			return flows
		}
	}
	return append(flows, hw.Messages{Connection: c, Marks: []hw.Mark{{Step: step}}})
}

// operands returns the step's sources and the messages that it receives. It adds their dependencies
// to the lane's.
func (p *execution) operands(l *lane) (list []operand, taken []parcel, err error) {
	add := func(flags byte, scales bool, runs []run) {
		if scales {
			flags |= scaled
		}
		if len(list) == 0 {
			flags |= first
		}
		list = append(list, operand{runs, flags})
	}
	for i := range p.step.From {
		f := &p.step.From[i]
		switch f.Kind {
		case schedule.Message:
			c := p.connection(from(l, &f.Peer))
			m := c.messages[0]
			c.messages = c.messages[1:]
			taken = append(taken, parcel{c, m})
			l.deps = append(l.deps, depended{m.event, aMessage, int(c.From), int(c.FromLane), m.crossing})
			if !f.Put() {
				if err := p.bring(l, &m); err != nil {
					return nil, nil, err
				}
				add(begins|ends, f.Scale, []run{{m.on, m.at, m.bytes}})
			}
		case schedule.Local:
			add(begins|ends, f.Scale, p.runs(l, l.rank.number, &f.Region))
		case schedule.Get:
			add(begins|ends, f.Scale, p.runs(l, int(f.Peer.Rank), &f.Region))
		case schedule.Multimem:
			alone := len(list) == 0
			for j, rank := range f.Team {
				var flags byte
				if j == 0 {
					flags |= begins
				}
				if j == len(f.Team)-1 {
					flags |= ends
				}
				add(flags, f.Scale && j == len(f.Team)-1, p.runs(l, int(rank), &f.Region))
				if alone {
					list[len(list)-1].flags |= first // all of them are the step's first operand
				}
			}
		}
	}
	return list, taken, nil
}

// destinations returns where the step's value of n bytes is stored, and the messages that it sends.
func (p *execution) destinations(l *lane, n int64) (list [][]run, sent []parcel, err error) {
	store := func(rank int, g *schedule.Region) error {
		runs := p.runs(l, rank, g)
		if room := size(runs); room != n {
			return hw.Malformed(l.rank.number, l.index, int(l.cursor.Step),
				"%d bytes for a region of %d", n, room)
		}
		list = append(list, runs)
		return nil
	}
	for i := range p.step.Send {
		d := &p.step.Send[i]
		for _, rank := range d.Team {
			if err := store(int(rank), &d.Region); err != nil {
				return nil, nil, err
			}
		}
		if d.Put {
			if err := store(int(d.Peer.Rank), &d.Region); err != nil {
				return nil, nil, err
			}
		}
		if !d.Message() {
			continue
		}
		m := parcel{to: p.connection(to(l, &d.Peer))}
		if !d.Put && n > 0 {
			if m.place, err = p.take(l, m.to, n); err != nil {
				return nil, nil, err
			}
			m.bytes = n
			list = append(list, []run{{m.on, m.at, n}})
		}
		sent = append(sent, m)
	}
	for i := range p.step.To {
		if p.step.Kernel != nil {
			break // a kernel stores its result itself
		}
		if err := store(l.rank.number, &p.step.To[i]); err != nil {
			return nil, nil, err
		}
	}
	return list, sent, nil
}

// take returns a place for a message of n bytes on the GPU of its receiver. With limited slots it
// reuses a place that was read. With any number of slots it does so only if the device has no
// memory left.
func (p *execution) take(l *lane, c *connection, n int64) (place, error) {
	reuse := func() (place, bool) {
		for i, one := range c.free {
			if one.n < n {
				continue
			}
			c.free = append(c.free[:i], c.free[i+1:]...)
			l.deps = append(l.deps, depended{one.event, aSlot, int(c.To), int(c.ToLane), one.crossing})
			return one, true
		}
		return place{}, false
	}
	if c.Limit(p.slots(l)) > 0 {
		if one, found := reuse(); found {
			return p.staged(l, c, one)
		}
	}
	switch {
	case p.apart(c):
		one := place{run: run{n: n}}
		if err := p.pin(c, &one); err != nil {
			return place{}, err
		}
		return p.staged(l, c, one)
	case l.rank.remote:
		return place{run: run{n: n}}, nil
	}
	on := p.ranks[c.To].gpu
	at, err := p.device.allocate(on, n)
	if err != nil {
		if one, found := reuse(); found {
			return one, nil
		}
	}
	return place{run: run{on, uint64(at), n}}, err
}

// runs returns where a region of a rank is stored.
func (p *execution) runs(l *lane, number int, g *schedule.Region) []run {
	one := p.ranks[number]
	return one.runs(one.Places(nil, p.spot(l, number), g))
}

// runs converts spans of a rank's buffer to memory of its GPU.
func (one *participant) runs(home schedule.Buffer, spans []schedule.Span) []run {
	runs := make([]run, len(spans))
	for i, span := range spans {
		runs[i] = run{one.gpu, one.at[home] + uint64(span.Off), span.Len}
	}
	return runs
}

// spot returns the position of a lane's step in the schedule, as seen from a rank.
func (p *execution) spot(l *lane, number int) schedule.Spot {
	return schedule.Spot{Rank: number, Channel: l.program.Channel(l.index),
		Slice: int(l.cursor.Slice()), Part: l.program.Part(l.index)}
}

// size returns the total size of runs in bytes.
func size(runs []run) (n int64) {
	for _, r := range runs {
		n += r.n
	}
	return n
}
