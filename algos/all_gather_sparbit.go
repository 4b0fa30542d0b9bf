package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Sparbit all_gather. Blocks go to ranks ahead at distance …, 4, 2, 1, the farthest first, so that
// the large messages of the last rounds stay near. A rank has every block whose distance behind it
// is a multiple of the last distance. Any number of ranks takes ⌈log₂ p⌉ rounds.
//
//	p = 6, rank 0 has blocks:   0 │ 0 2 │ 0 4 2 │ 0 5 4 3 2 1
//
// Loch and Koslovski, "Sparbit: a new logarithmic-cost and data locality-aware MPI allgather
// algorithm", J. Parallel Distrib. Comput. 2023.
var sparbitAllGather = Algorithm{
	Name:    "sparbit",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "blocks go …, 4, 2, 1 ranks ahead, the farthest first; any number of ranks",
	When:    "short blocks where near ranks are better connected: the last, largest messages are near",
	Source:  "Loch and Koslovski 2023; Open MPI",
	Formula: "k·α + (p−1)/p·n·β",
	Group:   rotations,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		l.Keep(l.Chunk(r))
		for d := 1 << ceilLog2(p) / 2; d > 0; d /= 2 {
			l.Send(r+d, sparseBlocks(l, r, d))
			l.Recv(r-d, sparseBlocks(l, r-d, d))
		}
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for d := 1 << ceilLog2(p) / 2; d > 0; d /= 2 {
			r = append(r, Round{Times: 1, Blocks: sparseCount(p, d)})
		}
		return rounds(r...)
	},
}

// Sparbit reduce_scatter: the all_gather backwards. NCCL's PAT, where it aggregates all that it
// can, sends the same messages.
//
// Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale",
// arXiv:2506.20252, 2025.
var sparbitReduceScatter = Algorithm{
	Name:    "sparbit",
	Kinds:   []collective.Kind{collective.ReduceScatter, collective.ReduceScatterV},
	About:   "sums go 1, 2, 4, … ranks back, the nearest first; any number of ranks",
	When:    "short vectors where near ranks are better connected: the first messages are largest",
	Source:  "Loch and Koslovski 2023, backwards; Jeaugey 2025 (PAT)",
	Formula: "k·α + (p−1)/p·n·β + (p−1)/p·n·γ",
	Of:      &sparbitAllGather,
}

// sparseBlocks returns the blocks that a rank sends to distance d ahead: those at even multiples of
// d behind it that the other does not have.
func sparseBlocks(l *Lane, rank, d int) schedule.Region {
	return l.Chunk(rank).Every(-2*d, sparseCount(l.Ranks, d))
}

// sparseCount returns how many blocks a rank sends to distance d ahead.
func sparseCount(p, d int) int { return (p + d - 1) / (2 * d) }
