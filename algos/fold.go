package algos

import "collsim/schedule"

// fold makes a power of two of any number of ranks (Thakur, Rabenseifner and Gropp, §4.5). The
// first 2·rest ranks are pairs of neighbours, of which the even one hands its data to the odd one
// and has the result from it at the end. The q ranks that are left are numbered in rank order.
//
//	p = 6, q = 4, rest = 2:   rank     0  1  2  3  4  5
//	                          number   -  0  -  1  2  3
type fold struct{ q, rest int }

func foldOf(ranks int) fold {
	q := 1 << floorLog2(ranks)
	return fold{q: q, rest: ranks - q}
}

// number is what a rank is among the q, −1 for the even ones of pairs.
func (f fold) number(rank int) int {
	switch {
	case rank >= 2*f.rest:
		return rank - f.rest
	case rank%2 == 0:
		return -1
	}
	return rank / 2
}

// rank is the rank of a number.
func (f fold) rank(number int) int {
	if number < f.rest {
		return 2*number + 1
	}
	return number + f.rest
}

// first is the first of the ranks whose data a number stands for: the even one of its pair, if it
// is in one. That of q is the number of all ranks.
func (f fold) first(number int) int { return number + min(number, f.rest) }

// paired reports whether a number stands for a pair.
func (f fold) paired(number int) bool { return number < f.rest }

// blocks is the run of blocks of d numbers, from the given one on.
func (f fold) blocks(l *Lane, from, d int) schedule.Region {
	first := f.first(from)
	return l.Chunk(first).Blocks(f.first(from+d) - first)
}
