package program

import (
	"fmt"
	"slices"
	"strings"

	"collsim/schedule"
	"collsim/symmetry"
)

// A program is folded where a symmetry takes the teams of each group to each other: replicas of
// data parallelism, or the ranks of a tensor-parallel group. All ranks do what the ops say. So one
// rank of each class is lowered, and its calls are on all ranks of their teams
// (schedule.ComposeFolded).
//
// The folded program has these ranks alone, by number. In a team, each rank is the one that stands
// for it. So a team has as many ranks as before, and may have one several times.

// A folding holds what a folded program was before.
type folding struct {
	alike *symmetry.Subgroup
	// teams has the ranks of each team that are lowered, and how others follow from them, by the
	// address of the team's first rank.
	teams     map[*int]foldedTeam
	everybody []int // the team of all ranks
}

// A foldedTeam holds the ranks of a team that are lowered, once each, and its Fold.
type foldedTeam struct {
	of    []int // the team before
	ranks []int
	fold  *schedule.Fold
}

// folded returns the program on one rank of each class of a symmetry. It is a *schedule.NotFolded
// error if the symmetry does not take every team of a group to one of the group, or if ranks do
// something of their own.
func (p *Program) folded(alike *symmetry.Subgroup) (*Program, error) {
	for i := range p.Ops {
		if strings.Contains(p.Ops[i].Kernel, "over=") {
			return nil, notFolded("%s: ranks have parts of their own", p.Ops[i].Name)
		}
	}
	q := *p
	q.folding = &folding{alike: alike, teams: map[*int]foldedTeam{}}
	q.Ranks, q.Groups = len(alike.Reps), nil
	for _, g := range p.Groups {
		for _, t := range alike.Generators() {
			if !moves(g.Teams, p.Ranks, t) {
				return nil, notFolded("group %s is not the same from all ranks", g.Name)
			}
		}
		folded := Group{Name: g.Name}
		for _, team := range g.Teams {
			stands, f, err := q.folding.team(team)
			if err != nil {
				return nil, err
			}
			if len(f.ranks) > 0 {
				folded.Teams = append(folded.Teams, stands)
				q.folding.teams[&stands[0]] = f
			}
		}
		q.Groups = append(q.Groups, folded)
	}
	all := make([]int, p.Ranks)
	for rank := range all {
		all[rank] = rank
	}
	stands, f, err := q.folding.team(all)
	if err != nil {
		return nil, err
	}
	q.folding.everybody, q.folding.teams[&stands[0]] = stands, f
	return &q, nil
}

// notFolded returns the error for a program that cannot be folded.
func notFolded(format string, args ...any) error {
	return &schedule.NotFolded{Why: fmt.Sprintf(format, args...)}
}

// team folds a team: stands has the rank that stands for each of its ranks. The team has no ranks
// that are lowered if it is one that others stand for.
func (f *folding) team(team []int) (stands []int, folded foldedTeam, err error) {
	any := false
	for _, rank := range team {
		class, across := f.alike.Place(int32(rank))
		stands, any = append(stands, int(class)), any || across == 0
	}
	if !any {
		return nil, folded, nil
	}
	folded.of = team
	if folded.ranks, folded.fold, err = schedule.FoldTeam(f.alike, team); err != nil {
		return nil, folded, notFolded("%v", err)
	}
	return stands, folded, nil
}

// IsMoved reports whether a translation takes the teams of every group to each other.
func (p *Program) IsMoved(t symmetry.Translation) bool {
	return !slices.ContainsFunc(p.Groups, func(g Group) bool { return !moves(g.Teams, p.Ranks, t) })
}

// moves reports whether a translation takes every team to itself, in any order, or to another one,
// in its order.
func moves(teams [][]int, ranks int, t symmetry.Translation) bool {
	type seat struct{ team, place int }
	seats := make([]seat, ranks)
	for i := range seats {
		seats[i].team = -1
	}
	for i, team := range teams {
		for place, rank := range team {
			seats[rank] = seat{i, place}
		}
	}
	for i, team := range teams {
		for place, rank := range team {
			to := seats[t.Of(int32(rank))]
			if to.team < 0 || to.team != seats[t.Of(int32(team[0]))].team ||
				to.team != i && to.place != place {
				return false
			}
		}
	}
	return true
}

// seat returns the ranks that execute a team's call, and how the others follow from them.
func (p *Program) seat(team []int) (f foldedTeam, err error) {
	if p.folding == nil {
		return foldedTeam{ranks: team}, nil
	}
	f, known := p.folding.teams[&team[0]]
	if !known {
		return f, notFolded("its backward pass has teams of its own")
	}
	return f, nil
}

// once returns ranks without repetitions, which there are in a folded program.
func (p *Program) once(ranks []int) []int {
	if p.folding == nil {
		return ranks
	}
	return slices.Compact(slices.Sorted(slices.Values(ranks)))
}
