package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// One-shot all_reduce. Every rank sends its whole vector to all others at once, and adds all p
// vectors in rank order, in one step: all ranks evaluate the same tree, and a number format that
// rounds once a step rounds once.
//
//	p = 4:  0→123 1→023 2→013 3→012 │ everywhere 0+1+2+3
//
// "AllPairs" of Microsoft's MSCCL (allreduce, one pass) and MSCCL++; torch's one_shot_all_reduce.
var oneShotAllReduce = Algorithm{
	Name:    "one-shot",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "every rank sends its vector to all others at once, and adds all in rank order",
	When:    "tiny vectors on ranks with wires to all others: a single round",
	Source:  "MSCCL allreduce_allpairs; torch one_shot_all_reduce",
	Formula: "α + n·β + (p−1)·n·γ",
	Ports:   "α + (p−1)·n·β + (p−1)·n·γ",
	Even:    true,
	Timing:  rotations,
	Lane: func(l *Lane) {
		l.Combine(nil, others(l), l.Local(l.All()))

		sources := make([]schedule.Source, l.Ranks)
		for q := range sources {
			if q == l.Rank {
				sources[q] = l.Local(l.All())
			} else {
				sources[q] = l.From(q)
			}
		}
		l.Completes()
		l.Combine([]schedule.Region{l.All()}, nil, sources...)
	},
	Cost: func(p, _ int) Cost {
		return Cost{Alpha: 1, Rounds: []Round{{Times: 1, Blocks: 1, Sums: p - 1, Fan: p - 1}}}
	},
}
