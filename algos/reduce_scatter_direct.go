package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Direct reduce_scatter. Rank q gets block q of all others at once and adds in rank order, in one
// step.
//
//	lane k < p−1   send block q to rank q = r+1+k
//	lane p−1       add block r of all ranks
//
// The first half of MSCCL's allreduce_allpairs; NCCL's symmetric ReduceScatter_LD.
var directReduceScatter = Algorithm{
	Name:    "direct",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "rank q gets block q of all others at once, and adds in rank order",
	When:    "all ranks have wires to all others, as behind NVSwitch, or blocks are short",
	Source:  "MSCCL allreduce_allpairs, first half; NCCL ReduceScatter_LD",
	Formula: "α + n/p·β + (p−1)/p·n·γ",
	Ports:   "α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Even:    true,
	Lanes:   perRank,
	Lane: func(l *Lane) {
		if l.Index < l.Ranks-1 {
			sendBlock(l)
			return
		}
		sources := inRankOrder(l)
		l.Completes()
		l.Combine([]schedule.Region{l.Chunk(l.Rank)}, nil, sources...)
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: 1, Blocks: 1, Sums: p - 1, Fan: p - 1})
	},
}
