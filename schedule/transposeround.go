package schedule

// sentRounds says in which round each message of a schedule is sent: what comes back in a transpose
// goes in that round counted from the last. Under a group it has rank 0's messages alone.
type sentRounds struct {
	group Group
	of    map[wire][]int32 // in order
	last  int32            // the highest
}

// wire is a connection as its two ends name it.
type wire struct {
	from, fromLane, to, toLane int32
	class                      Class
	tag                        int32
}

// roundsOf walks the first ranks.
func roundsOf(s *Schedule, ranks int) *sentRounds {
	r := &sentRounds{group: s.Group, of: map[wire][]int32{}}
	var step Step
	for rank := range int32(ranks) {
		p := s.Program(int(rank))
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				for _, d := range step.Send {
					w := wire{rank, int32(lane), d.Peer.Rank, d.Peer.Lane, d.Peer.Class,
						d.Peer.Tag}
					r.of[w] = append(r.of[w], step.Round)
					r.last = max(r.last, step.Round)
				}
			}
		}
	}
	return r
}

// wire is the connection by which a lane of a rank receives from a peer, as roundsOf has it.
func (r *sentRounds) wire(rank, lane int32, from Peer) wire {
	w := wire{from.Rank, from.Lane, rank, lane, from.Class, from.Tag}
	if r.group != nil { // the peer's message is rank 0's, translated by the peer
		w.from, w.to = 0, r.group.Add(rank, r.group.Inverse(from.Rank))
	}
	return w
}

// round is when the i-th message on a wire is sent; 0 if nobody sends it, which Verify reports.
func (r *sentRounds) round(w wire, i int) int32 {
	if rounds := r.of[w]; i < len(rounds) {
		return rounds[i]
	}
	return 0
}

// inverse is the translation that undoes a.
func (g Group) Inverse(a int32) int32 {
	sum, weight := int32(0), int32(1)
	for i := len(g) - 1; i >= 0; i-- {
		sum += (g[i] - a%g[i]) % g[i] * weight
		a, weight = a/g[i], weight*g[i]
	}
	return sum
}
