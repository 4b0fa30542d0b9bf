package host

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// network is how the lanes of a rank reach other ranks: by shared memory, or by sockets. The lanes
// call it from goroutines of their own.
type network interface {
	// send hands a message over, whose slot is taken; the parcel is the network's from then on.
	send(l *lane, out *outbound, p *parcel) error
	// put stores bytes in the memory of a rank and then, unless out is nil, delivers a message
	// without bytes. What is not followed by a message has landed when landed returns.
	put(l *lane, to target, value []byte, out *outbound) error
	// landed waits until all that the lane has put silently is in its place, except at one rank
	// whose next message comes later anyway; −1 is none.
	landed(l *lane, except int32) error
	// get reads the memory of a rank.
	get(l *lane, from target, dst []byte) error
	// free tells the sender of a connection that one of its slots is free.
	free(l *lane, in *inbound) error
}

// target is elements of another rank's memory.
type target struct {
	rank  int32
	home  schedule.Buffer
	spans []schedule.Span // in bytes
}

// player plays one rank of a schedule: its memory, its lanes, its ends of connections.
type player struct {
	s          *schedule.Schedule
	rank       int32
	math       hw.Arithmetic
	program    *schedule.Program
	net        network
	stock      *stock
	slots      int32
	iterations int
	tracing    bool
	dirty      bool // the input may be written to, so that it must be loaded again
	since      time.Time

	memory [3][]byte
	input  []byte // as given
	lanes  []*lane
	ins    []*inbound
	outs   []*outbound
	byIn   map[hw.Connection]*inbound
	byOut  map[hw.Connection]*outbound

	moved    atomic.Int64 // bytes that have come by sockets, a part of progress
	failed   atomic.Pointer[failure]
	turn     sync.Mutex // of left and round, between iterations
	left     int
	round    int
	kept     [][]hw.Stamp // of the repetition that is kept, by lane
	keptIn   [][]hw.Mark  // of ins
	keptOut  [][]hw.Mark  // of outs
	expanded schedule.Step
}

// failure is why a player has stopped.
type failure struct{ err error }

// now is the time on the player's clock.
func (p *player) now() unit.Time {
	return unit.Time(time.Since(p.since)) * unit.Nanosecond
}

// errorf is an error of a step that nobody can carry out.
func (p *player) errorf(lane, step int, format string, args ...any) error {
	return &hw.Error{Call: "step", Code: "malformed", Rank: int(p.rank), Lane: lane, Step: step,
		Text: fmt.Sprintf(format, args...)}
}

// newPlayer prepares a rank: memory, lanes, and both kinds of connections that its program names.
func newPlayer(s *schedule.Schedule, rank int, slots int) *player {
	p := &player{s: s, rank: int32(rank), math: hw.ArithmeticOf(&s.Spec), program: s.Program(rank),
		byIn: map[hw.Connection]*inbound{}, byOut: map[hw.Connection]*outbound{}, iterations: 1}
	for _, b := range []schedule.Buffer{schedule.Input, schedule.Output, schedule.Scratch} {
		home, base := s.Home(b, rank)
		n := (base + s.Len(b, rank)) * int64(p.math.Width)
		if n > int64(len(p.memory[home])) {
			p.memory[home] = hw.Memory(n)
		}
	}
	for i := range p.program.Lanes() {
		p.lanes = append(p.lanes, &lane{player: p, index: i, channel: p.program.Channel(i),
			wake: make(chan struct{}, 1)})
	}
	if s.Slots > 0 {
		slots = s.Slots
	}
	p.slots = int32(slots)
	for i, l := range p.lanes {
		for c := p.program.Walk(i); !c.Done(); c.Next(1) {
			p.program.Load(&c, &p.expanded)
			p.connect(l, &p.expanded)
		}
	}
	return p
}

// connect makes the ends of the connections that a step names.
func (p *player) connect(l *lane, s *schedule.Step) {
	for i := range s.From {
		f := &s.From[i]
		if f.Kind != schedule.Message {
			continue
		}
		if c := l.from(&f.Peer); p.byIn[c] == nil {
			p.byIn[c] = &inbound{Connection: c, receiver: l}
			p.ins = append(p.ins, p.byIn[c])
		}
	}
	for i := range s.Send {
		d := &s.Send[i]
		if !d.Message() {
			continue
		}
		if c := l.to(&d.Peer); p.byOut[c] == nil {
			p.byOut[c] = &outbound{Connection: c, sender: l, limit: limit(d.Peer.Class, p.slots)}
			p.outs = append(p.outs, p.byOut[c])
		}
	}
	for _, e := range s.Await {
		p.lanes[e.Lane].follow(l)
	}
}

// limit is the slots of a connection; 0 is any number.
func limit(c schedule.Class, slots int32) int32 {
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
		spoil(memory)
	}
	p.load()
	p.left, p.round = len(p.lanes), 0
	for _, l := range p.lanes {
		l.reset()
	}
	for _, in := range p.ins {
		in.reset()
	}
	for _, out := range p.outs {
		out.reset()
	}
}

// spoil makes all bytes 0xff.
func spoil(memory []byte) {
	for i := range min(len(memory), 64) {
		memory[i] = 0xff
	}
	for n := 64; n < len(memory); n *= 2 {
		copy(memory[n:], memory[:n])
	}
}

// load writes the input.
func (p *player) load() {
	home, base := p.s.Home(schedule.Input, int(p.rank))
	p.math.Load(p.memory[home][base*int64(p.math.Width):][:len(p.input)], p.input)
}

// output is the rank's output, little-endian.
func (p *player) output() []byte {
	home, base := p.s.Home(schedule.Output, int(p.rank))
	out := hw.Memory(p.s.Len(schedule.Output, int(p.rank)) * int64(p.math.Width))
	p.math.Store(out, p.memory[home][base*int64(p.math.Width):][:len(out)])
	return out
}

// play runs all lanes when the gate opens, and returns when all have ended: the times at which the
// first began and the last ended. Its error is the first that any has met.
func (p *player) play(gate <-chan struct{}) (start, end unit.Time, err error) {
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
	start = p.now()
	all.Wait()
	end = p.now()
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
func (p *player) fail(err error) {
	p.failed.CompareAndSwap(nil, &failure{err})
	for _, l := range p.lanes {
		l.rouse()
	}
}

// progress is a number that grows as long as the rank goes on.
func (p *player) progress() int64 {
	sum := p.moved.Load()
	for _, l := range p.lanes {
		sum += l.done.Load()
	}
	return sum
}

// waits is what the lanes wait for that wait.
func (p *player) waits() (all []schedule.Waiting) {
	for _, l := range p.lanes {
		if w, waits := l.wait(); waits {
			all = append(all, w)
		}
	}
	return all
}

// messages is how many messages the rank has sent and taken in the repetition.
func (p *player) messages() (sent, got int64) {
	for _, out := range p.outs {
		sent += int64(out.sent)
	}
	for _, in := range p.ins {
		got += int64(in.got)
	}
	return sent, got
}

// keep keeps what was noted of the repetition that has ended.
func (p *player) keep() {
	p.kept, p.keptIn, p.keptOut = nil, nil, nil
	for _, l := range p.lanes {
		p.kept = append(p.kept, l.stamps)
		l.stamps = make([]hw.Stamp, 0, len(l.stamps))
	}
	for _, in := range p.ins {
		p.keptIn = append(p.keptIn, in.times)
		in.times = nil
	}
	for _, out := range p.outs {
		p.keptOut = append(p.keptOut, out.times)
		out.times = nil
	}
}

// recording is what was kept.
func (p *player) recording() hw.Recording {
	r := hw.Recording{Lanes: p.kept}
	for i, marks := range p.keptIn {
		r.Got = append(r.Got, hw.Flow{Connection: p.ins[i].Connection, Marks: marks})
	}
	for i, marks := range p.keptOut {
		r.Sent = append(r.Sent, hw.Flow{Connection: p.outs[i].Connection, Marks: marks})
	}
	return r
}
