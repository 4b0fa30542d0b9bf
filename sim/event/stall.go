package event

import (
	"collsim/schedule"
	"collsim/sim/internal/exchange"
)

// stalled finds what lanes wait for in a run in which nothing happens any more.
type stalled struct{ e *engine }

// find follows the waits from the first lane that waits until they close or end.
func (s *stalled) find() error {
	e, at := s.e, int32(0)
	for e.lanes.at(at).waits == forEver {
		at++
	}
	err := &schedule.StallError{Slots: e.rules.DefaultSlots()}
	var path []int32
	path, err.Cycle = exchange.Stalled(at, s.waitsOn)
	for _, lane := range path {
		err.Waits = append(err.Waits, s.describe(lane))
		l := e.lanes.at(lane) // pads have one slot, whatever is asked
		err.NeedsSlots = err.NeedsSlots ||
			l.waits == forSlot && e.conns.at(l.on).class == schedule.FIFO
	}
	return err
}

// target returns the lane that would have to go on first, before lane i can; −1 for none.
func (s *stalled) target(i int32) int32 {
	e := s.e
	l := e.lanes.at(i)
	switch l.waits {
	case forMessage:
		return e.conns.at(l.on).src
	case forSlot:
		return e.conns.at(l.on).dst
	case forEvent:
		return l.on
	}
	if holder := e.gpu.holder(i); holder >= 0 {
		return holder
	}
	if e.rendezvous.isOn() {
		if m := e.rendezvous.unanswered(i); m >= 0 {
			return e.conns.at(e.conns.message(m).conn).dst
		}
	}
	return -1
}

// waitsOn returns the lane that a lane waits for, −1 if that has come to its end.
func (s *stalled) waitsOn(i int32) int32 {
	on := s.target(i)
	if on < 0 {
		panic("sim: nothing is left to do and a lane waits for something that is under way")
	}
	if s.e.lanes.at(on).waits != forEver {
		return on
	}
	return -1
}

// describe returns what a lane waits for.
func (s *stalled) describe(i int32) schedule.Waiting {
	e := s.e
	l := e.lanes.at(i)
	e.programs[l.rank].Load(&l.cursor, &e.step)
	on := s.target(i)
	if on < 0 { // its own bracket, which a fault holds
		on = i
	}
	w := schedule.Waiting{Rank: int(l.rank), Lane: int(i - e.first[l.rank]),
		Step: int(l.cursor.Step), Name: e.step.Name(), Chunk: e.step.Chunk(),
		OnRank: int(e.lanes.at(on).rank), OnLane: int(on - e.first[e.lanes.at(on).rank])}
	switch l.waits {
	case forMessage:
		w.For = "a message"
	case forSlot:
		w.For = "a slot"
	case forPlaces:
		w.For = "places"
	case forStep, forPost:
		if w.For = "a receive"; e.gpu.wants(i) {
			w.For = "places"
		}
	default:
		w.For = "an event"
	}
	return w
}

// holder returns the lane that has what another waits for: places on SMs, or a copy engine. Kernels
// end and give back their places, so it is a lane in a bracket whose blocks stay. It returns −1 if
// the lane waits for neither.
func (g *gpus) holder(i int32) int32 {
	if g == nil || g.e.lanes.at(i).waits != forPlaces && !g.wants(i) {
		return -1
	}
	e, x := g.e, &g.lanes[i]
	wantsEngine := x.open >= 0 && g.brackets[x.open].mark.Engine == schedule.CopyEngine
	rank := e.lanes.at(i).rank
	for other := e.first[rank]; other < e.first[rank+1]; other++ {
		open := g.lanes[other].open
		if open < 0 || other == i || e.lanes.at(other).waits == forEver {
			continue
		}
		if b := &g.brackets[open]; wantsEngine && b.engine >= 0 || !wantsEngine && b.sms.isAny() {
			return other
		}
	}
	return g.comes(i) // or lanes of its own bracket have not come
}

// comes returns the first lane that has not come to the bracket that a lane waits to begin, −1 if
// all have.
func (g *gpus) comes(i int32) int32 {
	e, open := g.e, g.lanes[i].open
	rank := e.lanes.at(i).rank
	for other := e.first[rank]; open >= 0 && other < e.first[rank+1]; other++ {
		x := &g.lanes[other]
		if x.open != open && x.next < x.end && g.ofLanes[x.next] == open {
			return other
		}
	}
	return -1
}
