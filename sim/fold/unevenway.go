package fold

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/internal/ramp"
	"collsim/sim/model"
	"collsim/unit"
)

// unevenAction is a step as the lanes of a class carry it out.
type unevenAction struct {
	step     schedule.Step
	isSteady bool    // it is the same in all iterations of its loop
	receives []int32 // connections
	sends    []unevenSend
	sizes    []*unevenSize // by slice, and by the size of the messages
}

// unevenSend is a message that a step sends.
type unevenSend struct {
	conn    int32
	framing schedule.Framing
	dst     int32 // the rank, of the representative
}

// unevenSize holds the bytes that a sub-step moves and the time that it takes.
type unevenSize struct {
	slice int32
	given unit.Bytes // by the messages, where the step does not say
	bytes unit.Bytes
	cost  ramp.Profile
	ways  []*figures // by send
}

// figures holds the times that a message takes on its route, in the order of the senders.
type figures struct {
	carried  unit.Bytes
	late     ramp.Profile
	hops     []unevenHop
	put      ramp.Profile // FIFO: how long the lane takes to put it out,
	lead     ramp.Profile // and until it has left if nothing is in its way
	flow     ramp.Profile // fluid: until it has left, alone on its links,
	latency  ramp.Profile // and then until it has arrived
	isShared bool
}

// unevenHop is a link that is crossed: of number n the link n + number.
type unevenHop struct {
	orbit, number int32
	takes         ramp.Profile
	latency       ramp.Profile
	isFinite      bool // the bandwidth, of one of them at least
}

// resolve finds what a lane's present step does.
func (q *uneven) resolve(i int32) {
	l := &q.lanes[i]
	p, place := q.programs[l.class], l.cursor.Place()
	if a := l.steady[place]; a != nil {
		l.action = a
		return
	}
	a := &unevenAction{}
	p.Load(&l.cursor, &a.step)
	if loop, _ := l.cursor.Around(); loop >= 0 && p.Steady(&l.cursor) {
		a.isSteady, l.steady[place] = true, a
	}
	for k := range a.step.From {
		if f := &a.step.From[k]; f.Kind == schedule.Message {
			class, element := q.sym.Place(f.Peer.Rank)
			a.receives = append(a.receives, q.connect(connectionKey{i, element,
				class*q.perRank + f.Peer.Lane, f.Peer.Class, f.Peer.Tag}))
		}
	}
	for k := range a.step.Send {
		d := &a.step.Send[k]
		class, element := q.sym.Place(d.Peer.Rank)
		a.sends = append(a.sends, unevenSend{dst: d.Peer.Rank, framing: d.Framing(),
			conn: q.connect(connectionKey{class*q.perRank + d.Peer.Lane, q.back(element), i,
				d.Peer.Class, d.Peer.Tag})})
	}
	l.action = a
}

// connect returns the connections of a key, which it makes on first use. In this key, rank is the
// sender's number minus the receiver's, and lane is the lane of all senders.
func (q *uneven) connect(key connectionKey) int32 {
	if c, ok := q.connBy[key]; ok {
		return c
	}
	i := int32(len(q.conns))
	c := unevenConn{src: key.lane, dst: key.dst, turn: key.rank, unused: q.rules.Slots(key.class)}
	c.bounded = c.unused > 0
	q.conns = append(q.conns, c)
	q.connBy[key] = i
	return i
}

// sizeOf returns the bytes that a sub-step moves and the time that it takes, where the largest
// message that it receives has this many bytes.
func (q *uneven) sizeOf(l *unevenLane, a *unevenAction, given unit.Bytes) *unevenSize {
	slice := l.cursor.Slice()
	for _, s := range a.sizes {
		if s.slice == slice && (s.given < 0 || s.given == given) {
			return s
		}
	}
	n, known := q.rules.Size(schedule.Spot{Rank: int(q.sym.Reps[l.class]),
		Channel: int(l.channel), Slice: int(slice)}, &a.step)
	s := &unevenSize{slice: slice, given: -1, bytes: n}
	if !known {
		s.given, s.bytes = given, given
	}
	for from := range q.pieces(l.class, nil) {
		s.cost = s.cost.Push(ramp.Ramp{From: from.at,
			At: q.rules.Cost(q.sym.Rank(l.class, from.at), &a.step, s.bytes)}, from.n)
	}
	for k := range a.sends {
		s.ways = append(s.ways, q.figuresOf(l.class, a, &a.sends[k], s.bytes))
	}
	a.sizes = append(a.sizes, s)
	return s
}

// piece is numbers that are alike: n, from at on.
type piece struct{ at, n int32 }

// pieces visits the ranks of a class in pieces of consecutive numbers. Within a piece the ranks are
// alike, and so are the links of each hop.
func (q *uneven) pieces(class int32, hops []unevenHop) func(func(piece) bool) {
	cuts := append([]int32{0, q.size}, q.cuts[class]...)
	for _, h := range hops {
		for _, link := range q.edges[h.orbit] {
			n := (link - h.number + q.size) % q.size
			cuts = append(cuts, n, n+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	return func(visit func(piece) bool) {
		for i, at := range cuts[:len(cuts)-1] {
			if !visit(piece{at, cuts[i+1] - at}) {
				return
			}
		}
	}
}

// figuresOf finds what a message takes on its way.
func (q *uneven) figuresOf(class int32, a *unevenAction, to *unevenSend, n unit.Bytes) *figures {
	f, peers := &figures{}, int32(len(a.sends))
	framed := q.rules.Device.Of(n)
	f.carried, f.late = model.OnLinks(framed, n, to.framing), ramp.Profile{{At: framed.Latency}}
	if f.carried > model.MostOnLinks {
		q.refuse("a message is larger than is counted")
	}
	q.net.look(q.sym.Reps[class], to.dst)
	for _, h := range q.net.here {
		x := &q.net.hops[h]
		f.hops = append(f.hops, unevenHop{orbit: x.orbit, number: x.number})
	}
	isFirst := true
	for at := range q.pieces(class, f.hops) {
		rank := q.sym.Rank(class, at.at)
		add := func(p *ramp.Profile, t unit.Time) {
			*p = p.Push(ramp.Ramp{From: at.at, At: t}, at.n)
		}
		route := model.Route{Slowest: unit.Unlimited}
		for i := range f.hops {
			h := &f.hops[i]
			link := q.link(h, at.at)
			add(&h.takes, f.carried.Over(link.Bandwidth))
			add(&h.latency, link.Latency)
			q.isInstant = q.isInstant || link.Latency == 0
			h.isFinite = h.isFinite || link.Bandwidth != unit.Unlimited
			route.Latency = min(route.Latency+link.Latency, unit.Forever)
			route.Slowest = min(route.Slowest, link.Bandwidth)
		}
		put, isShared := q.rules.Pace(rank, peers, f.carried), route.IsShared(f.carried)
		if !isFirst && isShared != f.isShared {
			q.refuse("some messages share links, others do not")
		}
		f.isShared, isFirst = isShared, false
		lead := q.rules.Lead(rank, peers, route.Slowest, f.carried)
		q.isInstant = q.isInstant || lead == 0
		add(&f.put, put)
		add(&f.lead, lead)
		add(&f.latency, route.Latency)
		if q.isFluid && isShared {
			ok := false
			if put, ok = q.rules.Alone(rank, peers, route.Slowest, f.carried); !ok {
				q.refuse("a flow has no rate")
			}
		}
		add(&f.flow, put)
	}
	if q.isTied && q.isInstant {
		q.refuse("links are asked at one time, in waves")
	}
	return f
}

// link returns the link that the message of a class's n-th rank crosses at a hop.
func (q *uneven) link(h *unevenHop, n int32) model.Link {
	if l, ok := q.changed[[2]int32{h.orbit, (n + h.number) % q.size}]; ok {
		return l
	}
	return q.links[h.orbit].base
}

// serve lets what is under way cross its next links, of fluid sharing all.
func (q *uneven) serve() {
	q.packets, q.batch = q.batch[:0], q.packets
	slices.SortStableFunc(q.batch, func(a, b *parcel) int {
		return int(max(min(a.at[0].At-b.at[0].At, 1), -1))
	})
	for _, x := range q.batch {
		if q.why != "" {
			return
		}
		if q.isFluid {
			q.flow(x)
		} else {
			q.cross(x)
		}
	}
}

// orbit returns the links that a hop crosses, in the order of the senders, and counts a message of
// n bytes on each.
func (q *uneven) orbit(h *unevenHop, n unit.Bytes) *unevenLink {
	l := &q.links[h.orbit]
	if !l.isUsed {
		l.last, l.free = l.last.Set(0), l.free.Set(0)
		l.turn = h.number
	}
	if turn := (h.number - l.turn + q.size) % q.size; turn != 0 {
		last, free := q.get().Turn(l.last, turn, q.size), q.get().Turn(l.free, turn, q.size)
		q.put(l.last)
		q.put(l.free)
		l.last, l.free, l.turn = last, free, h.number
	}
	for i := range l.loads {
		if l.loads[i].bytes == n {
			l.loads[i].times++
			return l
		}
	}
	l.loads = append(l.loads, carriedSize{n, 1})
	return l
}

// cross lets a message cross its next link (docs/time.md, FIFO sharing).
func (q *uneven) cross(x *parcel) {
	w := x.way
	h := &w.hops[x.hop]
	by := -1 - int64(x.lane)
	if x.hop > 0 {
		before := &w.hops[x.hop-1]
		by = int64(before.orbit)<<32 | int64((before.number-h.number+q.size)%q.size)
	}
	l := q.orbit(h, w.carried)
	if l.isUsed && !q.comesNext(l, by, x.at) {
		q.refuse("links are asked in another order than was guessed")
		return
	}
	l.isUsed, l.by, l.last = true, by, l.last.Copy(x.at)
	start := q.get().Later(x.at, l.free, q.size)
	q.put(l.free)
	l.free = q.watch(q.get().Plus(start, h.takes, q.size))
	over := l.free
	if x.hop == 0 {
		put := q.get().Plus(start, w.put, q.size)
		x.tail = q.get().Later(over, put, q.size)
		q.put(put)
		q.left(x.lane, q.get().Plus(start, w.lead, q.size))
	} else {
		x.tail = q.laterOf(x.tail, over)
	}
	x.tail = q.plus(x.tail, h.latency)
	q.put(x.at)
	if x.hop++; x.hop == len(w.hops) {
		q.put(start)
		q.arrived(x, q.plus(x.tail, w.late))
		return
	}
	if q.rules.Switching == model.StoreForward {
		q.put(start)
		x.at = q.get().Copy(x.tail)
	} else {
		x.at = q.plus(start, h.latency)
	}
	q.packets = append(q.packets, x)
}

// comesNext reports whether what asks for the links of an orbit is to be served after what asked
// last, for all of them. At one time the ranks' own lanes come first, in their order, if there are
// no waves.
func (q *uneven) comesNext(l *unevenLink, by int64, at ramp.Profile) bool {
	if at.Reaches(l.last, l.by != by, q.size) {
		return true
	}
	if l.by >= 0 || by < 0 && by >= l.by || !at.Reaches(l.last, false, q.size) {
		return false
	}
	q.isTied = true
	return !q.isInstant
}

// flow lets a message flow, alone on its links.
func (q *uneven) flow(x *parcel) {
	w := x.way
	left := q.get().Plus(x.at, w.flow, q.size)
	for i := range w.hops {
		h := &w.hops[i]
		l := q.orbit(h, w.carried)
		if l.isUsed = true; !h.isFinite || !w.isShared {
			continue
		}
		if !x.at.Reaches(l.free, false, q.size) {
			q.refuse("flows share a link")
			return
		}
		l.free = l.free.Copy(left)
	}
	lane, at := x.lane, x.at
	q.arrived(x, q.plus(q.plus(q.get().Copy(left), w.latency), w.late))
	q.left(lane, left)
	q.put(at)
}
