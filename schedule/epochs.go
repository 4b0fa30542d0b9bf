package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
)

// A composed schedule divides into epochs. An epoch begins where, on every rank, all later parts
// wait for all earlier ones: at layers of a model, or at every op if none is asynchronous. What
// happens in an epoch depends on earlier ones only by when these end.

// Barriers returns the numbers of the parts, from 1 on, at which an epoch can begin. On every rank,
// these and all later parts begin when all earlier ones have ended there. It follows what parts
// wait for, directly or through others. Where very many parts run concurrently, it may miss some.
func (s *Schedule) Barriers() []int {
	open := make([]bool, len(s.parts)+1) // by part: no epoch begins here
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

// mostOpenParts bounds the parts that a closure lists one by one.
const mostOpenParts = 64

// A closure is the set of parts that a part waits for on a rank, directly or through others: the
// first so many there, and some more.
type closure struct {
	first int
	more  []int // ascending
}

// with adds a part, and that part's own closure.
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

// closuresOn returns the closures of the parts with lanes on a rank, and the numbers of these
// parts.
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

// Unordered visits the pairs of parts that are unordered on a rank. Where very many run
// concurrently, it visits further pairs too. It stops when visit returns false.
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

// openOn marks the parts at which no epoch can begin because of a rank.
func (s *Schedule) openOn(rank int, open []bool) {
	all, number := s.closuresOn(rank)
	least := len(all) // number of first parts that every part from here on waits for
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

// Epoch returns the parts from one number up to another, as parts of a schedule of their own.
// Stand-ins come first in the list: they represent earlier parts that these wait for. A stand-in
// has as many lanes on as many streams as its part, and no steps. Parts for which has is false get
// none. It reports false where a stand-in cannot represent a part, since some ranks wait for it and
// others do not.
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
			if p.Part.Launch == nil { // each lane on a stream of its own
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

// waitsOf returns the parts that a part waits for on any of its ranks.
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

// allWait reports whether a part waits for another on every rank that both have.
func (s *Schedule) allWait(part, on int) bool {
	p := &s.parts[part]
	for place, rank := range p.Ranks {
		if s.parts[on].placeOf(rank) >= 0 && !slices.Contains(p.waits[place], on) {
			return false
		}
	}
	return true
}

// idle returns a schedule whose ranks have so many lanes and no steps.
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
