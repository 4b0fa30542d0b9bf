package symmetry

import (
	"cmp"
	"slices"
)

// A Subgroup holds the translations of a group by multiples of certain numbers, digit by digit. It
// divides the ranks into orbits, each represented by its rank with the least digits. Orbits are
// numbered in the order of their representatives, and elements in the order of Elements.
type Subgroup struct {
	Group    Group
	Elements []int32 // translations, as the ranks that they take rank 0 to
	Reps     []int32 // representative of each orbit

	steps, numbers Group // of each digit: the least step, and how many steps there are
}

// NewSubgroup returns the translations of a group by multiples of a divisor of each digit.
func NewSubgroup(g Group, steps []int32) *Subgroup {
	s := &Subgroup{Group: g, steps: steps}
	ones := make([]int32, len(g))
	for i, n := range steps {
		ones[i] = 1
		s.numbers = append(s.numbers, g[i]/n)
	}
	s.Reps, s.Elements = s.multiples(steps, ones), s.multiples(s.numbers, steps)
	return s
}

// multiples lists the ranks whose digits are multiples of steps, by number: so many of each digit.
func (s *Subgroup) multiples(numbers Group, steps []int32) []int32 {
	list := make([]int32, numbers.Order())
	for i := range list {
		rest, weight := int32(i), int32(1)
		for d := len(s.Group) - 1; d >= 0; d-- {
			list[i] += rest % numbers[d] * steps[d] * weight
			rest, weight = rest/numbers[d], weight*s.Group[d]
		}
	}
	return list
}

// Place returns the orbit of a rank, and the element that takes the orbit's representative there.
func (s *Subgroup) Place(rank int32) (orbit, element int32) {
	orbits, elements := int32(1), int32(1)
	for d := len(s.Group) - 1; d >= 0; d-- {
		n, step := s.Group[d], s.steps[d]
		digit := rank % n
		orbit += digit % step * orbits
		element += digit / step * elements
		rank, orbits, elements = rank/n, orbits*step, elements*(n/step)
	}
	return orbit, element
}

// Rank returns the rank to which an element takes the representative of an orbit.
func (s *Subgroup) Rank(orbit, element int32) int32 {
	return s.Group.Add(s.Reps[orbit], s.Elements[element])
}

// Add returns the number of the element that translates by a, and then by b.
func (s *Subgroup) Add(a, b int32) int32 { return s.numbers.Add(a, b) }

// Sub returns the number of the element that translates by a, and then back by b.
func (s *Subgroup) Sub(a, b int32) int32 { return s.numbers.Sub(a, b) }

// Generators returns translations of single digits that generate the subgroup.
func (s *Subgroup) Generators() (list []Translation) {
	weight := int32(1)
	for d := len(s.Group) - 1; d >= 0; d-- {
		if n, step := s.Group[d], s.steps[d]; step < n {
			list = append(list, Translation{Size: n, Weight: weight, Step: step})
		}
		weight *= s.Group[d]
	}
	return list
}

// Subgroups lists the least steps of subgroups with up to so many orbits, those with the fewest
// first. All their translations of single digits are some that moves accepts; nil accepts all. It
// drops all but some of those with the fewest after each digit. No list is lost by that which would
// be among these: what comes before another does so whatever the digits after it.
func Subgroups(g Group, some, orbits int, moves func(Translation) bool) [][]int32 {
	count := func(steps []int32) int { return Group(steps).Order() }
	list, weight := [][]int32{{}}, int32(g.Order())
	for _, d := range g {
		weight /= d
		var accepted []int32
		for step := int32(1); step <= d; step++ {
			if d%step == 0 && (step == d || moves == nil || moves(Translation{d, weight, step})) {
				accepted = append(accepted, step)
			}
		}
		var longer [][]int32
		for _, steps := range list {
			for _, step := range accepted {
				longer = append(longer, append(slices.Clone(steps), step))
			}
		}
		slices.SortFunc(longer, func(a, b []int32) int {
			return cmp.Or(cmp.Compare(count(a), count(b)), slices.Compare(a, b))
		})
		list = longer[:min(len(longer), some)]
	}
	return slices.DeleteFunc(list, func(steps []int32) bool { return count(steps) > orbits })
}
