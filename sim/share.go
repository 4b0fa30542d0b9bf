package sim

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/unit"
)

// solver is what working out max-min fair rates needs; nothing of it outlives a solution but the
// memory and the counts.
type solver struct {
	round   int64
	part    []int32   // links of the component
	fills   []filling // of all links
	members []int32   // its flows
	order   []offer   // heap of links by what they have for each flow
	tight   []int32   // the tightest links of a step
	visits  int64     // of flows on links, a measure of the time spent
	spent   estimate  // of the whole run
}

// filling is a link in a solution: what it has left, for how many flows without a rate.
type filling struct{ left, weight uint64 }

// offer is a link with what it had for each flow when the offer was made. It may have more by now,
// never less.
type offer struct {
	share uint64
	link  int32
}

// share works out the rates on all links that a change can have touched, at an instant. Links that
// no flow joins, directly or over others, to a dirty one keep their rates: those depend on nothing
// that has changed.
func (e *engine) share(now unit.Time) error {
	e.solver.round++
	for _, l := range e.dirty {
		e.links[l].isDirty = false
		if e.links[l].round == e.solver.round {
			continue
		}
		if len(e.links[l].flows) == 0 {
			if e.trace != nil {
				e.speeds(l, now)
			}
			continue
		}
		e.spent.solutions++
		e.gather(l)
		if err := e.fill(); err != nil {
			return err
		}
		if e.trace != nil {
			for _, l := range e.part {
				e.speeds(l, now)
			}
		}
		for _, m := range e.members {
			if e.why != nil {
				e.limit(m, now)
			}
			e.setRate(m, now)
		}
	}
	e.dirty = e.dirty[:0]
	return e.affordable()
}

// gather collects the links and flows that are joined to a link.
func (e *engine) gather(from int32) {
	round := e.solver.round
	e.part, e.members = append(e.part[:0], from), e.members[:0]
	e.links[from].round = round
	for i := 0; i < len(e.part); i++ {
		l := &e.links[e.part[i]]
		e.fills[e.part[i]] = filling{l.capacity, uint64(len(l.flows))}
		e.visits += int64(len(l.flows))
		for _, m := range l.flows {
			if e.seen[m] == 2*round {
				continue
			}
			e.seen[m] = 2 * round
			e.members = append(e.members, m)
			f := &e.flows[m]
			for _, h := range e.hops[f.from:f.to] {
				if k := &e.links[h]; k.round != round && k.capacity > 0 {
					k.round = round
					e.part = append(e.part, h)
				}
			}
		}
	}
	e.spent.joined += int64(len(e.members))
}

// fill gives every flow of the component its max-min fair rate (progressive filling: Bertsekas and
// Gallager, Data Networks, 1992, section 6.5.2), in integers. The rate rises for all alike until
// links are full: those that have least for each of their flows, rounded down, fill up together. A
// flow's cap is a link of its own.
func (e *engine) fill() error {
	e.order = e.order[:0]
	for _, l := range e.part {
		e.offer(l, e.fills[l].left/e.fills[l].weight)
	}
	capped := len(e.members) // from here on: those that are not fixed, by their caps
	if e.env.Device.LaneRate != unit.Unlimited {
		capped = 0
		slices.SortFunc(e.members, func(a, b int32) int {
			return cmp.Compare(e.rests[a].cap, e.rests[b].cap)
		})
	}
	for free := len(e.members); free > 0; {
		least := ^uint64(0)
		for capped < len(e.members) && e.seen[e.members[capped]]&1 > 0 {
			capped++
		}
		if capped < len(e.members) {
			least = e.rests[e.members[capped]].cap
		}
		if least = e.tightest(least); least == 0 {
			return e.tooSlow()
		}
		for i := capped; i < len(e.members) && e.rests[e.members[i]].cap == least; i++ {
			free -= e.fix(e.members[i], least)
		}
		if e.why != nil {
			e.why.full(e.tight, e.solver.round, least)
		}
		for _, l := range e.tight {
			for _, m := range e.links[l].flows {
				free -= e.fix(m, least)
			}
		}
	}
	return nil
}

// tightest is the least that a link has for each of its flows, or limit if that is less; e.tight
// are the links that have no more.
func (e *engine) tightest(limit uint64) uint64 {
	e.tight = e.tight[:0]
	for len(e.order) > 0 && e.order[0].share <= limit {
		o := e.takeOffer()
		l := &e.fills[o.link]
		if l.weight == 0 {
			continue
		}
		share := l.left / l.weight
		if share > o.share {
			e.offer(o.link, share)
			continue
		}
		limit = share
		e.tight = append(e.tight, o.link)
	}
	return limit
}

// fix gives a flow its rate; it counts the flows that had none.
func (e *engine) fix(m int32, rate uint64) int {
	if e.seen[m]&1 > 0 {
		return 0
	}
	e.seen[m]++
	f := &e.flows[m]
	f.next = rate
	for _, h := range e.hops[f.from:f.to] {
		l := &e.fills[h]
		l.left -= rate // of a link without limit, nobody looks
		l.weight--
	}
	return 1
}

// setRate makes a flow go on at the rate of the solution.
func (e *engine) setRate(m int32, now unit.Time) {
	f := &e.flows[m]
	if f.next == f.rate {
		return
	}
	r := &e.rests[m]
	r.work = r.work.less(f.rate, now-r.since)
	r.since, f.rate = now, f.next
	if r.ends = min(now+r.work.over(f.rate), unit.Forever); e.streams != nil {
		r.ends = e.endOf(m)
	}
	if r.place < 0 {
		e.finishes.add(m, e.rests)
	} else {
		e.finishes.moved(m, e.rests)
	}
}

// tooSlow is a flow that would not get a single unit.
func (e *engine) tooSlow() error {
	for _, m := range e.members {
		if x := &e.messages[m]; e.seen[m]&1 == 0 {
			l := &e.lanes[x.lane]
			return fmt.Errorf("sim: rank %d lane %d: what it sends, or a link on its way, is too slow "+
				"to give each of its messages 2^-20 B/s; use sharing = fifo",
				l.rank, x.lane-e.first[l.rank])
		}
	}
	panic("sim: a link that nobody uses is too slow")
}

// offer puts a link into the heap.
func (e *engine) offer(l int32, share uint64) {
	e.order = append(e.order, offer{share, l})
	h := e.order
	i := len(h) - 1
	for x := h[i]; i > 0 && x.share < h[(i-1)/2].share; {
		h[i], h[(i-1)/2] = h[(i-1)/2], x
		i = (i - 1) / 2
	}
}

// takeOffer takes the least offer out of the heap.
func (e *engine) takeOffer() offer {
	h := e.order
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	e.order = h
	i := 0
	for down := 1; down < len(h); down = 2*i + 1 {
		if down+1 < len(h) && h[down+1].share < h[down].share {
			down++
		}
		if h[down].share >= last.share {
			break
		}
		h[i], i = h[down], down
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
