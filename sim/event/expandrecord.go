package event

import (
	"sort"

	"collsim/sim/model"
	"collsim/unit"
)

// holding says when a sub-step ended, and what held it until then.
type holding struct {
	end        unit.Time
	by         int32 // −1: nothing that it gets or sends
	isHandover bool
	isRoom     bool
}

// handedOver returns the time when a message was handed over to a queue or a send buffer. Of a
// message that is asked for, only the request goes to a queue.
func (r *reader) handedOver(w *way, x *travel) unit.Time {
	n := x.bytes
	if x.kind == request {
		n = 0
	}
	rank := r.e.lanes.at(x.lane).rank
	return model.Moment{T: w.since}.Plus(r.e.rules.PaceBy(x.pacer, rank, x.peers, n)).T
}

// heldBy returns what held a sub-step after D.
func (r *reader) heldBy(number int32) holding {
	p := &r.steps[number]
	f := r.form(p.form)
	h := holding{end: model.Moment{T: p.start}.Plus(f.cost).T, by: -1}
	until := func(t unit.Time, by int32, isHandover, isRoom bool) {
		if t > h.end {
			h = holding{t, by, isHandover, isRoom}
		}
	}
	for i := range f.travels {
		w, x := &r.ways[r.waysOf[number]+int32(i)], &f.travels[i]
		switch {
		case r.e.rules.Device.Offload && x.peers > 0:
			until(r.handedOver(w, x), w.record, true, false)
		case x.hasRoom && x.kind != request:
			until(r.handedOver(w, x), w.record, true, false)
			until(r.times.room(w.at, w.since), r.waysOf[number]+int32(i), false, true)
		case x.hasRoom:
			j := r.journeyOf(w)
			until(j.over, w.last, true, false)
			until(j.room, r.waysOf[number]+int32(i), false, true)
		case x.kind == getRequest:
			until(r.journeyOf(w).came, w.last, false, false)
		default:
			j := r.journeyOf(w)
			until(j.last().left, w.last, false, false)
		}
	}
	first := r.firstOver(number, f)
	for over := first; over < first+f.crosses(); over++ {
		_, left, _ := r.crossed(over)
		until(left, over, false, false)
	}
	return h
}

// endedByWay does the same as ended, for a compact log in which each message has entries of its
// own.
func (r *reader) endedByWay(number int32) model.StepRecord {
	p := &r.steps[number]
	f := r.form(p.form)
	h := r.heldBy(number)
	if h.isRoom {
		h.by = r.partial[number]
	}
	s := model.StepRecord{Start: p.start, Done: model.Moment{T: p.start}.Plus(f.cost).T, End: h.end,
		Bytes: f.bytes, Lane: f.lane, Step: p.step, By: -1, Held: h.by, IsHandover: h.isHandover,
		Computes: f.computes, Sources: f.sources, Dispatched: f.dispatched}
	for _, w := range f.waves {
		s.End = max(s.End, w.end)
	}
	if f.dispatched {
		s.Done = s.End
	}
	return s
}

// findPartial makes the records of what the send buffer had to see leave before steps could end.
func (r *reader) findPartial() {
	r.partial = map[int32]int32{}
	for number := range int32(len(r.steps)) {
		h := r.heldBy(number)
		if !h.isRoom {
			continue
		}
		w := &r.ways[h.by]
		s := &r.streams[r.form(r.steps[number].form).travels[w.k].stream]
		want := r.e.rules.Buffered(s.ends[w.turn])
		at := sort.Search(len(s.ends), func(i int) bool { return s.ends[i] >= want })
		from := unit.Bytes(0)
		if at > 0 {
			from = s.ends[at-1]
		}
		r.partial[number] = int32(len(r.senders))
		r.parts = append(r.parts, part{s.ways[at], want - from})
		r.senders, r.wayOf = append(r.senders, number), append(r.wayOf, s.ways[at])
	}
}

// crossed returns the record of a message, except for its spans and for why it set out no sooner.
// It also returns when the message has left, and whether it has crossed links.
func (r *reader) crossed(number int32) (m model.MessageRecord, left unit.Time, crosses bool) {
	if !r.e.log.byWay {
		m, left = r.sent(number)
		return m, left, true
	}
	i := r.wayOf[number]
	if i < 0 {
		p := &r.steps[r.senders[number]]
		f := r.form(p.form)
		m, left = r.overMemory(number, p.at, model.MessageRecord{Step: r.senders[number], By: -1, To: -1,
			Since: model.Moment{T: p.start}.Plus(f.cost).T, Pacer: f.pacer})
		return m, left, true
	}
	w := &r.ways[i]
	if number > w.last {
		return m, 0, false
	}
	j := r.journeyOf(w)
	leg := &j.records[number-w.record]
	return leg.MessageRecord, leg.left, leg.crosses
}

// messageByWay does the same as Message, for a compact log in which each message has entries of its
// own.
func (r *reader) messageByWay(number int32) model.MessageRecord {
	i := r.wayOf[number]
	if i < 0 {
		m, left, _ := r.crossed(number)
		m.Spans = r.spansOf(number, &m, left)
		return m
	}
	w := &r.ways[i]
	j := r.wholeOf(w)
	if number <= w.last {
		return j.records[number-w.record].MessageRecord
	}
	m := j.last().MessageRecord
	m.Bytes = r.parts[number-int32(len(r.senders)-len(r.parts))].bytes
	m.Late, m.Arrived = 0, 0
	return m
}

// wholeOf returns a journey whose records are complete: with causes and spans.
func (r *reader) wholeOf(w *way) journey {
	j := r.journeyOf(w)
	r.explain(&j)
	for i := range j.records[:j.n] {
		if m := &j.records[i]; m.crosses {
			m.Spans = r.spansOf(w.record+int32(i), &m.MessageRecord, m.left)
		}
	}
	return j
}

// allByWay makes all records of messages.
func (r *reader) allByWay(messages []model.MessageRecord) {
	for i := range r.ways {
		w := &r.ways[i]
		j := r.wholeOf(w)
		for k := range j.records[:j.n] {
			messages[w.record+int32(k)] = j.records[k].MessageRecord
		}
	}
	for i, way := range r.wayOf {
		if way < 0 || int32(i) > r.ways[way].last {
			messages[i] = r.messageByWay(int32(i))
		}
	}
}
