package algos

import "collsim/collective"

// Ring reduce: every chunk goes once round the ring to be summed, back from each rank to the one
// before, and ends at the rank of its number, which sends it to the root.
//
//	p = 4, root 0, chunk 1:   0→3 │ 3→2 │ 2→1 │ 1→0
//
// Gloo, gloo/reduce.cc.
var ringReduce = Algorithm{
	Name:    "ring",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "every chunk goes once round the ring to be summed; the root then gets all of them",
	When:    "long vectors, where a ring is what there is",
	Source:  "Gloo reduce.cc",
	Formula: "p·α + n·β + (p−1)/p·n·γ",
	Ports:   "p·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Chunks:  perRank,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		l.Send(r-1, l.Chunk(r+1))
		for i := 2; i < p; i++ {
			l.ReduceSend(r+1, r-1, l.Chunk(r+i))
		}
		l.Round(p - 2)
		if l.Completes(); r != l.Root {
			l.Round(p - 1)
			l.ReduceSend(r+1, l.Root, l.Chunk(r))
			return
		}
		l.Reduce(r+1, l.Chunk(r))
		for i := 1; i < p; i++ {
			l.Round(p - 1)
			l.Recv(r+i, l.Chunk(r+i))
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: p - 1, Blocks: 1, Sums: 1}, Round{Times: 1, Blocks: 1, Fan: p - 1})
	},
}
