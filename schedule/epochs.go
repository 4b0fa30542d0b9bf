package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
)

// A composed schedule falls into stretches where on every rank all later parts wait for all earlier
// ones: layers of a model, or the ops of one, if none is asynchronous. What happens in a stretch
// depends on nothing that others do but when they end.

// Borders are the numbers of the parts, from 1 on, that a stretch can begin with: on every rank,
// they and all later ones begin when all earlier ones have ended there. That is asked of what parts
// wait for, directly or through others; where very many run side by side, borders may be missed.
func (s *Schedule) Barriers() []int {
	open := make([]bool, len(s.parts)+1) // there is no border
	for rank := range s.Spec.Ranks {
		s.openOn(rank, open)
	}
	var borders []int
	for k := 1; k < len(s.parts); k++ {
		if !open[k] {
			borders = append(borders, k)
		}
	}
	return borders
}

// mostBeside is how many parts that some do not wait for are told apart.
const mostOpenParts = 64

// closure is what a part waits for on a rank, directly or through others: all of the first so many
// parts there, and some more.
type closure struct {
	first int
	more  []int // in order
}

// with adds a part, and what it waits for.
func (c *closure) with(part int, of *closure) {
	c.first = max(c.first, of.first)
	for _, n := range append(slices.Clone(of.more), part) {
		if at, there := slices.BinarySearch(c.more, n); !there && n >= c.first {
			c.more = slices.Insert(c.more, at, n)
		}
	}
	for len(c.more) > 0 && c.more[0] <= c.first {
		if c.more[0] == c.first {
			c.first++
		}
		c.more = c.more[1:]
	}
	c.more = c.more[:min(len(c.more), mostOpenParts)]
}

// closuresOn are what the parts that have lanes on a rank wait for there, and their numbers.
func (s *Schedule) closuresOn(rank int) (all []closure, number []int) {
	at := map[int]int{}
	for i := range s.parts {
		p := &s.parts[i]
		place := p.placeOf(rank)
		if place < 0 || p.lanes[place] == 0 {
			continue
		}
		var c closure
		for _, before := range p.waits[place] {
			c.with(at[before], &all[at[before]])
		}
		at[i] = len(all)
		all, number = append(all, c), append(number, i)
	}
	return all, number
}

// Unordered visits the parts that nothing orders with an earlier one on a rank; where very many run
// side by side, more than these. It ends when it is told so.
func (s *Schedule) Unordered(visit func(rank, earlier, part int) bool) {
	for rank := range s.Spec.Ranks {
		all, number := s.closuresOn(rank)
		for n := range all {
			for m := all[n].first; m < n; m++ {
				if _, waits := slices.BinarySearch(all[n].more, m); !waits &&
					!visit(rank, number[m], number[n]) {
					return
				}
			}
		}
	}
}

// bordersOn marks the parts at which there is no border on a rank.
func (s *Schedule) openOn(rank int, open []bool) {
	all, number := s.closuresOn(rank)
	least := len(all) // of the first ones that every part from here on waits for
	for n := len(all) - 1; n >= 0; n-- {
		least = min(least, all[n].first)
		if least < n {
			from := 0
			if n > 0 {
				from = number[n-1] + 1
			}
			for k := from; k <= number[n]; k++ {
				open[k] = true
			}
		}
	}
}

// Stretch is the parts from one number up to another as parts of a schedule of their own. The first
// ones of the list stand for earlier parts that they wait for, have as many lanes on as many
// streams, and no steps; there are none for those that has says have no say. It reports false where
// they cannot stand for them: some ranks of a part wait for one and others do not.
func (s *Schedule) Epoch(from, to int, has func(part int) bool) (list []Part, before int,
	ok bool) {
	at := map[int]int{}
	for i := from; i < to; i++ {
		for _, w := range s.waitsOf(i) {
			if _, there := at[w]; there || w >= from || !has(w) {
				continue
			}
			p := &s.parts[w]
			lanes := 1
			if p.Part.Launch == nil { // on as many streams
				lanes = int(p.lanes[0])
			}
			if slices.ContainsFunc(p.lanes, func(n int32) bool {
				return n != p.lanes[0] && p.Part.Launch == nil || n == 0
			}) {
				return nil, 0, false
			}
			at[w] = len(list)
			list = append(list, Part{Name: "ended", Schedule: idle(len(p.Ranks), lanes),
				Ranks: p.Ranks, Stream: p.Stream})
		}
	}
	before = len(list)
	for i := from; i < to; i++ {
		p := s.parts[i].Part
		p.After = nil
		for _, w := range s.waitsOf(i) {
			if !s.allWait(i, w) {
				return nil, 0, false
			}
			if n, there := at[w]; there {
				p.After = append(p.After, n)
			}
		}
		at[i] = len(list)
		list = append(list, p)
	}
	return list, before, true
}

// waitsOf are the parts that a part waits for on any of its ranks.
func (s *Schedule) waitsOf(part int) (list []int) {
	for _, waits := range s.parts[part].waits {
		for _, w := range waits {
			if at, there := slices.BinarySearch(list, w); !there {
				list = slices.Insert(list, at, w)
			}
		}
	}
	return list
}

// allWait reports whether a part waits for another wherever both are.
func (s *Schedule) allWait(part, on int) bool {
	p := &s.parts[part]
	for place, rank := range p.Ranks {
		if s.parts[on].placeOf(rank) >= 0 && !slices.Contains(p.waits[place], on) {
			return false
		}
	}
	return true
}

// nothing is a schedule of ranks that have so many lanes and no steps.
func idle(ranks, lanes int) *Schedule {
	none := make([]int64, ranks)
	s, err := Build(Plan{Name: "nothing", Lanes: lanes, Same: true, Lane: func(*Lane) {},
		Tensors: []Tensor{{Name: "nothing", Type: dtype.Uint8, Shape: collective.Shape{0},
			Role: Defined}},
		Spec: collective.Spec{Kind: collective.Custom, Type: dtype.Uint8, Ranks: ranks,
			Splits: [][]int64{none, none}}})
	if err != nil {
		panic(fmt.Sprintf("schedule: nothing on %d ranks: %v", ranks, err))
	}
	return s
}
