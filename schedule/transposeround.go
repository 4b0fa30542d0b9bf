package schedule

// sentRounds has the round in which each message of a schedule is sent. In a transpose, the message
// goes back in that round counted from the last. Under a group it has rank 0's messages only.
type sentRounds struct {
	s      *Schedule
	walked map[int32]bool   // ranks whose messages are known; nil: all, or rank 0
	of     map[wire][]int32 // in order
	last   int32            // the highest round
}

// A wire identifies a connection by its two ends.
type wire struct {
	from, fromLane, to, toLane int32
	class                      Class
	tag                        int32
}

// roundsOf walks all ranks; rank 0 under a group; or one rank of each role, and others when they
// are asked for.
func roundsOf(s *Schedule) *sentRounds {
	r := &sentRounds{s: s, of: map[wire][]int32{}}
	if s.cast != nil {
		r.walked = map[int32]bool{}
		for _, rank := range s.cast.first {
			r.walk(rank)
		}
		return r
	}
	for rank := range s.Spec.Ranks {
		if r.walk(int32(rank)); s.Group != nil {
			break
		}
	}
	return r
}

// withoutCache returns the same rounds for another goroutine. If ranks are walked on demand, the
// result has none of them yet.
func (r *sentRounds) withoutCache() *sentRounds {
	if r.walked == nil {
		return r
	}
	return &sentRounds{s: r.s, walked: map[int32]bool{}, of: map[wire][]int32{}, last: r.last}
}

// walk records what a rank sends.
func (r *sentRounds) walk(rank int32) {
	if r.walked != nil {
		r.walked[rank] = true
	}
	p := r.s.Program(int(rank))
	var step Step
	for lane := range p.Lanes() {
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			p.Load(&c, &step)
			for _, d := range step.Send {
				w := wire{rank, int32(lane), d.Peer.Rank, d.Peer.Lane, d.Peer.Class, d.Peer.Tag}
				r.of[w] = append(r.of[w], step.Round)
				r.last = max(r.last, step.Round)
			}
		}
	}
}

// wire returns the connection by which a lane of a rank receives from a peer, as roundsOf names it.
func (r *sentRounds) wire(rank, lane int32, from Peer) wire {
	w := wire{from.Rank, from.Lane, rank, lane, from.Class, from.Tag}
	if group := r.s.Group; group != nil { // the peer's message is rank 0's, translated by the peer
		w.from, w.to = 0, group.Sub(rank, from.Rank)
	}
	return w
}

// round returns the round in which the i-th message on a wire is sent; 0 if it is never sent, which
// Verify reports.
func (r *sentRounds) round(w wire, i int) int32 {
	if r.walked != nil && !r.walked[w.from] {
		r.walk(w.from)
	}
	if rounds := r.of[w]; i < len(rounds) {
		return rounds[i]
	}
	return 0
}
