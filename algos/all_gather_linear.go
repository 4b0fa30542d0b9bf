package algos

import "collsim/collective"

// Linear all_gather: all send their block to rank 0, which sends each rank those that it lacks, one
// rank after the other.
//
//	p = 4:   1→0 2→0 3→0 │ 0→1 0→2 0→3
//
// Folklore; Open MPI's allgather_intra_basic_linear sends each rank its own block too.
var linearAllGather = Algorithm{
	Name:    "linear",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "rank 0 takes all blocks, and sends each rank those that it lacks, one after the other",
	When:    "a baseline; two or three ranks",
	Source:  "Open MPI allgather basic linear",
	Formula: "2·α + (1+(p−1)·(p−1))/p·n·β",
	Ports:   "2·α + (p−1)·n·β",
	Lane: func(l *Lane) {
		if l.Rank > 0 {
			l.Round(0)
			l.KeepSend(0, l.Chunk(l.Rank))
			l.Round(1)
			l.Recv(0, l.Chunk(l.Rank+1).Blocks(l.Ranks-1))
			return
		}
		l.Keep(l.Chunk(0))
		for _, q := range others(l) {
			l.Round(0)
			l.Recv(q, l.Chunk(q))
		}
		for _, q := range others(l) {
			l.Round(1)
			l.Send(q, l.Chunk(q+1).Blocks(l.Ranks-1))
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: 1, Blocks: 1, Fan: p - 1},
			Round{Times: 1, Blocks: p - 1, Burst: p - 1})
	},
}
