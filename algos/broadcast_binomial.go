package algos

import "collsim/collective"

// Binomial broadcast. Counted from the root, rank v's parent is v without its lowest set bit, and
// its children add one bit below that. The biggest subtree is served first.
//
//	p = 8:  0→4 │ 0→2 4→6 │ 0→1 2→3 4→5 6→7      ⌈log₂ p⌉ rounds
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.2.
var binomialBroadcast = Algorithm{
	Name:    "binomial",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a binomial tree: who has the data doubles every round",
	When:    "short vectors: the fewest rounds, each with the whole vector",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.2",
	Formula: "k·α + k·n·β",
	Roles:   binomialRoles,
	Lane: func(l *Lane) {
		v, k := mod(l.Rank-l.Root, l.Ranks), ceilLog2(l.Ranks)
		low := lowestBit(v, l.Ranks)

		if v > 0 {
			l.Round(k - 1 - floorLog2(low))
			l.Recv(l.Rank-low, l.All())
		}
		for d := low / 2; d > 0; d /= 2 {
			if v+d < l.Ranks {
				l.Round(k - 1 - floorLog2(d))
				l.KeepSend(l.Rank+d, l.All())
			}
		}
	},
	Turns: true,
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: ceilLog2(p), Blocks: 1}).atMost(!powerOf2(p))
	},
}
