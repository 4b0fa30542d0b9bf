package fold

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// flowing is fluid sharing of the links of classes. A flow that goes out of a class goes to all
// peers of its members at a place; one that comes in comes from all. Rates are filled up from the
// lowest (model.MaxMin has the equations that they solve): of the links that are full first, all
// that flows on them has that rate, and so at its other ends. Where some members of a class have a
// flow of that rate, and others a higher one, the class is divided.
type flowing struct {
	queue   flat.Heap[unit.Time] // flows that begin, or end, of a class: Second
	changed []spokeOf
	rounds  int64
	looks   int64     // at links and flows, that solutions may still take
	here    []spokeOf // those that a solution works out
	filled  []filled  // how far each of them is
	frozen  []flowEnd
	covered []flowEnd
}

// flow is a message on its way.
type flow struct {
	begins, ends unit.Time // or never
	limit, rate  uint64
	rest         model.Rest
}

// level holds the result of a max-min solution at one end of a flow.
type level struct {
	rate    uint64 // 0: it is not found yet
	covered int32  // of members whose peer has found it
}

// spokeOf names a link of a class.
type spokeOf struct{ class, way int32 }

// The ways of links.
const (
	up   = 0
	down = 1
)

// flowEnd is an end of a flow: of the ins of a class where that is on its link down, else of its
// outs.
type flowEnd struct {
	spokeOf
	end int32
}

// filled holds a link's rest for the flows whose rate is not found yet: the rate that is left, and
// how many such flows there are.
type filled struct {
	left  uint64
	flows uint64
}

// share returns the rate that each of these flows gets if the link is full; NoCap without flows.
func (f *filled) share() uint64 {
	if f.flows == 0 {
		return model.NoCap
	}
	return f.left / f.flows
}

// spoke returns the state of a link.
func (q *refinement) spoke(s spokeOf) *spoke {
	if s.way == up {
		return &q.classes[s.class].up
	}
	return &q.classes[s.class].down
}

// level returns the result of the present max-min solution at one end of a flow.
func (q *refinement) level(f flowEnd) *level {
	if f.way == up {
		return &q.classes[f.class].outs[f.end].level
	}
	return &q.classes[f.class].ins[f.end].level
}

// wire returns the connection's end that belongs to a flow's end: the peer's place, and the lanes.
func (q *refinement) wire(f flowEnd) wire {
	x := &q.scripts[q.classes[f.class].script]
	if f.way == up {
		return x.outs[f.end]
	}
	return x.ins[f.end]
}

// other returns the opposite end of a flow: in the class of the peers at an edge.
func (q *refinement) other(w wire, f flowEnd, e *symmetry.Edge) flowEnd {
	x := &q.scripts[q.classes[e.Class].script]
	list := x.outs
	if f.way == up {
		list = x.ins
	}
	return flowEnd{spokeOf{e.Class, 1 - f.way}, find(list, e.Label, w)}
}

// change notes that a link has to be looked at.
func (q *refinement) change(class, way int32) {
	if s := q.spoke(spokeOf{class, way}); !s.isChanged {
		s.isChanged = true
		q.changed = append(q.changed, spokeOf{class, way})
	}
}

// send has a message set out.
func (q *refinement) send(class, end int32, at model.Moment, a *substep) {
	c := &q.classes[class]
	x, o, peers := &q.scripts[c.script], &c.outs[end], int32(len(a.sends))
	o.sent++
	o.bytes = a.bytes
	if q.rules.Sharing == model.FIFO {
		l := &c.lanes[o.lane]
		q.ask(request{class: class, way: up, end: end, peers: peers, bytes: a.bytes, since: at,
			part: part{last: q.rules.SegmentEnd(0, a.bytes)}}, at, model.LaneKey(int(o.lane))+l.sent)
		l.sent++
		return
	}
	c.up.load += a.bytes
	if a.bytes > 0 && c.up.capacity > 0 {
		o.limit = q.rules.PaceRate(x.rank, peers)
		if o.limit >= c.up.capacity { // then it holds nothing back
			o.limit = model.NoCap
		}
		o.begins = at.T
		q.push(class, end, at.T)
		return
	}
	gone := at.Plus(q.rules.Pace(x.rank, peers, a.bytes))
	q.left(class, o.lane, gone)
	q.emit(class, x.outs[end], effect{kind: hasCome, number: o.sent,
		at: gone.Plus(c.up.latency), bytes: o.bytes})
}

func (q *refinement) push(class, end int32, at unit.Time) {
	q.queue.Push(flat.Entry[unit.Time]{First: at, Second: uint64(class), Item: end})
}

// nextTime returns the time when the next flow begins or ends; never if none does. It drops
// outdated entries of the queue.
func (q *refinement) nextTime() unit.Time {
	for len(q.queue) > 0 {
		x := &q.queue[0]
		if o := &q.classes[x.Second].outs[x.Item]; o.begins == x.First || o.ends == x.First {
			return x.First
		}
		q.queue.Pop()
	}
	return never
}

// flowAt begins and ends the flows that do so at a time, and reports whether there are any.
func (q *refinement) flowAt(now unit.Time) (any bool) {
	for q.why == "" && q.nextTime() == now {
		any = true
		x := q.queue.Pop()
		class, end := int32(x.Second), x.Item
		c := &q.classes[class]
		o, w := &c.outs[end], q.scripts[c.script].outs[end]
		q.change(class, up)
		if o.begins == now {
			o.begins = never
			o.flow.rate, o.rest = 0, model.Rest{Work: model.WorkOf(o.bytes), Since: now}
			c.up.flows = append(c.up.flows, end)
			q.emit(class, w, effect{kind: flowBegins, number: o.sent})
			continue
		}
		at := model.Moment{T: now}
		o.ends = never
		c.up.flows = without(c.up.flows, end)
		q.emit(class, w, effect{kind: flowEnds, number: o.sent})
		q.emit(class, w, effect{kind: hasCome, number: o.sent, at: at.Plus(c.up.latency),
			bytes: o.bytes})
		q.left(class, o.lane, at)
	}
	return any
}

// fork has the flows of a class be those of one that has been part of it, too.
func (q *refinement) fork(fresh int32) {
	c := &q.classes[fresh]
	q.requeue(fresh)
	for i := range c.outs {
		for _, at := range [2]unit.Time{c.outs[i].begins, c.outs[i].ends} {
			if at != never {
				q.push(fresh, int32(i), at)
			}
		}
	}
	for way := range int32(2) {
		if q.spoke(spokeOf{fresh, way}).isChanged {
			q.changed = append(q.changed, spokeOf{fresh, way})
		}
	}
}

// solve works out the rates of all flows that what has begun and ended can have touched, and lets
// them go on at them. It is not done where it had to divide a class.
func (q *refinement) solve(now unit.Time) (done bool) {
	q.reach()
	for {
		least := model.NoCap
		for i := range q.here {
			least = min(least, q.filled[i].share(), q.leastLimit(i))
		}
		if least == model.NoCap {
			break
		}
		if least == 0 {
			q.why = "a link is too slow for its flows"
			return true
		}
		if q.looks < 0 {
			q.why = "rates change more often than if all ranks were simulated"
			return true
		}
		if !q.freeze(least) {
			return false
		}
	}
	for _, s := range q.here {
		c := &q.classes[s.class]
		if s.way == down {
			continue
		}
		for _, end := range c.up.flows {
			if o := &c.outs[end]; o.level.rate != o.flow.rate {
				o.ends = o.rest.Change(o.flow.rate, o.level.rate, now)
				o.flow.rate = o.level.rate
				q.push(s.class, end, o.ends)
			}
		}
	}
	for _, s := range q.changed {
		q.spoke(s).isChanged = false
	}
	q.changed = q.changed[:0]
	return true
}

// reach finds the links that a change can have touched: a link that one flow has to itself leads
// no further.
func (q *refinement) reach() {
	q.rounds++
	q.here, q.filled = q.here[:0], q.filled[:0]
	add := func(s spokeOf) {
		if x := q.spoke(s); x.seen != q.rounds {
			x.seen, x.index = q.rounds, int32(len(q.here))
			q.here = append(q.here, s)
			q.filled = append(q.filled, filled{x.capacity, uint64(len(x.flows))})
		}
	}
	for _, s := range q.changed {
		add(s)
	}
	for i := 0; i < len(q.here); i++ {
		s := q.here[i]
		for _, end := range q.spoke(s).flows {
			f := flowEnd{s, end}
			*q.level(f) = level{}
			for _, e := range q.Edges[s.class][q.wire(f).place] {
				add(spokeOf{e.Class, 1 - s.way})
			}
		}
	}
}

// leastLimit returns the least rate limit among the flows out of a class whose rate is not found
// yet.
func (q *refinement) leastLimit(i int) uint64 {
	least := model.NoCap
	if s := q.here[i]; s.way == up && q.filled[i].flows > 0 {
		for _, end := range q.classes[s.class].up.flows {
			if o := &q.classes[s.class].outs[end]; o.level.rate == 0 {
				least = min(least, o.limit)
			}
		}
	}
	return least
}

// freeze gives a rate, the least that is left, to all flows that have it; it does not where a class
// had to be divided.
func (q *refinement) freeze(rate uint64) bool {
	q.frozen, q.covered = q.frozen[:0], q.covered[:0]
	for i, s := range q.here {
		isFull := q.filled[i].share() == rate
		flows := q.spoke(s).flows
		q.looks -= int64(1 + len(flows))
		for _, end := range flows {
			f := flowEnd{s, end}
			if l := q.level(f); l.rate == 0 &&
				(isFull || s.way == up && q.classes[s.class].outs[end].limit == rate) {
				q.frozen = append(q.frozen, f)
			}
		}
	}
	for _, f := range q.frozen {
		q.level(f).rate = rate
	}
	for _, f := range q.frozen {
		w := q.wire(f)
		for i := range q.Edges[f.class][w.place] {
			e := &q.Edges[f.class][w.place][i]
			other := q.other(w, f, e)
			l := q.level(other)
			if l.rate > 0 {
				continue
			}
			if l.covered == 0 {
				q.covered = append(q.covered, other)
			}
			l.covered += e.Count
		}
	}
	for _, f := range q.covered {
		l := q.level(f)
		if l.covered == q.Size(f.class) {
			l.rate = rate
			q.frozen = append(q.frozen, f)
			continue
		}
		w := q.wire(f)
		q.divideBy(f.class, w.place, func(class, back int32) bool {
			return q.level(q.other(w, f, &symmetry.Edge{Class: class, Label: back})).rate > 0
		})
		return false
	}
	for _, f := range q.frozen {
		x := &q.filled[q.spoke(f.spokeOf).index]
		x.left -= rate
		x.flows--
	}
	return true
}
