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
func bine(ranks int) *placedExchange {
	k := floorLog2(ranks)
	return &placedExchange{fold: foldOf(ranks),
		place:   func(rank int) int { return binePlace(rank, ranks) },
		at:      func(place int) int { return bineRank(place, ranks) },
		partner: func(rank, round int) int { return swingPartner(rank, k-1-round, ranks) }}
}

// Bine all_gather.
var bineAllGather = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "blocks go to their places, then partners …, 5, 3, 1, 1 ranks away exchange runs",
	When:    "short blocks on a ring or a torus of an even number, where gaps cost",
	Source:  "De Sensi et al. 2025 (Bine trees), send",
	Formula: "(k+⌈(k−1)/k⌉)·α + (p−1+⌈(k−1)/k⌉)/p·n·β",
	Ranks:   onlyEven,
	Lane: func(l *Lane) {
		if powerOf2(l.Ranks) {
			bine(l.Ranks).gather(l)
			return
		}
		swingAllGather.Lane(l)
	},
	Cost: func(p, _ int) Cost {
		if powerOf2(p) {
			return bine(p).cost()
		}
		return swingAllGather.Cost(p, 1)
	},
}

// Bine reduce_scatter: the all_gather backwards.
var bineReduceScatter = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners 1, 1, 3, 5, … ranks away exchange runs, and add; sums then go to their places",
	When:    "short vectors on a ring or a torus of an even number, where gaps cost",
	Source:  "De Sensi et al. 2025 (Bine trees), send",
	Formula: "(k+⌈(k−1)/k⌉)·α + (p−1+⌈(k−1)/k⌉)/p·n·β + (p−1)/p·n·γ",
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
	Ranks:   onlyEven,
	Even:    true,
	Chunks:  perRank,
	Lane: func(l *Lane) {
		if !powerOf2(l.Ranks) {
			swingAllReduce.Lane(l)
			return
		}
		k, p, mine := floorLog2(l.Ranks), l.Ranks, binePlace(l.Rank, l.Ranks)
		for i, n := 0, p/2; i < k; i, n = i+1, n/2 {
			with := swingPartner(l.Rank, i, p)
			l.Send(with, l.Chunk(binePlace(with, p)&^(n-1)).Blocks(n))
			if i == k-1 {
				l.Completes()
			}
			l.ReduceRanked(with, l.Chunk(mine&^(n-1)).Blocks(n))
		}
		for i, n := k-1, 1; i >= 0; i, n = i-1, 2*n {
			with := swingPartner(l.Rank, i, p)
			l.Send(with, l.Chunk(mine&^(n-1)).Blocks(n))
			l.Recv(with, l.Chunk(binePlace(with, p)&^(n-1)).Blocks(n))
		}
	},
	Cost: func(p, _ int) Cost {
		if !powerOf2(p) {
			return swingAllReduce.Cost(p, 1)
		}
		return rounds(append(halvingRounds(p, 1), exchangeRounds(p, 0)...)...)
	},
}
