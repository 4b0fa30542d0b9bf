package algos

import "collsim/collective"

// Recursive doubling all_reduce. Partners at distance 1, 2, 4, … exchange all they have, and add.
// If the ranks are no power of two, neighbours fold first.
//
//	p = 6:   0→1 2→3 │ 1↔3 4↔5 │ 1↔4 3↔5 │ 1→0 3→2
//
// The lower partner's sum stands on the left on both sides: operands are in rank order, and all
// ranks evaluate the same tree, so that all results have the same bits. Powers of two are a group.
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.5.
var recursiveDoublingAllReduce = Algorithm{
	Name:    "recursive-doubling",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "partners at distance 1, 2, 4, … exchange all they have, and add",
	When:    "short vectors: the fewest rounds, and operators that do not commute",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.5",
	Formula: "(k+f)·(α + n·β) + k·n·γ",
	Group:   flips,
	Lane: func(l *Lane) {
		f := foldOf(l.Ranks)
		me := f.number(l.Rank)
		last := floorLog2(f.q) + 1 // the round in which folded ranks get the result

		if me < 0 {
			l.Send(l.Rank+1, l.All())
			l.Round(last)
			l.Recv(l.Rank+1, l.All())
			return
		}
		if f.paired(me) {
			l.Reduce(l.Rank-1, l.All())
		}
		l.Round(min(f.rest, 1))
		for d := 1; d < f.q; d *= 2 {
			partner := f.rank(me ^ d)
			l.Send(partner, l.All())
			if 2*d == f.q {
				l.Completes()
			}
			l.ReduceRanked(partner, l.All())
		}
		if f.paired(me) {
			l.Send(l.Rank-1, l.All())
		}
	},
	Cost: func(p, _ int) Cost {
		k, folds := floorLog2(p), min(foldOf(p).rest, 1)
		return rounds(Round{Times: k + folds, Blocks: 1, Sums: 1}, Round{Times: folds, Blocks: 1}).
			atMost(!powerOf2(p))
	},
}
