package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Neighbor exchange all_gather, for an even number of ranks. Ranks exchange with the neighbour on
// one side and on the other in turns: first their own blocks, then the two that came last. Only
// neighbours talk, in half as many rounds as round a ring.
//
//	p = 6:   0↔1 2↔3 4↔5 │ 5↔0 1↔2 3↔4 │ 0↔1 2↔3 4↔5        blocks 1 │ 2 │ 2
//
// Chen, Zhang, Cao, Wang, Wu and Jin, "Performance evaluation of allgather algorithms on
// terascale Linux cluster with fast Ethernet", HPC Asia 2005.
var neighborExchangeAllGather = Algorithm{
	Name:    "neighbor-exchange",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "neighbours on either side exchange, in turns, the two blocks that came last",
	When:    "middling blocks on a ring of an even number of ranks: half as many rounds",
	Source:  "Chen et al. 2005; Open MPI",
	Formula: "p/2·α + (p−1)/p·n·β",
	Ranks:   onlyEven,
	Even:    true,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		side := 1 - 2*(r%2) // where the first neighbour is

		l.KeepSend(r+side, l.Chunk(r))
		l.Recv(r+side, l.Chunk(r+side))
		for i := 1; i < p/2; i++ {
			side = -side
			l.Send(r+side, pairOf(l, r, i-1))
			l.Recv(r+side, pairOf(l, r+side, i-1))
		}
	},
	Cost: func(p, _ int) Cost {
		return rounds(Round{Times: 1, Blocks: 1}, Round{Times: p/2 - 1, Blocks: 2})
	},
}

// pairOf returns the pair of blocks that a rank got in a round: its own pair in the first, then
// those of pairs ever farther away, on one side and on the other in turns.
func pairOf(l *Lane, rank, round int) schedule.Region {
	rank = mod(rank, l.Ranks)
	far := (round + 1) / 2 * 2
	if (rank+round)%2 == 1 {
		far = -far
	}
	return l.Chunk(rank&^1 + far).Blocks(2)
}
