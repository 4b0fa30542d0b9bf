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

// swing returns the exchange of an all_gather on one ring: the partners that are farthest first.
func swing(ranks int) *exchange { return torus{lattice{ranks}, 1}.walk(0).exchange(ranks, 0) }

// Swing all_gather.
var swingAllGather = Algorithm{
	Name:    "swing",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "partners …, 5, 3, 1, 1 ranks away, in turns to either side, exchange all they have",
	When:    "short blocks on a ring or a torus of an even number of ranks",
	Source:  "De Sensi, Bonato, Saam and Hoefler 2024",
	Formula: "k·α + (p−1)/p·n·β",
	Params:  dimsParam,
	Ranks:   onlyEven,
	Even:    true,
	Bind:    walking(swingGather, swingGatherCost),
}

func swingGather(l *Lane, t torus) {
	l.Keep(l.Chunk(l.Rank))
	t.of(l).exchange(l.Ranks, 0).gather(l)
}

func swingGatherCost(p int, t torus) Cost {
	return rounds(t.walk(0).exchange(p, 0).cost(0)...)
}

// Swing reduce_scatter: the all_gather backwards.
var swingReduceScatter = Algorithm{
	Name:    "swing",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners 1, 1, 3, 5, … ranks away, in turns to either side, exchange sums",
	When:    "short vectors on a ring or a torus of an even number of ranks",
	Source:  "De Sensi, Bonato, Saam and Hoefler 2024",
	Formula: "k·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Params:  dimsParam,
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
	Params:  dimsParam,
	Ranks:   onlyEven,
	Even:    true,
	Chunks:  perRank,
	Bind:    walking(swingReduce, swingReduceCost),
}

func swingReduce(l *Lane, t torus) {
	base := l.Index * l.Ranks
	e := t.of(l).exchange(l.Ranks, base)
	if !powerOf2(l.Ranks) { // messages have chunks that are sums, and others that are not yet
		keepAll(l, base)
	}
	e.scatter(l)
	e.gather(l)
}

func swingReduceCost(p int, t torus) Cost {
	e := t.walk(0).exchange(p, 0)
	there := e.cost(1)
	slices.Reverse(there)
	return rounds(append(there, e.cost(0)...)...)
}

// keepAll has as many chunks as there are ranks be the output's from now on. In place only an
// operator that scales inputs takes a step for that.
func keepAll(l *Lane, base int) {
	chunks := l.Chunk(base).Blocks(l.Ranks)
	if l.Spec.InPlace && l.Spec.ScalesBefore() {
		l.Combine([]schedule.Region{chunks}, nil, l.Local(l.In(base).Blocks(l.Ranks)))
		return
	}
	l.Keep(chunks)
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
	Params:  dimsParam,
	Ranks:   onlyPowersOf2,
	Even:    true,
	Bind: walking(func(l *Lane, t torus) {
		w, part := t.of(l), l.Chunk(l.Index)
		for round := range w.moves {
			with := w.partner(l.Rank, round)
			l.Send(with, part)
			if round == len(w.moves)-1 {
				l.Completes()
			}
			l.ReduceRanked(with, part)
		}
	}, func(p int, t torus) Cost {
		return rounds(Round{Times: len(t.walk(0).moves), Blocks: 1, Sums: 1})
	}),
}
