package msccl

// rounds numbers the rounds of a tile's transfers as an algorithm's author would. A message is in
// the round after the last message that its thread block has sent or received before. Messages
// known through flags of other thread blocks count, too. Transfers that can never happen are in
// round 0.
func (l *lowering) rounds() {
	w := &rounder{lowering: l, queues: map[connection][]int32{}, blocked: map[connection]seat{},
		at: make([][]progress, len(l.transfers))}
	for g := range l.transfers {
		w.at[g] = make([]progress, len(l.transfers[g]))
		for b := range l.transfers[g] {
			w.ready = append(w.ready, seat{g, b})
		}
	}
	for len(w.ready) > 0 {
		s := w.ready[len(w.ready)-1]
		w.ready = w.ready[:len(w.ready)-1]
		w.advance(s)
	}
}

// seat is a thread block of a gpu.
type seat struct{ gpu, block int }

// progress is the state of a thread block.
type progress struct {
	next    int     // index of the next transfer
	known   int32   // the round of its next message
	flags   []int32 // value of known at each of its flags
	waiters []seat  // for the next flag
}

type rounder struct {
	*lowering
	at      [][]progress
	queues  map[connection][]int32 // rounds of messages that have not been received
	blocked map[connection]seat    // thread block that waits for the next message
	ready   []seat
}

// advance executes transfers of a thread block until one must wait.
func (w *rounder) advance(s seat) {
	lane := &w.at[s.gpu][s.block]
	list := w.transfers[s.gpu][s.block]
	for ; lane.next < len(list) && w.seen(s, lane); lane.next++ {
		t := &list[lane.next]
		if t.kind.sends() {
			to := w.link(s, false)
			t.round = lane.known
			w.queues[to] = append(w.queues[to], t.round)
			lane.known++
			if other, ok := w.blocked[to]; ok {
				delete(w.blocked, to)
				w.ready = append(w.ready, other)
			}
		}
		if t.flag {
			lane.flags = append(lane.flags, lane.known)
			w.ready = append(w.ready, lane.waiters...)
			lane.waiters = nil
		}
	}
}

// seen applies the flags and the message that the next transfer waits for; false if one is not
// there yet.
func (w *rounder) seen(s seat, lane *progress) bool {
	t := &w.transfers[s.gpu][s.block][lane.next]
	known := lane.known
	for _, e := range w.awaits[s.gpu][s.block][lane.next] {
		other := &w.at[s.gpu][e.Lane]
		if int(e.Value) > len(other.flags) {
			other.waiters = append(other.waiters, s)
			return false
		}
		known = max(known, other.flags[e.Value-1])
	}
	t.round = max(0, known-1)
	if t.kind.receives() {
		from := w.link(s, true)
		queue := w.queues[from]
		if len(queue) == 0 {
			w.blocked[from] = s
			return false
		}
		t.round = queue[0]
		known = max(known, t.round+1)
		w.queues[from] = queue[1:]
	}
	lane.known = known
	return true
}

// link returns the connection by which a thread block receives (in) or sends.
func (w *rounder) link(s seat, in bool) connection {
	b := &w.program.gpus[s.gpu].blocks[s.block]
	if in {
		return connection{int(b.receive), s.gpu, b.channel}
	}
	return connection{s.gpu, int(b.send), b.channel}
}
