package algos

import (
	"math/bits"

	"collsim/collective"
	"collsim/schedule"
)

// Bruck-Ho all_reduce: ⌈log₂ p⌉ rounds on any number of ranks. A rank has the sum of the m ranks
// before it, without itself. It gets the same of the rank m before it, so that m doubles; or, where
// m is to be odd, the sum that includes the rank m+1 before it. The digits of p−1, the highest
// first, say which. At the end its own vector is added.
//
//	p = 6, m = 0 1 2 5:   rank 5 has 4 │ 3 4 │ 0 1 2 3 4 │ all
//
// Every rank adds in an order of its own, so that results of floats may differ in their last bits.
//
// Bruck and Ho, "Efficient global combine operations in multi-port message-passing systems",
// Parallel Processing Letters 3(4), 1993.
var bruckHoAllReduce = Algorithm{
	Name:    "bruck-ho",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "ranks exchange sums of the 1, 2, 5, … ranks before them, as the digits of p−1 say",
	When:    "short vectors on any number of ranks: the fewest rounds, where last bits may differ",
	Source:  "Bruck and Ho 1993",
	Formula: "k·α + k·n·β + (2·k−1)·n·γ",
	Group:   rotations,
	Scratch: func(spec collective.Spec) int { return max(min(spec.Ranks-2, 1), 0) },
	Lane: func(l *Lane) {
		own, before, digits := l.Local(l.In(0)), l.Scratch(0), bruckHoDigits(l.Ranks)
		m := 0
		for round, odd := range digits {
			sum := l.Local(before)
			switch distance := m + odd; {
			case m == 0:
				l.Send(l.Rank+distance, l.In(0))
			case odd == 1:
				l.Combine(nil, []int{l.Rank + distance}, sum, own)
			default:
				l.Send(l.Rank+distance, before)
			}
			came := l.From(l.Rank - m - odd)
			switch isLast := round == len(digits)-1; {
			case isLast && m == 0:
				l.Completes()
				l.Combine([]schedule.Region{l.Out(0)}, nil, came, own)
			case isLast:
				l.Completes()
				l.Combine([]schedule.Region{l.Out(0)}, nil, came, sum, own)
			case m == 0:
				l.Recv(l.Rank-1, before)
			default:
				l.Combine([]schedule.Region{before}, nil, came, sum)
			}
			m = 2*m + odd
		}
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for i, odd := range bruckHoDigits(p) {
			r = append(r, Round{Times: 1, Blocks: 1, Sums: min(i, 1) * (1 + odd)})
		}
		r[len(r)-1].Sums++ // its own vector
		return rounds(r...)
	},
}

// bruckHoDigits returns the binary digits of p−1, the highest first.
func bruckHoDigits(p int) (digits []int) {
	for i := bits.Len(uint(p-1)) - 1; i >= 0; i-- {
		digits = append(digits, (p-1)>>i&1)
	}
	return digits
}
