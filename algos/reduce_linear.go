package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Linear reduce. All send to the root. It adds from the last rank down to the first, each vector as
// the left operand. So operands are in rank order, and the sum is the same for any root.
//
//	p = 4, root 2:   2+3 │ 1+(2+3) │ 0+(1+(2+3))
//
// The root's own vector has its turn among the others, so the partial sums are in scratch until the
// last addition. flat makes the additions in another order.
//
// Open MPI's linear algorithm (coll/base/coll_base_reduce.c,
// ompi_coll_base_reduce_intra_basic_linear). All messages leave at once and each has its wire; at a
// port that they share they queue.
var linearReduce = Algorithm{
	Name:    "linear",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "all send to the root, which adds from the last rank down to the first",
	When:    "what Open MPI's linear does; operators that do not commute, the same sums at any root",
	Source:  "Open MPI coll_base_reduce_intra_basic_linear",
	Formula: "α + n·β + (p−1)·n·γ",
	Ports:   "α + (p−1)·n·β + (p−1)·n·γ",
	Scratch: func(collective.Spec) int { return 1 },
	Lane: func(l *Lane) {
		if l.Rank != l.Root {
			l.Send(l.Root, l.In(0))
			return
		}
		part := func(rank int) schedule.Source {
			if rank == l.Root {
				return l.Local(l.In(0))
			}
			return l.From(rank)
		}
		sum := part(l.Ranks - 1)
		for rank := l.Ranks - 2; rank >= 0; rank-- {
			into := l.Scratch(0)
			if rank == 0 {
				into = l.Out(0)
				l.Completes()
			}
			l.Round(0)
			l.Combine([]schedule.Region{into}, nil, part(rank), sum)
			sum = l.Local(into)
		}
	},
	Cost: func(p, _ int) Cost {
		return Cost{Alpha: 1, Rounds: []Round{{Times: 1, Blocks: 1, Sums: p - 1, Fan: p - 1}}}
	},
}
