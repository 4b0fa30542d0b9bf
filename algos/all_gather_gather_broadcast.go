package algos

import "collsim/collective"

// Gather-broadcast all_gather: a binomial gather at rank 0, then a binomial broadcast of all.
//
//	p = 8:  1→0 3→2 5→4 7→6 │ 2→0 6→4 │ 4→0 ║ 0→4 │ 0→2 4→6 │ 0→1 2→3 4→5 6→7
//
// SimGrid's SMPI, allgather GB; Open MPI, allgather_intra_basic_linear, whose gather is linear.
var gatherBroadcastAllGather = Algorithm{
	Name:    "gather-broadcast",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "a binomial gather at rank 0, then a binomial broadcast of all blocks",
	When:    "a baseline; the fewest messages",
	Source:  "SMPI allgather GB; Open MPI allgather basic linear",
	Formula: "2·k·α + ((p−1)/p+k)·n·β",
	Lane: func(l *Lane) {
		r, p, k := l.Rank, l.Ranks, ceilLog2(l.Ranks)
		low := lowestBit(r, p)
		if low > 1 {
			l.Keep(l.Chunk(r))
		}
		for d := 1; d < low && r+d < p; d *= 2 {
			l.Round(floorLog2(d))
			l.Recv(r+d, l.Chunk(r+d).Blocks(min(d, p-r-d)))
		}
		if r > 0 {
			l.Round(floorLog2(low))
			l.Send(r-low, l.Chunk(r).Blocks(min(low, p-r)))
			l.Round(2*k - 1 - floorLog2(low))
			l.Recv(r-low, l.Chunk(0).Blocks(p))
		}
		for d := low / 2; d > 0; d /= 2 {
			if r+d < p {
				l.Round(2*k - 1 - floorLog2(d))
				l.Send(r+d, l.Chunk(0).Blocks(p))
			}
		}
	},
	Cost: func(p, _ int) Cost {
		r := halvings(p)
		for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
			r[i], r[j] = r[j], r[i]
		}
		return rounds(append(r, Round{Times: ceilLog2(p), Blocks: p})...).atMost(!powerOf2(p))
	},
}
