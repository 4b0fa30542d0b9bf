package event

import (
	"fmt"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// resolved keeps a lane's step that is the same in all iterations of its loop, except for the
// blocks that it names, so that it need not be loaded again. For each slice it holds what the step
// moves and takes. Its connections are those that the lane has named. Only steps that send and
// receive messages, or that concern the rank alone, are kept, and only where a step needs no more
// than that (no figures of GPUs, rendezvous or send buffers).
type resolved struct {
	place   int32 // where the step is written that the lane last carried out, −1 for none
	isKept  bool
	isPost  bool
	isAlone bool         // what it sends crosses nothing but links that are asked in order: express
	isBare  bool         // nothing is written of it but when it starts
	flags   messageFlags // of all that it sends
	sizes   []moved      // by slice, then by size of blocks
	cuts    []cut        // by slice, where blocks are of several sizes; else none
	walk    walk
}

// moved holds the bytes that a sub-step moves, and its duration D − S.
type moved struct {
	bytes unit.Bytes
	cost  unit.Time
}

// repeater carries out steps that are kept.
type repeater struct {
	e         *engine
	isOff     bool
	repeating []repetition // of the steps, by place, of a program that is every rank's
	sizes     sizes        // of the blocks that such steps move
}

// newRepeater finds whether steps may be kept in this run.
func newRepeater(e *engine) repeater {
	s := e.rules.Schedule
	return repeater{e: e, isOff: e.gpu != nil || e.faults.isOn() || e.ahead.hasStreams() ||
		schedule.Composed(s) || s.Teams() != nil}
}

// isOn reports whether steps may be kept.
func (r *repeater) isOn() bool { return !r.isOff }

// isKept reports whether the lane's present step is the one that is kept of it.
func (l *lane) isKept() bool { return l.step.isKept && l.step.place == l.cursor.Place() }

// keep keeps the step in e.step, which lane i is about to carry out, if it can be and the lane has
// just come to it again.
func (r *repeater) keep(i int32) {
	e := r.e
	l, s := e.lanes.at(i), &e.step
	k := &l.step
	place := l.cursor.Place()
	if k.isKept = false; k.place != place && !l.comesAgain() {
		k.place = place
		return
	}
	k.place = place
	flags, isPlain := framed(s.Send)
	if l.cursor.Slice() > 0 || !isPlain || len(s.Await) > 0 {
		return
	}
	repeats := r.repetitionOf(l)
	if repeats == changing {
		return
	}
	for at := range s.From {
		if f := s.From[at].Kind; f != schedule.Local && f != schedule.Message {
			return
		}
	}
	if !r.keepSizes(i, repeats == butBlocks) {
		return
	}
	k.isKept, k.isPost, k.flags = true, s.Post, flags
	k.isAlone = e.links.isAhead() && !e.conns.hasFigures()
	k.isBare = !e.log.isByWay()
	for _, c := range l.sent() {
		k.isAlone = k.isAlone && r.crossesAlone(l.rank, e.conns.at(c), k)
		k.isBare = k.isBare && e.conns.at(c).logged == 0
	}
}

// keptStep is a step that is kept of a lane and not the one that it last carried out, and the
// connections that it names.
type keptStep struct {
	resolved
	receives int32
	named    []int32
}

// KeptBody bounds how many steps of a loop's body are kept.
const KeptBody = 8

// comesAgain reports whether a lane carries out its present step for a second time at least, and
// not for the last, in a loop of few steps: then all of them are kept.
func (l *lane) comesAgain() bool {
	_, follow := l.cursor.Around()
	return follow > 0 && l.cursor.Iteration() > 0 && l.cursor.Body() <= KeptBody
}

// takesUp has a lane that has come to another step than the one that is kept go on with what is
// kept of that, if there is such. What was kept is put aside, if it is of the loop that the lane is
// in.
func (l *lane) takesUp() bool {
	if len(l.aside) == 0 && !l.step.isKept {
		return false
	}
	place := l.cursor.Place()
	was := keptStep{l.step, l.receives, l.named}
	for i := range l.aside {
		k := &l.aside[i]
		if k.place != place {
			continue
		}
		l.step, l.receives, l.named = k.resolved, k.receives, k.named
		if *k = was; !was.isKept {
			l.aside = slices.Delete(l.aside, i, i+1)
		}
		return true
	}
	if loop, _ := l.cursor.Around(); was.isKept && loop >= 0 && loop < was.place &&
		was.place <= loop+l.cursor.Body() && l.cursor.Body() <= KeptBody {
		if len(l.aside) == KeptBody {
			l.aside = l.aside[:0]
		}
		l.aside = append(l.aside, was)
		l.step, l.named = resolved{place: -1}, nil
	}
	return false
}

// wire returns the bytes that a message of n bytes of the step takes on the links.
func (k *resolved) wire(n unit.Bytes) unit.Bytes {
	if k.flags == 0 {
		return n
	}
	return unit.Bytes(k.flags.framing().Wire(int64(n)))
}

// framed returns the flags that all messages of a step share. It is not ok unless the step sends
// nothing but messages of one framing.
func framed(sends []schedule.Dest) (flags messageFlags, ok bool) {
	for k := range sends {
		of := messageFlags(0)
		switch d := &sends[k]; {
		case d.Relaxed || !d.Message():
			return 0, false
		case d.Packet:
			of = packed
		case d.Line:
			of = lined
		}
		if k > 0 && of != flags {
			return 0, false
		}
		flags = of
	}
	return flags, true
}

// repetition says in which respects a step is the same in all iterations of its loop.
type repetition uint8

const (
	notKnown   repetition = iota
	changing              // it is not
	butBlocks             // but for the blocks that it names, which are of several sizes
	withBlocks            // also as to sizes
)

// repetitionOf returns in which respects the step of a lane is the same in all iterations of its
// loop.
func (r *repeater) repetitionOf(l *lane) repetition {
	e := r.e
	if loop, follow := l.cursor.Around(); loop < 0 || follow == 0 {
		return changing
	}
	p := e.programs[l.rank]
	if e.rules.Schedule.Group == nil { // each rank has a program of its own
		return repetitionOf(p, &l.cursor)
	}
	place := l.cursor.Place()
	for int(place) >= len(r.repeating) {
		r.repeating = append(r.repeating, notKnown)
	}
	if r.repeating[place] == notKnown {
		r.repeating[place] = repetitionOf(p, &l.cursor)
	}
	return r.repeating[place]
}

func repetitionOf(p *schedule.Program, c *schedule.Cursor) repetition {
	switch {
	case p.Steady(c):
		return withBlocks
	case p.Repeats(c):
		return butBlocks
	}
	return changing
}

// repeat carries out sub-steps of the step that is kept of a lane, as long as it stays at that step
// and all is known that they wait for.
func (r *repeater) repeat(i int32) {
	e := r.e
	l := e.lanes.at(i)
	if r.forwards(l) {
		r.forward(i)
		return
	}
	for {
		start, known := r.start(l)
		if !known || !r.perform(i, l, start) || e.err != nil {
			return
		}
		e.end(i)
		if l.cursor.Done() || l.step.place != l.cursor.Place() {
			e.lanes.wake(i)
			return
		}
	}
}

// start does what engine.start does, for a step that is kept.
func (r *repeater) start(l *lane) (at model.Moment, known bool) {
	e := r.e
	at = l.end
	for _, c := range l.received() {
		m := e.conns.at(c).queue.First
		if m < 0 || !e.conns.message(m).isHere {
			l.waits, l.on = forMessage, c
			return at, false
		}
		at = model.Later(at, e.conns.message(m).at)
	}
	for _, c := range l.sent() {
		t, ok := e.conns.slot(e.conns.at(c))
		if !ok {
			l.waits, l.on = forSlot, c
			return at, false
		}
		at = model.Later(at, t)
	}
	return at, true
}

// perform does what engine.perform does, for a step that is kept. It reports whether the sub-step
// is over at once, because nothing that it sends has to wait for its turn. In that case it does not
// advance the keys that put waiting messages in order.
func (r *repeater) perform(i int32, l *lane, start model.Moment) (isOver bool) {
	e := r.e
	n, sends := r.moves(l), l.sent()
	peers := int32(len(sends))
	e.totals.Steps++
	e.totals.Messages += int64(peers)
	e.totals.BytesSent += n.bytes * unit.Bytes(peers)
	at := start.Plus(n.cost)
	l.until, l.isPost = at, l.step.isPost && l.cursor.Last(l.slices)
	l.waits, l.pending = forStep, 1
	e.moved = n.bytes
	switch {
	case !e.log.isOn() || l.step.isBare && e.log.goesOn(i, start.T):
	case l.step.isBare:
		e.log.bare(i, start.T)
	default:
		e.log.begin(i, len(sends), start.T)
	}
	e.report(stepBegins, i, 0, start.T)
	e.receive(l)
	isAlone := l.step.isAlone && !e.links.isBehind() && e.conns.mayGoAhead()
	for _, conn := range sends {
		m := e.plainMessage(i, conn, n.bytes, peers)
		x, c := e.conns.message(m), e.conns.at(conn)
		x.flags = l.step.flags
		if e.conns.hasFigures() {
			if err := e.conns.measure(m); err != nil {
				e.err = fmt.Errorf("%s: %w", e.place(i), err)
				return false
			}
		}
		e.conns.enqueue(c, m)
		if !isAlone {
			x.key = l.key
			l.key++
			l.pending++
			if !l.step.isBare {
				e.enlist(m)
			}
			e.report(asksAfter, m, -1, at.T)
			e.setOut(m, at)
			continue
		}
		left, came := r.cross(m, c, l.step.wire(n.bytes), peers, at)
		x.at, x.isHere = came, true
		l.until = model.Later(l.until, left)
		if dst := e.lanes.at(c.dst); c.queue.First == m && dst.waits == forMessage && dst.on == conn {
			e.lanes.wake(c.dst)
		}
	}
	l.pending--
	return l.pending == 0
}
