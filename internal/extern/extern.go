// Package extern shows how a package outside this repository adds an algorithm: TwoWayRing. It is
// used, proven and timed with collsim's exported API only. Copy it to begin your own.
package extern

import (
	"collsim/algos"
	"collsim/collective"
	"collsim/schedule"
)

// TwoWayRing returns an all_gather that goes round the ring in both directions at once, in half the
// rounds. Every block goes half the ring on lane 0, clockwise, and the other half on lane 1,
// counterclockwise. Steps of rank 0 with 5 ranks:
//
//	round   lane 0              lane 1
//	0       send 0 to 1         send 0 to 4
//	1       4 from 4, on to 1   1 from 1, on to 4
//	end     3 from 4            2 from 1
//
// Each round takes α + n/p·β where both directions of a link have its full bandwidth.
func TwoWayRing() algos.Algorithm {
	return algos.Algorithm{
		Name:   "two-way-ring",
		Kinds:  []collective.Kind{collective.AllGather},
		About:  "every block goes round the ring in both directions, half way each",
		Source: "folklore",
		Group:  func(ranks int) schedule.Group { return schedule.Group{int32(ranks)} },
		Lanes:  func(int) int { return 2 },
		Lane: func(l *algos.Lane) {
			hops, step := l.Ranks/2, 1
			if l.Index == 1 {
				hops, step = (l.Ranks-1)/2, -1
			}
			if hops == 0 { // two ranks: one direction reaches all
				return
			}
			from, to := l.Rank-step, l.Rank+step
			if l.Index == 0 {
				l.KeepSend(to, l.Chunk(l.Rank))
			} else {
				l.Send(to, l.In(0))
			}
			for i := 1; i < hops; i++ {
				l.CopySend(from, to, l.Chunk(l.Rank-i*step))
			}
			l.Recv(from, l.Chunk(l.Rank-hops*step))
		},
		Cost: func(ranks, _ int) algos.Cost {
			return algos.Cost{Alpha: ranks / 2, Rounds: []algos.Round{{Times: ranks / 2, Blocks: 1}}}
		},
	}
}
