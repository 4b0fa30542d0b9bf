package fold

import (
	"cmp"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/unit"
)

// queues shares the links of classes first in, first out. Requests for the link to a rank that are
// made at one moment come by different ports of the switch, those of the rank's peers. The ports
// decide their order. A class is divided if its members have these ports in different orders.
type queues struct {
	asked    flat.Heap[unit.Time] // model.Ask
	requests []request
	unused   []int32 // of them
	time     unit.Time
	wave     uint64 // of time, that is carried out
}

// request is a packet that asks for a link of its class.
type request struct {
	class, way, end int32 // of outs on the way up, of ins on the way down
	peers           int32 // up: of the step
	bytes           unit.Bytes
	since           model.Moment // up: when the message set out
	key             uint64
	at              model.Moment
	part
}

// part is which bytes of a message a packet has, and when the last of them has come so far.
type part struct {
	first, last unit.Bytes
	tail        model.Moment
}

// ask has a packet ask for its link at a moment.
func (q *refinement) ask(r request, at model.Moment, key uint64) {
	r.at, r.key = at, key
	i := int32(len(q.requests))
	if n := len(q.unused); n > 0 {
		i, q.unused = q.unused[n-1], q.unused[:n-1]
		q.requests[i] = r
	} else {
		q.requests = append(q.requests, r)
	}
	q.asked.Push(model.Ask(at, 2*r.class+r.way, key, i))
	q.classes[r.class].waiting = append(q.classes[r.class].waiting, i)
}

// requeue has what asks for links of a class ask for those of one that has been part of it, too.
func (q *refinement) requeue(fresh int32) {
	old := q.classes[fresh].waiting
	q.classes[fresh].waiting = nil
	for _, i := range old {
		r := q.requests[i]
		r.class = fresh
		q.ask(r, r.at, r.key)
	}
}

// nextWave goes on to what is asked for next; there may be nothing.
func (q *refinement) nextWave() bool {
	if len(q.asked) == 0 {
		return false
	}
	q.time, q.wave = q.asked[0].First, q.asked[0].Second>>32
	return true
}

// serve has the link that is next carry what asks for it in the wave that is carried out.
func (q *refinement) serve() bool {
	if len(q.asked) == 0 || q.asked[0].First != q.time || q.asked[0].Second>>32 != q.wave {
		return false
	}
	link := q.asked[0].Second
	var all []int32
	for len(q.asked) > 0 && q.asked[0].First == q.time && q.asked[0].Second == link {
		all = append(all, q.asked.Pop().Item)
	}
	if q.requests[all[0]].way == up {
		for _, i := range all {
			q.goUp(q.forget(i))
		}
		return true
	}
	class := q.requests[all[0]].class
	if a, b, differ := q.order(class, all); differ {
		for _, i := range all {
			r := &q.requests[i]
			q.asked.Push(model.Ask(r.at, 2*r.class+r.way, r.key, i))
		}
		rep := q.Members(class)[0]
		want := q.before(rep, a, b)
		q.divideAs(class, func(rank int32) bool { return q.before(rank, a, b) != want })
		return true
	}
	for _, i := range all {
		q.goDown(q.forget(i))
	}
	return true
}

// forget takes a request out of those that wait.
func (q *refinement) forget(i int32) request {
	r := q.requests[i]
	c := &q.classes[r.class]
	c.waiting = without(c.waiting, i)
	q.unused = append(q.unused, i)
	return r
}

// place returns the place of the peer that asks, among the peers of the rank that the link leads
// to.
func (r *request) place() int32 { return int32(r.key >> 32) }

// order sorts requests for the link to a rank by the ports that they come by. If not all members of
// the class have the same order, it returns two places whose order differs.
func (q *refinement) order(class int32, all []int32) (a, b int32, differ bool) {
	places := []int32{}
	for _, i := range all {
		if p := q.requests[i].place(); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	rep := q.Members(class)[0]
	for i, a := range places {
		for _, b := range places[:i] {
			if !q.isOrdered(class, rep, a, b) {
				return a, b, true
			}
		}
	}
	slices.SortFunc(all, func(i, j int32) int {
		x, y := &q.requests[i], &q.requests[j]
		return cmp.Or(cmp.Compare(q.port(rep, x.place()), q.port(rep, y.place())),
			cmp.Compare(x.key, y.key))
	})
	return 0, 0, false
}

// isOrdered reports whether all members of a class have the same of two places first.
func (q *refinement) isOrdered(class, rep, a, b int32) bool {
	c := &q.classes[class]
	if slices.Contains(c.inOrder, [2]int32{a, b}) {
		return true
	}
	want := q.before(rep, a, b)
	for _, rank := range q.Members(class) {
		if q.before(rank, a, b) != want {
			return false
		}
	}
	c.inOrder = append(c.inOrder, [2]int32{a, b})
	return true
}

// before reports whether a rank's peer at one place comes by a lower port than that at another.
func (q *refinement) before(rank, a, b int32) bool { return q.port(rank, a) < q.port(rank, b) }

// port returns the switch port of a rank's peer at a place.
func (q *refinement) port(rank, place int32) int32 {
	link, _ := q.rules.Graph.Spokes(q.Peers(rank)[place])
	return link // a star's ports are in the order of its links up
}

// carry has a link carry a packet.
func (q *refinement) carry(r *request) (start, over model.Moment) {
	s := q.spoke(spokeOf{r.class, r.way})
	takes := r.last.Over(s.bandwidth) - r.first.Over(s.bandwidth)
	start, over = model.Serve(r.at, s.free, takes)
	s.free = over.T
	s.busy = min(s.busy+takes, unit.Forever)
	s.load += r.last - r.first
	return start, over
}

// lead returns the lower bandwidth of two links: up from a class, and down to its peers at an edge.
func (q *refinement) lead(class int32, e *symmetry.Edge) unit.Rate {
	return min(q.classes[class].up.bandwidth, q.classes[e.Class].down.bandwidth)
}

// alignLeads divides classes whose members have peers at one place over links that are not equally
// fast: what follows divides these parts further, but joins none.
func (q *refinement) alignLeads() {
	for class := int32(0); int(class) < len(q.classes); class++ {
		for place := int32(0); int(place) < len(q.Edges[class]); place++ {
			list := q.Edges[class][place]
			for i := range list {
				if rate := q.lead(class, &list[0]); q.lead(class, &list[i]) != rate {
					q.divideBy(class, place, func(peer, _ int32) bool {
						return q.lead(class, &symmetry.Edge{Class: peer}) == rate
					})
					place-- // there may be a third rate
					break
				}
			}
		}
	}
}

// goUp has the link to the switch carry a packet.
func (q *refinement) goUp(r request) {
	start, over := q.carry(&r)
	c := &q.classes[r.class]
	x := &q.scripts[c.script]
	before, put := q.rules.Pace(x.rank, r.peers, r.first), q.rules.Pace(x.rank, r.peers, r.last)
	tail := model.Later(over, model.PutOut(start, r.since, false, before, put))
	w := x.outs[r.end]
	there := q.Edges[r.class][w.place]
	if len(there) == 0 {
		q.why = neverReceived
		return
	}
	slowest := q.lead(r.class, &there[0])
	leaves := model.Leaves(start, q.rules.Lead(x.rank, r.peers, slowest, r.first),
		q.rules.Lead(x.rank, r.peers, slowest, r.last))
	next, tail := q.rules.Switching.Forward(start, tail, c.up.latency)
	q.emit(r.class, w, effect{kind: asks, number: c.went[w.place], at: next, bytes: r.bytes,
		part: part{r.first, r.last, tail}})
	c.went[w.place]++
	if r.last == r.bytes {
		q.left(r.class, w.near, leaves)
		return
	}
	r.first, r.last = r.last, q.rules.SegmentEnd(r.last, r.bytes)
	q.ask(r, leaves, r.key)
}

// goDown has the link from the switch carry a packet.
func (q *refinement) goDown(r request) {
	start, over := q.carry(&r)
	c := &q.classes[r.class]
	_, came := q.rules.Switching.Forward(start, model.Later(over, r.tail), c.down.latency)
	if r.last == r.bytes {
		in := &c.ins[r.end]
		in.came = append(in.came, came)
		q.wake(r.class)
	}
}
