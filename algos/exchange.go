package algos

import (
	"slices"

	"collsim/schedule"
)

// An exchange is an all_gather in which, in every round, each rank and its partner exchange all
// the blocks that they have and the other lacks. Algorithms differ in who is whose partner.
type exchange struct {
	ranks, rounds int
	base          int                       // the chunk of rank 0's block
	partner       func(rank, round int) int // in the order of the all_gather
}

// has lists the blocks that a rank has before a round, in ascending order.
func (e *exchange) has(rank, round int) []int32 {
	if round == 0 {
		return []int32{int32(rank)}
	}
	all := append(e.has(rank, round-1), e.has(e.partner(rank, round-1), round-1)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// gives lists the blocks that a rank sends to its partner in a round.
func (e *exchange) gives(rank, round int) []int32 {
	all := e.has(rank, round)
	if powerOf2(e.ranks) { // no rank hears of a block twice
		return all
	}
	theirs := e.has(e.partner(rank, round), round)
	return slices.DeleteFunc(all, func(block int32) bool {
		_, has := slices.BinarySearch(theirs, block)
		return has
	})
}

// blocks returns what a rank sends in a round of the all_gather, as a region.
func (e *exchange) blocks(l *Lane, rank, round int) schedule.Region {
	r := l.Chunk(0)
	r.List = e.gives(rank, round)
	for i := range r.List {
		r.List[i] += int32(e.base)
	}
	return r
}

// gather writes the all_gather.
func (e *exchange) gather(l *Lane) {
	for round := range e.rounds {
		to := e.partner(l.Rank, round)
		l.Send(to, e.blocks(l, l.Rank, round))
		l.Recv(to, e.blocks(l, to, round))
	}
}

// scatter writes the reduce_scatter: the all_gather backwards.
func (e *exchange) scatter(l *Lane) {
	for round := e.rounds - 1; round >= 0; round-- {
		from := e.partner(l.Rank, round)
		l.Send(from, e.blocks(l, from, round))
		if round == 0 {
			l.Completes()
		}
		l.ReduceRanked(from, e.blocks(l, l.Rank, round))
	}
}

// cost lists the rounds of the all_gather, in which all ranks send as much as rank 0; each adds
// so many operands.
func (e *exchange) cost(sums int) (list []Round) {
	for round := range e.rounds {
		list = append(list, Round{Times: 1, Blocks: len(e.gives(0, round)), Sums: sums})
	}
	return list
}

// exchangeRounds lists the rounds of an exchange of p ranks: what a rank has doubles in each.
func exchangeRounds(p, sums int) (list []Round) {
	for n := 1; n < p; n *= 2 {
		list = append(list, Round{Times: 1, Blocks: n, Sums: sums})
	}
	return list
}

// onlyPowersOf2 returns what is expected in place of another number of ranks (Algorithm.Ranks).
func onlyPowersOf2(ranks int) string {
	if powerOf2(ranks) {
		return ""
	}
	return "a power of two"
}

// onlyEven returns what is expected in place of another number of ranks (Algorithm.Ranks).
func onlyEven(ranks int) string {
	if ranks%2 == 0 {
		return ""
	}
	return "an even number"
}
