package algos

import "collsim/collective"

// Pairwise exchange all_to_all of a power of two of ranks. In round i partners whose numbers differ
// by exclusive or with i exchange blocks, so that every message meets its answer.
//
//	p = 4:   0↔1 2↔3 │ 0↔2 1↔3 │ 0↔3 1↔2
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.3.
var pairwiseXorAllToAll = Algorithm{
	Name:    "pairwise-xor",
	Kinds:   []collective.Kind{collective.AllToAll, collective.AllToAllV},
	About:   "in round i partners whose numbers differ by exclusive or with i exchange blocks",
	When:    "long blocks at powers of two: each rank has one partner at a time",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.3; MPICH",
	Formula: "(p−1)·α + (p−1)/p·n·β",
	Ranks:   onlyPowersOf2,
	Group:   flips,
	Lane: func(l *Lane) {
		if !l.Spec.InPlace {
			l.Copy(l.Out(l.Rank), l.In(l.Rank))
		}
		for i := 1; i < l.Ranks; i++ {
			l.Send(l.Rank^i, l.In(l.Rank^i))
			l.Recv(l.Rank^i, l.Out(l.Rank^i))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: p - 1, Blocks: 1}) },
}
