package algos

import "collsim/collective"

// Bruck all_gather. Every rank has its own block and the ones after it; at distance 1, 2, 4, … it
// sends what it has backwards and gets as many more from ahead. The last round fetches the rest,
// so that any number of ranks takes ⌈log₂ p⌉ rounds.
//
//	p = 6, rank 0 has:   0 │ 0 1 │ 0 1 2 3 │ 0 1 2 3 4 5
//
// Blocks are put where they belong at once, so there is no rotation at the end: one message may
// go past the last block and on at the first.
//
// Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", IEEE TPDS 8(11), 1997: concatenation.
var bruckAllGather = Algorithm{
	Name:    "bruck",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "ranks at distance 1, 2, 4, … fetch all that the other has; any number of ranks",
	When:    "short blocks on any number of ranks: the fewest rounds there can be",
	Source:  "Bruck et al. 1997, concatenation",
	Formula: "k·α + (p−1)/p·n·β",
	Group:   rotations,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks

		l.KeepSend(r-1, l.Chunk(r))
		l.Recv(r+1, l.Chunk(r+1))
		for d := 2; d < p; d *= 2 {
			n := min(d, p-d)
			l.Send(r-d, l.Chunk(r).Blocks(n))
			l.Recv(r+d, l.Chunk(r+d).Blocks(n))
		}
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for d := 1; d < p; d *= 2 {
			r = append(r, Round{Times: 1, Blocks: min(d, p-d)})
		}
		return rounds(r...)
	},
}
