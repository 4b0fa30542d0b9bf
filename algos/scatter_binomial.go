package algos

import "collsim/collective"

// Binomial scatter. Counted from the root, rank v gets from v without its lowest set bit, in one
// message, its block and those of its children, and hands each child its part. The biggest
// subtree is served first.
//
//	p = 8:  0→4: 4 5 6 7 │ 0→2: 2 3, 4→6: 6 7 │ 0→1 2→3 4→5 6→7      ⌈log₂ p⌉ rounds
//
// Only a rank's own block has a place in its output: inner ranks keep the others in scratch.
//
// Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
// experience", CCPE 19(13), 2007: MST scatter.
var binomialScatter = Algorithm{
	Name:    "binomial",
	Kinds:   []collective.Kind{collective.Scatter},
	About:   "a binomial tree, in which messages split: they halve every round",
	When:    "short blocks: the fewest rounds, and the root sends but ⌈log₂ p⌉ messages",
	Source:  "Chan et al. 2007, MST scatter",
	Formula: "k·α + (p−1)/p·n·β",
	Scratch: func(spec collective.Spec) int {
		most := 1 // blocks that one of the root's children has
		for _, r := range halvings(spec.Ranks) {
			most = max(most, r.Blocks)
		}
		if most == 1 {
			return 0
		}
		return most
	},
	Roles: binomialRoles,
	Lane: func(l *Lane) {
		v, p, k := mod(l.Rank-l.Root, l.Ranks), l.Ranks, ceilLog2(l.Ranks)
		low := lowestBit(v, p)
		mine := l.In(l.Rank) // this rank's block, and after it those of its children

		if v > 0 {
			n := min(low, p-v)
			l.Round(k - 1 - floorLog2(low))
			if n == 1 {
				l.Recv(l.Rank-low, l.Out(0))
				return
			}
			mine = l.Scratch(0)
			l.Recv(l.Rank-low, mine.Blocks(n))
		}
		for d := low / 2; d > 0; d /= 2 {
			if v+d < p {
				part := mine.Blocks(min(d, p-v-d))
				part.First += int32(d)
				l.Round(k - 1 - floorLog2(d))
				l.Send(l.Rank+d, part)
			}
		}
		if v > 0 || !l.Spec.InPlace {
			l.Copy(l.Out(0), mine)
		}
	},
	Cost: func(p, _ int) Cost { return rounds(halvings(p)...).atMost(!powerOf2(p)) },
}

// halvings returns the rounds of a binomial scatter at the root, which sends the most.
func halvings(p int) []Round {
	var r []Round
	for d := 1 << ceilLog2(p) / 2; d > 0; d /= 2 {
		r = append(r, Round{Times: 1, Blocks: min(d, p-d)})
	}
	return r
}
