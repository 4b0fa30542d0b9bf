package event

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// lane holds the state of a lane: its position in the rank's program, the times of its step, and
// what it waits for.
type lane struct {
	cursor   schedule.Cursor
	end      model.Moment // of the step before
	until    model.Moment // of the present step: the latest that is known of D and its messages
	rank     int32
	channel  int32
	part     int32   // of a composed schedule
	slices   int32   // that its steps have which move data
	slots    int32   // of its connections of class FIFO; 0 is any number
	in, out  int32   // the connection last used each way, −1 for none
	key      uint64  // of its next message
	pending  int32   // messages of the present step that must leave, or replies that must come
	receives int32   // of named: how many the step receives on; those come first
	named    []int32 // the connections that the step names that the lane has come to
	sends    int32   // messages that the present step will send, −1 for none
	posts    []model.Moment
	step     resolved
	aside    []keptStep // of the loop that it is in, others
	isPost   bool       // the present step posts
	isReady  bool       // it is among those that may be able to go on
	waits    waiting
	on       int32 // the connection or lane that it waits for
	waiters  int32 // the lanes that wait for its posts, −1 for none
	next     int32 // lane that waits for the same lane's posts

	// posted are the sends of a device that offloads, in order. Those whose place in the queue has
	// been taken again are forgotten.
	posted      flat.Chain
	outstanding int32
}

// waiting names the kind of thing that a lane waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forMessage         // of connection on
	forSlot            // of connection on
	forEvent           // of lane on
	forPost            // its own, to leave
	forStep            // its own, to end
	forPlaces          // on SMs, or for a copy engine
	forEver            // it has come to its end
)

// received returns the connections on which the lane's present step receives, and sent those on
// which it sends.
func (l *lane) received() []int32 { return l.named[:l.receives] }
func (l *lane) sent() []int32     { return l.named[l.receives:] }

// lanes holds the lanes of all ranks.
type lanes struct {
	list       []lane
	unfinished int     // lanes that have not come to their end
	ready      []int32 // lanes that may be able to go on
}

// inStep counts the lanes that are in a step.
func (ls *lanes) inStep() (n int64) {
	for i := range ls.list {
		if ls.list[i].waits == forStep {
			n++
		}
	}
	return n
}

// newLanes makes the lanes of all ranks. All of them are ready, the first lane first.
func newLanes(j *job) lanes {
	ls := lanes{list: make([]lane, 0, j.first[len(j.programs)])}
	for rank, p := range j.programs {
		for i := range p.Lanes() {
			cursor := p.Walk(i)
			ls.list = append(ls.list, lane{cursor: cursor, rank: int32(rank),
				end: j.rules.Begin(int32(rank), !isEmpty(cursor)), channel: int32(p.Channel(i)),
				part: int32(p.Part(i)), slices: int32(p.Slices(i)), slots: j.rules.SlotsOf(p.Slots(i)),
				in: -1, out: -1, sends: -1, waiters: -1, posted: flat.NewChain(),
				step: resolved{place: -1}, key: model.LaneKey(i)})
		}
	}
	ls.unfinished, ls.ready = len(ls.list), make([]int32, 0, len(ls.list))
	for i := ls.len() - 1; i >= 0; i-- {
		ls.wake(i)
	}
	return ls
}

func (ls *lanes) len() int32       { return int32(len(ls.list)) }
func (ls *lanes) at(i int32) *lane { return &ls.list[i] }

// wake puts a lane among those that may be able to go on.
func (ls *lanes) wake(i int32) {
	if l := &ls.list[i]; !l.isReady {
		l.isReady, l.waits = true, forNothing
		ls.ready = append(ls.ready, i)
	}
}

// isIdle reports whether no lane may be able to go on, and areOver whether all have come to their
// end.
func (ls *lanes) isIdle() bool  { return len(ls.ready) == 0 }
func (ls *lanes) areOver() bool { return ls.unfinished == 0 }

// finish counts a lane that has come to its end.
func (ls *lanes) finish() { ls.unfinished-- }

// next takes a lane of those that may be able to go on.
func (ls *lanes) next() (i int32, l *lane) {
	last := len(ls.ready) - 1
	i = ls.ready[last]
	ls.ready, l = ls.ready[:last], &ls.list[i]
	l.isReady = false
	return i, l
}

// runLanes lets every lane that is awake go on as far as it can. In what order does not matter:
// each finds only times that are final.
func (e *engine) runLanes() error {
	turn(e)
	for !e.lanes.isIdle() {
		turn(e)
		i, l := e.lanes.next()
		if l.cursor.Done() {
			if e.gpu != nil {
				e.gpu.leave(i)
			}
			if l.waits = forEver; e.row == nil || e.row.endsCall(i) {
				e.lanes.finish()
			}
			if e.err != nil {
				return e.err
			}
			continue
		}
		if l.isKept() || l.takesUp() {
			e.repeats.repeat(i)
		} else {
			e.programs[l.rank].Load(&l.cursor, &e.step)
			start, known := e.start(i)
			if known && e.faults.isOn() {
				start, known = e.faults.resumes(l.rank, start)
			}
			if known {
				if err := e.perform(i, start); err != nil {
					return err
				}
			}
		}
		if e.err != nil {
			return e.err
		}
	}
	return nil
}

// start returns the time S at which the step in e.step starts, if everything that it depends on is
// known. Otherwise the lane waits for the first thing that is not. Messages, slots and events are
// asked for in the same order as in the untimed executor, so that both report a stall in the same
// words.
func (e *engine) start(i int32) (at model.Moment, known bool) {
	l, s := e.lanes.at(i), &e.step
	if e.gpu != nil && !e.gpu.begin(i) {
		return at, false
	}
	at = l.end
	if e.rendezvous.isOn() && !e.rendezvous.postReceives(i) {
		return at, false
	}
	if e.gpu != nil && e.gpu.dispatches(i) { // the step starts when its places on SMs are free
		return at, false
	}
	l.named = l.named[:0]
	for k := range s.From {
		if s.From[k].Kind != schedule.Message {
			continue
		}
		c := e.connect(i, &s.From[k].Peer, false)
		l.named = append(l.named, c)
		m := e.conns.at(c).queue.First
		if m < 0 || !e.conns.message(m).isHere {
			l.waits, l.on = forMessage, c
			return at, false
		}
		at = model.Later(at, e.conns.message(m).at)
	}
	l.receives, e.plain = int32(len(l.named)), true // until a send is more than a bare message
	for k := range s.Send {
		d := &s.Send[k]
		if d.Packet || d.Line || d.Relaxed || !d.Message() {
			if e.plain = false; !d.Message() {
				continue
			}
		}
		c := e.connect(i, &d.Peer, true)
		l.named = append(l.named, c)
		t, ok := e.conns.slot(e.conns.at(c))
		if !ok {
			l.waits, l.on = forSlot, c
			return at, false
		}
		at = model.Later(at, t)
	}
	if l.cursor.Slice() == 0 { // a step awaits its events once, before its first slice
		t, ok := e.events(i)
		if !ok {
			return at, false
		}
		at = model.Later(at, t)
	}
	// A lane that runs ahead of what it sends needs a place in its queue of posts, or room in its
	// buffer.
	if e.ahead.goesOn() && !e.ahead.room(i, &at) {
		l.waits = forPost
		return at, false
	}
	return at, true
}

// events returns the time when the last event that the step in e.step awaits is posted. If one is
// not posted yet, the lane waits for it.
func (e *engine) events(i int32) (at model.Moment, known bool) {
	l := e.lanes.at(i)
	for _, v := range e.step.Await {
		if v.Value <= 0 {
			continue
		}
		on := e.first[l.rank] + v.Lane
		o := e.lanes.at(on)
		if int(v.Value) > len(o.posts) {
			l.waits, l.on, l.next = forEvent, on, o.waiters
			o.waiters = i
			return at, false
		}
		at = model.Later(at, o.posts[v.Value-1])
	}
	return at, true
}

// finish ends the lane's present step, now that it is known when.
func (e *engine) finish(i int32) {
	e.end(i)
	e.rendezvous.stepEnds(i)
	e.lanes.wake(i)
}

// end ends the lane's present step, with E = l.until: it frees the slots of what the step received,
// posts its event and moves to the next step.
func (e *engine) end(i int32) {
	l := e.lanes.at(i)
	l.end = l.until
	if l.end.T >= unit.Forever {
		e.tooLate(i)
	}
	e.report(stepEnds, i, 0, l.end.T)
	freed := e.rules.Freed(l.end)
	for _, c := range l.received() {
		x := e.conns.at(c)
		if !x.slots.IsBounded {
			continue
		}
		e.report(slotFreed, i, e.conns.free(x, freed), freed.T)
		if src := e.lanes.at(x.src); src.waits == forSlot && src.on == c {
			e.lanes.wake(x.src)
		}
	}
	if l.isPost {
		l.posts = append(l.posts, l.end)
		for w := l.waiters; w >= 0; w = e.lanes.at(w).next {
			e.lanes.wake(w)
		}
		l.waiters = -1
	}
	if l.cursor.Next(l.slices); e.period.isOn() {
		e.period.passes(i)
	}
}
