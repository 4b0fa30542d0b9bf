package sim

import (
	"collsim/schedule"
	"collsim/trace"
	"collsim/unit"
)

// recorder is what writing a trace needs besides the trace.
type recorder struct {
	count  []int32 // sub-steps of each lane so far
	arrows []int32 // of each message that is on its way: its place in the trace
	meters []meter // of the links
}

// startRecord makes the trace of a run that has not begun.
func (e *engine) startRecord() {
	e.trace = &trace.Trace{Tracks: make([]trace.Track, len(e.lanes)),
		Counters: make([]trace.Counter, len(e.links))}
	for i := range e.lanes {
		rank := e.lanes[i].rank
		e.trace.Tracks[i] = trace.Track{Rank: rank, Lane: int32(i) - e.first[rank]}
	}
	for i := range e.links {
		e.trace.Counters[i].Name = e.env.Graph.Links[i].Name
	}
	e.count, e.meters = make([]int32, len(e.lanes)), make([]meter, len(e.links))
}

// endRecord completes the trace of a run.
func (e *engine) endRecord(end unit.Time) {
	for i := range e.meters {
		e.settleJumps(int32(i))
	}
	e.trace.End = end
	for i := range e.trace.Counters { // silent puts may land after all lanes have ended
		if s := e.trace.Counters[i].Samples; len(s) > 0 {
			e.trace.End = max(e.trace.End, s[len(s)-1].At)
		}
	}
	e.trace.Sort()
}

// taken notes what the sub-step in e.step, the lane's next, takes out of its connections: those
// that it names first.
func (e *engine) taken(i int32) {
	e.count[i]++
	for _, c := range e.named[:e.receives] {
		e.trace.Messages[e.arrows[e.conns[c].head]].ToStep = e.count[i]
	}
}

// record begins the interval of the sub-step in e.step, whose messages are made; finish ends it.
func (e *engine) record(i int32, n unit.Bytes, start, done unit.Time) {
	l, s := &e.lanes[i], &e.step
	v := trace.Interval{Track: i, Verb: trace.Verb(s.Verb()), Chunk: int32(s.Chunk()),
		Slice: l.cursor.Slice(), Round: s.Round, Peer: -1, Bytes: n,
		Ready: l.end.t, Start: start, Done: done}
	if !s.Moves() {
		v.Verb = 0
	}
	v.Kind = v.Verb.Kind()
	if s.Cost > 0 {
		v.Kind = trace.Compute
	}
	for k := range s.From {
		if f := &s.From[k]; (f.Kind == schedule.Message || f.Kind == schedule.Get) && v.Peer < 0 {
			v.Peer = f.Peer.Rank
		}
	}
	if len(s.Send) > 0 && s.Send[0].Team == nil {
		v.Peer = s.Send[0].Peer.Rank
	}
	l.interval = int32(len(e.trace.Intervals))
	e.trace.Intervals = append(e.trace.Intervals, v)
	for m := l.sends; m >= 0; m = e.messages[m].also {
		if e.messages[m].conn < 0 { // no lane receives it
			continue
		}
		e.arrows = put(e.arrows, m, int32(len(e.trace.Messages)))
		e.trace.Messages = append(e.trace.Messages, trace.Message{From: i,
			To: e.conns[e.messages[m].conn].dst, Bytes: n, FromStep: e.count[i]})
	}
}

// recordArrival notes when a message was on its way. A get's data is none: no lane sends it.
func (e *engine) recordArrival(m int32) {
	x := &e.messages[m]
	v := &e.trace.Messages[e.arrows[m]]
	v.Sent, v.Arrived = x.sent, x.at.t
}
