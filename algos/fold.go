package algos

import "collsim/schedule"

// A fold reduces any number of ranks to a power of two (Thakur, Rabenseifner and Gropp, §4.5). The
// first 2·rest ranks are pairs of neighbours. The even one hands its data to the odd one and gets
// the result from it at the end. The q ranks that are left are numbered in rank order.
//
//	p = 6, q = 4, rest = 2:   rank     0  1  2  3  4  5
//	                          number   -  0  -  1  2  3
type fold struct{ q, rest int }

// foldOf returns the fold of a number of ranks.
func foldOf(ranks int) fold {
	q := 1 << floorLog2(ranks)
	return fold{q: q, rest: ranks - q}
}

// number returns a rank's number among the q, −1 for the even ranks of pairs.
func (f fold) number(rank int) int {
	switch {
	case rank >= 2*f.rest:
		return rank - f.rest
	case rank%2 == 0:
		return -1
	}
	return rank / 2
}

// pair returns the number that represents a rank: of both ranks of a pair the same.
func (f fold) pair(rank int) int {
	if rank >= 2*f.rest {
		return rank - f.rest
	}
	return rank / 2
}

// rank returns the rank of a number.
func (f fold) rank(number int) int {
	if number < f.rest {
		return 2*number + 1
	}
	return number + f.rest
}

// first returns the first rank whose data a number represents: the even one of its pair, if it has
// one. For q it returns the number of all ranks.
func (f fold) first(number int) int { return number + min(number, f.rest) }

// paired reports whether a number represents a pair.
func (f fold) paired(number int) bool { return number < f.rest }

// blocks returns the run of blocks of d numbers, from one on.
func (f fold) blocks(l *Lane, from, d int) schedule.Region {
	first := f.first(from)
	return l.Chunk(first).Blocks(f.first(from+d) - first)
}
