package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Pairwise all_to_all. In round i every rank sends to the i-th after it and receives from the i-th
// before it, so that no rank receives from two at once.
//
//	p = 4, rank 0:   →1 ←3 │ →2 ←2 │ →3 ←1
//
// In place, the blocks that arrive in the first half of the rounds would overwrite those that leave
// in the second half. These are set aside at the beginning.
//
// Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005, §4.3.
var pairwiseAllToAll = Algorithm{
	Name:    "pairwise",
	Kinds:   []collective.Kind{collective.AllToAll, collective.AllToAllV},
	About:   "in round i every rank sends to the i-th after it and hears from the i-th before it",
	When:    "long blocks on switched networks: nobody hears from two at once",
	Source:  "Thakur, Rabenseifner and Gropp 2005, §4.3",
	Formula: "(p−1)·α + (p−1)/p·n·β",
	Group:   rotations,
	Scratch: setAside,
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		block := outgoing(l)

		for i := 1; i < p; i++ {
			l.Send(r+i, block(i))
			l.Recv(r-i, l.Out(r-i))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: p - 1, Blocks: 1}) },
}

// setAside returns how many blocks an all_to_all in order of distance keeps in scratch: in place,
// those that would be overwritten before they are sent.
func setAside(spec collective.Spec) int {
	if spec.InPlace {
		return (spec.Ranks - 1) / 2
	}
	return 0
}

// outgoing keeps the rank's own block and sets blocks r−aside … r−1 aside. It returns a function
// that locates the block for rank r+i.
func outgoing(l *Lane) func(i int) schedule.Region {
	r, aside := l.Rank, setAside(l.Spec)
	if !l.Spec.InPlace {
		l.Copy(l.Out(r), l.In(r))
	} else if aside > 0 {
		l.Copy(l.Scratch(0).Blocks(aside), l.In(r-aside).Blocks(aside))
	}
	return func(i int) schedule.Region {
		if i < l.Ranks-aside {
			return l.In(r + i)
		}
		return l.Scratch(i - (l.Ranks - aside))
	}
}
