package proof

import "collsim/schedule"

// A relaxed signal does not order its sender's accesses. If two accesses race for that reason, the
// violation says so. For this a second walk, which knows the races, records the clock that each
// relaxed signal withholds, and its receivers.

// A pair is two unordered accesses.
type pair struct {
	then, now access
	learned   []learned
}

// learned records that a lane has received a relaxed signal whose sender knew the first access.
type learned struct {
	signal   schedule.At
	received known
}

// withheld is the clock that a relaxed signal does not carry, and the step that sent it.
type withheld struct {
	clock  clock
	signal schedule.At
}

// relaxes reports whether a step sends a relaxed signal.
func relaxes(step *schedule.Step) bool {
	for i := range step.Send {
		if step.Send[i].Relaxed {
			return true
		}
	}
	return false
}

// keepWithheld records the clock that a relaxed message would carry if it were not relaxed.
func (r *racer) keepWithheld(at *schedule.Visit, handle int32, now clock) {
	if r.asked == nil {
		return
	}
	if r.withheld == nil {
		r.withheld = map[int32]withheld{}
	}
	r.own[at.Index] = false
	r.withheld[handle] = withheld{now, schedule.At{Rank: r.names.of(int(at.Rank)), Lane: int(at.Lane),
		Step: int(at.Number)}}
}

// receiveWithheld records the racing accesses that the i-th message of a sub-step would order if it
// were not relaxed.
func (r *racer) receiveWithheld(at *schedule.Visit, i int, handle int32) {
	u, is := r.withheld[handle]
	if !is {
		return
	}
	delete(r.withheld, handle)
	chain := r.chain[at.Index]
	news := r.translated(u.clock, at.Step.From[i].Peer.Rank)
	for k := range r.asked {
		p := &r.asked[k]
		if int(p.then.put) > len(r.puts) {
			continue // the put has not begun
		}
		if r.precedes(p.then, access{known: known{lane: -1}}, news) {
			r.touched[chain] = r.position[chain]
			p.learned = append(p.learned, learned{u.signal, known{chain, r.position[chain]}})
		}
	}
}

// wouldOrder returns the relaxed signal that would order two racing accesses: its receive precedes
// the second. It returns nil if there is none.
func (r *racer) wouldOrder(then, now access, knows clock) *schedule.At {
	for i := range r.asked {
		p := &r.asked[i]
		if p.then != then || p.now != now {
			continue
		}
		for k := range p.learned {
			l := &p.learned[k]
			if l.received.lane == now.lane && l.received.at <= now.at || knows.knows(l.received) {
				return &l.signal
			}
		}
	}
	return nil
}
