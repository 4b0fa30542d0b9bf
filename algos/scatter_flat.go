package algos

import "collsim/collective"

// Flat scatter. The root sends each rank its block, one after the other.
//
//	p = 4:  0→1 │ 0→2 │ 0→3
//
// The linear algorithm of MPI libraries. Its messages leave back to back, so α counts once
// (Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster Computing
// 10(2), 2007: flat tree, LogGP).
var flatScatter = Algorithm{
	Name:    "flat",
	Kinds:   []collective.Kind{collective.Scatter},
	About:   "the root sends each rank its block, one after the other",
	When:    "long blocks: no byte travels twice, and the root's port is the limit anyway",
	Source:  "Open MPI basic linear; Pješivac-Grbović et al. 2007",
	Formula: "α + (p−1)/p·n·β",
	Lane: func(l *Lane) {
		if v := mod(l.Rank-l.Root, l.Ranks); v > 0 {
			l.Round(v - 1)
			l.Recv(l.Root, l.Chunk(l.Rank))
			return
		}
		for i := 1; i < l.Ranks; i++ {
			l.Send(l.Rank+i, l.Chunk(l.Rank+i))
		}
		l.Keep(l.Chunk(l.Rank))
	},
	Cost: func(p, _ int) Cost { return Cost{Alpha: 1, Rounds: []Round{{Times: p - 1, Blocks: 1}}} },
}
