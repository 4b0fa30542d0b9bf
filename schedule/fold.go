package schedule

import (
	"fmt"

	"collsim/symmetry"
)

// A Fold joins a part's schedule to the ranks of a folded whole (ComposeFolded), which has one rank
// of each class of equal ones. Of a ring of eight equal ranks the whole has rank 0 alone: it sends
// to rank 1, that is, across a translation by one, to itself.
type Fold struct {
	// Seats has, for each of Part.Ranks, the rank of the part's schedule that it executes.
	Seats []int
	// Stands has, for each rank of the part's schedule, the index in Part.Ranks of the rank that
	// stands for it, and Across the number of the translation that takes that rank to it.
	Stands, Across []int32

	// moves are permutations of the schedule's ranks: where translations take the team to itself.
	moves [][]int32
}

// FoldTeam returns the ranks of a folded whole that execute a part on a team of all ranks. The fold
// is nil where all ranks of the team are in the whole. It is an error if they are not all
// represented by ranks of the team, or if a translation takes the team to ranks of no one team.
func FoldTeam(alike *symmetry.Subgroup, team []int) (ranks []int, f *Fold, err error) {
	f = &Fold{Stands: make([]int32, len(team)), Across: make([]int32, len(team))}
	of := map[int32]int32{} // by rank of the whole: its index in ranks
	at := map[int32]int32{} // by rank of all: its index in the team
	for seat, rank := range team {
		at[int32(rank)] = int32(seat)
		class, across := alike.Place(int32(rank))
		if f.Across[seat] = across; across == 0 {
			of[class] = int32(len(ranks))
			ranks, f.Seats = append(ranks, int(class)), append(f.Seats, seat)
		}
	}
	for seat, rank := range team {
		class, _ := alike.Place(int32(rank))
		stands, is := of[class]
		if !is {
			return nil, nil, fmt.Errorf("rank %d of a team is represented by a rank of another", rank)
		}
		f.Stands[seat] = stands
	}
	if len(ranks) == len(team) {
		return ranks, nil, nil
	}
	for _, t := range alike.Generators() {
		move := make([]int32, 0, len(team))
		for _, rank := range team {
			if to, inside := at[t.Of(int32(rank))]; inside {
				move = append(move, to)
			}
		}
		switch len(move) {
		case 0:
		case len(team):
			f.moves = append(f.moves, move)
		default:
			return nil, nil, fmt.Errorf("a translation takes a part of a team out of it")
		}
	}
	return ranks, f, nil
}

// seat returns the rank of the part's schedule that the part's rank of an index executes.
func (f *Fold) seat(index int) int {
	if f == nil {
		return index
	}
	return f.Seats[index]
}

// across notes in the tag of a peer, a rank of a part's schedule, the translation between the rank
// that executes the step and the peer, and names the rank that stands for it.
func (f *Fold) across(peer *Peer, alike *symmetry.Subgroup, sends bool) {
	by := int32(0)
	if f != nil {
		if by = f.Across[peer.Rank]; !sends { // seen from the sender, which is the peer
			by = alike.Sub(0, by)
		}
		peer.Rank = f.Stands[peer.Rank]
	}
	peer.Tag = peer.Tag*int32(len(alike.Elements)) + by
}
