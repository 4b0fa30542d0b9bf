package algos

import "collsim/collective"

// Doubling broadcast: a binomial tree whose nearest ranks come first. In round i the 2^i ranks that
// have the data, counted from the root, send it 2^i ranks ahead.
//
//	p = 8:   0→1 │ 0→2 1→3 │ 0→4 1→5 2→6 3→7
//
// Gloo, gloo/broadcast.cc.
var doublingBroadcast = Algorithm{
	Name:    "doubling",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a binomial tree, the nearest ranks first: those who have the data send it ahead",
	When:    "short vectors where the last ranks are far from all others",
	Source:  "Gloo broadcast.cc",
	Formula: "k·α + k·n·β",
	Lane: func(l *Lane) {
		v, first := mod(l.Rank-l.Root, l.Ranks), 0
		if v > 0 {
			first = floorLog2(v) + 1
			l.Round(first - 1)
			l.Recv(l.Rank-1<<(first-1), l.All())
		}
		for round := first; v+1<<round < l.Ranks; round++ {
			l.Round(round)
			l.KeepSend(l.Rank+1<<round, l.All())
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: ceilLog2(p), Blocks: 1}).atMost(!powerOf2(p))
	},
}

// Doubling reduce: the broadcast backwards.
var doublingReduce = Algorithm{
	Name:    "doubling",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "a binomial tree, the farthest ranks first: who has a sum halves every round",
	When:    "short vectors where the last ranks are far from all others",
	Source:  "Gloo broadcast.cc, backwards",
	Formula: "k·α + k·n·β + k·n·γ",
	Of:      &doublingBroadcast,
}
