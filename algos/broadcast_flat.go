package algos

import "collsim/collective"

// Flat broadcast. The root sends to one rank after the other.
//
//	p = 4:  0→1 │ 0→2 │ 0→3
//
// The linear algorithm of MPI libraries. Its messages leave back to back, so α counts once
// (Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster Computing
// 10(2), 2007: flat tree, LogGP).
var flatBroadcast = Algorithm{
	Name:    "flat",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "the root sends to one rank after the other",
	When:    "a baseline; two or three ranks",
	Source:  "Pješivac-Grbović et al. 2007, flat tree",
	Formula: "α + (p−1)·n·β",
	Lane: func(l *Lane) {
		if v := mod(l.Rank-l.Root, l.Ranks); v > 0 {
			l.Round(v - 1)
			l.Recv(l.Root, l.All())
			return
		}
		for i := 1; i < l.Ranks; i++ {
			l.KeepSend(l.Rank+i, l.All())
		}
	},
	Cost: func(p, _ int) Cost { return Cost{Alpha: 1, Rounds: []Round{{Times: p - 1, Blocks: 1}}} },
}
