package perfetto

import "collsim/trace"

// arrows holds the messages whose two steps are known: the one that sends and the one that
// receives.
type arrows struct {
	sent, taken grouped // messages by the interval that sends or receives them
}

// grouped holds messages by interval.
type grouped struct {
	first    []int32 // of interval n: messages[first[n]:first[n+1]]
	messages []int32
}

func (g grouped) of(interval int32) []int32 {
	return g.messages[g.first[interval]:g.first[interval+1]]
}

func newArrows(t *trace.Trace) arrows {
	from, to := make([]int32, len(t.Messages)), make([]int32, len(t.Messages))
	f := finder{trace: t, offset: offsets(t)}
	f.recorded(from, to)
	f.senders(from)
	f.receivers(to)
	for m := range t.Messages {
		if from[m] < 0 || to[m] < 0 {
			from[m], to[m] = -1, -1 // half an arrow is dropped
		}
	}
	return arrows{group(len(t.Intervals), from), group(len(t.Intervals), to)}
}

// group sorts messages by their intervals; −1 is none.
func group(intervals int, of []int32) grouped {
	g := grouped{first: make([]int32, intervals+1)}
	for _, i := range of {
		if i >= 0 {
			g.first[i+1]++
		}
	}
	for i := range intervals {
		g.first[i+1] += g.first[i]
	}
	g.messages = make([]int32, g.first[intervals])
	next := append([]int32(nil), g.first...)
	for m, i := range of {
		if i >= 0 {
			g.messages[next[i]] = int32(m)
			next[i]++
		}
	}
	return g
}

// offsets returns the index of the first interval of each track.
func offsets(t *trace.Trace) []int32 {
	offset := make([]int32, len(t.Tracks)+1)
	for _, i := range t.Intervals {
		offset[i.Track+1]++
	}
	for n := range t.Tracks {
		offset[n+1] += offset[n]
	}
	return offset
}

// finder infers the steps of messages where the trace does not record them. It accepts only certain
// matches, since a wrong arrow is worse than none.
type finder struct {
	trace  *trace.Trace
	offset []int32
}

// recorded fills in the steps that the trace records, −1 for the others.
func (f *finder) recorded(from, to []int32) {
	index := func(track, step int32) int32 {
		if step == 0 {
			return -1
		}
		return f.offset[track] + step - 1
	}
	for n, m := range f.trace.Messages {
		from[n], to[n] = index(m.From, m.FromStep), index(m.To, m.ToStep)
	}
}

// senders infers the sending steps. If each connection of a track has as many messages as the track
// has sending steps, the n-th step sent the n-th message of each. Otherwise each step must have
// sent one message, to the rank that it names.
func (f *finder) senders(from []int32) {
	messages := f.unmatched(from, func(m trace.Message) int32 { return m.From })
	for track := range f.trace.Tracks {
		sent := messages.of(int32(track))
		steps := f.steps(int32(track), trace.VerbSend)
		queues := f.queues(sent, func(m trace.Message) int32 { return m.To })
		if inStep(queues, len(steps)) {
			f.pair(queues, steps, from)
			continue
		}
		fits := len(steps) == len(sent)
		for n := 0; fits && n < len(sent); n++ {
			m, i := f.trace.Messages[sent[n]], f.trace.Intervals[steps[n]]
			fits = i.Peer == f.trace.Tracks[m.To].Rank && i.Start <= m.Sent
		}
		if fits {
			f.pair([]queue{{messages: sent}}, steps, from)
		}
	}
}

// receivers infers the receiving steps. If each connection of a track has as many messages as the
// track has receiving steps, the n-th step received the n-th message of each. Otherwise each step
// must have received one message, from the rank that it names. A step that also sends names its
// destination instead, so it is left out.
func (f *finder) receivers(to []int32) {
	messages := f.unmatched(to, func(m trace.Message) int32 { return m.To })
	for track := range f.trace.Tracks {
		came := messages.of(int32(track))
		steps := f.steps(int32(track), trace.VerbRecv)
		queues := f.queues(came, func(m trace.Message) int32 { return m.From })
		switch {
		case inStep(queues, len(steps)):
			if f.inTime(queues, steps) {
				f.pair(queues, steps, to)
			}
		case len(steps) == len(came):
			var taken []int32
			for _, i := range steps {
				if m, ok := f.next(queues, i); ok {
					taken = append(taken, m)
				}
			}
			if len(taken) == len(steps) {
				f.pair([]queue{{messages: taken}}, steps, to)
			}
		}
	}
}

// queue holds the messages of one connection.
type queue struct {
	track    int32 // at the other end
	messages []int32
}

// queues groups the messages of a track by the track at their other end.
func (f *finder) queues(messages []int32, other func(trace.Message) int32) []queue {
	var queues []queue
	place := map[int32]int{}
	for _, m := range messages {
		track := other(f.trace.Messages[m])
		n, ok := place[track]
		if !ok {
			n = len(queues)
			place[track] = n
			queues = append(queues, queue{track: track})
		}
		queues[n].messages = append(queues[n].messages, m)
	}
	return queues
}

// inStep reports whether each queue has one message for each step.
func inStep(queues []queue, steps int) bool {
	for _, q := range queues {
		if len(q.messages) != steps {
			return false
		}
	}
	return true
}

// inTime reports whether each message of matching queues had arrived when its step began.
func (f *finder) inTime(queues []queue, steps []int32) bool {
	for _, q := range queues {
		for n, m := range q.messages {
			if f.trace.Messages[m].Arrived > f.trace.Intervals[steps[n]].Start {
				return false
			}
		}
	}
	return true
}

// pair assigns the n-th message of each queue to the n-th step.
func (f *finder) pair(queues []queue, steps, of []int32) {
	for _, q := range queues {
		for n, m := range q.messages {
			of[m] = steps[n]
		}
	}
}

// next removes the message that a step receives from its queue. The step must name its sender, and
// only one lane of that rank may send.
func (f *finder) next(queues []queue, step int32) (message int32, ok bool) {
	i, found := f.trace.Intervals[step], -1
	if i.Verb&trace.VerbSend != 0 {
		return 0, false
	}
	for n, q := range queues {
		if f.trace.Tracks[q.track].Rank != i.Peer {
			continue
		}
		if found >= 0 {
			return 0, false
		}
		found = n
	}
	if found < 0 || len(queues[found].messages) == 0 {
		return 0, false
	}
	q := &queues[found]
	message = q.messages[0]
	q.messages = q.messages[1:]
	return message, f.trace.Messages[message].Arrived <= i.Start
}

// unmatched groups by track the messages whose step is not known.
func (f *finder) unmatched(step []int32, track func(trace.Message) int32) grouped {
	of := make([]int32, len(step))
	for n, m := range f.trace.Messages {
		if of[n] = -1; step[n] < 0 {
			of[n] = track(m)
		}
	}
	return group(len(f.trace.Tracks), of)
}

// steps returns the intervals of a track whose verb has a bit.
func (f *finder) steps(track int32, bit trace.Verb) []int32 {
	var steps []int32
	for i := f.offset[track]; i < f.offset[track+1]; i++ {
		if f.trace.Intervals[i].Verb&bit != 0 {
			steps = append(steps, i)
		}
	}
	return steps
}
