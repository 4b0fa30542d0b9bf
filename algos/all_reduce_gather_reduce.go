package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Gather-reduce all_reduce: an all_gather of whole vectors, Bruck's, and then every rank adds all
// of them in rank order, in one step.
//
//	p = 6:   r fetches from r+1 │ r+2, r+3 │ r+4, r+5 │ everywhere 0+1+2+3+4+5
//
// Open MPI, allreduce_intra_allgather_reduce.
var gatherReduceAllReduce = Algorithm{
	Name:    "gather-reduce",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "an all_gather of whole vectors, which every rank then adds in rank order",
	When:    "tiny vectors where no rank reaches all others at once; operators that do not commute",
	Source:  "Open MPI allreduce allgather_reduce; Bruck et al. 1997",
	Formula: "k·α + (p−1)·n·β + (p−1)·n·γ",
	Even:    true,
	Scratch: func(spec collective.Spec) int { return spec.Ranks },
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		l.Copy(l.Scratch(r), l.In(0))
		for d := 1; d < p; d *= 2 {
			n := min(d, p-d)
			l.Send(r-d, l.Scratch(r).Blocks(n))
			l.Recv(r+d, l.Scratch(r+d).Blocks(n))
		}
		sources := make([]schedule.Source, p)
		for q := range sources {
			sources[q] = l.Local(l.Scratch(q))
		}
		l.Completes()
		l.Combine([]schedule.Region{l.Out(0)}, nil, sources...)
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for d := 1; d < p; d *= 2 {
			r = append(r, Round{Times: 1, Blocks: min(d, p-d)})
		}
		r[0].Sums = p - 1
		return rounds(r...)
	},
}
