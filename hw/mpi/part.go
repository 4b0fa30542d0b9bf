package mpi

import (
	"sync"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// steps executes a rank of a schedule in one thread: it goes round its lanes, each of which does as
// many sub-steps as it can, and asks the library in between what has arrived. That is how the
// library makes progress, too.
type steps struct {
	*backend
	*rank.Memory
	s          *schedule.Schedule
	program    *schedule.Program
	iterations int
	tracing    bool
	reload     bool // the input is written again before the next iteration

	input    []byte
	lanes    []*lane
	ins      map[hw.Connection]*inbound
	outs     map[hw.Connection]*outbound
	inOrder  []*inbound // as the program names them first
	outOrder []*outbound
	sending  []*transfer
	stock    stock
	asking   sync.Mutex // of what lanes wait for
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

// connect makes the ends of all connections, which hold so many messages where the schedule says
// nothing.
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

// reset makes the rank ready for a repetition.
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

func (p *steps) output() []byte { return p.Output() }

// execute runs all lanes to their ends, as often as the environment says.
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

// drain waits until all that was sent has left, and all slots are free.
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

// collect takes back the parcels of messages that have left.
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

// refill notes the slots of a connection that its receiver has freed since.
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

// recording is what was noted of the repetition that has ended; it is the caller's.
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

// clock is the time if anybody asks for it.
func (p *steps) clock() unit.Time {
	if !p.tracing {
		return 0
	}
	return p.Now()
}
