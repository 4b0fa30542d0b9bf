package algos

import "collsim/collective"

// Linear all_reduce. Rank 0 takes all vectors, adds them in rank order, and sends the sum to all,
// one after the other.
//
//	p = 4:   1→0 2→0 3→0 │ 0→1 0→2 0→3
//
// Folklore; Open MPI, allreduce_intra_basic_linear.
var linearAllReduce = Algorithm{
	Name:    "linear",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "rank 0 takes all vectors, adds them, and sends the sum to all, one after the other",
	When:    "a baseline; two or three ranks",
	Source:  "Open MPI allreduce basic linear",
	Formula: "2·α + p·n·β + (p−1)·n·γ",
	Ports:   "2·α + 2·(p−1)·n·β + (p−1)·n·γ",
	Lane: func(l *Lane) {
		if l.Rank > 0 {
			l.Round(0)
			l.Send(0, l.All())
			l.Round(1)
			l.Recv(0, l.All())
			return
		}
		for _, q := range others(l) {
			if q == l.Ranks-1 {
				l.Completes()
			}
			l.Round(0)
			l.Accumulate(q, l.All())
		}
		for _, q := range others(l) {
			l.Round(1)
			l.Send(q, l.All())
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: 1, Blocks: 1, Sums: p - 1, Fan: p - 1},
			Round{Times: 1, Blocks: 1, Burst: p - 1})
	},
}
