package fold

import (
	"collsim/schedule"
	"collsim/sim/internal/exchange"
)

// stall follows the waits from the first lane that waits, of all ranks, until they close or end.
func (e *engine) stall(s *schedule.Schedule) error {
	at := int64(0)
	for e.lanes[e.lane(at)].waits == forEver {
		at++
	}
	err := &schedule.StallError{Slots: e.rules.DefaultSlots()}
	var path []int64
	path, err.Cycle = exchange.Stalled(at, func(at int64) int64 {
		if at = e.target(at); e.lanes[e.lane(at)].waits == forEver {
			return -1
		}
		return at
	})
	for _, at := range path {
		err.Waits = append(err.Waits, e.describe(s, at))
		l := &e.lanes[e.lane(at)]
		err.NeedsSlots = err.NeedsSlots ||
			l.waits == forSlot && e.conns[l.on].key.class == schedule.FIFO
	}
	return err
}

// A lane of any rank is numbered among all, rank by rank: lane is the one that stands for it.
func (e *engine) lane(at int64) int32 {
	class, _ := e.sym.Place(int32(at / int64(e.perRank)))
	return class*e.perRank + int32(at%int64(e.perRank))
}

// target returns the lane that a waiting lane waits for. Lanes are numbered over all ranks.
func (e *engine) target(at int64) int64 {
	rank := int32(at / int64(e.perRank))
	_, element := e.sym.Place(rank)
	l := &e.lanes[e.lane(at)]
	if l.waits == forEvent {
		return int64(rank)*int64(e.perRank) + int64(l.on%e.perRank)
	}
	c := &e.conns[l.on]
	class, far := e.sym.Place(c.key.rank)
	if l.waits == forMessage {
		from := e.sym.Rank(class, e.sym.Add(far, element))
		return int64(from)*int64(e.perRank) + int64(c.key.lane)
	}
	to := e.sym.Rank(c.dst/e.perRank, e.sym.Sub(element, far))
	return int64(to)*int64(e.perRank) + int64(c.dst%e.perRank)
}

func (e *engine) describe(s *schedule.Schedule, at int64) schedule.Waiting {
	l := &e.lanes[e.lane(at)]
	rank, on := int(at/int64(e.perRank)), e.target(at)
	var step schedule.Step
	s.Program(rank).Load(&l.cursor, &step)
	w := schedule.Waiting{Rank: rank, Lane: int(at % int64(e.perRank)), Step: int(l.cursor.Step),
		Name: step.Name(), Chunk: step.Chunk(), OnRank: int(on / int64(e.perRank)),
		OnLane: int(on % int64(e.perRank))}
	switch l.waits {
	case forMessage:
		w.For = "a message"
	case forSlot:
		w.For = "a slot"
	default:
		w.For = "an event"
	}
	return w
}
