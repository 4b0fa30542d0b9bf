package sim

import (
	"collsim/schedule"
	"collsim/unit"
)

// lane is what the engine keeps of a lane.
type lane struct {
	cursor  schedule.Cursor
	end     moment // of the step before
	leaves  moment // of the present step: the latest that is known of D and its messages
	rank    int32
	channel int32
	in, out int32  // the connection last used each way, −1 for none
	line    uint64 // place in line of its next message: the lane and a running number
	flying  int32  // messages of the present step that must leave, or replies that must come
	got     int32  // messages that the present step has received, −1 for none
	sends   int32  // messages that the present step will send, −1 for none
	posts   []moment
	will    bool // the present step posts
	queued  bool // among those ready to go on
	waits   waiting
	on      int32 // the connection or lane that it waits for
	awaited int32 // the lanes that wait for its posts, −1 for none
	beside  int32 // the next lane that waits for the same lane's posts

	// Posted sends of a device that offloads, in order: marks that say when each has left. Those whose
	// place in the queue has been taken again are forgotten.
	oldest, newest, outstanding int32
	interval                    int32 // in the trace
}

// waiting is what a lane that cannot go on waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forMessage         // of connection on
	forSlot            // of connection on
	forEvent           // of lane on
	forPost            // its own, to leave
	forStep            // its own, to end
	forEver            // it has come to its end
)

// wake puts a lane among those that may be able to go on.
func (e *engine) wake(i int32) {
	if l := &e.lanes[i]; !l.queued {
		l.queued, l.waits = true, forNothing
		e.ready = append(e.ready, i)
	}
}

// settle lets every lane that is awake go on as far as it can. In what order does not matter:
// each finds only times that are final.
func (e *engine) settle() error {
	for len(e.ready) > 0 {
		i := e.ready[len(e.ready)-1]
		e.ready = e.ready[:len(e.ready)-1]
		l := &e.lanes[i]
		l.queued = false
		if l.cursor.Done() {
			l.waits = forEver
			e.unfinished--
			continue
		}
		e.programs[l.rank].Load(&l.cursor, &e.step)
		start, known, err := e.start(i)
		if err != nil {
			return err
		}
		if known {
			if err := e.perform(i, start); err != nil {
				return err
			}
		}
	}
	return nil
}

// start is S of the step in e.step, if all is known that it depends on; otherwise the lane waits
// for the first thing that is not. Messages, slots and events are asked for in the order in which
// the untimed executor does, so that both tell of a stall in the same words.
func (e *engine) start(i int32) (at moment, known bool, err error) {
	l, s := &e.lanes[i], &e.step
	at = l.end
	if e.meets != nil {
		if known, err := e.reach(i); err != nil || !known {
			return at, false, err
		}
	}
	e.stamp++
	e.named = e.named[:0]
	for k := range s.From {
		if s.From[k].Kind != schedule.Message {
			continue
		}
		c, err := e.connect(i, &s.From[k].Peer, false)
		if err != nil {
			return at, false, err
		}
		e.named = append(e.named, c)
		m := e.conns[c].head
		if m < 0 || !e.messages[m].here {
			l.waits, l.on = forMessage, c
			return at, false, nil
		}
		at = later(at, e.messages[m].at)
	}
	e.receives, e.plain = len(e.named), true
	for k := range s.Send {
		d := &s.Send[k]
		if d.Packet || d.Relaxed || !d.Message() {
			if e.plain = false; !d.Message() {
				continue
			}
		}
		c, err := e.connect(i, &d.Peer, true)
		if err != nil {
			return at, false, err
		}
		e.named = append(e.named, c)
		t, ok := e.slot(&e.conns[c])
		if !ok {
			l.waits, l.on = forSlot, c
			return at, false, nil
		}
		at = later(at, t)
	}
	if l.cursor.Slice() == 0 {
		t, ok, err := e.events(i)
		if err != nil || !ok {
			return at, false, err
		}
		at = later(at, t)
	}
	if e.quiet != nil && !e.room(i, &at) {
		l.waits = forPost
		return at, false, nil
	}
	return at, true, nil
}

// events is when the last event that the step in e.step awaits is posted.
func (e *engine) events(i int32) (at moment, known bool, err error) {
	l := &e.lanes[i]
	for _, v := range e.step.Await {
		on := e.first[l.rank] + v.Lane
		if v.Lane < 0 || on >= e.first[l.rank+1] || on == i {
			return at, false, e.malformed(i, "awaits lane %d, which is none of the others", v.Lane)
		}
		if v.Value <= 0 {
			continue
		}
		o := &e.lanes[on]
		if int(v.Value) > len(o.posts) {
			l.waits, l.on, l.beside = forEvent, on, o.awaited
			o.awaited = i
			return at, false, nil
		}
		at = later(at, o.posts[v.Value-1])
	}
	return at, true, nil
}

// finish ends the lane's present step, now that it is known when: E is l.leaves.
func (e *engine) finish(i int32) {
	l := &e.lanes[i]
	l.end = l.leaves
	if l.end.t >= unit.Forever {
		e.tooLate(i)
	}
	if e.why != nil {
		e.why.finishes(i, l.will)
	}
	visible := l.end.plus(e.env.Device.SlotLatency)
	for m := l.got; m >= 0; {
		next := e.messages[m].next
		e.release(m, visible)
		m = next
	}
	if l.will {
		l.posts = append(l.posts, l.end)
		for w := l.awaited; w >= 0; w = e.lanes[w].beside {
			e.wake(w)
		}
		l.awaited = -1
	}
	if e.trace != nil {
		e.trace.Intervals[l.interval].End = l.end.t
	}
	l.cursor.Next(int32(e.s.Slices))
	if e.meets != nil {
		e.scouts[i].ahead--
	}
	e.wake(i)
}
