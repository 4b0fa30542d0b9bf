package algos

import "collsim/collective"

// Ring all_reduce. Every chunk goes round the ring twice: once to be summed, once to be copied.
//
//	round     rank 0      rank 1      rank 2      rank 3
//	0         send 0      send 1      send 2      send 3
//	1, 2      +3, +2      +0, +3      +1, +0      +2, +1    add, pass on
//	3         =1          =2          =3          =0        complete: keep, pass on
//	4, 5      0, 3        1, 0        2, 1        3, 2      keep, pass on
//	end       2           3           0           1         keep
//
// Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// J. Parallel Distrib. Comput. 69(2), 2009; the steps are those of NCCL (device/all_reduce.h).
var ringAllReduce = Algorithm{
	Name:    "ring",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "every chunk goes round the ring twice: to be summed, then to be copied",
	When:    "long vectors: the fewest bytes there can be, and only neighbours talk",
	Source:  "Patarasuk and Yuan 2009; NCCL",
	Formula: "2·(p−1)·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Group:   rotations,
	Chunks:  perRank,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		prev, next := r-1, r+1

		l.Send(next, l.Chunk(r))
		for i := 1; i < p-1; i++ {
			l.ReduceSend(prev, next, l.Chunk(r-i))
		}
		l.Completes()
		l.ReduceCopySend(prev, next, l.Chunk(r+1))
		for i := range p - 2 {
			l.CopySend(prev, next, l.Chunk(r-i))
		}
		l.Recv(prev, l.Chunk(r+2))
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: p - 1, Blocks: 1, Sums: 1}, Round{Times: p - 1, Blocks: 1})
	},
}
