package algos

import "collsim/collective"

// Direct all_to_all. Every rank exchanges a block with all others at once, on a lane each: a lane
// sends first, so in place nothing is overwritten that is still to be sent. Lane 0 copies this
// rank's own block.
//
// The linear algorithm of MPI libraries, NCCL's grouped send and receive.
var directAllToAll = Algorithm{
	Name:    "direct",
	Kinds:   []collective.Kind{collective.AllToAll, collective.AllToAllV},
	About:   "every rank exchanges a block with all others at once",
	When:    "all ranks have wires to all others, or the network may sort it out",
	Source:  "Open MPI basic linear; NCCL grouped send/recv",
	Formula: "α + n/p·β",
	Ports:   "α + (p−1)/p·n·β",
	Group:   rotations,
	Lanes:   perPeer,
	Lane: func(l *Lane) {
		q := l.Rank + 1 + l.Index

		opposite(l)
		l.Send(q, l.In(q))
		if l.Index == 0 && !l.Spec.InPlace {
			l.Copy(l.Out(l.Rank), l.In(l.Rank))
		}
		opposite(l)
		l.Recv(q, l.Out(q))
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: 1, Blocks: 1, Fan: p - 1}) },
}
