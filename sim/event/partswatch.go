package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// partsWatch notes when ranks are at work on the parts of a composed schedule, while they are. A
// log of every step and message, from which the same follows, takes as long as the run. The tests
// compare both.
type partsWatch struct {
	e      *engine
	log    *model.Log
	unitOf []int32 // of each lane, in log.Parts
	lanes  []laneAtWork
	sent   []sending   // by numbers of messages
	begun  []unit.Time // when the first bracket of each unit began; unit.Forever if none has
}

// laneAtWork is the present sub-step of a lane.
type laneAtWork struct {
	start, done              unit.Time
	peer                     int32 // that its start waited for, −1 for none
	computes, isEdge, copies bool
}

// sending notes when a message that is on its way set out, and what the sub-step that sends it
// waited for.
type sending struct {
	since unit.Time
	peer  int32
}

// watchParts has the times of parts noted during the run, if they alone are asked for. It reports
// whether that can be done: under fluid sharing, of a composed schedule without faults whose lanes
// wait until their messages have left, and receive all that crosses links.
func (e *engine) watchParts(log *model.Log) bool {
	s := e.rules.Schedule
	if !log.OfParts || !e.isFluid || !schedule.Composed(s) || e.faults.isOn() || e.rendezvous.isOn() ||
		e.ahead.hasStreams() || s.AnyStep(tellsMore) {
		return false
	}
	w := &partsWatch{e: e, log: log, lanes: make([]laneAtWork, e.lanes.len()),
		unitOf: make([]int32, e.lanes.len())}
	log.Parts = []model.PartTimes{}
	for i := range e.lanes.len() {
		l, n := e.lanes.at(i), len(log.Parts)-1
		if n < 0 || log.Parts[n].Rank != l.rank || log.Parts[n].Part != l.part {
			log.Parts = append(log.Parts, model.PartTimes{Rank: l.rank, Part: l.part,
				Ready: unit.Forever, From: unit.Forever})
			w.begun = append(w.begun, unit.Forever)
			n++
		}
		w.unitOf[i] = int32(n)
	}
	if e.gpu != nil {
		e.gpu.observeParts(w)
	}
	e.observer = w.see
	return true
}

// see notes what concerns the times of parts.
func (w *partsWatch) see(what happening, i, _ int32, at unit.Time) {
	switch what {
	case stepBegins:
		w.stepBegins(i, at)
	case stepSends:
		w.stepSends(i, at)
	case stepEnds:
		w.stepEnds(i, at)
	case messageArrives:
		w.arrives(i, at)
	case runEnds:
		for i, at := range w.begun {
			if at < unit.Forever {
				w.log.Parts[i].Ready = at
			}
		}
	}
}

// bracketBegins notes that a bracket whose first lane this is begins.
func (w *partsWatch) bracketBegins(first int32, at unit.Time) {
	b := &w.begun[w.unitOf[first]]
	*b = min(*b, at)
}

// kernelBegins notes that a lane begins a kernel whose blocks have got places.
func (w *partsWatch) kernelBegins(lane int32, at unit.Time) {
	w.of(lane).start(at, false)
	w.lanes[lane] = laneAtWork{start: at, computes: true}
}

// atWork is the times of a rank's part, while they are noted.
type atWork model.PartTimes

// of returns the times of the part that a lane is of.
func (w *partsWatch) of(lane int32) *atWork { return (*atWork)(&w.log.Parts[w.unitOf[lane]]) }

// start notes that a sub-step starts.
func (t *atWork) start(at unit.Time, isEdge bool) {
	t.Ready = min(t.Ready, at)
	if !isEdge {
		t.From = min(t.From, at)
	}
}

// moves notes that something moves.
func (t *atWork) moves(from, to unit.Time, peer int32) {
	model.AddMoving(&t.Moves, model.Moving{From: from, To: to, Peer: peer})
}

func (w *partsWatch) stepBegins(i int32, start unit.Time) {
	e := w.e
	l := e.lanes.at(i)
	x := laneAtWork{start: start, done: l.until.T, peer: w.cause(i, start),
		computes: e.step.Kernel != nil, isEdge: l.cursor.Edge(), copies: e.gpu.copies()}
	t := w.of(i)
	if t.start(start, x.isEdge); !x.computes {
		t.moves(start, x.done, x.peer)
	}
	w.lanes[i] = x
}

// cause returns the rank that the start of the sub-step that lane i is at waited for; −1 if it is
// its own.
func (w *partsWatch) cause(i int32, start unit.Time) int32 {
	e := w.e
	l := e.lanes.at(i)
	if l.end.T == start {
		return -1
	}
	for _, c := range l.received() {
		if x := e.conns.message(e.conns.at(c).queue.First); x.at.T == start {
			return w.other(e.lanes.at(x.lane).rank, i)
		}
	}
	for _, c := range l.sent() {
		x := e.conns.at(c)
		if at, _ := e.conns.slot(x); at.T == start {
			return w.other(e.lanes.at(x.dst).rank, i)
		}
	}
	return -1
}

// other returns a rank if it is not that of a lane, and else −1.
func (w *partsWatch) other(rank, lane int32) int32 {
	if rank == w.e.lanes.at(lane).rank {
		return -1
	}
	return rank
}

func (w *partsWatch) stepSends(i int32, at unit.Time) {
	for m := w.e.lanes.at(i).sends; m >= 0; m = w.e.conns.message(m).also {
		for int(m) >= len(w.sent) {
			w.sent = append(w.sent, sending{})
		}
		w.sent[m] = sending{at, w.lanes[i].peer}
	}
}

func (w *partsWatch) arrives(m int32, at unit.Time) {
	x, s := w.e.conns.message(m), &w.sent[m]
	to := w.e.conns.at(x.conn).dst
	w.of(x.lane).moves(s.since, at, s.peer)
	w.of(to).moves(s.since, at, w.other(w.e.lanes.at(x.lane).rank, to))
}

func (w *partsWatch) stepEnds(i int32, at unit.Time) {
	x, t := &w.lanes[i], w.of(i)
	if x.isEdge {
		return
	}
	t.To = max(t.To, at)
	switch {
	case x.computes:
		t.Kernels = append(t.Kernels, model.Interval{From: x.start, To: at})
	case x.copies:
		t.moves(x.done, at, x.peer)
	}
}
