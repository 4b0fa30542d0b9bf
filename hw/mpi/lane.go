package mpi

import (
	"errors"

	"collsim/hw"
	"collsim/schedule"
	"collsim/unit"
)

// A stage is a lane's position within a sub-step.
type stage uint8

const (
	loads    stage = iota // load the next sub-step
	receives              // wait for its messages
	reserves              // wait for slots for what it sends
	awaits                // wait for its events
	computes              // wait out an opaque kernel
	performs              // execute it
	rests                 // ended the iteration
)

// A lane executes the steps of one lane.
type lane struct {
	rank    *steps
	index   int
	channel int
	part    int
	slices  int32
	math    *hw.Arithmetic // of the sub-step
	stage   stage
	cursor  schedule.Cursor
	step    schedule.Step
	posts   int32
	number  int32 // of the sub-step in the repetition, from 1
	until   unit.Time
	sources []source // of the sub-step
	at      hw.Stamp
	stamps  []hw.Stamp
	spans   []schedule.Span
	waiting schedule.Waiting // For is empty unless the lane waits
}

// A source is the state of one source of a sub-step.
type source struct {
	in       *inbound // nil if the source is no message
	transfer *transfer
	parcel   *parcel
	here     bool
}

// begin begins an iteration.
func (l *lane) begin() {
	l.cursor, l.posts, l.stage = l.rank.program.Walk(l.index), 0, loads
	l.at.Ready = l.rank.clock()
}

// advance proceeds as far as the lane can without waiting.
func (l *lane) advance() error {
	for l.stage != rests {
		goesOn, err := l.attempt()
		if err != nil {
			if e := (*hw.Error)(nil); errors.As(err, &e) && e.Lane < 0 {
				e.Lane, e.Step = l.index, int(l.cursor.Step)
			}
			return err
		}
		if !goesOn {
			return nil
		}
		if l.waiting.For != "" {
			l.wait("", 0, 0)
		}
	}
	return nil
}

// attempt tries a stage; false: it has to be tried again.
func (l *lane) attempt() (goesOn bool, err error) {
	p := l.rank
	switch l.stage {
	case loads:
		if l.cursor.Done() {
			l.stage = rests
			return true, nil
		}
		p.program.Load(&l.cursor, &l.step)
		l.math = p.MathOf(l.spot(), &l.step)
		l.number++
		l.expect()
		l.stage = receives
		return true, nil
	case receives:
		goesOn, err = l.arrived()
	case reserves:
		goesOn, err = l.free()
	case awaits:
		if goesOn = l.posted(); goesOn {
			l.at.Start = p.clock()
			l.until = 0
			if l.step.OpaqueTime() > 0 {
				l.until = p.Now() + l.step.OpaqueTime()
			}
		}
	case computes:
		goesOn = l.until == 0 || p.Now() >= l.until
	case performs:
		if err := l.perform(); err != nil {
			return false, err
		}
		p.moved.Add(1)
		l.cursor.Next(l.slices)
		l.stage = loads
		return true, nil
	}
	if goesOn {
		l.stage++
	}
	return goesOn, err
}

// spot returns the position of the sub-step in the schedule.
func (l *lane) spot() schedule.Spot {
	return schedule.Spot{Rank: l.rank.number, Channel: l.channel, Slice: int(l.cursor.Slice()),
		Part: l.part}
}

// wait records what the lane waits for, and from whom; "" is nothing.
func (l *lane) wait(what string, rank, lane int32) {
	if l.waiting.For == what && l.waiting.OnRank == int(rank) && l.waiting.OnLane == int(lane) {
		return
	}
	l.rank.asking.Lock()
	defer l.rank.asking.Unlock()
	l.waiting = schedule.Waiting{For: what, OnRank: int(rank), OnLane: int(lane)}
	if what != "" {
		w := &l.waiting
		w.Rank, w.Lane, w.Step = l.rank.number, l.index, int(l.cursor.Step)
		w.Name, w.Chunk = l.step.Name(), l.step.Chunk()
	}
}

// expect prepares the sources of the sub-step.
func (l *lane) expect() {
	l.sources = l.sources[:0]
	for i := range l.step.From {
		s := source{here: true}
		if f := &l.step.From[i]; f.Kind == schedule.Message {
			s = source{in: l.rank.ins[hw.ConnectionFrom(l.rank.number, l.index, &f.Peer)]}
		}
		l.sources = append(l.sources, s)
	}
}

// arrived receives messages and reports whether all of the sub-step have arrived.
func (l *lane) arrived() (all bool, err error) {
	p := l.rank
	all = true
	for i := range l.sources {
		s := &l.sources[i]
		if s.here {
			continue
		}
		if s.transfer == nil {
			n, came, err := p.probe(s.in.From, s.in.tag)
			if err != nil {
				return false, err
			}
			if came {
				s.parcel = p.stock.get(n)
				if s.transfer, err = p.receive(s.parcel, s.in.From, s.in.tag); err != nil {
					return false, err
				}
			}
		}
		if s.transfer != nil {
			if s.here, err = p.test(s.transfer); err != nil {
				return false, err
			}
		}
		switch {
		case !s.here:
			all = false
			l.wait("a message", s.in.From, s.in.FromLane)
		case p.tracing:
			s.in.times = append(s.in.times, hw.Mark{At: p.Now(), Step: l.number})
		}
	}
	return all, nil
}

// free reports whether there is a slot for every message that the sub-step sends.
func (l *lane) free() (bool, error) {
	p := l.rank
	for i := range l.step.Send {
		out := p.outs[hw.ConnectionTo(p.number, l.index, &l.step.Send[i].Peer)]
		if out.limit == 0 || out.used < out.limit {
			continue
		}
		if err := p.refill(out); err != nil {
			return false, err
		}
		if out.used >= out.limit {
			l.wait("a slot", out.To, out.ToLane)
			return false, nil
		}
	}
	return true, nil
}

// posted reports whether the events of the step are posted. Events of earlier iterations are, since
// all lanes have ended those.
func (l *lane) posted() bool {
	if l.cursor.Slice() > 0 {
		return true
	}
	for _, e := range l.step.Await {
		if l.rank.lanes[e.Lane].posts < e.Value {
			l.wait("an event", int32(l.rank.number), e.Lane)
			return false
		}
	}
	return true
}
