package algostest

import (
	"fmt"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// A trial is one case: a collective and the modifiers of the algorithm.
type trial struct {
	spec    collective.Spec
	options algos.Options
	turn    int // its number, which selects values that are not tried in all combinations
}

// String formats what differs between trials, for failures.
func (c trial) String() string {
	place := ""
	if c.spec.InPlace {
		place = " in place"
	}
	return fmt.Sprintf("%v %v %v%s, %d ranks, count %d, splits %v, root %d, options %+v",
		c.spec.Kind, c.spec.Op, c.spec.Type, place, c.spec.Ranks, c.spec.Count, c.spec.Splits,
		c.spec.Root, c.options)
}

// plain reports whether the trial has neither channels nor slices.
func (c trial) plain() bool { return c.options.Channels <= 1 && c.options.Slices <= 1 }

// ranksTried returns the numbers of ranks of the grid: all up to 9, powers of two, and numbers
// beside them. The short grid has all up to 6 and two more. Under the race detector there are
// few, since the suite starts no goroutines.
func ranksTried() []int {
	short := []int{1, 2, 3, 4, 5, 6, 8, 13}
	return tier.Raced([]int{1, 2, 3, 5, 8}, short,
		append(short, 7, 9, 12, 15, 16, 17, 32, 64))
}

// manyRanks returns the number of ranks from which only two counts are tried.
func manyRanks() int { return tier.Of(8, 32) }

// fewRanks is the number of ranks above which modifiers take turns in the long grid, too. Schedules
// grow with the square or the cube of the ranks.
const fewRanks = 5

// trials returns the grid for a kind and a number of ranks: counts, in place and not. Roots and
// modifiers, and the place, take turns in the short tier.
func trials(a algos.Algorithm, kind collective.Kind, ranks int) []trial {
	p := int64(ranks)
	counts := []int64{0, (p + 1) / 2, p, 3*p + 2, 8 * p} // none, few, equal, uneven, even
	if ranks >= manyRanks() {
		counts = counts[3:]
	}
	turns := !tier.Long || ranks > fewRanks
	var list []trial
	for i, count := range counts {
		for j, inPlace := range []bool{false, true} {
			if inPlace && kind == collective.AllToAllV {
				continue
			}
			if turns && (i+j+ranks)%2 != 0 && kind != collective.AllToAllV {
				continue
			}
			turn := len(list) + ranks
			if turns {
				turn = i + ranks/2 // each modifier meets each count in both places
			}
			for _, root := range some(roots(kind, ranks), turn, !turns) {
				for _, o := range some(modifiers(a, count), turn, !turns) {
					c := trial{specOf(kind, ranks, count, turn), o, turn}
					c.spec.Root, c.spec.InPlace = root, inPlace && hasPlace(kind)
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// some returns one of the choices, by turn, or all.
func some[T any](choices []T, turn int, all bool) []T {
	if all {
		return choices
	}
	i := turn % len(choices)
	return choices[i : i+1]
}

// roots returns the roots of the grid: the first, the last and one between.
func roots(kind collective.Kind, ranks int) []int {
	if !kind.Rooted() || ranks == 1 {
		return []int{0}
	}
	if ranks == 2 {
		return []int{0, 1}
	}
	return []int{0, ranks / 2, ranks - 1}
}

// specOf returns a collective. Operator and type depend on the turn, with periods of their own. For
// a kind with splits, count is the largest size.
func specOf(kind collective.Kind, ranks int, count int64, turn int) collective.Spec {
	types := dtype.All()
	spec := collective.Spec{Kind: kind, Type: types[(5*turn+turn/len(types))%len(types)],
		Ranks: ranks, Count: count}
	if kind.Reduces() {
		ops := collective.OpsOf(spec.Type)
		spec.Op, spec.Factor = ops[(turn+turn/6)%len(ops)], 1
		if spec.Op == collective.PremulSum {
			if spec.Factor = 3; spec.Type.IsFloat() {
				spec.Factor = 0.5
			}
		}
	}
	rows := 0
	switch {
	case kind == collective.AllToAllV:
		rows = ranks
	case kind.Splits():
		rows = 1
	case kind == collective.Barrier:
		spec.Type, spec.Count = 0, 0
	}
	for r := range int64(rows) {
		row := make([]int64, ranks)
		for q := range row {
			row[q] = (7*r + 5*int64(q)) % (count + 1)
		}
		spec.Splits, spec.Count = append(spec.Splits, row), 0
	}
	return spec
}

// modifiers returns the options of the grid.
func modifiers(a algos.Algorithm, count int64) []algos.Options {
	list := []algos.Options{{}, {Channels: 2}, {Slices: 3}, {Channels: 3, Slices: 2}}
	if a.Own() { // it has neither
		list = list[:1]
	}
	for _, p := range a.Params {
		if p.Name != "segment" {
			continue
		}
		var cut []algos.Options
		for i, o := range list {
			bytes := max(16, 8*count/int64(2+3*i)) // an element of any type
			o.Params = []algos.Param{{Name: "segment", Value: fmt.Sprint(bytes)}}
			cut = append(cut, o)
		}
		list = append(list, cut...)
	}
	return list
}

// even reports whether all blocks of a schedule have the same size, and all their tiles.
func even(s *schedule.Schedule) bool {
	for _, b := range []schedule.Buffer{schedule.Input, schedule.Output} {
		length, blocks := int64(0), int64(s.Blocks(b))
		for rank := range s.Spec.Ranks {
			length = max(length, s.Len(b, rank))
		}
		if s.Spec.Kind.Splits() || length%blocks != 0 {
			return false
		}
		for _, level := range s.Cuts[b] {
			block := length / blocks
			if level.Axis == schedule.Tile && block > level.N && block%level.N != 0 {
				return false
			}
		}
	}
	return true
}

// hasPlace reports whether a kind can run in place.
func hasPlace(kind collective.Kind) bool {
	return kind != collective.AllToAllV && kind != collective.Barrier
}
