package event

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// written is what the probe does about each of them.
var written = [...]func(p *probe, i, j int32, at unit.Time){
	stepBegins: (*probe).stepBegins, stepSends: (*probe).stepSends, stepEnds: (*probe).stepEnds,
	runEnds: (*probe).runEnds, kernelHasBegun: (*probe).kernelHasBegun,

	asksAfter: (*probe).asksAfter, linkServes: (*probe).linkServes,
	messageLeaves: (*probe).messageLeaves, messageArrives: (*probe).messageArrives,
	replyArrives: (*probe).replyArrives, putArrives: (*probe).messageArrives,
	slotFreed: (*probe).slotFreed,

	flowStarts: (*probe).flowStarts, flowEnds: (*probe).flowEnds, flowPasses: (*probe).flowPasses,
	ratesChange: (*probe).ratesChange,

	handedOver: (*probe).handedOver, posted: (*probe).posted, postLeft: (*probe).postLeft,
	bufferDrains: (*probe).bufferDrains, bufferClear: (*probe).bufferClear,

	streamFlows: (*probe).streamFlows, streamMoves: (*probe).streamMoves,
	followsStream: (*probe).followsStream, bufferHasRoom: (*probe).bufferHasRoom,
	putLeaves: (*probe).putLeaves, followsPuts: (*probe).followsPuts,

	comesToReceive: (*probe).comesToReceive, receivePosted: (*probe).receivePosted,
	requestAnswered: (*probe).requestAnswered, dataFollows: (*probe).dataFollows,
}

// probe writes the log of a run.
type probe struct {
	e        *engine
	log      *model.Log
	steps    flat.List[model.StepRecord]
	messages flat.List[model.MessageRecord]
	lanes    []laneProbe
	flowWatch

	ofMessage []int32 // the record of a message that is on its way
	ofMark    []int32 // the step that freed a slot
	ofPost    []int32 // the message that leaves a queue of posts
	stepOf    []int32 // the step that sends a message, where large ones are asked for
	ofPosted  []int32 // the step after which a receive was posted

	room     int32 // the message whose leaving made room for what the step at hand sends
	postedBy int32 // the step after which the receives at hand are posted
	streams  []streamProbe
	backlogs []backlogProbe
}

// laneProbe is a lane's present sub-step.
type laneProbe struct {
	held       int32 // the latest of what has left or come after D, the first of those that tie
	isHandover bool
	heldUntil  unit.Time
	order      uint64              // of held among those of the step
	part       model.MessageRecord // that of held, which has none yet
	isPart     bool
	steps      []int32             // by their numbers in the log
	of         map[int32]stepFacts // by place
	posts      []int32             // the steps that posted, so far
}

// stepFacts is what a step is, however often.
type stepFacts struct {
	computes bool
	sources  int32
}

// streamProbe is of a stream the record of what has left last, and of what flows.
type streamProbe struct{ left, flows int32 }

// backlogProbe is of a lane the record of the last silent put to leave, and of the last message, of
// several the first that was sent.
type backlogProbe struct {
	put, last int32
	at        unit.Time // when the latter left
	key       uint64
}

func newProbe(e *engine, log *model.Log) *probe {
	p := &probe{e: e, log: log, lanes: make([]laneProbe, e.lanes.len()), room: -1,
		backlogs: make([]backlogProbe, len(e.ahead.backlogs))}
	log.Network = &e.network
	if e.gpu != nil {
		e.gpu.watch = newGPUWatch(e, log)
	}
	for i := range e.lanes.len() {
		l := e.lanes.at(i)
		log.Lanes = append(log.Lanes, model.LaneRecord{Rank: l.rank, Lane: int32(i) - e.first[l.rank],
			Part: l.part, Begin: l.end.T, End: l.end.T, Last: -1})
	}
	p.flowWatch = flowWatch{fair: e.flows.Drain, network: &e.network, counters: log.Counters}
	log.Later(func() model.Records { return p.reader() })
	return p
}

// logTo has a probe write what happens to a log, unless that is nil.
func (e *engine) logTo(log *model.Log) {
	if log != nil {
		p := newProbe(e, log)
		e.observer = func(what happening, i, j int32, at unit.Time) { written[what](p, i, j, at) }
	}
}

// stepBegins remembers a sub-step that can start, and why not sooner.
func (p *probe) stepBegins(i, _ int32, start unit.Time) {
	what, by := p.cause(i, start)
	p.addStep(i, start, what, by)
}

// addStep adds the record of the sub-step that lane i is at.
func (p *probe) addStep(i int32, start unit.Time, what model.Awaited, by int32) {
	e, log, l := p.e, p.log, p.e.lanes.at(i)
	number, x := int32(p.steps.Len()), &p.lanes[i]
	place := l.cursor.Place()
	if x.steps = append(x.steps, number); !l.isKept() { // else they are as they were
		if x.of == nil {
			x.of = map[int32]stepFacts{}
		}
		x.of[place] = stepFacts{e.step.Kernel != nil, int32(len(e.step.From))}
	}
	s := p.steps.Next() // field by field, as messages are
	s.Start, s.Done, s.Bytes, s.Lane, s.Step = start, l.until.T, e.moved, i, l.cursor.Step
	s.By, s.Held, s.Awaited = by, -1, what
	s.Computes, s.Sources = x.of[place].computes, x.of[place].sources
	log.Lanes[i].Last = number
	x.held, x.heldUntil, x.isHandover = -1, l.until.T, false
	for _, c := range l.received() {
		p.message(e.conns.at(c).queue.First).To = number
	}
}

// message is the record of a message that is on its way.
func (p *probe) message(m int32) *model.MessageRecord { return p.messages.At(int(p.ofMessage[m])) }

// cause finds what the start of the step that lane i is at, which is known, had to wait for.
func (p *probe) cause(i int32, start unit.Time) (what model.Awaited, by int32) {
	e, l := p.e, p.e.lanes.at(i)
	if l.end.T == start {
		if e.gpu != nil && e.gpu.lanes[i].launch == launched {
			c := &e.gpu.watch.causes[i]
			return c.what, p.numberOf(c)
		}
		if last := p.log.Lanes[i].Last; last >= 0 {
			return model.StepBefore, last
		}
		return model.RankStart, -1
	}
	for _, c := range l.received() {
		if m := e.conns.at(c).queue.First; e.conns.message(m).at.T == start {
			return model.Arrival, p.ofMessage[m]
		}
	}
	for _, c := range l.sent() {
		c := e.conns.at(c)
		if at, _ := e.conns.slot(c); c.slots.First() >= 0 && at.T == start {
			return model.FreeSlot, p.ofMark[c.slots.First()]
		}
	}
	if l.cursor.Slice() == 0 && !l.isKept() { // what is kept awaits none
		if by := p.event(i, start); by >= 0 {
			return model.EventPost, by
		}
	}
	return model.PostLeft, p.room // the last that is looked at, so the only one that can be left
}

// event is the step that posted what the step in e.step awaits, at a time; −1 is none.
func (p *probe) event(i int32, at unit.Time) int32 {
	if post := p.e.postAt(i, at); post.step > 0 {
		return p.lanes[post.lane].posts[post.step-1]
	}
	return -1
}

// stepSends remembers the messages that a step sends.
func (p *probe) stepSends(i, _ int32, at unit.Time) {
	after := p.lanes[i].held // a get, if any
	for m := p.e.lanes.at(i).sends; m >= 0; m = p.e.conns.message(m).also {
		r := p.record(m, at, after)
		if p.e.rendezvous.isOn() {
			p.stepOf = put(p.stepOf, m, r.Step)
		}
	}
}

// record remembers a message that is about to ask for its first link.
func (p *probe) record(m int32, at unit.Time, by int32) *model.MessageRecord {
	e, log, x := p.e, p.log, p.e.conns.message(m)
	p.ofMessage = put(p.ofMessage, m, int32(p.messages.Len()))
	r := p.messages.Next()
	r.Since, r.Bytes, r.Spans, r.Step = at, e.conns.carried(m), noSpans, log.Lanes[x.lane].Last
	r.By, r.To, r.Route, r.Peers, r.Pacer = by, -1, x.route, x.peers, x.pacer
	if !e.isFluid && x.kind < copying {
		r.Spans = int64(p.spans.Len())
		route := &e.network.Routes[x.route]
		p.spans.Skip(int(e.rules.Segments(r.Bytes, route.Tree >= 0)) + int(route.To-route.From) - 1)
	}
	if e.conns.hasFigures() {
		r.Late = e.conns.late[m]
	}
	if x.kind == request {
		r.Kind = model.AskedFor
	}
	return r
}

// linkServes remembers when a packet began to cross a link. What segments before the last do after
// their first link decides nothing.
func (p *probe) linkServes(i, link int32, at unit.Time) {
	x := p.e.links.packet(i)
	if x.hop != x.begin && !x.isLast && p.log.Counters == nil {
		return
	}
	if x.hop == x.begin || x.isLast {
		k := p.message(x.message).Spans + int64(x.hop-x.begin)
		if s := p.e.rules.Segment; s > 0 {
			k += int64(x.from / s)
		}
		*p.spans.At(int(k)) = at
	}
	if p.log.Counters != nil {
		p.log.Counters[link].Carry(x.to-x.from, at, p.e.links.at(link).free)
	}
}

// asksAfter remembers a request, or a reply.
func (p *probe) asksAfter(m, before int32, at unit.Time) {
	by := int32(-1)
	if before >= 0 {
		by = p.ofMessage[before]
	}
	p.record(m, at, by)
}

func (p *probe) messageLeaves(m, _ int32, at unit.Time) { p.hold(m, at, false) }

func (p *probe) messageArrives(m, _ int32, at unit.Time) {
	p.message(m).Arrived = at
}

func (p *probe) replyArrives(m, _ int32, at unit.Time) {
	p.message(m).Arrived = at
	order := uint64(p.message(m).By) // of the requests, which are asked in the step's order
	p.holdFor(p.e.conns.message(m).lane, p.ofMessage[m], order, at, false)
}

func (p *probe) slotFreed(lane, mark int32, _ unit.Time) {
	p.ofMark = put(p.ofMark, mark, p.log.Lanes[lane].Last)
}

// hold remembers that a message of its lane's present step has left, or been handed over.
func (p *probe) hold(m int32, at unit.Time, isHandover bool) {
	x := p.e.conns.message(m)
	p.holdFor(x.lane, p.ofMessage[m], inStep(x.key), at, isHandover)
}

// holdFor remembers that the present step of a lane cannot end before a time, for a message. Of
// those that tie the lowest order counts: replies as the step names them, then what is sent.
func (p *probe) holdFor(lane, record int32, order uint64, at unit.Time, isHandover bool) {
	if l := &p.lanes[lane]; l.isHeldFor(order, at) {
		l.held, l.heldUntil, l.order, l.isHandover, l.isPart = record, at, order, isHandover, false
	}
}

func (l *laneProbe) isHeldFor(order uint64, at unit.Time) bool {
	return at > l.heldUntil || at == l.heldUntil && l.held != -1 && l.order > order
}

// inStep is the order of what is sent, by its key.
func inStep(key uint64) uint64 { return key | 1<<62 }

// stepEnds remembers what the lane's present step ended with.
func (p *probe) stepEnds(i, _ int32, at unit.Time) {
	l := &p.lanes[i]
	number := p.log.Lanes[i].Last
	if l.isPart {
		l.held, l.isPart = int32(p.messages.Len()), false
		*p.messages.Next() = l.part
	}
	s := p.steps.At(int(number))
	s.End, s.Held, s.IsHandover = at, l.held, l.isHandover
	if s.Dispatched {
		s.Done = at
	}
	p.log.Lanes[i].End = at
	if p.e.lanes.at(i).isPost {
		l.posts = append(l.posts, number)
	}
}

func (p *probe) runEnds(_, _ int32, _ unit.Time) {
	for i := range p.log.Counters {
		p.log.Counters[i].Close()
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

func (p *probe) flowStarts(m, _ int32, now unit.Time) { p.begins(m, p.message(m), now) }

func (p *probe) flowEnds(m, _ int32, now unit.Time) { p.ends(m, now) }

func (p *probe) flowPasses(m, _ int32, now unit.Time) { p.drain(p.message(m), now) }

func (p *probe) ratesChange(_, _ int32, now unit.Time) { p.change(now) }

// kernelHasBegun adds the record of a step that computes.
func (p *probe) kernelHasBegun(i, _ int32, start unit.Time) {
	c := &p.e.gpu.watch.causes[i]
	p.addStep(i, start, c.what, p.numberOf(c))
	p.steps.At(int(p.log.Lanes[i].Last)).Dispatched = true
}

// numberOf is the record of the step that something has waited for, −1 for none.
func (p *probe) numberOf(c *cause) int32 {
	switch {
	case c.what == model.EventPost:
		return p.lanes[c.by.lane].posts[c.by.step-1]
	case c.by.step < 0:
		return -1
	}
	return p.lanes[c.by.lane].steps[c.by.step]
}
