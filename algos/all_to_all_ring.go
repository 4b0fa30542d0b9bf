package algos

import "collsim/collective"

// Ring all_to_all. Blocks go round the ring from neighbour to neighbour, those for the next rank
// first, then those for the one after it, and so on: a block for the d-th rank after its own is
// passed on d−1 times, straight from the connection that it came on.
//
//	p = 4, from rank 0:   0→1 │ 0→1→2 │ 0→1→2→3
//
// Nobody but neighbours needs a wire; every byte crosses p/2 of them on average. In place, blocks
// that would be overwritten before they are sent are set aside first, as in pairwise.
//
// The ring algorithm of SimGrid's SMPI (smpi/colls/alltoall/alltoall-ring.cpp), hop by hop.
var ringAllToAll = Algorithm{
	Name:    "ring",
	Kinds:   []collective.Kind{collective.AllToAll, collective.AllToAllV},
	About:   "every block goes round the ring from neighbour to neighbour to where it belongs",
	When:    "a ring is all the network there is",
	Source:  "store-and-forward ring; SMPI alltoall ring",
	Formula: "p·(p−1)/2·α + (p−1)/2·n·β",
	Group:   rotations,
	Scratch: setAside,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		block := outgoing(l)

		for d := 1; d < p; d++ {
			l.Send(r+1, block(d))
			for i := 1; i < d; i++ {
				l.Combine(nil, []int{r + 1}, l.From(r-1))
			}
			l.Recv(r-1, l.Out(r-d))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: p * (p - 1) / 2, Blocks: 1}) },
}
