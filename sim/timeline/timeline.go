// Package timeline makes the trace of a run from the log that an engine has written. It depends on
// no engine, and adds nothing to what the log says.
package timeline

import (
	"cmp"
	"slices"

	"collsim/sim/model"
	"collsim/trace"
	"collsim/unit"
)

// Of returns the trace of a run in an environment. The log must be one for pictures (model.NewLog).
func Of(env *model.Env, log *model.Log) *trace.Trace {
	t := &trace.Trace{Tracks: make([]trace.Track, len(log.Lanes))}
	if log.Counters != nil {
		t.Counters = make([]trace.Counter, len(env.Graph.Links()))
	}
	for i := range log.Lanes {
		l := &log.Lanes[i]
		t.Tracks[i] = trace.Track{Rank: l.Rank, Lane: l.Lane, Alike: log.Alike}
		t.End = max(t.End, l.End)
	}
	for _, r := range log.Repeats {
		t.Repeats = append(t.Repeats, trace.Repeat{At: r.At, Period: r.Period, Times: r.Times})
	}
	for i := range log.Counters {
		c := &log.Counters[i]
		if rank := i - len(t.Counters); rank < 0 {
			t.Counters[i] = trace.Counter{Name: env.Graph.Links()[i].Name, Samples: c.Samples}
		} else {
			name := env.Graph.Nodes()[env.Graph.Ranks[rank]].Name
			t.Memories = append(t.Memories, trace.Counter{Name: name, Samples: c.Samples})
		}
		if n := len(c.Samples); n > 0 { // silent puts may land after all lanes have ended
			t.End = max(t.End, c.Samples[n-1].At)
		}
	}
	var number []int32
	t.Intervals, number = intervals(log)
	t.Messages = messages(env, log, number)
	if log.Busy != nil {
		addGPUs(t, env, log)
	}
	return t
}

// intervals returns the sub-steps, lane after lane. number has the place of each record in its
// lane, counted from 1.
func intervals(log *model.Log) (list []trace.Interval, number []int32) {
	first := make([]int32, len(log.Lanes)+1) // of each lane in list
	steps := 0
	for i := range log.Steps {
		if !log.Details[i].IsEdge {
			first[log.Steps[i].Lane+1]++
			steps++
		}
	}
	ready := make([]unit.Time, len(log.Lanes))
	for i := range log.Lanes {
		first[i+1] += first[i]
		ready[i] = log.Lanes[i].Begin
	}
	next := slices.Clone(first)
	list, number = make([]trace.Interval, steps), make([]int32, len(log.Steps))
	for i := range log.Steps {
		s, d := &log.Steps[i], &log.Details[i]
		if d.IsEdge {
			continue
		}
		v := &list[next[s.Lane]]
		*v = trace.Interval{Track: s.Lane, Verb: trace.Verb(d.Verb), Chunk: d.Chunk, Slice: d.Slice,
			Round: d.Round, Peer: d.Peer, Bytes: s.Bytes, Ready: ready[s.Lane], Start: s.Start,
			Done: s.Done, End: s.End}
		if v.Kind = v.Verb.Kind(); s.Computes {
			v.Kind = trace.Compute
		}
		ready[s.Lane] = s.End
		next[s.Lane]++
		number[i] = next[s.Lane] - first[s.Lane]
	}
	return list, number
}

// messages returns the messages that a lane receives. A message with several records is shown by
// its last one, which has a receiver.
func messages(env *model.Env, log *model.Log, number []int32) []trace.Message {
	var list []trace.Message
	for i := range log.Messages {
		m := &log.Messages[i]
		if m.To < 0 {
			continue
		}
		from, to, sent := &log.Steps[m.Step], &log.Steps[m.To], m.Since
		if env.Sharing == model.FIFO {
			sent = log.Spans[m.Spans]
		}
		list = append(list, trace.Message{From: from.Lane, To: to.Lane, Sent: sent,
			Arrived: m.Arrived, Bytes: from.Bytes, FromStep: number[m.Step], ToStep: number[m.To]})
	}
	return inOrder(list)
}

// inOrder sorts messages by when they were sent.
func inOrder(list []trace.Message) []trace.Message {
	type place struct { // of a message: small, so that comparisons stay in the cache
		sent unit.Time
		at   int
	}
	if list == nil {
		return nil
	}
	places := make([]place, len(list))
	for i := range list {
		places[i] = place{list[i].Sent, i}
	}
	slices.SortFunc(places, func(x, y place) int {
		if x.sent != y.sent {
			return cmp.Compare(x.sent, y.sent)
		}
		a, b := &list[x.at], &list[y.at]
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.Arrived, b.Arrived), cmp.Compare(a.FromStep, b.FromStep),
			cmp.Compare(a.ToStep, b.ToStep))
	})
	sorted := make([]trace.Message, len(list))
	for i, x := range places {
		sorted[i] = list[x.at]
	}
	return sorted
}
