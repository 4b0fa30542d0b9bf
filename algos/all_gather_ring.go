package algos

import "collsim/collective"

// Ring all_gather. Every block goes round the ring once; each rank keeps it and passes it on.
//
//	round     rank 0      rank 1      rank 2      rank 3
//	0         send 0      send 1      send 2      send 3
//	1, 2      3, 2        0, 3        1, 0        2, 1        keep, pass on
//	end       1           2           3           0           keep
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.1; the steps are those of NCCL (device/all_gather.h).
var ringAllGather = Algorithm{
	Name:    "ring",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "every block goes round the ring once",
	When:    "long blocks: every wire is always busy, and only neighbours talk",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.1; NCCL",
	Formula: "(p−1)·α + (p−1)/p·n·β",
	Group:   rotations,
	Lane:    func(l *Lane) { passAround(l, +1) },
	Turns:   true,
	Cost:    func(p, _ int) Cost { return rounds(Round{Times: p - 1, Blocks: 1}) },
}

// passAround makes every rank's block go round the ring: with step +1 from each rank to the next,
// with −1 to the one before.
func passAround(l *Lane, step int) {
	r, p := l.Rank, l.Ranks
	prev, next := r-step, r+step

	l.KeepSend(next, l.Chunk(r))
	for i := 1; i < p-1; i++ {
		l.CopySend(prev, next, l.Chunk(r-step*i))
	}
	l.Recv(prev, l.Chunk(r+step))
}
