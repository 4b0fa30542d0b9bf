package fold

import (
	"slices"

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

// Subgroups lists those of some translations that may be symmetries of an environment, the largest
// first.
func Subgroups(t *schedule.Translations) [][]int32 {
	return symmetry.Subgroups(t.Group, mostTries, min(t.Group.Order()/2, mostClasses),
		func(one symmetry.Translation) bool {
			weight := int32(t.Group.Order())
			for i, size := range t.Group {
				if weight /= size; weight == one.Weight && size == one.Size {
					return one.Step%t.Steps[i] == 0
				}
			}
			return false
		})
}

// isMoved reports whether a network is known to be moved into itself by a subgroup: by its
// generators. moves is the network's Moves or MovesBut. All ranks must be those of the group: a
// route may lead over others.
func isMoved(g *topology.Graph, sym *symmetry.Subgroup,
	moves func(topology.Translation) bool) bool {
	return len(g.Ranks) == sym.Group.Order() &&
		!slices.ContainsFunc(sym.Generators(), func(t topology.Translation) bool { return !moves(t) })
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
