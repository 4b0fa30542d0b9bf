package algos

import "collsim/collective"

// Store-and-forward all_to_all. A rank sends its neighbour all blocks that are not for itself, in
// one message; of what it gets it keeps its own block, and sends on the rest, until none is left.
//
//	p = 4, from rank 0:   1 2 3 → │ blocks of rank 3 for 1 2 → │ block of rank 2 for 1 →
//
// Folklore.
var storeForwardAllToAll = Algorithm{
	Name:    "store-and-forward",
	Kinds:   []collective.Kind{collective.AllToAll},
	About:   "all blocks go round the ring together; every rank takes out its own",
	When:    "short blocks where a ring is all the network there is",
	Source:  "store-and-forward ring, bundled",
	Formula: "(p−1)·α + (p−1)/2·n·β",
	Group:   rotations,
	Scratch: func(spec collective.Spec) int { return spec.Ranks },
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		l.Copy(l.Scratch(0).Blocks(p), l.In(r).Blocks(p)) // block i is for rank r+i
		l.Copy(l.Out(r), l.Scratch(0))
		for i := 1; i < p; i++ {
			l.Send(r+1, l.Scratch(1).Blocks(p-i))
			l.Recv(r-1, l.Scratch(0).Blocks(p-i)) // of rank r−i, the first is for this one
			l.Copy(l.Out(r-i), l.Scratch(0))
		}
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for n := p - 1; n > 0; n-- {
			r = append(r, Round{Times: 1, Blocks: n})
		}
		return rounds(r...)
	},
}
