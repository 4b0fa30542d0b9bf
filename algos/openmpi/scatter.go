package openmpi

import "collsim/schedule"

// writeReduceScatter writes MPI_Reduce_scatter and MPI_Reduce_scatter_block, except for algorithms
// that call a reduce.
func (c Choice) writeReduceScatter(p *schedule.Plan) (known bool) {
	switch c.Algorithm {
	case "ring":
		p.Lane, p.Group = ringReduceScatter, schedule.Rotations(p.Spec.Ranks)
	case "recursive_halving":
		p.Scratch = p.Spec.Ranks
		p.Lane = recursiveHalving
	case "butterfly":
		p.Scratch = p.Spec.Ranks
		mirrored := c.Function == "reduce_scatter_block" && p.Spec.Ranks&(p.Spec.Ranks-1) == 0
		p.Lane = func(l *schedule.Lane) { butterfly(l, mirrored) }
	case "recursive_doubling":
		p.Scratch = 2 * p.Spec.Ranks
		p.Lane = doublingReduceScatter
	default:
		return false
	}
	return true
}

// ringReduceScatter sums the block of each rank on its path round the ring to that rank.
func ringReduceScatter(l *schedule.Lane) {
	prev, next := l.Rank-1, l.Rank+1
	l.Send(next, l.In(l.Rank-1))
	for k := 2; k < l.Ranks; k++ {
		l.ReduceSend(prev, next, l.In(l.Rank-k))
	}
	l.Combine([]schedule.Region{l.Out(0)}, nil, l.From(prev), l.Local(l.In(l.Rank)))
}

// start leaves a number with its input, or the sum of its pair, in scratch. Ranks that do not take
// part send everything to the odd one of their pair.
func start(l *schedule.Lane, f fold) (takesPart bool) {
	in, sum := l.In(0).Blocks(l.Ranks), l.Scratch(0).Blocks(l.Ranks)
	switch {
	case f.number(l.Rank) < 0:
		l.Send(l.Rank+1, in)
		return false
	case l.Rank < 2*f.rest:
		l.Combine([]schedule.Region{sum}, nil, l.From(l.Rank-1), l.Local(in))
	default:
		l.Copy(sum, in)
	}
	return true
}

// blocks returns the blocks of the ranks that n numbers represent.
func (f fold) blocks(l *schedule.Lane, from, n int) schedule.Region {
	first := f.first(from)
	return l.Scratch(first).Blocks(f.first(from+n) - first)
}

// recursiveHalving exchanges halves between partners at distance q/2, …, 2, 1: each sends the half
// that the other is in. The message is the left operand.
func recursiveHalving(l *schedule.Lane) {
	f := foldOf(l.Ranks, 1)
	if !start(l, f) {
		l.Recv(l.Rank+1, l.Out(0))
		return
	}
	me := f.number(l.Rank)
	for d := f.q / 2; d > 0; d /= 2 {
		peer := f.rank(me ^ d)
		l.Send(peer, f.blocks(l, (me^d)&^(d-1), d))
		kept := f.blocks(l, me&^(d-1), d)
		l.Combine([]schedule.Region{kept}, nil, l.From(peer), l.Local(kept))
	}
	l.Copy(l.Out(0), l.Scratch(l.Rank))
	if l.Rank < 2*f.rest {
		l.Send(l.Rank-1, l.Scratch(l.Rank-1))
	}
}

// butterfly halves the blocks in each round, between partners at distance 1, 2, 4, …; the lower
// one's operand is the left one. It works on the fold's q numbers, a power of two; the other ranks
// pass their data to a neighbour first. A number ends with the blocks of its mirror, the number
// with its bits reversed, and sends them there. If mirrored (at powers of two only), the blocks are
// reordered at the start instead, and each number ends with its own.
func butterfly(l *schedule.Lane, mirrored bool) {
	f := foldOf(l.Ranks, 1)
	if mirrored {
		blocks := l.Scratch(0)
		for i := range l.Ranks {
			blocks.List = append(blocks.List, int32(f.mirror(i)))
		}
		l.Copy(blocks, l.In(0).Blocks(l.Ranks))
	} else if !start(l, f) {
		l.Recv(f.rank(f.mirror(l.Rank/2)), l.Out(0))
		return
	}
	me, at := f.number(l.Rank), 0 // at is the first of the blocks that it still adds up
	for d, n := 1, f.q/2; d < f.q; d, n = 2*d, n/2 {
		peer, give := f.rank(me^d), at+n
		if me&d != 0 {
			at, give = give, at
		}
		l.Send(peer, f.blocks(l, give, n))
		kept := f.blocks(l, at, n)
		sources := []schedule.Source{l.Local(kept), l.From(peer)}
		if me&d != 0 {
			sources = []schedule.Source{l.From(peer), l.Local(kept)}
		}
		l.Combine([]schedule.Region{kept}, nil, sources...)
	}
	if mirrored {
		l.Copy(l.Out(0), l.Scratch(at))
		return
	}
	owner := f.rank(at) // at is now the mirror of me
	if at < f.rest {    // and stands for a pair of ranks
		l.Send(owner-1, l.Scratch(owner-1))
	}
	if owner == l.Rank {
		l.Copy(l.Out(0), l.Scratch(l.Rank))
		return
	}
	l.Send(owner, l.Scratch(owner))
	l.Recv(owner, l.Out(0))
}

// doublingReduceScatter exchanges, between partners at distance 1, 2, 4, …, all blocks but those of
// the own subtree. A subtree without partners, or with too few, gets the missing blocks from those
// of its ranks that have them. Operators commute, so the message is the left operand.
func doublingReduceScatter(l *schedule.Lane) {
	p, r := l.Ranks, l.Rank
	received := p // the second half of scratch
	outside := func(at, root, d int) schedule.Region {
		region := l.Scratch(0)
		region.List = []int32{}
		for block := range p {
			if block < root || block >= root+d {
				region.List = append(region.List, int32(at+block))
			}
		}
		return region
	}
	l.Copy(l.Scratch(0).Blocks(p), l.In(0).Blocks(p))
	for d := 1; d < p; d *= 2 {
		mine, theirs := r&^(d-1), (r^d)&^(d-1)
		came := outside(received, theirs, d)
		has := false
		if peer := r ^ d; peer < p {
			if out := outside(0, mine, d); len(out.List) > 0 {
				l.Send(peer, out)
			}
			l.Recv(peer, came)
			has = true
		}
		if theirs+d > p {
			has = spread(l, r, came, p-mine-d, d) || has
		}
		if has {
			sum := outside(0, theirs, d)
			l.Combine([]schedule.Region{sum}, nil, l.Local(came), l.Local(sum))
		}
	}
	l.Copy(l.Out(0), l.Scratch(r))
}

// spread sends blocks that have arrived to the places of a subtree that lack them; its first having
// places have them. Places are ranks, counted from some rank on; at is this rank's. It reports
// whether this rank has received them.
func spread(l *schedule.Lane, at int, came schedule.Region, having, d int) (got bool) {
	first := l.Rank - at
	for h := d / 2; h > 0; h /= 2 {
		peer, root := at^h, at&^(2*h-1)
		switch {
		case peer > at && at < root+having && peer >= root+having:
			l.Send(first+peer, came)
		case peer < at && peer < root+having && at >= root+having:
			l.Recv(first+peer, came)
			got = true
		}
	}
	return got
}
