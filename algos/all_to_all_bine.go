package algos

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Bine all_to_all. Partners are those of Swing's reduce_scatter, 1, 1, 3, 5, … ranks away. In every
// round a rank sends its partner all blocks whose way leads there: those that a reduce_scatter
// would have added up. It puts what it gets where these were.
//
//	p = 4, rank 0:   its blocks for 1 and 2 → 1 │ all for 3, its own and that of 1 → 3
//
// De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke and Hoefler, "Bine trees: enhancing
// collective operations by optimizing communication locality", SC 2025; arXiv:2508.17311; PICO,
// libbine_alltoall.c, for powers of two.
var bineAllToAll = Algorithm{
	Name:    "bine",
	Kinds:   []collective.Kind{collective.AllToAll},
	About:   "partners 1, 1, 3, 5, … ranks away exchange all blocks whose way leads there",
	When:    "short blocks on a ring or a torus of an even number of ranks: few messages, and near",
	Source:  "De Sensi et al. 2025 (Bine trees)",
	Formula: "k·α + k/2·n·β",
	Ranks:   onlyEven,
	Even:    true,
	Scratch: func(spec collective.Spec) int { return spec.Ranks },
	Lane: func(l *Lane) {
		e, p := swing(l.Ranks), l.Ranks
		l.Copy(l.Scratch(0).Blocks(p), l.In(0).Blocks(p))
		for done := range e.rounds {
			with := e.partner(l.Rank, e.rounds-1-done)
			slots := slotsOf(l, e.leaves(l.Rank, done))
			l.Send(with, slots)
			l.Recv(with, slots)
		}
		arrived := e.carried(l.Rank, e.rounds)
		order := make([]int32, p) // the slot of every source
		for slot, block := range arrived {
			order[block.from] = int32(slot)
		}
		l.Copy(l.Out(0).Blocks(p), slotsOf(l, order))
	},
	Cost: func(p, _ int) Cost {
		var r []Round
		for e, done := swing(p), 0; done < e.rounds; done++ {
			r = append(r, Round{Times: 1, Blocks: len(e.leaves(0, done))})
		}
		return rounds(r...)
	},
}

// A carried block is on its way between two ranks.
type carried struct{ from, to int32 }

// carried lists the blocks in a rank's slots after some rounds of the exchange backwards.
func (e *exchange) carried(rank, done int) []carried {
	if done == 0 {
		all := make([]carried, e.ranks)
		for to := range all {
			all[to] = carried{int32(rank), int32(to)}
		}
		return all
	}
	with := e.partner(rank, e.rounds-done)
	mine, theirs := e.carried(rank, done-1), e.carried(with, done-1)
	come := e.leading(theirs, rank, done-1)
	for i, slot := range e.leading(mine, with, done-1) {
		mine[slot] = theirs[come[i]]
	}
	return mine
}

// leading lists the slots, of these blocks, of those whose way leads to a rank in the round after
// some others.
func (e *exchange) leading(blocks []carried, to, done int) (slots []int32) {
	ways := e.gives(to, e.rounds-1-done)
	for slot, block := range blocks {
		if _, leads := slices.BinarySearch(ways, block.to); leads {
			slots = append(slots, int32(slot))
		}
	}
	return slots
}

// leaves lists the slots whose blocks leave a rank in the round after some others.
func (e *exchange) leaves(rank, done int) []int32 {
	return e.leading(e.carried(rank, done), e.partner(rank, e.rounds-1-done), done)
}

// slotsOf returns slots of scratch as a region.
func slotsOf(l *Lane, slots []int32) schedule.Region {
	r := l.Scratch(0)
	r.List = slots
	return r
}
