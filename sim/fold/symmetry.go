package fold

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/topology"
	"collsim/unit"
)

// mostTries bounds how many subgroups are tried, and mostClasses how many classes they may have:
// of as many, the event engine is about as quick.
const (
	mostTries   = 32
	mostClasses = 1 << 12
)

// subgroups lists those that may be symmetries of an environment, the largest first.
func subgroups(group schedule.Group) [][]int32 {
	return symmetry.Subgroups(group, mostTries, min(group.Order()/2, mostClasses))
}

// moves reports whether a network knows that a subgroup moves it into itself: its generators do.
// All ranks must be those of the group: a route may lead over others.
func moves(sym *symmetry.Subgroup, g *topology.Graph) bool { return moveAll(sym, g, g.Moves) }

// movesBut reports the same of the network as it was before anybody changed some of its links.
func movesBut(sym *symmetry.Subgroup, g *topology.Graph) bool {
	return moveAll(sym, g, g.MovesBut)
}

func moveAll(sym *symmetry.Subgroup, g *topology.Graph,
	moves func(topology.Translation) bool) bool {
	if len(g.Ranks) != sym.Group.Order() {
		return false
	}
	for _, t := range sym.Generators() {
		if !moves(t) {
			return false
		}
	}
	return true
}

// isAlike reports whether the ranks of an orbit begin at one time and are equally slow.
func isAlike(sym *symmetry.Subgroup, env *model.Env) bool {
	if env.Start == nil && env.Slowdown == nil {
		return true
	}
	for rank := range int32(sym.Group.Order()) {
		class, _ := sym.Place(rank)
		rep := sym.Reps[class]
		if at(env.Start, rank) != at(env.Start, rep) ||
			at(env.Slowdown, rank) != at(env.Slowdown, rep) {
			return false
		}
	}
	return true
}

func at[T unit.Time | unit.Share](list []T, i int32) T {
	if list == nil {
		return 0
	}
	return list[i]
}
