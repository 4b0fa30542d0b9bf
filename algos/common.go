package algos

import (
	"math/bits"

	"collsim/schedule"
)

// rotations and flips are the groups of algorithms in which every rank does the same relative to
// itself: modulo the number of ranks, or by exclusive or at powers of two.
var rotations, flips = schedule.Rotations, schedule.Flips

// manyFlips returns flips, but nil for two ranks: there a ring has that group, without an order.
func manyFlips(ranks int) schedule.Group {
	if ranks == 2 {
		return nil
	}
	return flips(ranks)
}

// perRank returns the number of ranks, where there is a chunk or lane for each.
func perRank(ranks int) int { return ranks }

// perPeer returns the number of peers, where there is a lane for each.
func perPeer(ranks int) int { return ranks - 1 }

// floorLog2 returns ⌊log₂ n⌋. REQUIRES: n ≥ 1.
func floorLog2(n int) int { return bits.Len(uint(n)) - 1 }

// ceilLog2 returns ⌈log₂ n⌉. REQUIRES: n ≥ 1.
func ceilLog2(n int) int { return bits.Len(uint(n - 1)) }

// powerOf2 reports whether n is a power of two.
func powerOf2(n int) bool { return n&(n-1) == 0 }

// mod returns the remainder that is never negative.
func mod(a, n int) int {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// lowestBit returns the lowest set bit of a rank counted from the root: the distance to its parent
// in the binomial tree. For the root it is the first power of two that is at least the number of
// ranks.
func lowestBit(v, ranks int) int {
	if v == 0 {
		return 1 << ceilLog2(ranks)
	}
	return v & -v
}

// others lists the peers of a rank in order, beginning with the next rank.
func others(l *Lane) []int {
	ranks := make([]int, l.Ranks-1)
	for i := range ranks {
		ranks[i] = l.Rank + 1 + i
	}
	return ranks
}

// reverseBits returns a number of so many bits with their order reversed.
func reverseBits(n, count int) int {
	return int(bits.Reverse64(uint64(n)) >> (64 - count))
}
