package proof

import "collsim/schedule"

// A relaxed signal tells nothing of what its sender has done. Where two accesses have no order
// because of that, the race says so: a walk that knows which accesses race keeps what each relaxed
// signal would have told, and who has received it.

// pair is two accesses without order.
type pair struct {
	then, now access
	learned   []learned
}

// learned is where a lane has received a relaxed signal whose sender knew the first access.
type learned struct {
	signal   schedule.At
	received known
}

// unsaid is what a relaxed signal does not tell, and the step that has sent it.
type withheld struct {
	clock  clock
	signal schedule.At
}

func relaxes(step *schedule.Step) bool {
	for i := range step.Send {
		if step.Send[i].Relaxed {
			return true
		}
	}
	return false
}

// keepUnsaid keeps what a relaxed message would tell if it were not.
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

// hearUnsaid notes the accesses that the i-th message of a sub-step would tell of if it were not
// relaxed.
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
			continue // it has not begun
		}
		if r.precedes(p.then, access{known: known{lane: -1}}, news) {
			r.touched[chain] = r.position[chain]
			p.learned = append(p.learned, learned{u.signal, known{chain, r.position[chain]}})
		}
	}
}

// wouldOrder is a relaxed signal that would order two accesses if it were not: who has received it
// comes before the second, nil if there is none.
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
