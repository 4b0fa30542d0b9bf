package sim

import "collsim/unit"

// causes is what a run remembers so that it can say afterwards what its time went into: of every
// sub-step what its start and its end waited for, of every message when it came to each link. It is
// kept only for Options.Critical. A sub-step takes 25 bytes (33 where additions take time), a
// message 40 (a get is two: the request and the reply), and each link that a message crosses 8, as
// do its segments after the first. Records are named by their number, −1 for none.
type causes struct {
	steps    []stepCause
	awaited  []awaited   // by step: what its start waited for
	adds     []unit.Time // by step: how long its additions took; nil if they are free
	messages []messageCause
	late     []unit.Time // by message: its own latency; nil where none has any
	spans    []unit.Time // of messages, from messageCause.spans on

	lanes     []laneCause
	ofMessage []int32 // the record of a message that is on its way
	ofMark    []int32 // the step that freed a slot, the message that left a queue of posts
	room      int32   // the message whose leaving made room for the posts of the step at hand
	limits    limits
}

// stepCause is a sub-step. D is not kept: it is when its messages asked for their first link, or
// else its end.
type stepCause struct {
	start unit.Time
	by    int32 // what the start waited for: a step or a message, as awaited says
	ends  int32 // the message that held it until its end; −1: none, it ended at D
	lane  int32
	step  int32 // of the lane's program
}

// awaited is what a sub-step's start waited for, in the order in which one of several that came at
// the same time is named.
type awaited uint8

const (
	ownStart   awaited = iota // of the rank
	laneBefore                // the end of the lane's step before
	aMessage                  // its arrival
	aSlot                     // the end of the step that freed it, and λ
	anEvent                   // the end of the step that posted it
	aPost                     // the leaving of a message in the lane's queue of posts

	computes awaited = 1 << 7 // besides: the sub-step is one that computes
)

// messageCause is a message, a get's request or its reply. Under FIFO its spans are when each
// segment began to cross the first link, then when the last segment began to cross each of the
// others; under fluid sharing, how much time each of its links cost it by being shared.
type messageCause struct {
	since unit.Time  // when it asked for its first link
	bytes unit.Bytes // that cross links
	spans int64
	step  int32 // that sends, or gets
	by    int32 // what had to come before it, after D: a reply; for a reply its request; behind − r: r
	route int32
	peers int32 // of its step; 0 for gets, which no lane paces
}

// behind − r, in messageCause.by, says that it was not the arrival of message r but its leaving;
// handed − r, in stepCause.ends, that message r only had to be handed over.
const (
	behind = -2
	handed = -2
)

// laneCause is a lane's present sub-step.
type laneCause struct {
	step   int32
	ends   int32 // the latest of what has left or come after D, the first of those that tie
	endsAt unit.Time
	order  uint64  // of that message among those of the step
	posts  []int32 // the steps that posted, so far
}

func newCauses(e *engine) *causes {
	w := &causes{lanes: make([]laneCause, len(e.lanes)), room: -1}
	for i := range w.lanes {
		w.lanes[i].step = -1
	}
	if e.env.Sharing == Fluid {
		w.limits.levels = make([]level, len(e.links))
	}
	return w
}

// begins remembers a sub-step that can start, and why not sooner.
func (e *engine) begins(i int32, start unit.Time) {
	w := e.why
	what, by := e.cause(i, start)
	if e.step.Cost > 0 {
		what |= computes
	}
	w.lanes[i].step = int32(len(w.steps))
	w.steps = append(w.steps, stepCause{start: start, by: by, ends: -1, lane: i,
		step: e.lanes[i].cursor.Step})
	w.awaited = append(w.awaited, what)
}

// cause finds what the start of the step in e.step, which is known, had to wait for.
func (e *engine) cause(i int32, start unit.Time) (what awaited, by int32) {
	l, w := &e.lanes[i], e.why
	if l.end.t == start {
		if w.lanes[i].step < 0 {
			return ownStart, -1
		}
		return laneBefore, w.lanes[i].step
	}
	for _, c := range e.named[:e.receives] {
		if m := e.conns[c].head; e.messages[m].at.t == start {
			return aMessage, w.ofMessage[m]
		}
	}
	for _, c := range e.named[e.receives:] {
		c := &e.conns[c]
		if c.bounded && c.room == 0 && e.marks[c.freed].at.t == start {
			return aSlot, w.ofMark[c.freed]
		}
	}
	if l.cursor.Slice() == 0 {
		if what, by := e.event(i, start); by >= 0 {
			return what, by
		}
	}
	return aPost, w.room // the last that is looked at, so the only one that can be left
}

// event is the step that posted what the step in e.step awaits, at a time; −1 is none.
func (e *engine) event(i int32, at unit.Time) (what awaited, by int32) {
	for _, v := range e.step.Await {
		on := e.first[e.lanes[i].rank] + v.Lane
		if v.Value > 0 && e.lanes[on].posts[v.Value-1].t == at {
			return anEvent, e.why.lanes[on].posts[v.Value-1]
		}
	}
	return anEvent, -1
}

// dispatched remembers D of the sub-step at hand.
func (e *engine) dispatched(i int32, n unit.Bytes, at unit.Time) {
	l := &e.why.lanes[i]
	l.ends, l.endsAt = -1, at
	if e.env.Device.ReduceRate != unit.Unlimited {
		e.why.adds = append(e.why.adds, e.additions(e.lanes[i].rank, n))
	}
}

// setsOut remembers a message that is about to ask for its first link.
func (e *engine) setsOut(m int32, at unit.Time, by int32) {
	w, x := e.why, &e.messages[m]
	r := &e.routes[x.route]
	segments := int64(1)
	if s := e.env.Segment; s > 0 && e.carried(m) > s && r.fan < 0 {
		segments = int64((e.carried(m) + s - 1) / s)
	}
	w.ofMessage = put(w.ofMessage, m, int32(len(w.messages)))
	if e.late != nil {
		w.late = append(w.late, e.late[m])
	}
	w.messages = append(w.messages, messageCause{since: at, bytes: e.carried(m),
		spans: int64(len(w.spans)), step: w.lanes[x.lane].step, by: by, route: x.route,
		peers: x.peers})
	if x.kind == requesting {
		w.messages[len(w.messages)-1].peers = ofRequest
	}
	for range segments + int64(r.to-r.from) - 1 {
		w.spans = append(w.spans, 0)
	}
}

// waitsBehind remembers that a message can only set out now because one before has left.
func (e *engine) waitsBehind(m int32, at unit.Time, before int32) {
	w := e.why
	step := w.messages[w.ofMessage[m]].step
	e.setsOut(m, at, behind-before)
	w.messages[w.ofMessage[m]].step = step
	if p := e.messages[m].post; p >= 0 {
		w.ofMark[p] = w.ofMessage[m]
	}
}

// crosses remembers when a packet began to cross a link. What segments before the last do after
// their first link decides nothing.
func (w *causes) crosses(p *packet, segment unit.Bytes, at unit.Time) {
	if p.hop > p.begin && !p.last {
		return
	}
	i := w.messages[w.ofMessage[p.message]].spans + int64(p.hop-p.begin)
	if segment > 0 {
		i += int64(p.from / segment)
	}
	w.spans[i] = at
}

// ended remembers that a message of the lane's present step has left, or been handed over, or that
// a reply has come: the step cannot end before.
// Of those that tie the lowest order counts: replies by their records, then what is sent.
func (w *causes) ended(lane, record int32, order uint64, at unit.Time) {
	l := &w.lanes[lane]
	if at > l.endsAt || at == l.endsAt && l.ends != -1 && l.order > order {
		l.ends, l.endsAt, l.order = record, at, order
	}
}

// inStep is the order of what is sent, by its place in line.
func inStep(line uint64) uint64 { return line | 1<<62 }

// finishes remembers what the lane's present step ended with.
func (w *causes) finishes(lane int32, posts bool) {
	l := &w.lanes[lane]
	w.steps[l.step].ends = l.ends
	if posts {
		l.posts = append(l.posts, l.step)
	}
}

// put sets an element of a list that grows as need be.
func put(list []int32, i, value int32) []int32 {
	for int(i) >= len(list) {
		list = append(list, -1)
	}
	list[i] = value
	return list
}
