package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

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
	Group: manyFlips,
	Lane: func(l *Lane) {
		l.Keep(l.Chunk(l.Rank))
		for d := l.Ranks / 2; d > 0; d /= 2 {
			l.Send(l.Rank^d, everyOther(l, l.Rank, 2*d))
			l.Recv(l.Rank^d, everyOther(l, l.Rank^d, 2*d))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(exchangeRounds(p, 0)...) },
}

// everyOther returns the blocks that differ from a rank's by exclusive or with multiples of a
// distance, in this order.
func everyOther(l *Lane, rank, distance int) schedule.Region {
	r := l.Chunk(rank%distance).Every(distance, l.Ranks/distance)
	for i := 0; rank >= distance && i < l.Ranks; i += distance {
		r.List = append(r.List, int32(rank^i))
	}
	return r
}
