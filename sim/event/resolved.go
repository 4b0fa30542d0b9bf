package event

import (
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// resolved is what is kept of a lane's step that is the same in all iterations of its loop, so that
// it need not be loaded again: its connections, and of each slice what it moves and takes. Only
// steps of messages and of what the rank does by itself are kept, and only where nobody asks for
// more of them (figures of GPUs, rendezvous, send buffers, a log).
type resolved struct {
	place    int32 // where the step is written that the lane last carried out, −1 for none
	isKept   bool
	isPost   bool
	isAlone  bool // what it sends crosses nothing but links that are asked in order: express
	receives int32
	named    []int32 // e.named of the step
	sizes    []moved // by slice
}

// moved is what a sub-step moves, and D − S.
type moved struct {
	bytes unit.Bytes
	cost  unit.Time
}

// keepsSteps reports whether steps may be kept in this run.
func (e *engine) keepsSteps() bool {
	s := e.rules.Schedule
	return e.gpu == nil && e.matches == nil && e.streams == nil && e.backlogs == nil &&
		e.probe == nil && s.Parts() == nil && s.Beside() == nil
}

// isKept reports whether the lane's present step is the one that is kept of it.
func (l *lane) isKept() bool { return l.step.isKept && l.step.place == l.cursor.Place() }

// keep keeps the step in e.step, which lane i is about to carry out, if it can be and the lane has
// just come to it again.
func (e *engine) keep(i int32) {
	l, s := &e.lanes[i], &e.step
	k := &l.step
	place := l.cursor.Place()
	if k.isKept = false; k.place != place {
		k.place = place
		return
	}
	if l.cursor.Slice() > 0 || !e.plain || len(s.Await) > 0 || !e.isSteady(l) {
		return
	}
	for at := range s.From {
		if f := s.From[at].Kind; f != schedule.Local && f != schedule.Message {
			return
		}
	}
	parts := 1
	if s.Moves() {
		parts = int(l.slices)
	}
	k.sizes = slices.Grow(k.sizes[:0], parts)
	for slice := range parts {
		where := l.spot()
		where.Slice = slice
		n, known := e.rules.Size(where, s)
		if !known {
			return
		}
		e.moved = n
		k.sizes = append(k.sizes, moved{n, e.cost(i)})
	}
	k.named, k.receives = append(k.named[:0], e.named...), int32(e.receives)
	k.isKept, k.isPost, k.isAlone = true, s.Post, e.isAhead && e.late == nil
	for _, c := range k.named[k.receives:] {
		k.isAlone = k.isAlone && e.crossesAlone(l.rank, &e.conns[c], k.sizes)
	}
}

// isSteady reports whether the step of a lane is the same in all iterations of its loop.
func (e *engine) isSteady(l *lane) bool {
	if loop, follow := l.cursor.Around(); loop < 0 || follow == 0 {
		return false
	}
	if e.rules.Schedule.Group == nil { // each rank has a program of its own
		return e.programs[l.rank].Steady(&l.cursor)
	}
	place := l.cursor.Place()
	for int(place) >= len(e.steady) {
		e.steady = append(e.steady, 0)
	}
	if e.steady[place] == 0 {
		e.steady[place] = -1
		if e.programs[l.rank].Steady(&l.cursor) {
			e.steady[place] = 1
		}
	}
	return e.steady[place] > 0
}
