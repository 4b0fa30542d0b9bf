package algos

import (
	"fmt"
	"strconv"

	"collsim/collective"
	"collsim/schedule"
)

// Hierarchical all_reduce, for machines whose neighbours in rank order are closer together: a
// reduce_scatter inside each group of inner ranks, an all_reduce across the groups among those who
// have the same place in theirs, on the part that they have, and an all_gather inside. All three
// are rings.
//
//	2 groups of 3:   (0 1 2) (3 4 5)  inside │ (0 3) (1 4) (2 5)  across │ (0 1 2) (3 4 5)  inside
//
// Chunk c belongs to rank c: what rank L of a group has after the first ring is chunks L, L+inner,
// L+2·inner, …, one for each group, which are the chunks of the ring across. So every rank does the
// same as seen from itself, by group and place. Across, a rank sends only 1/inner of the vector.
//
// Cho, Finkler, Kung and Hunter, "BlueConnect: decomposing all-reduce for deep learning on
// heterogeneous network hierarchy", MLSys 2019; Horovod's NCCLHierarchicalAllreduce.
var hierarchicalAllReduce = Algorithm{
	Name:    "hierarchical",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "reduce_scatter inside groups of ranks, all_reduce across, all_gather inside: rings",
	When:    "nodes with a fast network inside and a slow one between: inner is the GPUs of a node",
	Source:  "Cho et al. 2019 (BlueConnect); Horovod NCCLHierarchicalAllreduce",
	Formula: "2·(inner−1 + p/inner−1)·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Params:  innerParam,
	Chunks:  perRank,
	Bind: func(a Algorithm, ranks int, param func(string) string) (Algorithm, error) {
		inner, err := innerRanks(ranks, param("inner"))
		if err != nil {
			return a, err
		}
		outer := ranks / inner
		a.Group = func(int) schedule.Group { return schedule.Group{int32(outer), int32(inner)} }
		a.Lane = func(l *Lane) { hierarchical(l, inner, outer) }
		a.Cost = func(_, _ int) Cost {
			return rounds(Round{Times: inner - 1, Blocks: outer, Sums: 1},
				Round{Times: outer - 1, Blocks: 1, Sums: 1}, Round{Times: outer - 1, Blocks: 1},
				Round{Times: inner - 1, Blocks: outer})
		}
		return a, nil
	},
}

// innerParam is the parameter of algorithms of two levels.
var innerParam = []Param{{Name: "inner", Value: perNode, Tries: []string{perNode, balanced},
	About: "ranks of a group, a divisor of the ranks; node is the ranks of a node, where all " +
		"nodes have as many and are filled one after the other; elsewhere it is balanced: the " +
		"largest divisor that is at most the square root of the ranks"}}

// perNode and balanced are values of inner.
const (
	perNode  = "node"
	balanced = "balanced"
)

// hierarchical writes what a rank does in outer groups of inner ranks.
func hierarchical(l *Lane, inner, outer int) {
	group, place := l.Rank/inner, l.Rank%inner
	member := func(i int) int { return group*inner + mod(place+i, inner) } // of this group
	like := func(i int) int { return mod(group+i, outer)*inner + place }   // in the others
	part := func(i int) schedule.Region { return l.Chunk(member(i)).Every(inner, outer) }
	chunk := func(i int) schedule.Region { return l.Chunk(like(i)) }

	if inner > 1 {
		l.Send(member(1), part(-1))
		for i := 2; i < inner; i++ {
			l.ReduceSend(member(-1), member(1), part(-i))
		}
		if outer == 1 {
			l.Completes()
		}
		l.Reduce(member(-1), part(0))
	}
	if outer > 1 {
		l.Send(like(1), chunk(0))
		for i := 1; i < outer-1; i++ {
			l.ReduceSend(like(-1), like(1), chunk(-i))
		}
		l.Completes()
		l.ReduceCopySend(like(-1), like(1), chunk(1))
		for i := range outer - 2 {
			l.CopySend(like(-1), like(1), chunk(-i))
		}
		l.Recv(like(-1), chunk(2))
	}
	if inner > 1 {
		l.Send(member(1), part(0))
		for i := 1; i < inner-1; i++ {
			l.CopySend(member(-1), member(1), part(-i))
		}
		l.Recv(member(-1), part(1))
	}
}

// innerRanks reads the parameter inner for a number of ranks. For one rank, any number is valid. A
// value that is still "node" means that ranks do not fill equal nodes.
func innerRanks(ranks int, text string) (int, error) {
	if text == balanced || text == perNode {
		return divisor(ranks, func(d int) bool { return d*d <= ranks }), nil
	}
	inner, err := strconv.Atoi(text)
	switch {
	case err != nil || inner < 1:
		return 0, fmt.Errorf("inner=%s: a number of ranks, at least 1, %s or %s is expected",
			text, perNode, balanced)
	case ranks == 1:
		return 1, nil
	case ranks%inner != 0:
		below := divisor(ranks, func(d int) bool { return d < inner })
		above := ranks / divisor(ranks, func(d int) bool { return ranks/d > inner })
		if above < inner {
			return 0, fmt.Errorf("inner=%d does not divide %d ranks; the nearest that does is %d",
				inner, ranks, below)
		}
		return 0, fmt.Errorf("inner=%d does not divide %d ranks; the nearest that do are %d and %d",
			inner, ranks, below, above)
	}
	return inner, nil
}

// divisor returns the largest divisor of n for which holds is true; 1 if there is none. REQUIRES:
// holds is true up to some number and false beyond it.
func divisor(n int, holds func(int) bool) int {
	best := 1
	for d := 1; d*d <= n; d++ {
		for _, x := range [2]int{d, n / d} {
			if n%d == 0 && holds(x) {
				best = max(best, x)
			}
		}
	}
	return best
}
