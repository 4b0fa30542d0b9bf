package algostest

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// Earliest returns the time at which each lane ends, by rank, then lane, if nothing is shared. Only
// messages take time, latency + n/bandwidth each, and every connection has a link of its own. It
// computes the earliest finish along the waits (docs/time.md) in one walk, without queues or
// events. So it predicts, independently of package sim, the result on a full mesh where no two
// connections share a link. slots holds for FIFO connections that declare none; 0 is unlimited.
// Multimem, which needs a switch, is an error.
func Earliest(s *schedule.Schedule, latency unit.Time, bandwidth unit.Rate, slots int) (
	ends []unit.Time, err error) {
	return EarliestOn(s, Machine{Latency: latency, Bandwidth: bandwidth, Slots: slots})
}

// A Machine has the parameters of Earliest. The last three are the device's parameters of the same
// names; with them, silent puts are not supported.
type Machine struct {
	Latency                unit.Time
	Bandwidth              unit.Rate
	Slots                  int
	SendBuffer, EagerLimit unit.Bytes
	ReceivesAhead          int
}

// EarliestOn returns Earliest's times on a machine. The time at which a receive is posted depends
// on steps after the send that waits for it. So the walk is repeated with the times found before,
// until they no longer change. Each walk settles at least one more posting. If times keep growing,
// some send is never granted, which is an error.
func EarliestOn(s *schedule.Schedule, m Machine) (ends []unit.Time, err error) {
	var posted map[key][]unit.Time
	for passes, counts := int64(0), (schedule.Counts{}); passes <= counts.Messages+1; passes++ {
		w := newWalk(s, m, posted)
		counts, err = schedule.Execute(s, schedule.Limits{Slots: m.Slots}, schedule.Hooks{Step: w.step})
		if err != nil || m.EagerLimit == 0 || maps.EqualFunc(posted, w.posted, slices.Equal) {
			return w.ends(), err
		}
		posted = w.posted
	}
	return nil, errors.New("receives are never posted: a deadlock of rendezvous")
}

// newWalk returns a walk that knows when receives were posted in the walk before.
func newWalk(s *schedule.Schedule, m Machine, known map[key][]unit.Time) *walk {
	return &walk{s: s, m: m, known: known, posted: map[key][]unit.Time{},
		freed: map[key][]unit.Time{}, slots: [4]int{cmp.Or(s.Slots, m.Slots), 1, 0},
		end: map[key]unit.Time{}, sent: map[key]int{}, arrival: map[int32]unit.Time{},
		bytes: map[int32]unit.Bytes{}, posts: map[key][]unit.Time{}, reached: map[key][]unit.Time{},
		awaiting: map[key]int{}, streams: map[key][]part{}, gone: map[key]unit.Time{}}
}

// ends returns when the lanes end.
func (w *walk) ends() (ends []unit.Time) {
	for rank := range w.s.Spec.Ranks {
		for l := range w.s.Program(rank).Lanes() {
			ends = append(ends, w.end[key{int32(rank), int32(l)}])
		}
	}
	return ends
}

// A key is a lane (rank, lane) or a connection (the lanes from and to, the class, the tag).
type key [6]int32

// connection returns the key of the connection from one lane to another that a peer stands for.
func connection(rank, lane, toRank, toLane int32, p schedule.Peer) key {
	return key{rank, lane, toRank, toLane, int32(p.Class), p.Tag}
}

// errMultimem is returned for multimem, which the evaluator does not support.
var errMultimem = errors.New("multimem needs a switch; here every connection has a " +
	"wire of its own")

// A walk is the state of the evaluator.
type walk struct {
	s            *schedule.Schedule
	m            Machine
	slots        [4]int // by class: FIFO, Pad, Free, Puts
	end          map[key]unit.Time
	posts, freed map[key][]unit.Time
	sent         map[key]int
	arrival      map[int32]unit.Time // of messages, by handle
	bytes        map[int32]unit.Bytes

	// by connection: when each receive is posted; known: in the walk before
	known, posted map[key][]unit.Time
	reached       map[key][]unit.Time // by lane: when it reached each sub-step and its events
	awaiting      map[key]int         // by lane: the last sub-step that awaited events
	streams       map[key][]part      // by connection: messages sent
	gone          map[key]unit.Time   // by lane: when everything that it has sent had left
}

// A part is a message in a connection's stream.
type part struct {
	base, end unit.Bytes
	begin     unit.Time
	left      unit.Time
}

// step computes the end of a sub-step (E), and the arrivals and events that follow from it.
func (w *walk) step(v *schedule.Visit) error {
	elements, known := w.s.Size(v.Spot(), v.Step)
	start, n := w.start(v), unit.Bytes(elements*int64(w.s.Spec.Type.Width()))
	if !known {
		n = w.bytes[v.In[0]]
	}
	done := start + v.Step.OpaqueTime()
	for _, f := range v.Step.From {
		switch f.Kind {
		case schedule.Get: // a request, then the data
			done = start + 2*w.m.Latency + n.Over(w.m.Bandwidth)
		case schedule.Multimem:
			return errMultimem
		}
	}
	at := done
	for i, handle := range v.Out {
		d, carried := &v.Step.Send[i], n
		switch {
		case d.Team != nil:
			return errMultimem
		case d.Packet: // a flag beside every word
			carried = 2 * n
		case d.Line: // 120 bytes in each line of 128
			if carried = n / 120 * 128; n%120 > 0 {
				carried += 128
			}
		}
		c := connection(v.Rank, v.Lane, d.Peer.Rank, d.Peer.Lane, d.Peer)
		over, left := w.send(c, d, done, n, carried)
		at = max(at, over)
		w.gone[key{v.Rank, v.Lane}] = max(w.gone[key{v.Rank, v.Lane}], left)
		if handle >= 0 { // a silent put has no message
			w.sent[c]++
			w.arrival[handle], w.bytes[handle] = left+w.m.Latency, n
		}
	}
	for i, f := range v.Step.From {
		if v.In[i] >= 0 {
			c := connection(f.Peer.Rank, f.Peer.Lane, v.Rank, v.Lane, f.Peer)
			w.freed[c] = append(w.freed[c], at)
		}
	}
	me := key{v.Rank, v.Lane}
	if w.end[me] = at; v.Step.Post && v.Last {
		w.posts[me] = append(w.posts[me], at)
	}
	return nil
}

// start returns the start of a sub-step (S): the lane is free, messages have arrived, events are
// posted, slots are free.
func (w *walk) start(v *schedule.Visit) unit.Time {
	me := key{v.Rank, v.Lane}
	at := w.end[me]
	for _, e := range v.Step.Await {
		if v.Slice == 0 && e.Value > 0 {
			at = max(at, w.posts[key{v.Rank, e.Lane}][e.Value-1])
			w.awaiting[me] = len(w.reached[me])
		}
	}
	w.reached[me] = append(w.reached[me], at)
	when := max(len(w.reached[me])-1-w.m.ReceivesAhead, w.awaiting[me])
	for i, f := range v.Step.From {
		if v.In[i] >= 0 {
			c := connection(f.Peer.Rank, f.Peer.Lane, v.Rank, v.Lane, f.Peer)
			w.posted[c] = append(w.posted[c], w.reached[me][when])
		}
	}
	for _, handle := range v.In { // −1 is no message's
		at = max(at, w.arrival[handle])
	}
	if v.Step.Flush {
		at = max(at, w.gone[me])
	}
	for _, d := range v.Step.Send {
		c := connection(v.Rank, v.Lane, d.Peer.Rank, d.Peer.Lane, d.Peer)
		if k := w.slots[d.Peer.Class]; d.Message() && k > 0 && w.sent[c] >= k {
			at = max(at, w.freed[c][w.sent[c]-k])
		}
	}
	return at
}

// send returns when a step may end as far as one of its messages is concerned, and when the last
// byte of that message has left. done is when the step has finished everything else.
func (w *walk) send(c key, d *schedule.Dest, done unit.Time, n, carried unit.Bytes) (over,
	left unit.Time) {
	if d.Silent {
		left = done + carried.Over(w.m.Bandwidth)
		return left, left
	}
	before := part{}
	if sent := w.streams[c]; len(sent) > 0 {
		before = sent[len(sent)-1]
	}
	begin := max(done, before.left)
	if w.m.EagerLimit > 0 && n > w.m.EagerLimit && d.Peer.Class == schedule.FIFO {
		begin += w.m.Latency // the request
		if i := w.sent[c]; i < len(w.known[c]) {
			begin = max(begin, w.known[c][i])
		}
		begin += w.m.Latency // the answer
		done = begin
	}
	p := part{base: before.end, end: before.end + carried, begin: begin,
		left: begin + carried.Over(w.m.Bandwidth)}
	w.streams[c] = append(w.streams[c], p)
	for _, q := range w.streams[c] {
		if want := p.end - w.m.SendBuffer; q.base < want && want <= q.end {
			done = max(done, q.begin+(want-q.base).Over(w.m.Bandwidth))
		}
	}
	return done, p.left
}
