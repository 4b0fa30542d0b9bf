package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Bruck all_to_all. Rank r numbers its blocks by how far they must go: block i is for rank r+i.
// In the round of bit d all blocks whose number has that bit go d ranks ahead, in one message;
// after the last round block i has gone i ranks.
//
//	p = 6:   1 3 5 → r+1 │ 2 3 → r+2 │ 4 5 → r+4
//
// The numbering is a rotation at the beginning, and undone at the end: block i is now rank r−i's.
//
// Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", IEEE TPDS 8(11), 1997: index operation.
var bruckAllToAll = Algorithm{
	Name:    "bruck",
	Kinds:   []collective.Kind{collective.AllToAll},
	About:   "blocks go 1, 2, 4, … ranks ahead as the bits of their way say; ⌈log₂ p⌉ rounds",
	When:    "short blocks on many ranks: few messages, though blocks travel several hops",
	Source:  "Bruck et al. 1997, index operation",
	Formula: "k·α + k/2·n·β",
	Group:   rotations,
	Scratch: func(spec collective.Spec) int { return spec.Ranks },
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks

		l.Copy(l.Scratch(0).Blocks(p), l.In(r).Blocks(p))
		for d := 1; d < p; d *= 2 {
			l.Send(r+d, withBit(l, d))
			l.Recv(r-d, withBit(l, d))
		}
		l.Copy(l.Out(r).Every(-1, p), l.Scratch(0).Blocks(p))
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for d := 1; d < p; d *= 2 {
			r = append(r, Round{Times: 1, Blocks: countWithBit(p, d)})
		}
		return rounds(r...)
	},
}

// withBit returns the blocks of scratch whose number has bit d.
func withBit(l *Lane, d int) schedule.Region {
	p := l.Ranks
	n := countWithBit(p, d)
	switch {
	case n <= d:
		return l.Scratch(d).Blocks(n)
	case n%d == 0:
		return l.Scratch(d).Blocks(d).Every(2*d, n/d)
	}
	r := l.Scratch(0)
	for i := range p {
		if i&d != 0 {
			r.List = append(r.List, int32(i))
		}
	}
	return r
}

// countWithBit returns how many of the numbers 0 … p−1 have bit d.
func countWithBit(p, d int) int { return p/(2*d)*d + max(0, p%(2*d)-d) }
