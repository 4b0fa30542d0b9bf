package openmpi

import "collsim/schedule"

// writeAllReduce writes MPI_Allreduce, except for "nonoverlapping", which writeComposed makes of
// other functions.
func (c Choice) writeAllReduce(p *schedule.Plan) (known bool) {
	ranks, count := p.Spec.Ranks, p.Spec.Count
	switch c.Algorithm {
	case "basic_linear":
		linearAllReduce(p)
	case "ring", "segmented_ring":
		if count < int64(ranks) {
			p.Lane, p.Group = doubling, schedule.Flips(ranks)
			return true
		}
		phases := 1
		if c.Algorithm == "segmented_ring" {
			phases = c.phases(p)
		}
		p.Lane = func(l *schedule.Lane) { ring(l, phases) }
		if phases == 1 {
			p.Chunks, p.Group = ranks, schedule.Rotations(ranks)
			return true
		}
		p.Even = true
		var ends []int64
		at := int64(0)
		for _, end := range even(count, ranks) {
			for _, part := range even(end-at, phases) {
				ends = append(ends, at+part)
			}
			at = end
		}
		cutAt(p, ends)
	case "rabenseifner":
		q := foldOf(ranks, 0).q
		if count < int64(q) {
			linearAllReduce(p)
			return true
		}
		cutAt(p, halves(count, q))
		p.Lane = rabenseifner
	case "recursive_doubling":
		p.Lane, p.Group = doubling, schedule.Flips(ranks)
	default:
		return false
	}
	return true
}

// linearAllReduce makes rank 0 add all vectors and send the sum to all at once.
func linearAllReduce(p *schedule.Plan) {
	p.Scratch = 1
	down := star(p.Spec.Ranks, 0)
	p.Lane = func(l *schedule.Lane) {
		linearReduce(l, regions{l.In(0), l.Scratch(0), l.Out(0)}, 0)
		handDown(l, down, l.Out(0), l.Out(0))
	}
}

// doubling exchanges all with partners at distance 1, 2, 4, …. The lower rank's operand is the left
// one on both sides.
func doubling(l *schedule.Lane) {
	f := foldOf(l.Ranks, 1)
	me := f.number(l.Rank)
	if me < 0 {
		l.Send(l.Rank+1, l.All())
		l.Recv(l.Rank+1, l.All())
		return
	}
	paired := l.Rank < 2*f.rest
	if paired {
		l.Reduce(l.Rank-1, l.All())
	}
	for d := 1; d < f.q; d *= 2 {
		peer := f.rank(me ^ d)
		l.Send(peer, l.All())
		l.ReduceRanked(peer, l.All())
	}
	if paired {
		l.Send(l.Rank-1, l.All())
	}
}

// phases returns the number of parts in which each block is summed, one after the other.
func (c Choice) phases(p *schedule.Plan) int {
	count, segment := p.Spec.Count, c.segment(&p.Spec)
	if segment == 0 {
		segment = count
	}
	round := segment * int64(p.Spec.Ranks)
	if count < round {
		return 1
	}
	phases := int(count / round)
	if rest := count % round; rest >= int64(p.Spec.Ranks) && rest > round/2 {
		phases++
	}
	return phases
}

// ring sums each phase's parts of all blocks on their path round the ring, then passes whole blocks
// round.
func ring(l *schedule.Lane, phases int) {
	r, p := l.Rank, l.Ranks
	prev, next := r-1, r+1
	for phase := range phases {
		part := func(block int) schedule.Region { return l.Chunk(block*phases + phase) }
		l.Send(next, part(r))
		for i := 1; i < p-1; i++ {
			l.ReduceSend(prev, next, part(r-i))
		}
		l.Reduce(prev, part(r+1))
	}
	for i := range p - 1 {
		l.Send(next, l.Chunk((r+1-i)*phases).Blocks(phases))
		l.Recv(prev, l.Chunk((r-i)*phases).Blocks(phases))
	}
}

// rabenseifner halves windows at distance 1, 2, 4, …, and gathers them in the opposite order.
func rabenseifner(l *schedule.Lane) {
	f := foldOf(l.Ranks, 0)
	me, paired := f.number(l.Rank), l.Rank < 2*f.rest
	l.Copy(l.Out(0).Blocks(f.q), l.In(0).Blocks(f.q))
	foldHalves(l, f, l.Out)
	if me < 0 {
		l.Recv(l.Rank-1, l.Out(0).Blocks(f.q))
		return
	}
	window := halveWindows(l, f, me, l.Out)
	for d, n := f.q/2, 1; d > 0; d, n = d/2, 2*n {
		peer := f.rank(me ^ d)
		l.Send(peer, l.Out(window).Blocks(n))
		l.Recv(peer, l.Out(window^n).Blocks(n))
		window &^= n
	}
	if paired {
		l.Send(l.Rank+1, l.Out(0).Blocks(f.q))
	}
}
