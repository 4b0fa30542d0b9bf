package algos

import "collsim/collective"

// Recursive doubling all_gather. Partners at distance 1, 2, 4, … exchange all the blocks they have.
// If the ranks are no power of two, neighbours fold first, and the folded ranks get all other
// blocks at the end. What a rank has is always a run of blocks.
//
//	p = 4:   0↔1 2↔3 │ 0↔2 1↔3                  p = 3:   0→1 │ 1↔2 │ 1→0
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.1; the fold as in MPICH's recursive exchange (allgather "recexch").
var recursiveDoublingAllGather = Algorithm{
	Name:    "recursive-doubling",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "partners at distance 1, 2, 4, … exchange all the blocks they have",
	When:    "short blocks at powers of two, where partners stay aligned",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.1; fold: MPICH recexch",
	Formula: "k·α + (p−1)/p·n·β",
	Group:   flips,
	Lane:    func(l *Lane) { doublingGather(l, l.Ranks-1) },
	Cost:    func(p, _ int) Cost { return doublingCost(p, p-1) },
}

// doublingGather writes what a rank does. A folded rank gets back blocks at the end: all but its
// own, which it keeps, or all.
func doublingGather(l *Lane, back int) {
	r, p, f := l.Rank, l.Ranks, foldOf(l.Ranks)
	me := f.number(r)

	if me < 0 {
		if back < p {
			l.KeepSend(r+1, l.Chunk(r))
		} else {
			l.Send(r+1, l.Chunk(r))
		}
		l.Round(floorLog2(f.q) + 1)
		l.Recv(r+1, l.Chunk(r+1).Blocks(back))
		return
	}
	l.Keep(l.Chunk(r))
	if f.paired(me) {
		l.Recv(r-1, l.Chunk(r-1))
	}
	l.Round(min(f.rest, 1))
	for d := 1; d < f.q; d *= 2 {
		mine, theirs := me&^(d-1), (me^d)&^(d-1)
		l.Send(f.rank(me^d), f.blocks(l, mine, d))
		l.Recv(f.rank(me^d), f.blocks(l, theirs, d))
	}
	if f.paired(me) {
		l.Send(r-1, l.Chunk(r).Blocks(back))
	}
}

// doublingCost returns the cost of doublingGather.
func doublingCost(p, back int) Cost {
	f := foldOf(p)
	var r []Round
	if f.rest > 0 {
		r = append(r, Round{Times: 1, Blocks: 1, Handed: back == p})
	}
	for d := 1; d < f.q; d *= 2 {
		r = append(r, Round{Times: 1, Blocks: d + min(d, f.rest)})
	}
	if f.rest > 0 {
		r = append(r, Round{Times: 1, Blocks: back})
	}
	return rounds(r...).atMost(f.rest > 0)
}
