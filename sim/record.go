package sim

import (
	"collsim/schedule"
	"collsim/trace"
	"collsim/unit"
)

// record begins the interval of the sub-step in e.step; finish ends it.
func (e *engine) record(i int32, n unit.Bytes, start, done unit.Time) {
	l, s := &e.lanes[i], &e.step
	v := trace.Interval{Track: i, Verb: trace.Verb(s.Verb()), Chunk: int32(s.Chunk()),
		Slice: l.cursor.Slice(), Round: s.Round, Peer: -1, Bytes: n,
		Ready: l.end.t, Start: start, Done: done}
	if !s.Moves() {
		v.Verb = 0
	}
	v.Kind = v.Verb.Kind()
	for k := range s.From {
		if s.From[k].Kind != schedule.Local && v.Peer < 0 {
			v.Peer = s.From[k].Peer.Rank
		}
	}
	if len(s.Send) > 0 {
		v.Peer = s.Send[0].Peer.Rank
	}
	l.interval = int32(len(e.trace.Intervals))
	e.trace.Intervals = append(e.trace.Intervals, v)
}

// recordMessage adds a message that has arrived. A get's data is none: no lane sends it.
func (e *engine) recordMessage(m int32) {
	x := &e.messages[m]
	c := &e.conns[x.conn]
	e.trace.Messages = append(e.trace.Messages, trace.Message{From: c.src, To: c.dst,
		Sent: x.sent, Arrived: x.at.t, Bytes: x.bytes})
}
