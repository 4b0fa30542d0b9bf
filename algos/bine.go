package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Bine trees: binomial trees whose ranks are numbered in base −2, so that parents and children are
// a third nearer on a ring than in a binomial tree. Counted from the root, in round i a rank that
// has the data sends it to the one whose number has the other k−i lowest digits.
//
//	p = 8:   0→3 │ 0→7 3→4 │ 0→1 7→6 3→2 4→5      0 = 000, 3 = 111, 7 = 011, 1 = 001, …
//
// De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke and Hoefler, "Bine trees: enhancing
// collective operations by optimizing communication locality", SC 2025; arXiv:2508.17311.

// oddDigits has the digits of odd weight in base −2, whose values are negative.
const oddDigits = 0x2aaaaaaa

// negabinary returns the digits of a rank in base −2, modulo a power of two of ranks.
func negabinary(rank, ranks int) int { return (rank + oddDigits ^ oddDigits) & (ranks - 1) }

// fromNegabinary returns the rank with these digits.
func fromNegabinary(digits, ranks int) int {
	return mod(digits&(ranks-1)^oddDigits-oddDigits, ranks)
}

// A bineStep is what a rank, counted from the root, does in a round of a Bine tree.
type bineStep struct {
	sends, receives bool
	with            int // the partner, counted from the root
	first, blocks   int // the run of ranks that the message leads to, counted round the ring
}

// bineTree lists the rounds of a rank, counted from the root, of a power of two of ranks.
func bineTree(v, ranks int) (steps []bineStep) {
	digits := negabinary(v, ranks)
	for ones := ranks - 1; ones > 0; ones /= 2 { // of the lowest digits that change
		low, wide := digits&ones, digits&(2*ones+1)
		s := bineStep{with: fromNegabinary(digits^ones, ranks), blocks: (ones + 1) / 2}
		s.sends = wide == 0 || wide == 2*ones+1
		s.receives = !s.sends && (low == 0 || low == ones)
		child := digits
		if s.sends {
			child ^= ones
		}
		s.first = fromNegabinary(child&^(ones/2)|oddDigits&(ones/2), ranks)
		steps = append(steps, s)
	}
	return steps
}

// Bine broadcast.
var bineBroadcast = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a binomial tree of ranks in base −2: who has the data doubles, near on a ring",
	When:    "short vectors on rings, tori and tapered networks, on a power of two of ranks",
	Source:  "De Sensi et al. 2025 (Bine trees)",
	Formula: "k·α + k·n·β",
	Ranks:   onlyPowersOf2,
	Lane: func(l *Lane) {
		for round, s := range bineTree(mod(l.Rank-l.Root, l.Ranks), l.Ranks) {
			if l.Round(round); s.sends {
				l.KeepSend(l.Root+s.with, l.All())
			} else if s.receives {
				l.Recv(l.Root+s.with, l.All())
			}
		}
	},
	Cost: func(p, _ int) Cost { return rounds(Round{Times: ceilLog2(p), Blocks: 1}) },
}

// Bine reduce: the broadcast backwards.
var bineReduce = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "a binomial tree of ranks in base −2: who has a sum halves, near on a ring",
	When:    "short vectors on rings, tori and tapered networks, on a power of two of ranks",
	Source:  "De Sensi et al. 2025 (Bine trees)",
	Formula: "k·α + k·n·β + k·n·γ",
	Of:      &bineBroadcast,
}

// Bine scatter: a message is a run of blocks of neighbours on the ring, one of whom gets it.
var bineScatter = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.Scatter},
	About:   "a binomial tree of ranks in base −2, in which runs of blocks split",
	When:    "short blocks on rings, tori and tapered networks, on a power of two of ranks",
	Source:  "De Sensi et al. 2025 (Bine trees)",
	Formula: "k·α + (p−1)/p·n·β",
	Ranks:   onlyPowersOf2,
	Scratch: func(spec collective.Spec) int {
		if spec.Ranks == 2 {
			return 0
		}
		return spec.Ranks / 2
	},
	Lane: func(l *Lane) {
		v, p := mod(l.Rank-l.Root, l.Ranks), l.Ranks
		mine, first := l.In(l.Root), 0 // what this rank has, and whose block is the first
		for round, s := range bineTree(v, p) {
			l.Round(round)
			switch {
			case s.receives && s.blocks == 1:
				l.Recv(l.Root+s.with, l.Out(0))
				return
			case s.receives:
				mine, first = l.Scratch(0), s.first
				l.Recv(l.Root+s.with, mine.Blocks(s.blocks))
			case s.sends:
				l.Send(l.Root+s.with, runOf(l, mine, mod(s.first-first, p), s.blocks))
			}
		}
		if v > 0 || !l.Spec.InPlace {
			l.Copy(l.Out(0), runOf(l, mine, mod(v-first, p), 1))
		}
	},
	Cost: func(p, _ int) Cost { return rounds(halvings(p)...) },
}

// runOf returns n blocks of a region's buffer, some blocks after the region's first. A buffer with
// a block for each rank is a ring.
func runOf(l *Lane, r schedule.Region, after, n int) schedule.Region {
	if r.Buffer == schedule.Input {
		return l.In(int(r.First) + after).Blocks(n)
	}
	return l.Scratch(after).Blocks(n)
}

// Bine gather: the scatter backwards.
var bineGather = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.Gather},
	About:   "a binomial tree of ranks in base −2, in which runs of blocks join up",
	When:    "short blocks on rings, tori and tapered networks, on a power of two of ranks",
	Source:  "De Sensi et al. 2025 (Bine trees)",
	Formula: "k·α + (p−1)/p·n·β",
	Of:      &bineScatter,
}
