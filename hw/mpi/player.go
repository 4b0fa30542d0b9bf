package mpi

import (
	"sync"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// player plays a rank of a schedule in one thread: it goes round its lanes, each of which does as
// many sub-steps as it can, and asks the library in between what has arrived. That is how the
// library makes progress, too.
type player struct {
	*worker
	s          *schedule.Schedule
	program    *schedule.Program
	math       hw.Arithmetic
	iterations int
	tracing    bool
	dirty      bool // a step writes where the input lies: it is loaded again for an iteration

	input    []byte
	memory   [3][]byte
	lanes    []*lane
	ins      map[hw.Connection]*inbound
	outs     map[hw.Connection]*outbound
	inOrder  []*inbound // as the program names them first
	outOrder []*outbound
	sending  []*transfer
	stock    stock
	asking   sync.Mutex // of what lanes wait for
	kept     hw.Recording
}

// inbound is this rank's end of a connection that it receives on.
type inbound struct {
	hw.Connection
	tag   int
	frees bool // the sender counts slots
	times []hw.Mark
}

// outbound is this rank's end of a connection that it sends on.
type outbound struct {
	hw.Connection
	tag     int
	limit   int // slots; 0 is any number
	used    int
	freeing *transfer // the next slot that becomes free
	times   []hw.Mark
}

func newPlayer(w *worker, t *task) (part, error) {
	s, err := schedule.Parse(t.Text)
	if err != nil {
		return nil, err
	}
	p := &player{worker: w, s: s, program: s.Program(w.rank),
		math: hw.ArithmeticOf(&s.Spec), iterations: t.Env.Iterations, tracing: t.Env.Trace,
		input: t.Input, dirty: s.Spec.InPlace, ins: map[hw.Connection]*inbound{},
		outs: map[hw.Connection]*outbound{}}
	for _, b := range []schedule.Buffer{schedule.Input, schedule.Output, schedule.Scratch} {
		home, base := s.Home(b, w.rank)
		if n := (base + s.Len(b, w.rank)) * int64(p.math.Width); n > int64(len(p.memory[home])) {
			p.memory[home] = hw.Memory(n)
		}
	}
	slots := t.Env.Slots
	if s.Slots > 0 {
		slots = s.Slots
	}
	for i := range p.program.Lanes() {
		p.lanes = append(p.lanes, &lane{player: p, index: i, channel: p.program.Channel(i)})
	}
	return p, p.connect(slots)
}

// connect makes the ends of all connections.
func (p *player) connect(slots int) error {
	tags, err := tagsOf(p.s, p.rank)
	if err != nil {
		return err
	}
	return eachStep(p.s, p.rank, func(lane, step int, v *schedule.Step) error {
		ins, outs := connections(p.rank, lane, v)
		for _, c := range ins {
			if p.ins[c] == nil {
				p.ins[c] = &inbound{Connection: c, tag: 2 * tags[c], frees: limit(c.Class, slots) > 0}
				p.inOrder = append(p.inOrder, p.ins[c])
			}
		}
		for _, c := range outs {
			if p.outs[c] == nil {
				p.outs[c] = &outbound{Connection: c, tag: 2 * tags[c], limit: limit(c.Class, slots)}
				p.outOrder = append(p.outOrder, p.outs[c])
			}
		}
		for i := range v.To {
			p.dirty = p.dirty || v.To[i].Buffer == schedule.Input
		}
		for _, e := range v.Await {
			if e.Lane < 0 || int(e.Lane) >= len(p.lanes) || int(e.Lane) == lane {
				return malformed(p.rank, lane, step, "awaits lane %d, which is none of the others", e.Lane)
			}
		}
		return nil
	})
}

// limit is the slots of a connection; 0 is any number.
func limit(c schedule.Class, slots int) int {
	switch c {
	case schedule.Pad:
		return 1
	case schedule.Free:
		return 0
	}
	return slots
}

// reset makes the rank ready for a repetition. What no step writes is all ones, a NaN in every
// format that has one: a repetition cannot pass with the results of the one before.
func (p *player) reset() {
	for _, memory := range p.memory {
		for i := range memory {
			memory[i] = 0xff
		}
	}
	p.load()
	for _, l := range p.lanes {
		l.number, l.stamps = 0, l.stamps[:0]
	}
	for _, in := range p.inOrder {
		in.times = in.times[:0]
	}
	for _, out := range p.outOrder {
		out.times = out.times[:0]
	}
}

// load writes the input.
func (p *player) load() {
	home, base := p.s.Home(schedule.Input, p.rank)
	p.math.Load(p.memory[home][base*int64(p.math.Width):][:len(p.input)], p.input)
}

func (p *player) output() []byte {
	home, base := p.s.Home(schedule.Output, p.rank)
	out := hw.Memory(p.s.Len(schedule.Output, p.rank) * int64(p.math.Width))
	p.math.Store(out, p.memory[home][base*int64(p.math.Width):][:len(out)])
	return out
}

// play runs all lanes to their ends, as often as the environment says.
func (p *player) play() error {
	for i := range p.iterations {
		if i > 0 && p.dirty {
			p.load()
		}
		for _, l := range p.lanes {
			l.begin()
		}
		for left := len(p.lanes); left > 0; {
			left = 0
			for _, l := range p.lanes {
				if err := l.advance(); err != nil {
					return err
				}
				if l.stage != rests {
					left++
				}
			}
			if err := p.collect(); err != nil {
				return err
			}
		}
	}
	return p.drain()
}

// drain waits until all that was sent has left, and all slots are free.
func (p *player) drain() error {
	for {
		if err := p.collect(); err != nil {
			return err
		}
		used := 0
		for _, out := range p.outOrder {
			if out.limit > 0 && out.used > 0 {
				if err := p.refill(out); err != nil {
					return err
				}
				used += out.used
			}
		}
		if used == 0 && len(p.sending) == 0 {
			return nil
		}
	}
}

// collect takes back the parcels of messages that have left.
func (p *player) collect() error {
	left := p.sending[:0]
	for _, t := range p.sending {
		done, err := p.test(t)
		if err != nil {
			return err
		}
		if !done {
			left = append(left, t)
		}
	}
	clear(p.sending[len(left):])
	p.sending = left
	return nil
}

// refill notes the slots of a connection that its receiver has freed since.
func (p *player) refill(out *outbound) error {
	for out.used > 0 {
		if out.freeing == nil {
			t, err := p.receive(nil, out.To, out.tag+1)
			if err != nil {
				return err
			}
			out.freeing = t
		}
		done, err := p.test(out.freeing)
		if err != nil || !done {
			return err
		}
		out.freeing = nil
		out.used--
	}
	return nil
}

// keep keeps what was noted of the repetition that has ended.
func (p *player) keep() {
	p.kept = hw.Recording{}
	for _, l := range p.lanes {
		p.kept.Lanes, l.stamps = append(p.kept.Lanes, l.stamps), nil
	}
	for _, in := range p.inOrder {
		p.kept.Got = append(p.kept.Got, hw.Flow{Connection: in.Connection, Marks: in.times})
		in.times = nil
	}
	for _, out := range p.outOrder {
		p.kept.Sent = append(p.kept.Sent, hw.Flow{Connection: out.Connection, Marks: out.times})
		out.times = nil
	}
}

func (p *player) notes() hw.Recording { return p.kept }

func (p *player) waits() (all []schedule.Waiting) {
	p.asking.Lock()
	defer p.asking.Unlock()
	for _, l := range p.lanes {
		if l.waiting.For != "" {
			all = append(all, l.waiting)
		}
	}
	return all
}

// clock is the time if anybody asks for it.
func (p *player) clock() unit.Time {
	if !p.tracing {
		return 0
	}
	return p.now()
}
