package algos

import "collsim/collective"

// Bine butterflies: partners are those of Swing, 1, 1, 3, 5, … ranks away, but every message is one
// run of blocks. A rank's place is such that in every round what partners exchange are the two
// halves of a run.
//
//	p = 8, ranks in the order of their places:   0 1 4 5 6 7 2 3
//
// Other even numbers of ranks have no such places: blocks are then sent one by one, in lists, which
// is Swing ("block by block, any even" in the authors' library).
//
// De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke and Hoefler, "Bine trees: enhancing
// collective operations by optimizing communication locality", SC 2025; arXiv:2508.17311. Of short
// vectors, whose partners exchange all that they have, it is swing-latency.

// binePlace returns the place of a rank. From round i on, even ranks that are equal modulo 2^(i+1)
// and their partners exchange with each other alone: they have a run of places in common.
func binePlace(rank, ranks int) int {
	k := floorLog2(ranks)
	even := rank
	if rank%2 == 1 {
		even = swingPartner(rank, k-1, ranks)
	}
	return reverseBits(even/2, k-1)*2 + rank%2
}

// bineRank returns the rank that has a place.
func bineRank(place, ranks int) int {
	k := floorLog2(ranks)
	even := reverseBits(place/2, k-1) * 2
	if place%2 == 1 {
		return swingPartner(even, k-1, ranks)
	}
	return even
}

// bine returns the exchange of an all_gather: the partners that are farthest first.
func bine(ranks int, w *walk) *placedExchange {
	k := len(w.moves)
	return &placedExchange{fold: foldOf(ranks), place: w.place, at: w.rankAt,
		partner: func(rank, round int) int { return w.partner(rank, k-1-round) }}
}

// Bine all_gather.
var bineAllGather = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "blocks go to their places, then partners …, 5, 3, 1, 1 ranks away exchange runs",
	When:    "short blocks on a ring or a torus of an even number, where gaps cost",
	Source:  "De Sensi et al. 2025 (Bine trees), send",
	Formula: "(k+⌈(k−1)/k⌉)·α + (p−1+⌈(k−1)/k⌉)/p·n·β",
	Params:  dimsParam,
	Ranks:   onlyEven,
	Bind: walking(func(l *Lane, t torus) {
		if powerOf2(l.Ranks) {
			bine(l.Ranks, t.of(l)).gather(l)
			return
		}
		swingGather(l, t)
	}, func(p int, t torus) Cost {
		if powerOf2(p) {
			return bine(p, t.walk(0)).cost()
		}
		return swingGatherCost(p, t)
	}),
}

// Bine reduce_scatter: the all_gather backwards.
var bineReduceScatter = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners 1, 1, 3, 5, … ranks away exchange runs, and add; sums then go to their places",
	When:    "short vectors on a ring or a torus of an even number, where gaps cost",
	Source:  "De Sensi et al. 2025 (Bine trees), send",
	Formula: "(k+⌈(k−1)/k⌉)·α + (p−1+⌈(k−1)/k⌉)/p·n·β + (p−1)/p·n·γ",
	Params:  dimsParam,
	Of:      &bineAllGather,
}

// Bine all_reduce: the reduce_scatter, then the all_gather, of chunks numbered by place, so that
// none has to be moved before or after.
var bineAllReduce = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "partners 1, 1, 3, 5, … ranks away exchange halves, and add; then the way back",
	When:    "middling vectors on a ring or a torus of an even number; powers of two have no gaps",
	Source:  "De Sensi et al. 2025 (Bine trees)",
	Formula: "2·k·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Params:  dimsParam,
	Ranks:   onlyEven,
	Even:    true,
	Chunks:  perRank,
	Bind: walking(bineHalving, func(p int, t torus) Cost {
		if !powerOf2(p) {
			return swingReduceCost(p, t)
		}
		return rounds(append(halvingRounds(p, 1), exchangeRounds(p, 0)...)...)
	}),
}

func bineHalving(l *Lane, t torus) {
	if !powerOf2(l.Ranks) {
		swingReduce(l, t)
		return
	}
	w, base := t.of(l), l.Index*l.Ranks
	k, mine := len(w.moves), w.place(l.Rank)
	for i, n := 0, l.Ranks/2; i < k; i, n = i+1, n/2 {
		with := w.partner(l.Rank, i)
		l.Send(with, l.Chunk(base+w.place(with)&^(n-1)).Blocks(n))
		if i == k-1 {
			l.Completes()
		}
		l.ReduceRanked(with, l.Chunk(base+mine&^(n-1)).Blocks(n))
	}
	for i, n := k-1, 1; i >= 0; i, n = i-1, 2*n {
		with := w.partner(l.Rank, i)
		l.Send(with, l.Chunk(base+mine&^(n-1)).Blocks(n))
		l.Recv(with, l.Chunk(base+w.place(with)&^(n-1)).Blocks(n))
	}
}
