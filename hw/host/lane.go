package host

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// A lane carries out the steps of one lane in a goroutine of its own. It waits for one condition at
// a time. The goroutine that makes the condition true wakes the lane, which checks it again.
type lane struct {
	rank    *participant
	index   int
	channel int
	part    int
	slices  int32
	math    *hw.Arithmetic // of the sub-step
	wake    chan struct{}  // at most one pending wake-up
	follows []*lane        // lanes that await this one's events

	posts  atomic.Int32 // in this iteration
	rounds atomic.Int32 // iterations that have ended
	done   atomic.Int64 // progress: sub-steps, and time slices of kernels

	mu      sync.Mutex
	waiting schedule.Waiting // For is empty unless the lane waits

	cursor     schedule.Cursor
	step       schedule.Step
	number     int32 // of the sub-step in the repetition, from 1
	start, end unit.Time
	stamps     []hw.Stamp

	in       []*inbound // of the sub-step's sources; nil if the source is no message
	parcels  []*parcel
	out      []*outbound // of the sub-step's destinations
	lastIn   *inbound
	lastOut  *outbound
	spans    []schedule.Span
	others   []schedule.Span
	reply    answer
	unlanded map[int32]int // silent puts in flight, by rank
}

// An answer receives the reply to a get, and acknowledgements of puts, from the reader of a socket.
type answer struct {
	mu   sync.Mutex
	into []byte
	came bool
	acks map[int32]int
}

// reset prepares a repetition.
func (l *lane) reset() {
	l.posts.Store(0)
	l.rounds.Store(0)
	l.number, l.start, l.end, l.stamps = 0, 0, 0, l.stamps[:0]
	l.goesOn()
	l.unlanded = map[int32]int{}
	l.reply.acks = map[int32]int{}
	select {
	case <-l.wake:
	default:
	}
}

// follow makes this lane's posts wake another lane.
func (l *lane) follow(by *lane) {
	for _, other := range l.follows {
		if other == by {
			return
		}
	}
	l.follows = append(l.follows, by)
}

// rouse wakes the lane, so that it checks its condition again.
func (l *lane) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// await waits until ready returns true. For error reports, what and the lane name what it waits
// for.
func (l *lane) await(ready func() bool, what string, rank, lane int32) error {
	for !ready() {
		if f := l.rank.failed.Load(); f != nil {
			return f.err
		}
		l.waits(what, rank, lane)
		<-l.wake
	}
	l.goesOn()
	return nil
}

// waits records what the lane waits for.
func (l *lane) waits(what string, rank, lane int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = schedule.Waiting{For: what, OnRank: int(rank), OnLane: int(lane)}
}

// wait returns what the lane waits for, if it waits. Its step does not change meanwhile.
func (l *lane) wait() (w schedule.Waiting, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w = l.waiting; w.For == "" {
		return w, false
	}
	w.Rank, w.Lane, w.Step = int(l.rank.number), l.index, int(l.cursor.Step)
	if !l.cursor.Done() {
		w.Name, w.Chunk = l.step.Name(), l.step.Chunk()
	}
	return w, true
}

// goesOn records that the lane no longer waits.
func (l *lane) goesOn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting.For = ""
}

// from returns the lane's connection from a peer.
func (l *lane) from(p *schedule.Peer) hw.Connection {
	return hw.ConnectionFrom(int(l.rank.number), l.index, p)
}

// to returns the lane's connection to a peer.
func (l *lane) to(p *schedule.Peer) hw.Connection {
	return hw.ConnectionTo(int(l.rank.number), l.index, p)
}

// run runs the lane's program for all iterations.
func (l *lane) run() error {
	p := l.rank
	l.start = p.clock.Now()
	ready := l.start
	for i := range p.iterations {
		if i > 0 {
			if err := l.again(i); err != nil {
				return err
			}
		}
		for l.cursor = p.program.Walk(l.index); !l.cursor.Done(); l.cursor.Next(l.slices) {
			p.program.Load(&l.cursor, &l.step)
			l.math = p.MathOf(l.spot(int(p.number)), &l.step)
			if err := l.suffers(); err != nil {
				return err
			}
			l.number++
			var err error
			if ready, err = l.perform(ready); err != nil {
				return err
			}
			l.done.Add(1)
			if p.failed.Load() != nil {
				return nil
			}
		}
		if err := p.net.landed(l, -1); err != nil {
			return err
		}
	}
	l.end = p.clock.Now()
	if p.faults != nil {
		p.still.Add(1)
		for _, other := range p.lanes {
			other.rouse()
		}
	}
	return nil
}

// again begins iteration i after all lanes of the rank have ended the previous one. The last lane
// to end acts as the rank's caller: it writes the input again.
func (l *lane) again(i int) error {
	p := l.rank
	l.rounds.Store(int32(i))
	p.turn.Lock()
	if p.left--; p.left == 0 {
		if p.reload {
			p.Load(p.input)
		}
		p.left = len(p.lanes)
		p.round = i
		for _, other := range p.lanes {
			other.posts.Store(0)
			other.rouse()
		}
	}
	p.turn.Unlock()
	return l.await(func() bool {
		p.turn.Lock()
		defer p.turn.Unlock()
		return p.round >= i
	}, "the end", p.number, p.behind(int32(i)))
}

// behind returns the first lane that has not ended so many iterations, else lane 0.
func (p *participant) behind(iterations int32) int32 {
	for i, l := range p.lanes {
		if l.rounds.Load() < iterations {
			return int32(i)
		}
	}
	return 0
}

// receives waits for the messages of the step and takes them from their connections.
func (l *lane) receives() error {
	l.in, l.parcels = l.in[:0], l.parcels[:0]
	for i := range l.step.From {
		f := &l.step.From[i]
		if f.Kind != schedule.Message {
			l.in, l.parcels = append(l.in, nil), append(l.parcels, nil)
			continue
		}
		if c := l.from(&f.Peer); l.lastIn == nil || l.lastIn.Connection != c {
			l.lastIn = l.rank.byIn[c]
		}
		in := l.lastIn
		p, ok := in.take(l.number)
		if !ok {
			err := l.await(func() bool { p, ok = in.take(l.number); return ok }, "a message",
				in.From, in.FromLane)
			if err != nil {
				return err
			}
		}
		l.in, l.parcels = append(l.in, in), append(l.parcels, p)
	}
	return nil
}

// reserves waits for slots for the messages that the step sends.
func (l *lane) reserves() error {
	l.out = l.out[:0]
	for i := range l.step.Send {
		d := &l.step.Send[i]
		if !d.Message() {
			l.out = append(l.out, nil)
			continue
		}
		if c := l.to(&d.Peer); l.lastOut == nil || l.lastOut.Connection != c {
			l.lastOut = l.rank.byOut[c]
		}
		out := l.lastOut
		if !out.reserve() {
			if err := l.await(out.reserve, "a slot", out.To, out.ToLane); err != nil {
				return err
			}
		}
		l.out = append(l.out, out)
	}
	return nil
}

// awaits waits for the events of the step. Events of earlier iterations have been posted, since all
// lanes have ended those.
func (l *lane) awaits() error {
	if l.cursor.Slice() > 0 {
		return nil
	}
	for _, e := range l.step.Await {
		other := l.rank.lanes[e.Lane]
		posted := func() bool { return other.posts.Load() >= e.Value }
		if posted() {
			continue
		}
		if err := l.await(posted, "an event", l.rank.number, e.Lane); err != nil {
			return err
		}
	}
	return nil
}

// spot returns where the lane's sub-step is in the schedule. owner is the rank whose memory is
// accessed: the lane's own, or the peer of a get or put.
func (l *lane) spot(owner int) schedule.Spot {
	return schedule.Spot{Rank: owner, Channel: l.channel, Slice: int(l.cursor.Slice()),
		Part: l.part}
}

// computes computes a kernel and stores its result. For an opaque kernel that has a time, it waits
// that long.
func (l *lane) computes() error {
	if rank.Computes(&l.step) {
		err := l.rank.Compute(l.spot(int(l.rank.number)), &l.step, func() error {
			l.done.Add(1)
			if f := l.rank.failed.Load(); f != nil {
				return f.err
			}
			return nil
		})
		if misfit := (*rank.Misfit)(nil); errors.As(err, &misfit) {
			return l.malformed(misfit.Text)
		}
		if err != nil {
			return err
		}
	}
	const slice = 10 * time.Millisecond
	until := time.Now().Add(time.Duration(l.step.OpaqueTime() / unit.Nanosecond))
	for left := time.Until(until); left > 0; left = time.Until(until) {
		if f := l.rank.failed.Load(); f != nil {
			return f.err
		}
		if left > slice {
			time.Sleep(slice)
			l.done.Add(1)
		} else if left > 200*time.Microsecond {
			time.Sleep(left - 100*time.Microsecond)
		} // the rest is too short to sleep
	}
	return nil
}
