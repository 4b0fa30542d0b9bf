package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Binomial all_reduce: a binomial reduce to rank 0, then a binomial broadcast from there. Rank v's
// parent is v without its lowest set bit, in both. Children are added nearest first, each on the
// right, so operands are in rank order.
//
//	p = 8:  1→0 3→2 5→4 7→6 │ 2→0 6→4 │ 4→0 ║ 0→4 │ 0→2 4→6 │ 0→1 2→3 4→5 6→7
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.2 and §4.5.
var binomialAllReduce = Algorithm{
	Name:    "binomial",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "a binomial reduce to rank 0, then a binomial broadcast",
	When:    "a baseline; operators that do not commute; short vectors on slow switches",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.2 and §4.5",
	Formula: "2·k·α + 2·k·n·β + k·n·γ",
	Roles:   binomialRoles,
	Lane: func(l *Lane) {
		v, k := l.Rank, ceilLog2(l.Ranks)
		low := lowestBit(v, l.Ranks)

		for d := 1; d < low && v+d < l.Ranks; d *= 2 {
			l.Round(floorLog2(d))
			if v == 0 && 2*d >= l.Ranks {
				l.Completes()
			}
			l.Accumulate(v+d, l.All())
		}
		if v > 0 {
			l.Round(floorLog2(low))
			l.Send(v-low, l.All())
			l.Round(2*k - 1 - floorLog2(low))
			l.Recv(v-low, l.All())
		}
		for d := low / 2; d > 0; d /= 2 {
			if v+d < l.Ranks {
				l.Round(2*k - 1 - floorLog2(d))
				l.Send(v+d, l.All())
			}
		}
	},
	Turns: true,
	Cost: func(p, _ int) Cost {
		k := ceilLog2(p)
		return rounds(Round{Times: k, Blocks: 1, Sums: 1}, Round{Times: k, Blocks: 1}).
			atMost(!powerOf2(p))
	},
}

// binomialRoles returns the roles of a binomial tree. Ranks have one role if they have the same
// distance to their parent, and as many ranks below them.
func binomialRoles(spec collective.Spec) schedule.Roles {
	return func(rank int, peers []int32) (role int64, all []int32) {
		v, p := mod(rank-spec.Root, spec.Ranks), spec.Ranks
		low := lowestBit(v, p)
		if v > 0 {
			peers = append(peers, int32(mod(rank-low, p)))
		}
		for d := 1; d < low && v+d < p; d *= 2 {
			peers = append(peers, int32(mod(rank+d, p)))
		}
		return int64(min(low, p-v))<<32 | int64(floorLog2(low))<<1 | int64(min(v, 1)), peers
	}
}
