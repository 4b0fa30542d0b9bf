package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Binary blocks all_reduce, for numbers of ranks that are no power of two. The ranks are cut into
// blocks of powers of two, the largest first, as the bits of their number say. Each block halves
// the vector as Rabenseifner's algorithm does. Then sums go up from the smallest block: a rank
// sends each rank of the next larger block that has a part of its part that part. Results come back
// the same way.
//
//	p = 7:   (0 1 2 3) (4 5) (6)  halve │ 6→4 6→5 │ 4→0 4→2 5→1 5→3 ║ and back
//
// A block's ranks are higher than those of the block before: operands are in rank order.
//
// Rabenseifner and Träff, "More efficient reduction algorithms for non-power-of-two number of
// processors in message-passing parallel systems", EuroPVM/MPI 2004.
var binaryBlocksAllReduce = Algorithm{
	Name:     "binary-blocks",
	Kinds:    []collective.Kind{collective.AllReduce},
	About:    "blocks of powers of two halve the vector, and pass sums to the next larger block",
	When:     "long vectors, where the ranks are a sum of powers of two of like size, as 6 or 12",
	Source:   "Rabenseifner and Träff 2004; Gloo",
	Formula:  "2·k·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Chunks:   func(ranks int) int { return 1 << floorLog2(ranks) },
	Group:    flips,
	Mirrored: true, // as Rabenseifner's
	Lane: func(l *Lane) {
		sizes := binaryBlocks(l.Ranks)
		q, last, round := sizes[0], len(sizes)-1, floorLog2(sizes[0])
		i, first := 0, 0 // this rank's block, and its first rank
		for ; l.Rank >= first+sizes[i]; i++ {
			first += sizes[i]
		}
		place, below := l.Rank-first, 0
		mine := halveBlock(l, first, sizes[i], q)
		if i < last {
			below = first + sizes[i] + place%sizes[i+1]
			l.Round(round + last - 1 - i)
			if i == 0 {
				l.Completes()
			}
			l.Accumulate(below, mine)
		}
		if i > 0 {
			above := first - sizes[i-1]
			for other := place; other < sizes[i-1]; other += sizes[i] {
				l.Round(round + last - i)
				l.Send(above+other, halfOf(l, other, sizes[i-1], q))
			}
			for other := place; other < sizes[i-1]; other += sizes[i] {
				l.Round(round + last + i - 1)
				l.Recv(above+other, halfOf(l, other, sizes[i-1], q))
			}
		}
		l.Round(round + last + i)
		if i < last {
			l.Send(below, mine)
		}
		gatherBlock(l, first, sizes[i], q)
	},
	Cost: func(p, _ int) Cost {
		var up, down []Round
		sizes := binaryBlocks(p)
		q := sizes[0]
		for i, size := range sizes[1:] {
			part := q / sizes[i]
			up = append([]Round{{Times: 1, Blocks: part, Burst: sizes[i] / size, Sums: 1}}, up...)
			down = append(down, Round{Times: 1, Blocks: part})
		}
		all := append(append(halvingRounds(q, 1), up...), down...)
		return rounds(append(all, exchangeRounds(q, 0)...)...).atMost(!powerOf2(p))
	},
}

// binaryBlocks lists the sizes of the blocks, the largest first: the bits of a number of ranks.
func binaryBlocks(ranks int) (sizes []int) {
	for bit := 1 << floorLog2(ranks); bit > 0; bit /= 2 {
		if ranks&bit != 0 {
			sizes = append(sizes, bit)
		}
	}
	return sizes
}

// halfOf returns what a place in a group of size ranks has of q chunks in the end: its lowest bit
// selects the half, the next one the half of that.
func halfOf(l *Lane, place, size, q int) schedule.Region {
	chunk := 0
	for d, n := 1, q/2; d < size; d, n = 2*d, n/2 {
		if place&d != 0 {
			chunk += n
		}
	}
	return l.Chunk(chunk).Blocks(q / size)
}

// halveBlock leaves a rank with the sum of its block of size ranks in a part of the vector, which
// it returns.
func halveBlock(l *Lane, first, size, q int) schedule.Region {
	place := l.Rank - first
	for d := 1; d < size; d *= 2 {
		l.Send(first+(place^d), halfOf(l, (place^d)%(2*d), 2*d, q))
		if 2*d == l.Ranks {
			l.Completes()
		}
		l.ReduceRanked(first+(place^d), halfOf(l, place%(2*d), 2*d, q))
	}
	return halfOf(l, place, size, q)
}

// gatherBlock exchanges the sums in the opposite order.
func gatherBlock(l *Lane, first, size, q int) {
	place := l.Rank - first
	for d := size / 2; d > 0; d /= 2 {
		l.Send(first+(place^d), halfOf(l, place%(2*d), 2*d, q))
		l.Recv(first+(place^d), halfOf(l, (place^d)%(2*d), 2*d, q))
	}
}

// halvingRounds lists rounds of q/2, …, 2, 1 chunks.
func halvingRounds(q, sums int) (list []Round) {
	for n := q / 2; n > 0; n /= 2 {
		list = append(list, Round{Times: 1, Blocks: n, Sums: sums})
	}
	return list
}
