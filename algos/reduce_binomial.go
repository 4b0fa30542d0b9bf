package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Binomial reduce: the binomial broadcast backwards. Counted from the root, rank v adds what its
// children v+1, v+2, v+4, … send, each on the right, and sends the sum to v without its lowest
// set bit. With root 0 the operands are in rank order.
//
//	p = 8:  1→0 3→2 5→4 7→6 │ 2→0 6→4 │ 4→0      ⌈log₂ p⌉ rounds
//
// Only the root has an output: others keep partial sums in scratch, and send the last one on
// without keeping it.
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.5.
var binomialReduce = Algorithm{
	Name:   "binomial",
	Kinds:  []collective.Kind{collective.Reduce},
	About:  "a binomial tree: who has a sum halves every round",
	Source: "Thakur, Rabenseifner and Gropp 2005, §4.5",
	Scratch: func(spec collective.Spec) int {
		if spec.Ranks > 6 { // rank 4 is the first with two children
			return 1
		}
		return 0
	},
	Lane: func(l *Lane) {
		v := mod(l.Rank-l.Root, l.Ranks)
		low := lowestBit(v, l.Ranks)

		if v == 0 {
			for d := 1; d < l.Ranks; d *= 2 {
				if 2*d >= l.Ranks {
					l.Completes()
				}
				l.Accumulate(l.Rank+d, l.All())
			}
			return
		}
		sum, parent := l.In(0), []int{l.Rank - low}
		for d := 1; d < low && v+d < l.Ranks; d *= 2 {
			into, to := []schedule.Region{l.Scratch(0)}, []int(nil)
			l.Round(floorLog2(d))
			if 2*d >= low || v+2*d >= l.Ranks { // the last one: the sum goes on
				into, to = nil, parent
				l.Round(floorLog2(low))
			}
			l.Combine(into, to, l.Local(sum), l.From(l.Rank+d))
			sum = l.Scratch(0)
		}
		if sum.Buffer == schedule.Input {
			l.Round(floorLog2(low))
			l.Send(l.Rank-low, sum)
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: ceilLog2(p), Blocks: 1, Sums: 1}).atMost(!powerOf2(p))
	},
}
