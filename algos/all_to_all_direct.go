package algos

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Direct all_to_all. Every rank exchanges a block with all others at once, on a lane each: a lane
// sends first, so in place nothing is overwritten that is still to be sent. Lane 0 copies this
// rank's own block.
//
// The linear algorithm of MPI libraries, NCCL's grouped send and receive. An empty block is a
// message, too, for which its receiver waits, unless empty=skip leaves it out, as torch does.
var directAllToAll = Algorithm{
	Name:    "direct",
	Kinds:   []collective.Kind{collective.AllToAll, collective.AllToAllV},
	About:   "every rank exchanges a block with all others at once",
	When:    "all ranks have wires to all others, or the network may sort it out",
	Source:  "Open MPI basic linear; NCCL grouped send/recv; torch all2all_single_unequal_split",
	Formula: "α + n/p·β",
	Ports:   "α + (p−1)/p·n·β",
	Params: []Param{{Name: "empty", Value: "send", About: "what becomes of blocks without elements: " +
		"send, as messages that are waited for, or skip, as both ranks know the splits"}},
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		switch text := param("empty"); text {
		case "send":
			return a, nil
		case "skip":
			a.Cost = nil // it depends on the splits
			a.Plan = func(p *schedule.Plan, _ func(string) string) error {
				exchangeFull(p)
				return nil
			}
			return a, nil
		default:
			return a, fmt.Errorf("empty = %.40q: send or skip is expected", text)
		}
	},
	Group: rotations,
	Lanes: perPeer,
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

// exchangeFull writes a direct exchange of the blocks that have elements. Lane i of a rank sends to
// the i-th of its targets and receives from the i-th of its sources, counted from the next rank on.
func exchangeFull(p *schedule.Plan) {
	n := p.Spec.Ranks
	hasElements := func(from, to int) bool {
		return p.Spec.Splits == nil || p.Spec.Splits[from][to] > 0
	}
	targets, sources := make([][]int, n), make([][]int, n)
	for rank := range n {
		for i := 1; i < n; i++ {
			q := (rank + i) % n
			if hasElements(rank, q) {
				targets[rank] = append(targets[rank], q)
			}
			if hasElements(q, rank) {
				sources[rank] = append(sources[rank], q)
			}
		}
		p.Lanes = max(p.Lanes, len(targets[rank]), len(sources[rank]))
	}
	inPlace := p.Spec.InPlace
	p.Lane = func(l *schedule.Lane) {
		if l.Index < len(targets[l.Rank]) {
			q := targets[l.Rank][l.Index]
			l.Facing(slices.Index(sources[q], l.Rank))
			l.Send(q, l.In(q))
		}
		if l.Index == 0 && !inPlace && hasElements(l.Rank, l.Rank) {
			l.Copy(l.Out(l.Rank), l.In(l.Rank))
		}
		if l.Index < len(sources[l.Rank]) {
			q := sources[l.Rank][l.Index]
			l.Facing(slices.Index(targets[q], l.Rank))
			l.Recv(q, l.Out(q))
		}
	}
}
