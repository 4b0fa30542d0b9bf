package algos

import "collsim/collective"

// Reduce_scatter for operators that do not commute, of a power of two of ranks. Partners at
// distance 1, 2, 4, … exchange every second, then every fourth block, … and add: operands are in
// rank order, and each block ends where it belongs.
//
//	p = 4:   0↔1 2↔3  even for odd blocks │ 0↔2 1↔3
//
// Bernaschi, Iannello and Lauria, "Efficient implementation of reduce-scatter in MPI", J. Systems
// Architecture 49(3), 2003; MPICH, reduce_scatter_block_intra_noncommutative, which moves blocks to
// have runs.
var noncommutativeReduceScatter = Algorithm{
	Name:    "noncommutative",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners at distance 1, 2, 4, … exchange every second, fourth, … block, and add",
	When:    "operators that do not commute, at powers of two; short vectors",
	Source:  "Bernaschi, Iannello and Lauria 2003; MPICH noncommutative",
	Formula: "k·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Of:      &distanceHalvingAllGather,
}

// distanceHalvingAllGather is the original of noncommutativeReduceScatter. It is not in the table.
var distanceHalvingAllGather = Algorithm{
	Name:  "noncommutative",
	Kinds: []collective.Kind{collective.AllGather, collective.AllGatherV},
	Ranks: onlyPowersOf2,
	Even:  true,
	Lane: func(l *Lane) {
		p := l.Ranks
		l.Keep(l.Chunk(l.Rank))
		for d, n := p/2, 1; d > 0; d, n = d/2, 2*n { // n blocks, those at multiples of 2·d from it
			partner := l.Rank ^ d
			l.Send(partner, l.Chunk(l.Rank%(2*d)).Every(2*d, n))
			l.Recv(partner, l.Chunk(partner%(2*d)).Every(2*d, n))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(exchangeRounds(p, 0)...) },
}
