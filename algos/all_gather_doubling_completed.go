package algos

import "collsim/collective"

// MPICH's recursive doubling all_gather. Partners at distance 1, 2, 4, … exchange the runs of
// blocks that they have, as far as partners there are. After each round in which some have none,
// those that had one pass on what they got, down a binomial tree within their group.
//
//	p = 5:   0↔1 2↔3 │ 0↔2 1↔3 │ 0↔4 │ 0→2 │ 0→1 2→3
//
// MPICH, allgather_intra_recursive_doubling.c; it chooses the algorithm at powers of two alone.
var mpichDoublingAllGather = Algorithm{
	Name:    "recursive-doubling-completed",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "partners at distance 1, 2, 4, … exchange what they have, and hand it to those without",
	When:    "to see what MPICH does where it is told to; recursive-doubling takes fewer rounds",
	Source:  "MPICH, allgather_intra_recursive_doubling",
	Formula: "k·α + (p−1)/p·n·β",
	Lane: func(l *Lane) {
		r, p, round := l.Rank, l.Ranks, 0
		l.Keep(l.Chunk(r))
		for n := 1; n < p; n *= 2 {
			with := r ^ n
			mine, theirs := r&^(n-1), with&^(n-1)
			if l.Round(round); with < p {
				l.Send(with, l.Chunk(mine).Blocks(min(n, p-mine)))
				l.Recv(with, l.Chunk(theirs).Blocks(min(n, p-theirs)))
			}
			round++
			served := p%(2*n) - n // ranks of the last whole group that had a partner
			for m := n / 2; m > 0; m /= 2 {
				if served <= 0 || served >= 2*m {
					continue
				}
				if l.Round(round); mine < theirs && theirs < p && p < theirs+n {
					spread(l, m, served, theirs)
				}
				round++
			}
		}
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for n := 1; n < p; n *= 2 {
			r = append(r, Round{Times: 1, Blocks: n})
			rest := p%(2*n) - n
			for m := n / 2; m > 0 && rest > 0; m /= 2 {
				if rest < 2*m {
					r = append(r, Round{Times: 1, Blocks: rest})
				}
			}
		}
		return rounds(r...).atMost(!powerOf2(p))
	},
}

// spread passes on the blocks from first to the last, to a partner m ranks away, if this rank has
// them and the partner does not, or the other way: the first ranks of each 2·m have them.
func spread(l *Lane, m, served, first int) {
	group, with, blocks := l.Rank&^(2*m-1), l.Rank^m, l.Chunk(first).Blocks(l.Ranks-first)
	has := func(rank int) bool { return rank < group+served }
	switch {
	case l.Rank < with && has(l.Rank) && !has(with):
		l.Send(with, blocks)
	case with < l.Rank && has(with) && !has(l.Rank):
		l.Recv(with, blocks)
	}
}
