package algos

import "collsim/collective"

// Flat reduce. All send to the root, which adds what they send one after the other: first the ranks
// below it on the left, from its neighbour down, then those above it on the right, so that the
// operands are in rank order.
//
//	p = 4, root 2:   1+2 │ 0+(1+2) │ (0+(1+2))+3
//
// The linear algorithm of MPI libraries (Pješivac-Grbović et al., "Performance analysis of MPI
// collective operations", Cluster Computing 10(2), 2007: flat tree). All messages leave at once and
// each has its wire; at a port that they share they queue.
var flatReduce = Algorithm{
	Name:    "flat",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "all send to the root, which adds one after the other",
	When:    "a baseline; operators that do not commute, at any root",
	Source:  "Pješivac-Grbović et al. 2007, flat tree",
	Formula: "α + n·β + (p−1)·n·γ",
	Ports:   "α + (p−1)·n·β + (p−1)·n·γ",
	Lane: func(l *Lane) {
		if l.Rank != l.Root {
			l.Send(l.Root, l.In(0))
			return
		}
		for q := l.Root - 1; q >= 0; q-- {
			if q == 0 && l.Root == l.Ranks-1 {
				l.Completes()
			}
			l.Round(0)
			l.Reduce(q, l.All())
		}
		for q := l.Root + 1; q < l.Ranks; q++ {
			if q == l.Ranks-1 {
				l.Completes()
			}
			l.Round(0)
			l.Accumulate(q, l.All())
		}
	},
	Cost: func(p, _ int) Cost {
		return Cost{Alpha: 1, Rounds: []Round{{Times: 1, Blocks: 1, Sums: p - 1, Fan: p - 1}}}
	},
}
