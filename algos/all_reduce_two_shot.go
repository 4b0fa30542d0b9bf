package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Two-shot all_reduce: a direct reduce_scatter, then a direct all_gather. Rank q gets chunk q of
// all others at once, adds in rank order, and sends the sum to all at once.
//
//	lane k < p−1   send chunk q to rank q = r+1+k
//	lane p−1       add chunk r of all ranks: keep it and send it to all; keep the others' sums
//
// In place, another rank's sum overwrites a chunk that a lane here has sent: it cannot come before
// that message has arrived, so nothing races.
//
// "AllPairs" of Microsoft's MSCCL (allreduce_a100_allpairs) and MSCCL++; torch's
// two_shot_all_reduce.
var twoShotAllReduce = Algorithm{
	Name:    "two-shot",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "rank q adds chunk q of all ranks in rank order, and sends the sum to all",
	When:    "middling vectors on ranks with wires to all others: two rounds, few bytes",
	Source:  "MSCCL allreduce_allpairs; torch two_shot_all_reduce",
	Formula: "2·α + 2/p·n·β + (p−1)/p·n·γ",
	Ports:   "2·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Even:    true,
	Timing:  rotations,
	Chunks:  perRank,
	Lanes:   perRank,
	Lane: func(l *Lane) {
		if l.Index < l.Ranks-1 {
			sendBlock(l)
			return
		}
		sources := inRankOrder(l)
		l.Round(1)
		l.Completes()
		l.Combine([]schedule.Region{l.Chunk(l.Rank)}, others(l), sources...)
		for i := 1; i < l.Ranks; i++ {
			l.Round(1)
			l.Recv(l.Rank+i, l.Chunk(l.Rank+i))
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: 1, Blocks: 1, Sums: p - 1, Fan: p - 1},
			Round{Times: 1, Blocks: 1, Fan: p - 1})
	},
}

// sendBlock makes lane k < p−1 send block q of the input to rank q = r+1+k, to its lane p−1.
func sendBlock(l *Lane) {
	q := l.Rank + 1 + l.Index
	l.Facing(l.Ranks - 1)
	l.Send(q, l.Chunk(q))
}

// inRankOrder returns this rank's block of the inputs of all ranks, as the lanes of sendBlock send
// it.
func inRankOrder(l *Lane) []schedule.Source {
	sources := make([]schedule.Source, l.Ranks)
	for q := range sources {
		if q == l.Rank {
			sources[q] = l.Local(l.Chunk(l.Rank))
			continue
		}
		l.Facing(mod(l.Rank-q-1, l.Ranks))
		sources[q] = l.From(q)
	}
	l.Facing(l.Index)
	return sources
}
