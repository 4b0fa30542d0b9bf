package algos

import "collsim/collective"

// Algorithms that are others run backwards: data that was moved is moved, or summed, along the
// reversed paths. Costs, rounds and messages are those of the original, with an addition for every
// block that arrives where sums are made.

// Recursive halving reduce_scatter: recursive doubling all_gather backwards. Partners at distance
// …, 4, 2, 1 exchange the halves of what they have that the other one needs, and add. If the ranks
// are no power of two, the even one of a pair of neighbours first hands all its blocks to the odd
// one, and gets the sum of its own at the end.
//
//	p = 4:   0↔2 1↔3 │ 0↔1 2↔3                  p = 3:   0→1 │ 1↔2 │ 1→0
//
// So all blocks are added up by one tree, that of Open MPI (coll/base/coll_base_reduce_scatter.c,
// ompi_coll_base_reduce_scatter_intra_basic_recursivehalving), MPICH and Intel MPI.
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.4.
var recursiveHalvingReduceScatter = Algorithm{
	Name:    "recursive-halving",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "partners at distance …, 4, 2, 1 exchange halves of what they have, and add",
	When:    "short vectors, where rounds cost more than bytes; best at powers of two",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.4; Open MPI, MPICH",
	Formula: "k·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Of:      &doublingAllGatherOfAll,
}

// doublingAllGatherOfAll is the original of recursiveHalvingReduceScatter. A folded rank gets its
// own block back with the others, so that backwards it hands over all of them. It is not in the
// table.
var doublingAllGatherOfAll = Algorithm{
	Name:  "recursive-doubling",
	Kinds: recursiveDoublingAllGather.Kinds,
	Group: manyFlips,
	Lane:  func(l *Lane) { doublingGather(l, l.Ranks) },
	Cost:  func(p, _ int) Cost { return doublingCost(p, p) },
}

// Ring reduce_scatter: an all_gather round the ring the other way, backwards. Block r sets out from
// rank r+1, goes round the ring being added to, and arrives complete at rank r. Sums are made in
// flight, without scratch. Where a block must arrive decides where it sets out, so that this is the
// order of NCCL, oneCCL and Open MPI alike.
//
//	round     rank 0      rank 1      rank 2      rank 3
//	0         send 3      send 0      send 1      send 2
//	1, 2      +2, +1      +3, +2      +0, +3      +1, +0      add, pass on
//	end       =0          =1          =2          =3          complete: keep
//
// Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// J. Parallel Distrib. Comput. 69(2), 2009; the steps are those of NCCL (device/reduce_scatter.h).
var ringReduceScatter = Algorithm{
	Name:    "ring",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "every block goes round the ring, is added to, and ends where it belongs",
	When:    "long vectors: every wire is always busy, and only neighbours talk",
	Source:  "Patarasuk and Yuan 2009; NCCL",
	Formula: "(p−1)·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Of:      &backwardRingAllGather,
}

// backwardRingAllGather is the original of ringReduceScatter, so that this goes from each rank to
// the next. It is not in the table.
var backwardRingAllGather = Algorithm{
	Name:  "ring",
	Kinds: ringAllGather.Kinds,
	Group: rotations,
	Turns: true,
	Lane:  func(l *Lane) { passAround(l, -1) },
	Cost:  ringAllGather.Cost,
}

// Binomial reduce: the binomial broadcast backwards. Counted from the root, rank v adds what its
// children v+1, v+2, v+4, … send, and sends the sum to v without its lowest set bit. With root 0
// the operands are in rank order.
//
//	p = 8:  1→0 3→2 5→4 7→6 │ 2→0 6→4 │ 4→0      ⌈log₂ p⌉ rounds
//
// Only the root has an output: others keep partial sums in scratch, and send the last one on
// without keeping it.
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.5.
var binomialReduce = Algorithm{
	Name:    "binomial",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "a binomial tree: who has a sum halves every round",
	When:    "short vectors: the fewest rounds, each with the whole vector",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.5",
	Formula: "k·α + k·n·β + k·n·γ",
	Of:      &binomialBroadcast,
}

// Chain reduce, pipelined: the chain broadcast backwards. The sum comes from each rank to the one
// before, the last segment first, down to the root. With root 0 the operands are in rank order.
//
//	p = 4, segments a b c:   c 3→2 │ b 3→2, c 2→1 │ a 3→2, b 2→1, c 1→0 │ …      p−2+m rounds
//
// Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster Computing
// 10(2), 2007: pipeline. NCCL's reduce is such a chain, but goes on to the next rank
// (device/reduce.h).
var chainReduce = Algorithm{
	Name:    "chain",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "from each rank to the one before, in segments that follow one another",
	When:    "long vectors: every wire of the chain is always busy, and nothing is sent twice",
	Source:  "Pješivac-Grbović et al. 2007, pipeline; NCCL",
	Formula: "(p−1)·α + (p−2+m)/m·n·β + (p−2+m)/m·n·γ",
	Params:  chainBroadcast.Params,
	Of:      &chainBroadcast,
}

// Binomial gather: the binomial scatter backwards. Counted from the root, rank v gathers the blocks
// of v+1, then of v+2 and v+3, … from its children, and sends them all, in one message, to v
// without its lowest set bit.
//
//	p = 8:  1→0 3→2 5→4 7→6 │ 2→0 6→4 │ 4→0      blocks 1 │ 2 │ 4
//
// Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
// experience", CCPE 19(13), 2007: MST gather.
var binomialGather = Algorithm{
	Name:    "binomial",
	Kinds:   []collective.Kind{collective.Gather},
	About:   "a binomial tree, in which blocks join up: messages double every round",
	When:    "short blocks: the fewest rounds, and the root receives but ⌈log₂ p⌉ messages",
	Source:  "Chan et al. 2007, MST gather",
	Formula: "k·α + (p−1)/p·n·β",
	Of:      &binomialScatter,
}
