package sweep

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
)

// Recording periods. What happens in a row depends only on counts (of messages that have arrived,
// of free slots), never on times. So rows are recorded where all lanes that take part are in loops
// whose steps are the same each time. Recording ends when two things are true. Each of these lanes
// is back at its place, in a later iteration. Each connection has received as many messages as it
// was sent. From then on the same rows repeat until a lane comes to the end of its loop. These rows
// are a period, which is replayed without looking at steps (period.go, replay.go).

// recorder holds the rows recorded so far.
type recorder struct {
	isRecording bool
	beacon      int32   // a lane in a loop: rows may repeat when it is back at its place
	rows        []int32 // the first turn of each row
	turns       []turn
	ends        []end                  // of the turns: first what each receives, then what it sends
	actors      []actor                // the lanes that take part
	wait        int                    // rows until the next attempt
	patience    int                    // rows to wait after the last attempt failed
	tries       int                    // how often the beacon has come back in vain
	loops       map[[2]int32]repeating // by rank and loop
	periods     int                    // that were replayed
}

// turn is a sub-step that a lane has executed.
type turn struct {
	actor           int32
	size            size
	fromMessages    bool  // its size is that of the messages that it receives
	varies          bool  // its size changes from one iteration to the next
	from, sends, to int32 // ends[from:sends] is what it receives, ends[sends:to] what it sends
}

// end is one end of a connection.
type end struct {
	conn    int32
	framing schedule.Framing
}

// actor is a lane that takes part, and its place when it began to.
type actor struct {
	lane int32
	at   schedule.Cursor
}

// repeating says how much of a loop is the same in all its iterations.
type repeating uint8

const (
	nothing  repeating = iota + 1
	butSizes           // all but the sizes of the blocks that its steps name
	everything
)

const (
	leastRepeats = 4       // of a period: fewer do not pay
	mostTurns    = 1 << 22 // of a period
	mostTries    = 8
	mostPatience = 64 // rows
)

// record begins or ends recording, at the beginning of a row.
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

// startRecording begins to record if one of the next lanes can be the beacon.
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

// stopRecording forgets what was recorded.
func (e *engine) stopRecording() {
	for _, a := range e.actors {
		e.lanes[a.lane].actor = -1
	}
	e.isRecording = false
	e.rows, e.turns, e.ends, e.actors = e.rows[:0], e.turns[:0], e.ends[:0], e.actors[:0]
}

// giveUp stops recording and waits before the next attempt, longer each time.
func (e *engine) giveUp() {
	e.stopRecording()
	e.patience = min(2*e.patience+1, mostPatience)
	e.wait = e.patience
}

// isBack reports whether the beacon is back at its place, in a later iteration of its loop.
func (e *engine) isBack() bool {
	l := &e.lanes[e.beacon]
	return l.isReady && e.actors[0].iterations(&l.cursor) > 0
}

// act makes a lane an actor.
func (e *engine) act(i int32) {
	e.lanes[i].actor = int32(len(e.actors))
	e.actors = flat.Add(e.actors, actor{i, e.lanes[i].cursor}, len(e.lanes))
}

// iterations returns how many iterations of its loop a lane has done since it began, if it is back
// at its place; else 0.
func (a *actor) iterations(c *schedule.Cursor) int32 {
	if c.Done() || c.Place() != a.at.Place() || c.Slice() != a.at.Slice() ||
		c.Outer() != a.at.Outer() {
		return 0
	}
	return max(c.Iteration()-a.at.Iteration(), 0)
}

// repeats returns how much of a lane's innermost loop is the same in all iterations.
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

// note records the sub-step that a lane is about to execute.
func (e *engine) note(i int32, n size) {
	l := &e.lanes[i]
	if l.actor < 0 {
		e.act(i)
	}
	fromMessages := l.sizes[l.cursor.Slice()].bytes == unknown
	loop := e.repeats(i)
	if loop == nothing || loop == butSizes && fromMessages || len(e.turns) == mostTurns {
		e.giveUp()
		return
	}
	t := turn{actor: l.actor, size: n, from: int32(len(e.ends)),
		fromMessages: fromMessages, varies: loop == butSizes && !l.isSteady}
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
