package algos

import "collsim/collective"

// Flat gather. All send their block to the root, which receives them one after the other.
//
//	p = 4:  1→0 2→0 3→0
//
// The linear algorithm of MPI libraries (Pješivac-Grbović et al., "Performance analysis of MPI
// collective operations", Cluster Computing 10(2), 2007). All messages leave at once and each has
// its wire; at a port that they share they queue.
var flatGather = Algorithm{
	Name:    "flat",
	Kinds:   []collective.Kind{collective.Gather},
	About:   "all send their block to the root",
	When:    "long blocks: no byte travels twice, and the root's port is the limit anyway",
	Source:  "Open MPI basic linear; Pješivac-Grbović et al. 2007",
	Formula: "α + n/p·β",
	Ports:   "α + (p−1)/p·n·β",
	Lane: func(l *Lane) {
		if l.Rank != l.Root {
			l.Send(l.Root, l.Chunk(l.Rank))
			return
		}
		l.Keep(l.Chunk(l.Rank))
		for i := 1; i < l.Ranks; i++ {
			l.Round(0)
			l.Recv(l.Rank+i, l.Chunk(l.Rank+i))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: 1, Blocks: 1, Fan: p - 1}) },
}
