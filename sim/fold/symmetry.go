package fold

import (
	"cmp"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/topology"
	"collsim/unit"
)

// symmetry is a subgroup of a schedule's group: translations by multiples of mods, digit by digit.
// Ranks that one of them takes to each other are of a class, whose representative is the rank with
// the least digits. Classes are numbered in the order of these.
type symmetry struct {
	group    schedule.Group
	mods     []int32
	classes  int32
	elements []int32 // translations, as the ranks that they take rank 0 to
	reps     []int32 // of each class, the rank
}

func newSymmetry(group schedule.Group, mods []int32) *symmetry {
	s := &symmetry{group: group, mods: mods, classes: 1}
	order := int32(1)
	for i, m := range mods {
		s.classes *= m
		order *= group[i] / m
	}
	s.reps, s.elements = make([]int32, s.classes), make([]int32, order)
	for i := range s.reps {
		s.reps[i] = s.number(int32(i), func(d int) (digits, step int32) { return mods[d], 1 })
	}
	for i := range s.elements {
		s.elements[i] = s.number(int32(i), func(d int) (digits, step int32) {
			return group[d] / mods[d], mods[d]
		})
	}
	return s
}

// number returns the i-th rank, in order, among the ranks whose digit d is a multiple of a step,
// with this many digits to choose from.
func (s *symmetry) number(i int32, of func(d int) (digits, step int32)) int32 {
	rank, weight := int32(0), int32(1)
	for d := len(s.group) - 1; d >= 0; d-- {
		digits, step := of(d)
		rank += i % digits * step * weight
		i, weight = i/digits, weight*s.group[d]
	}
	return rank
}

// place returns the class of a rank, and the translation that takes the class's representative
// there.
func (s *symmetry) place(rank int32) (class, element int32) {
	classes, elements := int32(1), int32(1)
	for d := len(s.group) - 1; d >= 0; d-- {
		n, m := s.group[d], s.mods[d]
		digit := rank % n
		class += digit % m * classes
		element += digit / m * elements
		rank, classes, elements = rank/n, classes*m, elements*(n/m)
	}
	return class, element
}

// sum and less are one translation after another, and without it: elements by number.
func (s *symmetry) sum(a, b int32) int32  { return s.combine(a, b, 1) }
func (s *symmetry) less(a, b int32) int32 { return s.combine(a, b, -1) }

func (s *symmetry) combine(a, b, sign int32) int32 {
	number, weight := int32(0), int32(1)
	for d := len(s.group) - 1; d >= 0; d-- {
		n := s.group[d] / s.mods[d]
		digit := a%n + sign*(b%n)
		if digit < 0 {
			digit += n
		} else if digit >= n {
			digit -= n
		}
		number += digit * weight
		a, b, weight = a/n, b/n, weight*n
	}
	return number
}

// rank returns the rank to which an element of the subgroup takes the representative of a class.
func (s *symmetry) rank(class, element int32) int32 {
	return s.group.Add(s.reps[class], s.elements[element])
}

// moves reports whether a network knows that the symmetry moves it into itself: its generators do,
// one digit each. All its ranks must be those of the group: a route may lead over others.
func (s *symmetry) moves(g *topology.Graph) bool { return s.moveAll(g, g.Moves) }

// movesBut reports the same of the network as it was before anybody changed some of its links.
func (s *symmetry) movesBut(g *topology.Graph) bool { return s.moveAll(g, g.MovesBut) }

func (s *symmetry) moveAll(g *topology.Graph, moves func(topology.Translation) bool) bool {
	if len(g.Ranks) != s.group.Order() {
		return false
	}
	weight := int32(1)
	for d := len(s.group) - 1; d >= 0; d-- {
		n, m := s.group[d], s.mods[d]
		if m < n && !moves(topology.Translation{Size: n, Weight: weight, Step: m}) {
			return false
		}
		weight *= n
	}
	return true
}

// mostTries bounds how many subgroups are tried, and mostClasses how many classes they may have:
// of as many, the event engine is about as quick.
const (
	mostTries   = 32
	mostClasses = 1 << 12
)

// subgroups lists those that may be symmetries of an environment, the largest first: of each digit
// all multiples of a divisor. It goes on, digit by digit, with the largest alone: what comes before
// another does so whatever the digits after it.
func subgroups(group schedule.Group) [][]int32 {
	classes := func(mods []int32) int {
		n := 1
		for _, m := range mods {
			n *= int(m)
		}
		return n
	}
	list := [][]int32{{}}
	for _, d := range group {
		var longer [][]int32
		for _, mods := range list {
			for m := int32(1); m <= d; m++ {
				if d%m == 0 {
					longer = append(longer, append(slices.Clone(mods), m))
				}
			}
		}
		slices.SortFunc(longer, func(a, b []int32) int {
			return cmp.Or(cmp.Compare(classes(a), classes(b)), slices.Compare(a, b))
		})
		list = longer[:min(len(longer), mostTries)]
	}
	most := min(group.Order()/2, mostClasses)
	return slices.DeleteFunc(list, func(mods []int32) bool { return classes(mods) > most })
}

// holds reports whether the ranks of a class begin at one time and are equally slow.
func (s *symmetry) holds(env *model.Env) bool {
	if env.Start == nil && env.Slowdown == nil {
		return true
	}
	for rank := range int32(s.group.Order()) {
		class, element := s.place(rank)
		if element == 0 {
			continue
		}
		rep := s.reps[class]
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
