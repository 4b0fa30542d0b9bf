package algos

import "collsim/collective"

// Ring reduce_scatter. Block r sets out from rank r+1, goes round the ring being added to, and
// arrives complete at rank r.
//
//	round     rank 0      rank 1      rank 2      rank 3
//	0         send 3      send 0      send 1      send 2
//	1, 2      +2, +1      +3, +2      +0, +3      +1, +0      add, pass on
//	end       =0          =1          =2          =3          complete: keep
//
// Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// J. Parallel Distrib. Comput. 69(2), 2009; the steps are those of NCCL (device/reduce_scatter.h).
var ringReduceScatter = Algorithm{
	Name:   "ring",
	Kinds:  []collective.Kind{collective.ReduceScatter},
	About:  "every block goes round the ring, is added to, and ends where it belongs",
	Source: "Patarasuk and Yuan 2009; NCCL",
	Group:  rotations,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		prev, next := r-1, r+1

		l.Send(next, l.Chunk(r-1))
		for i := 2; i < p; i++ {
			l.ReduceSend(prev, next, l.Chunk(r-i))
		}
		l.Completes()
		l.Reduce(prev, l.Chunk(r))
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: p - 1, Blocks: 1, Sums: 1}) },
}
