package algos

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Swing: partners are 1, 1, 3, 5, 11, … ranks away on a ring, in turns to either side: nearer than
// those of recursive doubling, so that on a ring or a torus messages share fewer links.
//
//	rank r in round s:   r + ρ(s) if it is even, r − ρ(s) if odd;   ρ(s) = 1 − 2 + 4 − … ± 2^s
//
//	p = 8:   0↔1 2↔3 4↔5 6↔7 │ 0↔7 1↔2 3↔4 5↔6 │ 0↔3 1↔6 2↔5 4↔7
//
// If an even number of ranks is no power of two, ways round the ring meet: partners exchange only
// the blocks that the other lacks (§3.2), so that no byte is sent twice.
//
// De Sensi, Bonato, Saam and Hoefler, "Swing: short-cutting rings for higher bandwidth allreduce",
// NSDI 2024.

// swingPartner returns the partner of a rank in a round.
func swingPartner(rank, round, ranks int) int {
	rho := (1 - powerOf(-2, round+1)) / 3
	if rank%2 == 1 {
		rho = -rho
	}
	return mod(rank+rho, ranks)
}

// powerOf returns base to the n.
func powerOf(base, n int) int {
	x := 1
	for range n {
		x *= base
	}
	return x
}

// swing returns the exchange of an all_gather: the partners that are farthest first.
func swing(ranks int) *exchange {
	k := ceilLog2(ranks)
	return &exchange{ranks: ranks, rounds: k, partner: func(rank, round int) int {
		return swingPartner(rank, k-1-round, ranks)
	}}
}

// Swing all_gather.
var swingAllGather = Algorithm{
	Name:    "swing",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "partners …, 5, 3, 1, 1 ranks away, in turns to either side, exchange all they have",
	When:    "short blocks on a ring or a torus of an even number of ranks",
	Source:  "De Sensi, Bonato, Saam and Hoefler 2024",
	Formula: "k·α + (p−1)/p·n·β",
	Ranks:   onlyEven,
	Even:    true,
	Lane:    func(l *Lane) { l.Keep(l.Chunk(l.Rank)); swing(l.Ranks).gather(l) },
	Cost:    func(p, _ int) Cost { return rounds(swing(p).cost(0)...) },
}

// Swing reduce_scatter: the all_gather backwards.
var swingReduceScatter = Algorithm{
	Name:    "swing",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners 1, 1, 3, 5, … ranks away, in turns to either side, exchange sums",
	When:    "short vectors on a ring or a torus of an even number of ranks",
	Source:  "De Sensi, Bonato, Saam and Hoefler 2024",
	Formula: "k·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Of:      &swingAllGather,
}

// Swing all_reduce, for bandwidth: the reduce_scatter, then the all_gather.
var swingAllReduce = Algorithm{
	Name:    "swing",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "partners 1, 1, 3, 5, … ranks away exchange halves, and add; then the way back",
	When:    "middling vectors on a ring or a torus of an even number of ranks",
	Source:  "De Sensi, Bonato, Saam and Hoefler 2024",
	Formula: "2·k·α + 2·(p−1)/p·n·β + (p−1)/p·n·γ",
	Ranks:   onlyEven,
	Even:    true,
	Chunks:  perRank,
	Lane: func(l *Lane) {
		e := swing(l.Ranks)
		if !powerOf2(l.Ranks) { // messages have chunks that are sums, and others that are not yet
			keepAll(l)
		}
		e.scatter(l)
		e.gather(l)
	},
	Cost: func(p, _ int) Cost {
		there := swing(p).cost(1)
		slices.Reverse(there)
		return rounds(append(there, swing(p).cost(0)...)...)
	},
}

// keepAll has all chunks be the output's from now on. In place only an operator that scales inputs
// takes a step for that.
func keepAll(l *Lane) {
	if l.Spec.InPlace && l.Spec.ScalesBefore() {
		l.Combine([]schedule.Region{l.All()}, nil, l.Local(l.In(0).Blocks(l.Ranks)))
		return
	}
	l.Keep(l.All())
}

// Swing all_reduce, for latency: partners exchange whole vectors. Every rank adds in an order of
// its own, so that results of floats may differ in their last bits.
var swingLatencyAllReduce = Algorithm{
	Name:    "swing-latency",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "partners 1, 1, 3, 5, … ranks away exchange all of the vector, and add",
	When:    "short vectors on a ring or a torus of a power of two, where last bits may differ",
	Source:  "De Sensi, Bonato, Saam and Hoefler 2024",
	Formula: "k·α + k·n·β + k·n·γ",
	Ranks:   onlyPowersOf2,
	Even:    true,
	Lane: func(l *Lane) {
		k := floorLog2(l.Ranks)
		for round := range k {
			with := swingPartner(l.Rank, round, l.Ranks)
			l.Send(with, l.All())
			if round == k-1 {
				l.Completes()
			}
			l.ReduceRanked(with, l.All())
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: floorLog2(p), Blocks: 1, Sums: 1}) },
}
