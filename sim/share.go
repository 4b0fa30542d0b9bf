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
	part    []int32  // links of the component
	members []int32  // its flows
	order   []offer  // heap of links by what they have for each flow
	tight   []int32  // the tightest links of a step
	visits  int64    // touches seen so far, a measure of the time spent
	spent   estimate // of the whole run
}

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
		if e.links[l].round == e.solver.round || e.links[l].count == 0 {
			continue
		}
		e.spent.solutions++
		e.gather(l)
		if err := e.fill(); err != nil {
			return err
		}
		for _, m := range e.members {
			e.setRate(m, now)
		}
	}
	e.dirty = e.dirty[:0]
	return e.affordable()
}

// gather collects the links and flows that are joined to a link.
func (e *engine) gather(from int32) {
	e.part, e.members = append(e.part[:0], from), e.members[:0]
	e.links[from].round = e.solver.round
	for i := 0; i < len(e.part); i++ {
		l := &e.links[e.part[i]]
		l.left, l.weight = l.capacity, uint64(l.count)
		e.visits += int64(l.count)
		for t := l.flows; t >= 0; t = e.touches[t].next {
			m := e.touches[t].flow
			f := &e.flows[m]
			if f.round == e.solver.round {
				continue
			}
			f.round, f.fixed = e.solver.round, false
			e.members = append(e.members, m)
			for u := f.touches; u >= 0; u = e.touches[u].also {
				if k := e.touches[u].link; e.links[k].round != e.solver.round {
					e.links[k].round = e.solver.round
					e.part = append(e.part, k)
				}
			}
		}
	}
}

// fill gives every flow of the component its max-min fair rate (progressive filling: Bertsekas and
// Gallager, Data Networks, 1992, section 6.5.2), in integers. The rate rises for all alike until
// links are full: those that have least for each of their flows, rounded down, fill up together. A
// flow's cap is a link of its own.
func (e *engine) fill() error {
	e.order = e.order[:0]
	for _, l := range e.part {
		k := &e.links[l]
		e.offer(l, k.left/k.weight)
	}
	if e.env.Device.LaneRate != unit.Unlimited {
		slices.SortFunc(e.members, func(a, b int32) int {
			return cmp.Compare(e.flows[a].cap, e.flows[b].cap)
		})
	}
	capped := 0
	for {
		for capped < len(e.members) && e.flows[e.members[capped]].fixed {
			capped++
		}
		if capped == len(e.members) {
			return nil
		}
		least := e.flows[e.members[capped]].cap
		least = e.tightest(least)
		if least == 0 {
			return e.tooSlow(e.members[capped])
		}
		for i := capped; i < len(e.members) && e.flows[e.members[i]].cap == least; i++ {
			e.fix(e.members[i], least)
		}
		for _, l := range e.tight {
			for t := e.links[l].flows; t >= 0; t = e.touches[t].next {
				e.fix(e.touches[t].flow, least)
			}
		}
	}
}

// tightest is the least that a link has for each of its flows, or limit if that is less; e.tight
// are the links that have no more.
func (e *engine) tightest(limit uint64) uint64 {
	e.tight = e.tight[:0]
	for len(e.order) > 0 && e.order[0].share <= limit {
		o := e.takeOffer()
		l := &e.links[o.link]
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

// fix gives a flow its rate.
func (e *engine) fix(m int32, rate uint64) {
	f := &e.flows[m]
	if f.fixed {
		return
	}
	f.fixed, f.next = true, rate
	for t := f.touches; t >= 0; t = e.touches[t].also {
		l := &e.links[e.touches[t].link]
		l.left -= rate
		l.weight--
	}
}

// setRate makes a flow go on at the rate of the solution.
func (e *engine) setRate(m int32, now unit.Time) {
	f := &e.flows[m]
	if f.next == f.rate {
		return
	}
	f.work = f.work.less(f.rate, now-f.since)
	f.since, f.rate = now, f.next
	f.ends = min(now+f.work.over(f.rate), unit.Forever)
	if f.place < 0 {
		e.finishes.add(m, e.flows)
	} else {
		e.finishes.moved(m, e.flows)
	}
}

// tooSlow is a flow that would not get a single unit.
func (e *engine) tooSlow(m int32) error {
	x := &e.messages[m]
	l := &e.lanes[x.lane]
	return fmt.Errorf("sim: rank %d lane %d: a link that its messages share gives each less than "+
		"2^-20 B/s; use sharing = fifo", l.rank, x.lane-e.first[l.rank])
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
