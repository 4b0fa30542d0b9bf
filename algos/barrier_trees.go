package algos

import "collsim/collective"

// Linear barrier. All signal to rank 0, which answers when all have come.
//
//	p = 4:   1→0 2→0 3→0 │ 0→1 0→2 0→3
//
// Folklore; Open MPI, barrier_intra_basic_linear.
var linearBarrier = Algorithm{
	Name:    "linear",
	Kinds:   []collective.Kind{collective.Barrier},
	About:   "all signal to rank 0, which answers when all have come",
	When:    "a baseline; a few ranks",
	Source:  "Open MPI barrier basic linear",
	Formula: "2·α",
	Lane: func(l *Lane) {
		if l.Rank > 0 {
			l.Round(0)
			l.Signal(0)
			l.Round(1)
			l.Wait(0)
			return
		}
		for _, q := range others(l) {
			l.Round(0)
			l.Wait(q)
		}
		for _, q := range others(l) {
			l.Round(1)
			l.Signal(q)
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: 2, Fan: p - 1}) },
}

// Tree barrier: signals go up a binomial tree to rank 0 and come down again.
//
//	p = 8:  1→0 3→2 5→4 7→6 │ 2→0 6→4 │ 4→0 ║ 0→4 │ 0→2 4→6 │ 0→1 2→3 4→5 6→7
//
// Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory
// multiprocessors", ACM TOCS 9(1), 1991: tree barriers; Open MPI, barrier_intra_tree.
var treeBarrier = Algorithm{
	Name:    "tree",
	Kinds:   []collective.Kind{collective.Barrier},
	About:   "signals go up a binomial tree to rank 0 and come down again",
	When:    "few signals in all, 2·(p−1), matter more than rounds",
	Source:  "Mellor-Crummey and Scott 1991; Open MPI barrier tree",
	Formula: "2·k·α",
	Roles:   binomialRoles,
	Lane: func(l *Lane) {
		v, k := l.Rank, ceilLog2(l.Ranks)
		low := lowestBit(v, l.Ranks)
		for d := 1; d < low && v+d < l.Ranks; d *= 2 {
			l.Round(floorLog2(d))
			l.Wait(v + d)
		}
		if v > 0 {
			l.Round(floorLog2(low))
			l.Signal(v - low)
			l.Round(2*k - 1 - floorLog2(low))
			l.Wait(v - low)
		}
		for d := low / 2; d > 0; d /= 2 {
			if v+d < l.Ranks {
				l.Round(2*k - 1 - floorLog2(d))
				l.Signal(v + d)
			}
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: 2 * ceilLog2(p)}).atMost(!powerOf2(p)) },
}

// Recursive doubling barrier: partners at distance 1, 2, 4, … signal to each other. If the ranks
// are no power of two, the even one of a pair of neighbours leaves it to the odd one.
//
//	p = 6:   0→1 2→3 │ 1↔3 4↔5 │ 1↔4 3↔5 │ 1→0 3→2
//
// Brooks, "The butterfly barrier", Int. J. Parallel Programming 15(4), 1986; Open MPI,
// barrier_intra_recursivedoubling.
var recursiveDoublingBarrier = Algorithm{
	Name:    "recursive-doubling",
	Kinds:   []collective.Kind{collective.Barrier},
	About:   "partners at distance 1, 2, 4, … signal to each other",
	When:    "powers of two, where signals of partners meet on the wire",
	Source:  "Brooks 1986; Open MPI barrier recursive doubling",
	Formula: "(k+f)·α",
	Group:   manyFlips,
	Lane: func(l *Lane) {
		f := foldOf(l.Ranks)
		me, last := f.number(l.Rank), floorLog2(f.q)+1
		if me < 0 {
			l.Round(0)
			l.Signal(l.Rank + 1)
			l.Round(last)
			l.Wait(l.Rank + 1)
			return
		}
		if f.paired(me) {
			l.Round(0)
			l.Wait(l.Rank - 1)
		}
		for i, d := min(f.rest, 1), 1; d < f.q; i, d = i+1, 2*d {
			l.Round(i)
			l.Signal(f.rank(me ^ d))
			l.Round(i)
			l.Wait(f.rank(me ^ d))
		}
		if f.paired(me) {
			l.Round(last)
			l.Signal(l.Rank - 1)
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: floorLog2(p) + 2*min(foldOf(p).rest, 1)}).atMost(!powerOf2(p))
	},
}
