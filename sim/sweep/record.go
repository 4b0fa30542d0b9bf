package sweep

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
)

// Rows repeat themselves: what happens in one depends on counts alone (of messages that lie there,
// of free slots), never on times. So where all lanes that take part are in loops whose steps are
// the same each time, rows are written down until each of those lanes is where it was, in a later
// iteration, and each connection has given out as many messages as it was given. From then on the
// same happens again and again, until a lane comes to the end of its loop: that is a period, which
// is played without looking at a step (period.go, replay.go).

// recorder is what is written down of rows.
type recorder struct {
	isRecording bool
	beacon      int32   // a lane in a loop: the rows may repeat themselves when it is back
	rows        []int32 // the first turn of each row
	turns       []turn
	ends        []end // of the turns: first what they receive, then what they send
	actors      []actor
	wait        int // rows, until the next try
	patience    int // rows to wait for after it has failed
	tries       int // how often the beacon may come back
	loops       map[[2]int32]repeating
	periods     int // that were played
}

// turn is a sub-step that a lane has carried out.
type turn struct {
	actor           int32
	size            size
	isTold          bool  // its size by the messages that it receives
	varies          bool  // its size, from one iteration to the next
	from, sends, to int32 // ends[from:sends] is what it receives, ends[sends:to] what it sends
}

// end is one end of a connection.
type end struct {
	conn    int32
	framing schedule.Framing
}

// actor is a lane that takes part, and where it began.
type actor struct {
	lane int32
	at   schedule.Cursor
}

// repeating is what is the same of a loop in all its iterations.
type repeating uint8

const (
	nothing  repeating = iota + 1
	butSizes           // the blocks that its steps name may be of several sizes
	everything
)

const (
	leastRepeats = 4       // of a period, or it is not worth the while
	mostTurns    = 1 << 22 // of a period
	mostTries    = 8
	mostPatience = 64 // rows
)

// record begins to write rows down, or ends it, at the beginning of a row.
func (e *engine) record() {
	switch {
	case e.isRecording && e.isBack():
		if e.repeat() {
			e.patience = 0
			e.stopRecording()
		} else if e.tries++; e.tries == mostTries {
			e.giveUp()
		}
	case e.wait > 0:
		e.wait--
	case !e.isRecording:
		e.startRecording()
	}
	if e.isRecording {
		e.rows = append(e.rows, int32(len(e.turns)))
	}
}

// startRecording looks for a beacon.
func (e *engine) startRecording() {
	for _, i := range e.ready[:min(len(e.ready), 4)] {
		c := &e.lanes[i].cursor
		if !c.Done() && c.Slice() == 0 && e.repeats(i) > nothing {
			if _, follow := c.Around(); follow > leastRepeats {
				e.isRecording, e.beacon, e.tries = true, i, 0
				e.act(i)
				return
			}
		}
	}
	e.giveUp()
}

func (e *engine) stopRecording() {
	for _, a := range e.actors {
		e.lanes[a.lane].actor = -1
	}
	e.isRecording = false
	e.rows, e.turns, e.ends, e.actors = e.rows[:0], e.turns[:0], e.ends[:0], e.actors[:0]
}

// giveUp waits before it tries again, each time longer.
func (e *engine) giveUp() {
	e.stopRecording()
	e.patience = min(2*e.patience+1, mostPatience)
	e.wait = e.patience
}

// isBack reports whether the beacon is where it was, in a later iteration of its loop.
func (e *engine) isBack() bool {
	l := &e.lanes[e.beacon]
	return l.isReady && e.actors[0].iterations(&l.cursor) > 0
}

// act makes a lane an actor.
func (e *engine) act(i int32) {
	e.lanes[i].actor = int32(len(e.actors))
	e.actors = flat.Add(e.actors, actor{i, e.lanes[i].cursor}, len(e.lanes))
}

// iterations is how many of its loop a lane has done if it is again where it began, else 0.
func (a *actor) iterations(c *schedule.Cursor) int32 {
	if c.Done() || c.Place() != a.at.Place() || c.Slice() != a.at.Slice() ||
		c.Outer() != a.at.Outer() {
		return 0
	}
	return max(c.Iteration()-a.at.Iteration(), 0)
}

// repeats is what is the same of the innermost loop that a lane is in.
func (e *engine) repeats(i int32) repeating {
	l := &e.lanes[i]
	at, _ := l.cursor.Around()
	if at < 0 {
		return nothing
	}
	key := [2]int32{l.rank, at}
	if e.steadyAt != nil {
		key[0] = 0
	}
	known, ok := e.loops[key]
	if !ok {
		if e.loops == nil {
			e.loops = map[[2]int32]repeating{}
		}
		switch p := e.programs[l.rank]; {
		case p.SteadyLoop(&l.cursor):
			known = everything
		case p.RepeatsLoop(&l.cursor):
			known = butSizes
		default:
			known = nothing
		}
		e.loops[key] = known
	}
	return known
}

// note writes down what a lane is about to do.
func (e *engine) note(i int32, n size) {
	l := &e.lanes[i]
	if l.actor < 0 {
		e.act(i)
	}
	isTold := l.sizes[l.cursor.Slice()].bytes == unknown
	loop := e.repeats(i)
	if loop == nothing || loop == butSizes && isTold || len(e.turns) == mostTurns {
		e.giveUp()
		return
	}
	t := turn{actor: l.actor, size: n, from: int32(len(e.ends)),
		isTold: isTold, varies: loop == butSizes && !l.isSteady}
	for _, c := range l.receives {
		e.ends = flat.Add(e.ends, end{conn: c}, len(e.lanes))
	}
	t.sends = int32(len(e.ends))
	for _, s := range l.sends {
		e.ends = flat.Add(e.ends, end(s), len(e.lanes))
	}
	t.to = int32(len(e.ends))
	e.turns = flat.Add(e.turns, t, len(e.lanes))
}
