package algos

import "collsim/collective"

// Chain broadcast, pipelined. The data goes from each rank to the next, in segments: while a rank
// passes one on, the next is on its way to it.
//
//	p = 4, segments a b c:   a→1 │ b→1 a→2 │ c→1 b→2 a→3 │ c→2 b→3 │ c→3      p−2+m rounds
//
// Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster Computing
// 10(2), 2007: pipeline, LogGP; NCCL's broadcast is such a chain (device/broadcast.h). A segment
// leaves right behind the one before, so α counts once for each of the p−1 hops.
var chainBroadcast = Algorithm{
	Name:    "chain",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "from each rank to the next, in segments that follow one another",
	When:    "long vectors: every wire of the chain is always busy, and nothing is sent twice",
	Source:  "Pješivac-Grbović et al. 2007, pipeline; NCCL",
	Formula: "(p−1)·α + (p−2+m)/m·n·β",
	Params:  segmented("512KiB"),
	Lane: func(l *Lane) {
		v := mod(l.Rank-l.Root, l.Ranks)
		prev, next := l.Rank-1, l.Rank+1

		for t := range l.Tiles() {
			l.Tile(t)
			switch {
			case v == 0:
				l.Round(t)
				l.KeepSend(next, l.All())
			case v < l.Ranks-1:
				l.Round(t + v)
				l.CopySend(prev, next, l.All())
			default:
				l.Round(t + v - 1)
				l.Recv(prev, l.All())
			}
		}
	},
	Turns: true,
	Cost: func(p, tiles int) Cost {
		return Cost{Alpha: p - 1, Rounds: []Round{{Times: p - 2 + tiles, Blocks: 1}}}
	},
}
