package algos

import "collsim/collective"

// Pairwise reduce_scatter. In round i every rank sends the i-th rank after it that rank's block,
// and adds what the i-th before it sends to its own.
//
//	p = 4, rank 0:   1→1 +3 │ 2→2 +2 │ 3→3 +1
//
// Every block goes straight to where it is added, so that nobody handles sums of others.
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.4.
var pairwiseReduceScatter = Algorithm{
	Name:    "pairwise",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "in round i every rank sends a block to the i-th after it and adds the i-th before's",
	When:    "long vectors on switched networks, with sums of one's own block only",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.4",
	Formula: "(p−1)·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Group:   rotations,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks

		for i := 1; i < p; i++ {
			l.Send(r+i, l.Chunk(r+i))
			if i == p-1 {
				l.Completes()
			}
			l.Reduce(r-i, l.Chunk(r))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: p - 1, Blocks: 1, Sums: 1}) },
}
