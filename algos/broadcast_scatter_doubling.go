package algos

import "collsim/collective"

// Scatter-doubling broadcast, van de Geijn's of few rounds: a binomial scatter of q chunks, q the
// largest power of two of ranks, then an all_gather by recursive doubling. Counted from the root,
// rank v < q gets the chunks of itself and its children; ranks from q on get all at the end.
//
//	p = 5:  0→2: 2 3 │ 0→1: 1, 2→3: 3 ║ 0↔1 2↔3 │ 0↔2 1↔3 │ 0→4
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.2.
var scatterDoublingBroadcast = Algorithm{
	Name:    "scatter-doubling",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a binomial scatter of chunks, then an all_gather by recursive doubling",
	When:    "middling vectors at powers of two: few rounds, and every rank helps to send",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.2 (van de Geijn); Open MPI, MPICH",
	Formula: "(2·k−f)·α + (2·(q−1)/q+f)·n·β",
	Chunks:  func(ranks int) int { return foldOf(ranks).q },
	Lane: func(l *Lane) {
		v, f := mod(l.Rank-l.Root, l.Ranks), foldOf(l.Ranks)
		k := floorLog2(f.q)
		if v >= f.q {
			l.Round(2 * k)
			l.Recv(l.Rank-f.q, l.All())
			return
		}
		low := lowestBit(v, f.q)
		if v > 0 {
			l.Round(k - 1 - floorLog2(low))
			l.Recv(l.Rank-low, l.Chunk(v).Blocks(low))
		} else {
			l.Keep(l.All())
		}
		for d := low / 2; d > 0; d /= 2 {
			l.Round(k - 1 - floorLog2(d))
			l.Send(l.Rank+d, l.Chunk(v+d).Blocks(d))
		}
		for d := 1; d < f.q; d *= 2 {
			with := l.Root + (v ^ d)
			l.Round(k + floorLog2(d))
			l.Send(with, l.Chunk(v&^(d-1)).Blocks(d))
			l.Recv(with, l.Chunk((v^d)&^(d-1)).Blocks(d))
		}
		if v < f.rest {
			l.Round(2 * k)
			l.Send(l.Rank+f.q, l.All())
		}
	},
	Cost: func(p, _ int) Cost {
		f := foldOf(p)
		r := append(halvingRounds(f.q, 0), exchangeRounds(f.q, 0)...)
		return rounds(append(r, Round{Times: min(f.rest, 1), Blocks: f.q})...).atMost(f.rest > 0)
	},
}
