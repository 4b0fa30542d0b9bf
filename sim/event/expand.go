package event

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// reader computes a log from the times of a compact log. It goes through the lanes once, to find
// where each step has its times and what it sends and receives. Everything else in a record is
// computed when it is asked for.
type reader struct {
	e       *engine
	log     *model.Log
	times   times
	at      int32     // where the lane's next time is
	spans   int32     // so many links have carried messages
	since   unit.Time // when the lane's sub-step before started
	steps   []place   // by number, those of a lane one after the other
	senders []int32   // of the messages: the numbers of steps
	turns   []int32   // of all connections that steps name: how many messages were before
	posts   [][]int32 // of each lane, the steps that post
	conns   []traffic
	forms   flat.List[form]
	framing []schedule.Framing
	kept    int32   // the form of the first slice of the step that is kept
	firsts  []int32 // of each lane, the number of its first step
	gpu     gpuLog  // the rest of it
	none    int64   // where spans are that say that no link has cost any time
	lost    []int64 // of the messages, where it is what sharing has cost them; nil: not asked yet
	byWay
}

// place notes a sub-step's start, its times, and its turns.
type place struct {
	start          unit.Time
	at, form, step int32 // at: where the times of the links are
	message, turn  int32 // the first that it sends; of the first connection that it names
	spans          int32 // of the first that it sends
}

// form holds the properties that sub-steps have in common, or those of a single one.
type form struct {
	moved
	onGPU
	lane     int32
	spans    int32 // of what it sends, under FIFO
	receives int32 // of named
	named    []int32
	framing  []schedule.Framing // of what it sends; nil: bare
	await    []schedule.Event
	computes bool
	isPost   bool
	sources  int32
	travels  []travel // where each message has room for itself: what it gets, then what it sends
	inQueue
}

func (f *form) received() []int32 { return f.named[:f.receives] }
func (f *form) sent() []int32     { return f.named[f.receives:] }
func (f *form) messages() int32   { return int32(len(f.sent())) + f.crosses() }

// traffic is the messages of a connection, and the steps that have received them.
type traffic struct{ sent, received []int32 }

// newReader goes through the lanes.
func newReader(e *engine, log *model.Log) *reader {
	for i := range e.log.heads {
		e.log.flush(int32(i))
	}
	e.log.rewind(e.lanes.len())
	r := &reader{e: e, log: log, gpu: e.log.gpuLog, times: e.log.inOrder(),
		posts: make([][]int32, e.lanes.len()),
		steps: make([]place, 0, e.totals.Steps), senders: make([]int32, 0, e.totals.Messages),
		turns: make([]int32, 0, 2*e.totals.Messages), conns: make([]traffic, e.conns.len())}
	if e.log.byWay {
		r.byWay = newByWay(e)
	}
	for i := range e.lanes.len() {
		r.lane(int32(i))
	}
	log.Network = &e.network
	longest := r.longest
	for i := range e.network.Routes {
		path := &e.network.Routes[i]
		longest = max(longest, int64(path.To-path.From))
	}
	if e.log.byWay {
		r.none = int64(len(log.Spans))
		log.Spans = append(log.Spans, make([]unit.Time, longest)...)
	} else {
		r.none = int64(r.spans)
		log.Spans = make([]unit.Time, r.none+longest)
	}
	if r.buffers() {
		r.findPartial()
	}
	for i := range log.Lanes {
		if l := &log.Lanes[i]; l.Last >= 0 {
			l.End = r.end(l.Last)
		}
	}
	return r
}

// lane goes through a lane.
func (r *reader) lane(i int32) {
	e := r.e
	l := e.lanes.at(i)
	p, number := e.programs[l.rank], i-e.first[l.rank]
	l.cursor, l.step, r.at = p.Walk(int(number)), resolved{place: -1}, r.times.lanes[i]
	begin := e.rules.Begin(l.rank, !isEmpty(l.cursor)).T
	r.firsts = append(r.firsts, int32(len(r.steps)))
	record := model.LaneRecord{Rank: l.rank, Lane: number, Part: l.part, Begin: begin,
		End: begin, Last: -1}
	for ; !l.cursor.Done(); l.cursor.Next(l.slices) {
		r.toStart()
		r.since = r.times.of[r.at]
		r.at++
		of := r.kept + l.cursor.Slice()
		if !l.isKept() {
			of = r.load(i, l)
		}
		r.add(of, l)
	}
	if r.toStart(); r.at != r.times.lanes[i+1] {
		panic("event: a compact log has other times than its reader knows")
	}
	if n := int32(len(r.steps)); n > r.firsts[i] {
		record.Last = n - 1
	}
	r.log.Lanes = append(r.log.Lanes, record)
}

// add notes the sub-step of a form to which a lane has come.
func (r *reader) add(of int32, l *lane) {
	f, number := r.form(of), int32(len(r.steps))
	p := place{start: r.since, at: r.at, form: of, step: l.cursor.Step,
		message: int32(len(r.senders)), turn: int32(len(r.turns)), spans: r.spans}
	for _, c := range f.received() {
		x := &r.conns[c]
		r.turns = append(r.turns, int32(len(x.received)))
		x.received = append(x.received, number)
	}
	for _, c := range f.sent() {
		x := &r.conns[c]
		r.turns = append(r.turns, int32(len(x.sent)))
		if !r.e.log.byWay {
			x.sent = append(x.sent, int32(len(r.senders)))
			r.senders = append(r.senders, number)
		}
	}
	r.spans += f.spans
	if r.steps = append(r.steps, p); r.e.log.byWay {
		r.addWays(number, f)
	}
	for range f.crosses() {
		r.senders, r.wayOf = append(r.senders, number), append(r.wayOf, -1)
	}
	if f.isPost && l.cursor.Last(l.slices) {
		r.posts[f.lane] = append(r.posts[f.lane], number)
	}
}

// toStart goes to the start of the next sub-step.
func (r *reader) toStart() {
	for r.times.kinds[r.at] != aStart {
		r.at++
	}
}

// load makes the form of the step to which a lane has come, and those of its slices if it is kept.
func (r *reader) load(i int32, l *lane) (of int32) {
	e, s := r.e, &r.e.step
	e.programs[l.rank].Load(&l.cursor, s)
	l.named, e.plain = l.named[:0], true
	for k := range s.From {
		if s.From[k].Kind == schedule.Message {
			l.named = append(l.named, e.connect(i, &s.From[k].Peer, false))
		}
	}
	l.receives = int32(len(l.named))
	f := form{lane: i, receives: l.receives, computes: s.Kernel != nil, isPost: s.Post,
		sources: int32(len(s.From)), framing: r.framing[:0]}
	for k := range s.Send {
		d := &s.Send[k]
		f.framing = append(f.framing, d.Framing())
		if e.plain = e.plain && d.Framing() == schedule.Bare; d.Message() {
			l.named = append(l.named, e.connect(i, &d.Peer, true))
		}
	}
	if f.named, r.framing = l.named, f.framing; e.plain {
		f.framing = nil
	}
	if e.repeats.isOn() {
		if e.repeats.keep(i); len(l.step.cuts) > 0 || l.isKept() && l.cursor.Body() > 1 {
			l.step.isKept = false // each has a form for itself
		}
	}
	if l.isKept() {
		r.kept = int32(r.forms.Len())
		for _, f.moved = range l.step.sizes {
			r.addForm(f)
		}
		return r.kept
	}
	if l.cursor.Slice() == 0 {
		f.await = s.Await
	}
	if e.gpu != nil {
		r.loadGPU(i, &f)
	}
	n, known := e.rules.Size(l.spot(), s)
	if !known && e.log.byWay && !f.dispatched {
		end, _ := r.times.take(&r.at, aSize)
		n = unit.Bytes(end - r.since)
	}
	if e.moved = n; !f.dispatched {
		f.cost = e.cost(i)
	}
	f.inQueue = inQueueOf(&e.rules, s, &f)
	f.bytes, f.copies = e.moved, e.gpu.copies()
	return r.formLike(f)
}

// ended returns the record of a sub-step, except for what it has waited for. It writes the records
// of what the sub-step sends to messages, unless that is nil.
func (r *reader) ended(number int32, messages []model.MessageRecord) model.StepRecord {
	p := &r.steps[number]
	f := r.form(p.form)
	if r.e.log.byWay {
		return r.endedByWay(number)
	}
	done := model.Moment{T: p.start}.Plus(f.cost).T
	s := model.StepRecord{Start: p.start, Done: done, End: done, Bytes: f.bytes, Lane: f.lane,
		Step: p.step, By: -1, Held: -1, Computes: f.computes, Sources: f.sources,
		Dispatched: f.dispatched}
	for number := p.message; number < p.message+f.messages(); number++ {
		m, left := r.sent(number)
		if left > s.End {
			s.End, s.Held = left, number
		}
		if messages != nil {
			m.Spans = r.spansOf(number, &m, left)
			messages[number] = m
		}
	}
	for _, w := range f.waves {
		s.End = max(s.End, w.end)
	}
	if f.dispatched {
		s.Done = s.End
	}
	return s
}

// end returns the time E at which a sub-step ends.
func (r *reader) end(number int32) unit.Time {
	if int(number) < len(r.log.Steps) {
		return r.log.Steps[number].End
	}
	s := r.ended(number, nil)
	return s.End
}

// cause returns what the start of a sub-step had to wait for: of everything that came at that time,
// the first.
func (r *reader) cause(number int32, start unit.Time) (model.Awaited, int32) {
	p := &r.steps[number]
	f := r.form(p.form)
	l := &r.log.Lanes[f.lane]
	if c := f.cause; c != nil && c.at == start {
		return c.what, r.numberOf(&c.cause)
	}
	if number > 0 && r.form(r.steps[number-1].form).lane == f.lane {
		if r.end(number-1) == start {
			return model.StepBefore, number - 1
		}
	} else if l.Begin == start {
		return model.RankStart, -1
	}
	turns := r.turns[p.turn:]
	for k, c := range f.received() {
		if m := r.conns[c].sent[turns[k]]; r.came(m) == start {
			return model.Arrival, m
		}
	}
	turns = turns[f.receives:]
	for k, c := range f.sent() {
		to := r.e.conns.at(c)
		slots := model.Slots(to.class, r.e.lanes.at(to.src).slots)
		if slots == 0 || turns[k] < slots {
			continue
		}
		by := r.conns[c].received[turns[k]-slots]
		if r.e.rules.Freed(model.Moment{T: r.end(by)}).T == start {
			return model.FreeSlot, by
		}
	}
	for _, v := range f.await {
		if v.Value <= 0 {
			continue
		}
		by := r.posts[r.e.first[l.Rank]+v.Lane][v.Value-1]
		if r.end(by) == start {
			return model.EventPost, by
		}
	}
	if by := r.leftBefore(number, start); by >= 0 {
		return model.PostLeft, by
	}
	panic("event: a step has waited for nothing")
}

// numberOf returns the number of the step that something has waited for, −1 for none.
func (r *reader) numberOf(c *cause) int32 {
	switch {
	case c.by.step < 0:
		return -1
	case c.what == model.EventPost:
		return r.posts[c.by.lane][c.by.step-1]
	}
	return r.firsts[c.by.lane] + c.by.step
}

// Step returns the record of a sub-step.
func (r *reader) Step(number int32) model.StepRecord {
	s := r.ended(number, nil)
	s.Awaited, s.By = r.cause(number, s.Start)
	return s
}

// Message returns the record of a message, except for its receiver.
func (r *reader) Message(number int32) model.MessageRecord {
	if r.e.log.byWay {
		return r.messageByWay(number)
	}
	m, left := r.sent(number)
	m.Spans = r.spansOf(number, &m, left)
	return m
}

// All writes the records of all sub-steps and messages.
func (r *reader) All() {
	e, log := r.e, r.log
	steps := make([]model.StepRecord, len(r.steps))
	messages := make([]model.MessageRecord, len(r.senders))
	for i := range steps {
		steps[i] = r.ended(int32(i), messages)
	}
	log.Steps = steps
	if e.log.byWay {
		r.allByWay(messages)
	}
	log.Messages = messages
	for i := range steps {
		s := &steps[i]
		s.Awaited, s.By = r.cause(int32(i), s.Start)
		p := &r.steps[i]
		for k, c := range r.form(p.form).received() {
			log.Messages[r.conns[c].sent[r.turns[int(p.turn)+k]]].To = int32(i)
		}
	}
	if log.Details != nil {
		log.Details = make([]model.Detail, 0, len(steps))
		for i := range e.lanes.len() {
			l := e.lanes.at(i)
			p := e.programs[l.rank]
			for c := p.Walk(int(i - e.first[l.rank])); !c.Done(); c.Next(l.slices) {
				p.Load(&c, &e.step)
				log.Details = append(log.Details, model.DetailOf(&e.step, &c))
			}
		}
	}
	if log.Counters != nil {
		r.count()
	}
}
