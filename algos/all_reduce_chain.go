package algos

import "collsim/collective"

// Chain all_reduce, pipelined. Sums go down a chain to rank 0, and the results up again, in
// segments that follow one another: lane 0 of a rank adds and passes down, lane 1 passes up.
//
//	p = 4, segments a b:   a 3→2 │ b 3→2, a 2→1 │ b 2→1, a 1→0 │ b 1→0, a 0→1 │ …
//
// Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster Computing
// 10(2), 2007: pipeline, here both ways.
var chainAllReduce = Algorithm{
	Name:    "chain",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "sums go down a chain to rank 0 and results up again, in segments",
	When:    "long vectors on a line of ranks whose links run both ways at once",
	Source:  "Pješivac-Grbović et al. 2007, pipeline",
	Formula: "2·(p−1)·α + (2·(p−1)+m−1)/m·n·β + (p−2+m)/m·n·γ",
	Params:  segmented("512KiB"),
	Lanes:   func(int) int { return 2 },
	Lane: func(l *Lane) {
		r, last := l.Rank, l.Ranks-1
		for t := range l.Tiles() {
			l.Tile(t)
			switch round := t + last - r; {
			case l.Index == 0 && r == last:
				l.Round(t)
				l.Send(r-1, l.In(0))
			case l.Index == 0 && r > 0:
				l.Round(round)
				l.Combine(nil, []int{r - 1}, l.Local(l.In(0)), l.From(r+1))
			case l.Index == 0:
				l.Round(round - 1)
				l.Completes()
				l.Accumulate(1, l.All())
				l.Post()
			case r == 0:
				l.Round(round)
				l.After(0, t+1)
				l.Send(1, l.Out(0))
			case r < last:
				l.Round(t + last + r)
				l.CopySend(r-1, r+1, l.All())
			default:
				l.Round(t + last + r - 1)
				l.Recv(r-1, l.All())
			}
		}
	},
	Cost: func(p, tiles int) Cost {
		return Cost{Alpha: 2 * (p - 1), Rounds: []Round{
			{Times: p - 2 + tiles, Blocks: 1, Sums: 1}, {Times: p - 1, Blocks: 1}}}
	},
}
