package algos

import "collsim/collective"

// Dissemination barrier. In round i every rank signals to the 2^i-th after it and awaits the signal
// of the 2^i-th before it: then it knows that the 2^(i+1) ranks up to itself have come.
//
//	p = 5:   r→r+1 │ r→r+2 │ r→r+4      ⌈log₂ p⌉ rounds
//
// Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", Int. J. Parallel
// Programming 17(1), 1988.
var disseminationBarrier = Algorithm{
	Name:    "dissemination",
	Kinds:   []collective.Kind{collective.Barrier},
	About:   "in round i every rank signals to the 2^i-th after it; ⌈log₂ p⌉ rounds",
	When:    "any number of ranks: no barrier of one signal at a time has fewer rounds",
	Source:  "Hensgen, Finkel and Manber 1988",
	Formula: "k·α",
	Group:   rotations,
	Lane: func(l *Lane) {
		for i, d := 0, 1; d < l.Ranks; i, d = i+1, 2*d {
			l.Round(i)
			l.Signal(l.Rank + d)
			l.Wait(l.Rank - d)
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: ceilLog2(p)}) },
}
