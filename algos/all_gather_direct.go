package algos

import "collsim/collective"

// Direct all_gather. Every rank sends its block to all others at once, on a lane each. Lane k of
// rank r and lane p−2−k of rank r+1+k are connected.
//
//	p = 4, rank 0:   lane 0 ↔ 1   lane 1 ↔ 2   lane 2 ↔ 3
//
// "AllPairs" of Microsoft's MSCCL and MSCCL++ (allgather fullmesh); NCCL's symmetric AllGather_ST.
var directAllGather = Algorithm{
	Name:    "direct",
	Kinds:   []collective.Kind{collective.AllGather, collective.AllGatherV},
	About:   "every rank sends its block to all others at once",
	When:    "all ranks have wires to all others, as behind NVSwitch, or blocks are short",
	Source:  "MSCCL++ allgather fullmesh; NCCL AllGather_ST",
	Formula: "α + n/p·β",
	Ports:   "α + (p−1)/p·n·β",
	Group:   rotations,
	Lanes:   perPeer,
	Lane: func(l *Lane) {
		q := l.Rank + 1 + l.Index

		opposite(l)
		if l.Index == 0 {
			l.KeepSend(q, l.Chunk(l.Rank))
		} else {
			l.Send(q, l.Chunk(l.Rank))
		}
		opposite(l)
		l.Recv(q, l.Chunk(q))
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: 1, Blocks: 1, Fan: p - 1}) },
}

// opposite makes the next step of lane k, whose peer is rank r+1+k, face that rank's lane whose
// peer is r.
func opposite(l *Lane) { l.Facing(l.Ranks - 2 - l.Index) }
