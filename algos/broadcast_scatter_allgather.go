package algos

import "collsim/collective"

// Scatter-allgather broadcast, van de Geijn's: a binomial scatter of as many chunks as ranks, then
// a ring all_gather. Counted from the root, chunk v is for rank v; it comes in one message with the
// chunks of v's children. All chunks go round the ring, also to ranks that have them already.
//
//	p = 4:  0→2: 2 3 │ 0→1: 1, 2→3: 3 ║ 3 rounds of the ring
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.2; Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor
// collective communication library (InterCom)", SHPCC 1994.
var scatterAllgatherBroadcast = Algorithm{
	Name:    "scatter-allgather",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a binomial scatter of chunks, then a ring all_gather",
	When:    "long vectors: every rank helps to send, and no segment size need be chosen",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.2 (van de Geijn)",
	Formula: "(k+p−1)·α + 2·(p−1)/p·n·β",
	Chunks:  perRank,
	Lane: func(l *Lane) {
		v, p, k := mod(l.Rank-l.Root, l.Ranks), l.Ranks, ceilLog2(l.Ranks)
		low := lowestBit(v, p)
		prev, next := l.Rank-1, l.Rank+1

		if v > 0 {
			l.Round(k - 1 - floorLog2(low))
			l.Recv(l.Rank-low, l.Chunk(v).Blocks(min(low, p-v)))
		}
		for d := low / 2; d > 0; d /= 2 {
			if v+d < p {
				l.Round(k - 1 - floorLog2(d))
				l.Send(l.Rank+d, l.Chunk(v+d).Blocks(min(d, p-v-d)))
			}
		}
		l.Round(k)
		l.KeepSend(next, l.Chunk(v))
		for i := 1; i < p-1; i++ {
			l.CopySend(prev, next, l.Chunk(v-i))
		}
		l.Recv(prev, l.Chunk(v+1))
	},
	Turns: true,
	Cost: func(p, _ int) Cost {
		return rounds(append(halvings(p), Round{Times: p - 1, Blocks: 1})...).atMost(!powerOf2(p))
	},
}
