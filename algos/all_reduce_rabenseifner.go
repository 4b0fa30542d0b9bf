package algos

import "collsim/collective"

// Rabenseifner's all_reduce: a reduce_scatter by vector halving and distance doubling, then an
// all_gather back the same way. Partners at distance 1, 2, 4, … exchange halves of what they still
// have, and add; then partners at distance …, 4, 2, 1 exchange all that is complete. If the ranks
// are no power of two, neighbours fold first.
//
//	p = 4, of 4 chunks:   0 has 01, 1 has 23, 2 has 01, 3 has 23 │ 0 has 0, 2 has 1, 1 has 2, 3 has 3
//
// The lower partner's sum stands on the left on both sides: operands are in rank order, and each
// chunk is added up once, so that all results have the same bits.
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.5.
var rabenseifnerAllReduce = Algorithm{
	Name:    "rabenseifner",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "partners at distance 1, 2, 4, … exchange halves, and add; then the way back",
	When:    "middling and long vectors at powers of two: few rounds and the fewest bytes",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.5",
	Formula: "2·k·α + 2·((q−1)/q+f)·n·β + ((q−1)/q+f)·n·γ",
	Chunks:  func(ranks int) int { return foldOf(ranks).q },
	Group:   flips,
	// Ranks that differ in the lowest bit halve first, but their chunks differ in the highest one.
	Mirrored: true,
	Lane: func(l *Lane) {
		f := foldOf(l.Ranks)
		me := f.number(l.Rank)

		if me < 0 {
			l.Send(l.Rank+1, l.All())
			l.Round(2*floorLog2(f.q) + 1)
			l.Recv(l.Rank+1, l.All())
			return
		}
		if f.paired(me) {
			l.Reduce(l.Rank-1, l.All())
		}
		l.Round(min(f.rest, 1))
		gatherBack(l, f, me, halve(l, f, me))
		if f.paired(me) {
			l.Send(l.Rank-1, l.All())
		}
	},
	Cost: func(p, _ int) Cost {
		f := foldOf(p)
		var r []Round
		if f.rest > 0 {
			r = append(r, Round{Times: 1, Blocks: f.q, Sums: 1})
		}
		for n := f.q / 2; n > 0; n /= 2 {
			r = append(r, Round{Times: 1, Blocks: n, Sums: 1})
		}
		for n := 1; n < f.q; n *= 2 {
			r = append(r, Round{Times: 1, Blocks: n})
		}
		if f.rest > 0 {
			r = append(r, Round{Times: 1, Blocks: f.q})
		}
		return rounds(r...).atMost(f.rest > 0)
	},
}

// halve leaves number me with the sum of one chunk, which it returns. Of the half that partners
// have in common, the lower one keeps the first half.
func halve(l *Lane, f fold, me int) (chunk int) {
	for d, n := 1, f.q/2; d < f.q; d, n = 2*d, n/2 {
		partner, keep, give := f.rank(me^d), chunk, chunk+n
		if me&d != 0 {
			keep, give = give, keep
		}
		l.Send(partner, l.Chunk(give).Blocks(n))
		if 2*d == f.q {
			l.Completes()
		}
		l.ReduceRanked(partner, l.Chunk(keep).Blocks(n))
		chunk = keep
	}
	return chunk
}

// gatherBack exchanges the sums in the opposite order, beginning with one chunk.
func gatherBack(l *Lane, f fold, me, chunk int) {
	for d, n := f.q/2, 1; d > 0; d, n = d/2, 2*n {
		partner := f.rank(me ^ d)
		l.Send(partner, l.Chunk(chunk).Blocks(n))
		l.Recv(partner, l.Chunk(chunk^n).Blocks(n))
		chunk &^= n
	}
}
