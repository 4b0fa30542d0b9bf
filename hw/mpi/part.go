package mpi

import (
	"sync"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// steps executes a rank of a schedule in one thread. It polls the lanes in turn: each proceeds as
// far as it can. In between it tests transfers, which also lets the library make progress.
type steps struct {
	*backend
	*rank.Memory
	s          *schedule.Schedule
	program    *schedule.Program
	iterations int
	tracing    bool
	reload     bool // a step may overwrite the input, so each iteration loads it

	input    []byte
	lanes    []*lane
	ins      map[hw.Connection]*inbound
	outs     map[hw.Connection]*outbound
	inOrder  []*inbound // in the order of the program
	outOrder []*outbound
	sending  []*transfer
	stock    stock
	asking   sync.Mutex // guards what lanes wait for
}

// An inbound is the receiver's end of a connection.
type inbound struct {
	hw.Connection
	tag   int
	frees bool // the sender counts slots
	times []hw.Mark
}

// An outbound is the sender's end of a connection.
type outbound struct {
	hw.Connection
	tag     int
	limit   int // slots; 0 is any number
	used    int
	freeing *transfer // receives the next credit
	times   []hw.Mark
}

// newSteps prepares a rank of a schedule.
func newSteps(p *backend, job *rank.Part) (part, error) {
	s, err := job.Schedule()
	if err != nil {
		return nil, err
	}
	x := &steps{backend: p, Memory: rank.NewMemory(s, p.number), s: s, program: s.Program(p.number),
		iterations: job.Env.Iterations, tracing: job.Env.Trace, reload: job.Reload,
		input: job.Inputs[0], ins: map[hw.Connection]*inbound{},
		outs: map[hw.Connection]*outbound{}}
	for i := range x.program.Lanes() {
		x.lanes = append(x.lanes, &lane{rank: x, index: i, channel: x.program.Channel(i),
			part: x.program.Part(i), slices: int32(x.program.Slices(i))})
	}
	x.connect(job.Env.Slots)
	return x, nil
}

// connect creates the ends of all connections; usual is the number of slots where the schedule has
// none.
func (p *steps) connect(usual int) {
	tags := tagsOf(p.s, p.number)
	eachStep(p.s, p.number, func(lane, step int, v *schedule.Step) error {
		slots := usual
		if n := p.program.Slots(lane); n > 0 {
			slots = n
		}
		ins, outs := connections(p.number, lane, v)
		for _, c := range ins {
			if p.ins[c] == nil {
				p.ins[c] = &inbound{Connection: c, tag: 2 * tags[c], frees: c.Limit(slots) > 0}
				p.inOrder = append(p.inOrder, p.ins[c])
			}
		}
		for _, c := range outs {
			if p.outs[c] == nil {
				p.outs[c] = &outbound{Connection: c, tag: 2 * tags[c], limit: c.Limit(slots)}
				p.outOrder = append(p.outOrder, p.outs[c])
			}
		}
		return nil
	})
}

// reset prepares a repetition.
func (p *steps) reset() {
	p.Memory.Reset(p.input)
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

// output returns the output, little-endian.
func (p *steps) output() []byte { return p.Output() }

// execute runs all lanes to their ends, for all iterations.
func (p *steps) execute() error {
	for i := range p.iterations {
		if i > 0 && p.reload {
			p.Load(p.input)
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

// drain waits until all messages have been sent and all slots are free.
func (p *steps) drain() error {
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

// collect returns the parcels of completed sends to the stock.
func (p *steps) collect() error {
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

// refill counts the slots of a connection that its receiver has freed.
func (p *steps) refill(out *outbound) error {
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

// recording returns the recording of the last repetition. The caller owns it.
func (p *steps) recording() (r hw.Recording) {
	if !p.tracing {
		return r
	}
	for _, l := range p.lanes {
		r.Lanes, l.stamps = append(r.Lanes, l.stamps), nil
	}
	for _, in := range p.inOrder {
		r.Got = append(r.Got, hw.Messages{Connection: in.Connection, Marks: in.times})
		in.times = nil
	}
	for _, out := range p.outOrder {
		r.Sent = append(r.Sent, hw.Messages{Connection: out.Connection, Marks: out.times})
		out.times = nil
	}
	return r
}

// waits lists what the waiting lanes wait for.
func (p *steps) waits() (all []schedule.Waiting) {
	p.asking.Lock()
	defer p.asking.Unlock()
	for _, l := range p.lanes {
		if l.waiting.For != "" {
			all = append(all, l.waiting)
		}
	}
	return all
}

// clock returns the time if the repetition is traced, else 0.
func (p *steps) clock() unit.Time {
	if !p.tracing {
		return 0
	}
	return p.Now()
}
