package fold

import (
	"cmp"
	"slices"

	"collsim/sim/model"
	"collsim/unit"
)

// effect describes an event that a class causes at its members' peers in another class.
type effect struct {
	from, place int32 // of the peers, as seen from there
	to, end     int32 // of its ins, or outs
	line        int32 // the end; of asks, the place that they come from
	number      int32 // of such effects in this line
	kind        effectKind
	at          model.Moment
	bytes       unit.Bytes // of a message
	part                   // of asks
}

type effectKind uint8

const (
	flowBegins effectKind = iota
	flowEnds
	hasCome  // a message, to the switch at a time
	slotFree // since a time
	asks     // a packet, for the link to the rank
)

const neverReceived = "a message is never received"

// emit has an effect on the other end of a connection.
func (q *refinement) emit(class int32, w wire, x effect) {
	found := int32(0)
	for _, e := range q.Edges[class][w.place] {
		other := &q.scripts[q.classes[e.Class].script]
		list := other.ins
		if x.kind == slotFree {
			list = other.outs
		}
		end := find(list, e.Label, w)
		if end < 0 {
			q.why = neverReceived
			return
		}
		x.from, x.place, x.to, x.end, x.line = class, w.place, e.Class, end, end
		if x.kind == asks {
			x.line = e.Label
		}
		q.effects = append(q.effects, x)
		found += e.Count
	}
	if found != q.Size(class) {
		q.why = neverReceived
	}
}

// compareEffects orders those of one line by number, and has those that are one follow each other.
func compareEffects(a, b effect) int {
	switch { // what differs most often comes first, and spares the rest
	case a.to != b.to:
		return cmp.Compare(a.to, b.to)
	case a.kind != b.kind:
		return cmp.Compare(a.kind, b.kind)
	case a.line != b.line:
		return cmp.Compare(a.line, b.line)
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.end, b.end),
		compareMoments(a.at, b.at), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.first, b.first),
		cmp.Compare(a.last, b.last), compareMoments(a.tail, b.tail), cmp.Compare(a.from, b.from),
		cmp.Compare(a.place, b.place))
}

func compareMoments(a, b model.Moment) int {
	return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Wave, b.Wave))
}

// deliver has effects take place that come to all of a class, and reports whether there were any.
func (q *refinement) deliver() (any bool) {
	if len(q.effects) == 0 {
		return false
	}
	slices.SortFunc(q.effects, compareEffects)
	all, rest := q.effects, q.held[:0]
	for len(all) > 0 && q.why == "" {
		e, n, covered := all[0], 0, int32(0)
		for n < len(all) && all[n].same(&e) {
			covered += q.covers(&all[n])
			n++
		}
		last := len(rest) - 1
		waits := last >= 0 && rest[last].to == e.to && rest[last].kind == e.kind &&
			rest[last].line == e.line
		switch {
		case covered == 0:
		case covered == q.Size(e.to) && !waits:
			q.apply(&e)
			any = true
		default:
			for _, x := range all[:n] {
				if q.covers(&x) > 0 {
					rest = append(rest, x)
				}
			}
		}
		all = all[n:]
	}
	q.effects, q.held = rest, q.effects
	return any
}

// same reports whether two effects are one to whom they come to.
func (e *effect) same(o *effect) bool {
	return e.to == o.to && e.kind == o.kind && e.end == o.end && e.number == o.number &&
		e.at == o.at && e.bytes == o.bytes && e.part == o.part
}

// covers counts the ranks of its class that an effect reaches.
func (q *refinement) covers(e *effect) int32 { return q.Count(e.to, q.placeOf(e), e.from, e.place) }

// placeOf returns the place at which the affected ranks have the peer that caused the effect.
func (q *refinement) placeOf(e *effect) int32 {
	x := &q.scripts[q.classes[e.to].script]
	if e.kind == slotFree {
		return x.outs[e.end].place
	}
	return x.ins[e.end].place
}

// apply has an effect take place.
func (q *refinement) apply(e *effect) {
	c := &q.classes[e.to]
	switch e.kind {
	case flowBegins:
		c.down.flows = append(c.down.flows, e.end)
		q.change(e.to, down)
	case flowEnds:
		c.down.flows = without(c.down.flows, e.end)
		q.change(e.to, down)
	case hasCome:
		in := &c.ins[e.end]
		in.came = append(in.came, e.at.Plus(c.down.latency))
		c.down.load += e.bytes
		q.wake(e.to)
	case slotFree:
		o := &c.outs[e.end]
		o.freed = append(o.freed, e.at)
		q.wake(e.to)
	case asks:
		q.ask(request{class: e.to, way: down, end: e.end, bytes: e.bytes, part: e.part}, e.at,
			uint64(e.line)<<32|uint64(e.number))
	}
}

// part divides the class that an effect comes to, by whom it comes to.
func (q *refinement) part(e *effect) {
	from := map[[2]int32]bool{} // is looked up only
	for i := range q.effects {
		if x := &q.effects[i]; x.same(e) {
			from[[2]int32{x.from, x.place}] = true
		}
	}
	q.divideBy(e.to, q.placeOf(e), func(class, back int32) bool {
		return from[[2]int32{class, back}]
	})
}

// divideBy divides a class by the classes of its members' peers at a place.
func (q *refinement) divideBy(class, place int32, such func(class, back int32) bool) {
	q.divideAs(class, func(rank int32) bool {
		at := q.First[rank] + place
		return such(q.Of[q.To[at]], int32(q.Back[at]))
	})
}

// divideAs splits a class as divide does: such selects the members of one part. The new class gets
// a copy of the state and of the effects that are still to come from or to the class.
func (q *refinement) divideAs(class int32, such func(rank int32) bool) {
	fresh := q.Divide(class, such)
	q.classes = append(q.classes, q.classes[class].clone())
	if q.classes[fresh].isAwake {
		q.awake = append(q.awake, fresh)
	}
	for i := range q.effects {
		x := q.effects[i]
		if x.from == class {
			y := x
			y.from = fresh
			q.effects = append(q.effects, y)
			if x.to == class {
				y.to = fresh
				q.effects = append(q.effects, y)
			}
		}
		if x.to == class {
			x.to = fresh
			q.effects = append(q.effects, x)
		}
	}
	q.fork(fresh)
}
