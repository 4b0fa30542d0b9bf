package host

import (
	"sync"
	"sync/atomic"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// A network connects the lanes of a rank with other ranks: by shared memory or by sockets. Lanes
// call it concurrently.
type network interface {
	// send sends a message in a slot that was reserved. The network takes over the parcel.
	send(l *lane, out *outbound, p *parcel) error
	// put stores bytes in the memory of a rank. Unless out is nil, it then delivers a message
	// without bytes. A put without a message is silent: it has landed when landed returns.
	put(l *lane, to target, value []byte, out *outbound) error
	// landed waits until all silent puts of the lane have landed. It need not wait for those at the
	// rank except, to which a message follows on the same socket; −1 is none.
	landed(l *lane, except int32) error
	// get reads the memory of a rank.
	get(l *lane, from target, dst []byte) error
	// free frees a slot of a connection at its sender.
	free(l *lane, in *inbound) error
}

// A target is elements of another rank's memory.
type target struct {
	rank  int32
	home  schedule.Buffer
	spans []schedule.Span // in bytes
}

// A participant is a rank of a schedule: its memory, its lanes, its ends of connections.
type participant struct {
	*rank.Memory
	clock      rank.Clock
	s          *schedule.Schedule
	number     int32
	program    *schedule.Program
	net        network
	stock      *stock
	slots      int
	largest    int64 // largest value in a frame, in bytes
	iterations int
	tracing    bool
	faults     []hw.Fault
	alone      bool         // in a process of its own
	still      atomic.Int32 // lanes that have ended, or come to a fault that ends the rank
	reload     bool         // a step may overwrite the input, so each iteration loads it
	input      []byte       // as given

	lanes []*lane
	ins   []*inbound
	outs  []*outbound
	byIn  map[hw.Connection]*inbound
	byOut map[hw.Connection]*outbound

	moved    atomic.Int64 // progress: pieces that have come by sockets
	failed   atomic.Pointer[failure]
	turn     sync.Mutex // guards left and round, between iterations
	left     int
	round    int
	expanded schedule.Step
}

// A failure holds the error that has stopped a rank.
type failure struct{ err error }

// newParticipant creates a rank: its memory, its lanes, and its ends of the connections that its
// program names.
func newParticipant(s *schedule.Schedule, number int, part *rank.Part) *participant {
	p := &participant{Memory: rank.NewMemory(s, number), s: s, number: int32(number),
		program: s.Program(number), slots: part.Env.Slots, iterations: part.Env.Iterations,
		tracing: part.Env.Trace, faults: part.Env.Faults,
		reload: part.Reload, byIn: map[hw.Connection]*inbound{},
		byOut: map[hw.Connection]*outbound{}}
	for i := range p.program.Lanes() {
		p.lanes = append(p.lanes, &lane{rank: p, index: i, channel: p.program.Channel(i),
			part: p.program.Part(i), slices: int32(p.program.Slices(i)), wake: make(chan struct{}, 1)})
	}
	for i, l := range p.lanes {
		for c := p.program.Walk(i); !c.Done(); c.Next(1) {
			p.program.Load(&c, &p.expanded)
			p.connect(l, &p.expanded)
		}
	}
	return p
}

// connect creates the ends of the connections that a step names.
func (p *participant) connect(l *lane, s *schedule.Step) {
	slots := p.slots
	if n := p.program.Slots(l.index); n > 0 {
		slots = n
	}
	for i := range s.From {
		f := &s.From[i]
		if f.Kind != schedule.Message {
			continue
		}
		if c := l.from(&f.Peer); p.byIn[c] == nil {
			p.byIn[c] = &inbound{Connection: c, receiver: l, slots: c.Limit(slots)}
			p.ins = append(p.ins, p.byIn[c])
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		if !d.Message() {
			continue
		}
		if c := l.to(&d.Peer); p.byOut[c] == nil {
			p.byOut[c] = &outbound{Connection: c, sender: l, slots: c.Limit(slots)}
			p.outs = append(p.outs, p.byOut[c])
		}
	}
	for _, e := range s.Await {
		p.lanes[e.Lane].follow(l)
	}
}

// reset makes the rank ready for the repetition with this number.
func (p *participant) reset(epoch uint32) {
	p.Memory.Reset(p.input)
	p.left, p.round = len(p.lanes), 0
	p.still.Store(0)
	for _, l := range p.lanes {
		l.reset()
	}
	for _, in := range p.ins {
		in.reset()
	}
	for _, out := range p.outs {
		out.reset(epoch)
	}
}

// execute runs all lanes when the gate opens, and waits for all. It returns when the first lane
// started and the last ended, or the first error of any.
func (p *participant) execute(gate <-chan struct{}) (start, end unit.Time, err error) {
	var all sync.WaitGroup
	for _, l := range p.lanes {
		all.Go(func() {
			<-gate
			if err := l.run(); err != nil {
				p.fail(err)
			}
		})
	}
	<-gate
	start = p.clock.Now()
	all.Wait()
	end = p.clock.Now()
	if len(p.lanes) > 0 {
		start, end = p.lanes[0].start, p.lanes[0].end
		for _, l := range p.lanes {
			start, end = min(start, l.start), max(end, l.end)
		}
	}
	if f := p.failed.Load(); f != nil {
		return 0, 0, f.err
	}
	return start, end, nil
}

// fail stops all lanes; the first error is kept.
func (p *participant) fail(err error) {
	p.failed.CompareAndSwap(nil, &failure{err})
	for _, l := range p.lanes {
		l.rouse()
	}
}

// progress returns a number that increases while the rank makes progress.
func (p *participant) progress() int64 {
	sum := p.moved.Load()
	for _, l := range p.lanes {
		sum += l.done.Load()
	}
	return sum
}

// waits lists what the waiting lanes wait for.
func (p *participant) waits() (all []schedule.Waiting) {
	for _, l := range p.lanes {
		if w, waits := l.wait(); waits {
			all = append(all, w)
		}
	}
	return all
}

// recording returns the recording of the last repetition. The caller owns it.
func (p *participant) recording() (r hw.Recording) {
	if !p.tracing {
		return r
	}
	for _, l := range p.lanes {
		r.Lanes = append(r.Lanes, l.stamps)
		l.stamps = make([]hw.Stamp, 0, len(l.stamps))
	}
	for _, in := range p.ins {
		r.Got = append(r.Got, hw.Messages{Connection: in.Connection, Marks: in.times})
		in.times = nil
	}
	for _, out := range p.outs {
		r.Sent = append(r.Sent, hw.Messages{Connection: out.Connection, Marks: out.times})
		out.times = nil
	}
	return r
}

// malformed returns the error of an invalid step.
func (p *participant) malformed(lane, step int, format string, args ...any) error {
	return hw.Malformed(int(p.number), lane, step, format, args...)
}
