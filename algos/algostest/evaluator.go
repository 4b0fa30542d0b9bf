package algostest

import (
	"cmp"
	"errors"

	"collsim/schedule"
	"collsim/unit"
)

// Earliest is when each lane ends, by rank, then lane, where nothing is shared: messages alone cost
// time, latency + n/bandwidth each, and every connection has a link of its own. It is the earliest
// finish along the waits (design §4), found in one walk without queues or events. So it says
// independently of package sim what that must say on a full mesh, if no two connections join the
// same ranks the same way. Slots are those of FIFO connections that declare none; 0 is any number.
// Multimem, which needs a switch, is an error.
func Earliest(s *schedule.Schedule, latency unit.Time, bandwidth unit.Rate, slots int) (
	ends []unit.Time, err error) {
	w := walk{s: s, latency: latency, bandwidth: bandwidth, freed: map[key][]unit.Time{},
		slots: [3]int{cmp.Or(s.Slots, slots), 1, 0}, end: map[key]unit.Time{}, sent: map[key]int{},
		arrival: map[int32]unit.Time{}, bytes: map[int32]unit.Bytes{}, posts: map[key][]unit.Time{}}
	_, err = schedule.Execute(s, schedule.Limits{Slots: slots}, schedule.Hooks{Step: w.step})
	for rank := range s.Spec.Ranks {
		for l := range s.Program(rank).Lanes() {
			ends = append(ends, w.end[key{int32(rank), int32(l)}])
		}
	}
	return ends, err
}

// key is a lane (rank, lane) or a connection (the lanes from and to, the class, the tag).
type key [6]int32

// connection is the key of the messages from one lane to another that a peer stands for.
func connection(rank, lane, toRank, toLane int32, p schedule.Peer) key {
	return key{rank, lane, toRank, toLane, int32(p.Class), p.Tag}
}

// errMultimem is what the evaluator cannot do.
var errMultimem = errors.New("algostest: multimem needs a switch; here every connection has a " +
	"wire of its own")

// walk is what is known so far.
type walk struct {
	s            *schedule.Schedule
	latency      unit.Time
	bandwidth    unit.Rate
	slots        [3]int // by class: FIFO, Pad, Free
	end          map[key]unit.Time
	posts, freed map[key][]unit.Time
	sent         map[key]int
	arrival      map[int32]unit.Time // of messages by handle
	bytes        map[int32]unit.Bytes
}

// step is E of a sub-step, and what follows from it for others.
func (w *walk) step(v *schedule.Visit) error {
	elements, known := w.s.Size(v.Spot(), v.Step)
	start, n := w.start(v), unit.Bytes(elements*int64(w.s.Spec.Type.Width()))
	if !known {
		n = w.bytes[v.In[0]]
	}
	done := start + unit.Time(v.Step.Cost)
	for _, f := range v.Step.From {
		switch f.Kind {
		case schedule.Get: // comes after a request there
			done = start + 2*w.latency + n.Over(w.bandwidth)
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
		}
		gone := done + carried.Over(w.bandwidth)
		at = max(at, gone)
		if handle >= 0 { // of a silent put nobody hears
			w.sent[connection(v.Rank, v.Lane, d.Peer.Rank, d.Peer.Lane, d.Peer)]++
			w.arrival[handle], w.bytes[handle] = gone+w.latency, n
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

// start is S: the lane is free, messages are there, events are posted, slots are free.
func (w *walk) start(v *schedule.Visit) unit.Time {
	at := w.end[key{v.Rank, v.Lane}]
	for _, handle := range v.In { // −1 is no message's
		at = max(at, w.arrival[handle])
	}
	for _, e := range v.Step.Await {
		if v.Slice == 0 && e.Value > 0 {
			at = max(at, w.posts[key{v.Rank, e.Lane}][e.Value-1])
		}
	}
	for _, d := range v.Step.Send {
		c := connection(v.Rank, v.Lane, d.Peer.Rank, d.Peer.Lane, d.Peer)
		if k := w.slots[d.Peer.Class]; d.Message() && k > 0 && w.sent[c] >= k {
			at = max(at, w.freed[c][w.sent[c]-k])
		}
	}
	return at
}
