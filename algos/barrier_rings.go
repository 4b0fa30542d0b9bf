package algos

import "collsim/collective"

// Double ring barrier. A token goes round the ring twice: the first time it says that all have
// come, the second time that all may go.
//
//	p = 3:   0→1 │ 1→2 │ 2→0 │ 0→1 │ 1→2 │ 2→0
//
// Folklore; Open MPI, barrier_intra_doublering.
var doubleRingBarrier = Algorithm{
	Name:    "double-ring",
	Kinds:   []collective.Kind{collective.Barrier},
	About:   "a token goes round the ring twice",
	When:    "a baseline; only neighbours talk",
	Source:  "Open MPI barrier double ring",
	Formula: "2·p·α",
	Lane: func(l *Lane) {
		r, p := l.Rank, l.Ranks
		for turn := range 2 {
			if r > 0 {
				l.Round(turn*p + r - 1)
				l.Wait(r - 1)
			}
			l.Round(turn*p + r)
			l.Signal(r + 1)
			if r == 0 {
				l.Round(turn*p + p - 1)
				l.Wait(p - 1)
			}
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: 2 * p}) },
}

// Direct barrier: every rank sets a flag at all others, and awaits theirs.
//
// The barrier of torch's symmetric memory and of NCCL's symmetric kernels; MSCCL++.
var directBarrier = Algorithm{
	Name:    "direct",
	Kinds:   []collective.Kind{collective.Barrier},
	About:   "every rank sets a flag at all others, and awaits theirs",
	When:    "ranks that can write each other's memory: a single round",
	Source:  "torch symmetric memory barrier",
	Formula: "α",
	Group:   rotations,
	Lane: func(l *Lane) {
		for i := 1; i < l.Ranks; i++ {
			l.Round(0)
			l.Signal(l.Rank + i)
		}
		for i := 1; i < l.Ranks; i++ {
			l.Round(0)
			l.Wait(l.Rank - i)
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: 1, Fan: p - 1}) },
}

// K-dissemination barrier: in round i every rank signals to the radix − 1 ranks after it at
// multiples of radix^i.
//
//	p = 9, radix 3:   r→r+1 r→r+2 │ r→r+3 r→r+6      ⌈log p⌉ rounds to the base radix
//
// Hoefler, Mehlan, Mietke and Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006
// (n-way dissemination).
var kDisseminationBarrier = Algorithm{
	Name:   "k-dissemination",
	Kinds:  []collective.Kind{collective.Barrier},
	About:  "in round i every rank signals to radix − 1 ranks, at multiples of radix^i after it",
	When:   "several signals at once take hardly longer than one",
	Source: "Hoefler et al. 2006; MPICH",
	Params: radixParam("of how many times as many ranks a rank has heard after every round"),
	Bind: func(a Algorithm, _ int, param func(string) string) (Algorithm, error) {
		radix, err := radixOf(param("radix"))
		a.Group = rotations
		a.Lane = func(l *Lane) {
			for round, d := 0, 1; d < l.Ranks; round, d = round+1, d*radix {
				for i := 1; i < radix && i*d < l.Ranks; i++ {
					l.Round(round)
					l.Signal(l.Rank + i*d)
				}
				for i := 1; i < radix && i*d < l.Ranks; i++ {
					l.Round(round)
					l.Wait(l.Rank - i*d)
				}
			}
		}
		a.Cost = func(p, _ int) Cost {
			return rounds(Round{Times: len(digits(p, radix)), Fan: min(radix, p) - 1})
		}
		return a, err
	},
}
