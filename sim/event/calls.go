package event

import (
	"errors"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// Row bounds what is simulated of calls in a row.
type Row struct {
	Calls    int   // at most
	Messages int64 // at most so many are sent, give or take what one lane does at a time
	// Enough is asked whenever all ranks have ended one more call: Ends has at least so many times
	// of each rank that has steps.
	Enough func(ends [][]unit.Time, complete int) bool
}

// Calls simulates calls of a schedule in a row: every rank begins the next when all its lanes have
// ended the one before, whatever other ranks do. Connections stay, with the slots that are taken.
// It returns when each rank has ended each of its calls, nil for a rank without steps, and how many
// calls all ranks have ended. Errors are those of Run.
func Calls(s *schedule.Schedule, env *model.Env, r Row) (ends [][]unit.Time, complete int,
	err error) {
	e := newEngine(s, env)
	e.findUncontended()
	e.row = newRow(e, r)
	if err := e.run(); err != nil && err != errEnough {
		return nil, 0, err
	}
	return e.row.ends, e.row.complete, nil
}

// errEnough ends a run early, once it has shown enough calls.
var errEnough = errors.New("enough calls")

// row is the state of calls in a row.
type row struct {
	e *engine
	Row
	ends     [][]unit.Time
	left     []int32 // lanes of each rank that have not ended its call
	ranks    int32   // that have steps
	missing  []int32 // by call, how many of them have not ended it
	complete int
}

// newRow has the ranks of an engine carry the schedule out several times.
func newRow(e *engine, r Row) *row {
	ranks := len(e.programs)
	w := &row{e: e, Row: r, ends: make([][]unit.Time, ranks), left: make([]int32, ranks)}
	for i := range e.lanes.len() {
		l := e.lanes.at(i)
		if w.left[l.rank]++; !isEmpty(l.cursor) && w.ends[l.rank] == nil {
			w.ends[l.rank] = []unit.Time{}
			w.ranks++
		}
	}
	return w
}

// progress returns how many calls a rank has ended, and how many of its lanes have not ended the
// next.
func (w *row) progress(rank int32) (calls int, left int32) {
	return len(w.ends[rank]), w.left[rank]
}

// endsCall notes that a lane has ended its part of a call, and has its rank begin the next if it
// was the last to do so. It reports whether the lane has nothing more to do.
func (w *row) endsCall(i int32) (isOver bool) {
	e := w.e
	w, rank := w, e.lanes.at(i).rank
	if w.ends[rank] == nil {
		return true
	}
	calls := len(w.ends[rank]) + 1
	if w.left[rank]--; w.left[rank] > 0 {
		return calls == w.Calls
	}
	var ended model.Moment
	for j := e.first[rank]; j < e.first[rank+1]; j++ {
		ended = model.Later(ended, e.lanes.at(j).end)
	}
	w.ends[rank] = append(w.ends[rank], ended.T)
	w.countCall(calls)
	if calls == w.Calls {
		return true
	}
	w.callAgain(rank, ended)
	return false
}

// countCall counts a rank's call of that number, from 1.
func (w *row) countCall(number int) {
	e := w.e
	if number > len(w.missing) {
		w.missing = append(w.missing, w.ranks)
	}
	isEnough := e.totals.Messages > w.Messages
	if w.missing[number-1]--; w.missing[number-1] == 0 {
		w.complete = number // each rank ends its calls in order
		isEnough = w.Enough(w.ends, number) || isEnough
	}
	if isEnough && e.err == nil {
		e.err = errEnough
	}
}

// callAgain has a rank that has ended a call begin the next.
func (w *row) callAgain(rank int32, ended model.Moment) {
	e := w.e
	begin := e.rules.Next(rank, ended)
	w.left[rank] = e.first[rank+1] - e.first[rank]
	if e.gpu != nil {
		e.gpu.launchAgain(rank)
	}
	for i := e.first[rank]; i < e.first[rank+1]; i++ {
		l := e.lanes.at(i)
		l.cursor = e.programs[rank].Walk(int(i - e.first[rank]))
		if l.end = begin; isEmpty(l.cursor) {
			l.end = ended
		}
		l.posts, l.step, l.aside, l.named = l.posts[:0], resolved{place: -1}, l.aside[:0], nil
		e.rendezvous.restart(i, l.cursor)
		e.lanes.wake(i)
	}
}

// launchAgain readies the brackets of a rank for its next call. Its host issues those that are
// launched one by one right behind those of the call before.
func (g *gpus) launchAgain(rank int32) {
	e, takes := g.e, unit.Time(0)
	if g.isLaunched {
		takes = g.ranks[rank].host - e.rules.Begin(rank, false).T
	}
	for i := e.first[rank]; i < e.first[rank+1]; i++ {
		x := &g.lanes[i]
		*x = laneGPU{first: x.first, end: x.end, next: x.first, open: -1, claim: -1, stream: x.stream}
		for _, number := range g.ofLanes[x.first:x.end] {
			if b := &g.brackets[number]; b.lane == i { // other lanes may be in it too
				b.come, b.over, b.ready, b.ended = 0, 0, model.Moment{}, model.Moment{}
				b.Issued = min(b.Issued+takes, unit.Forever)
			}
		}
	}
}
