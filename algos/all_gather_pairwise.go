package algos

import "collsim/collective"

// Pairwise all_gather. In round i every rank sends its block to the i-th rank after it, and
// receives from the i-th before it.
//
//	p = 4, rank 0:   →1 ←3 │ →2 ←2 │ →3 ←1
//
// Every block goes straight to its destination, so a long one delays no others.
//
// "Spreading simple" of Benson, Chu, Huang and Caglar, "A comparison of MPICH allgather algorithms
// on switched networks", EuroPVM/MPI 2003.
var pairwiseAllGather = Algorithm{
	Name:    "pairwise",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "in round i every rank sends its block to the i-th after it",
	When:    "blocks of uneven sizes on switched networks, without forwarding",
	Source:  "Benson, Chu, Huang and Caglar 2003 (spreading simple)",
	Formula: "(p−1)·α + (p−1)/p·n·β",
	Group:   rotations,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks

		l.KeepSend(r+1, l.Chunk(r))
		l.Recv(r-1, l.Chunk(r-1))
		for i := 2; i < p; i++ {
			l.Send(r+i, l.Chunk(r))
			l.Recv(r-i, l.Chunk(r-i))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: p - 1, Blocks: 1}) },
}
