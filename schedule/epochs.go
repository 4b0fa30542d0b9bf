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
// wait for, directly or through others.
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

// An Ordering holds which parts of a rank wait for which others, directly or through others. Parts
// of one stream follow each other. So of each stream it is enough to know the last part that is
// waited for: a vector clock (Fidge, 1988; Mattern, 1989).
type Ordering struct {
	number  []int     // of the parts with lanes on the rank, in order; below they are their indices
	streams [][]int32 // the parts of each stream
	of      []int32   // the stream of each part
	// ended has, for each part and stream, the last part that it waits for; −1 for none.
	ended [][]int32
}

// orderingOn returns the ordering of a rank's parts.
func (s *Schedule) orderingOn(rank int) *Ordering {
	o, at := &Ordering{}, make([]int32, len(s.parts))
	streams := map[int32]int{} // by number
	of := make([]int, len(s.parts))
	for i := range s.parts {
		p := &s.parts[i]
		place := p.placeOf(rank)
		if place < 0 || p.lanes[place] == 0 {
			continue
		}
		stream, known := streams[p.Stream]
		if !known {
			stream = len(o.streams)
			streams[p.Stream], o.streams = stream, append(o.streams, nil)
		}
		ended := slices.Repeat([]int32{-1}, len(o.streams))
		for _, before := range p.waits[place] {
			for k, last := range o.ended[at[before]] {
				ended[k] = max(ended[k], last)
			}
			ended[of[before]] = max(ended[of[before]], at[before])
		}
		at[i], of[i] = int32(len(o.number)), stream
		o.streams[stream] = append(o.streams[stream], at[i])
		o.number, o.ended = append(o.number, i), append(o.ended, ended)
		o.of = append(o.of, int32(stream))
	}
	return o
}

// after returns the parts of a stream that a part does not wait for.
func (o *Ordering) after(part, stream int) []int32 {
	list, last := o.streams[stream], int32(-1)
	if stream < len(o.ended[part]) {
		last = o.ended[part][stream]
	}
	from, _ := slices.BinarySearch(list, last+1)
	return list[from:]
}

// OrderingOn returns the ordering of a rank's parts of a composed schedule.
func OrderingOn(s *Schedule, rank int) *Ordering { return s.orderingOn(rank) }

// Parts lists the numbers of the parts that have lanes on the rank, in order.
func (o *Ordering) Parts() []int { return o.number }

// Waits reports whether a part waits for an earlier one, directly or through others. Both are
// indices in Parts.
func (o *Ordering) Waits(part, earlier int) bool {
	of := int(o.of[earlier])
	return of < len(o.ended[part]) && int(o.ended[part][of]) >= earlier
}

// openOn marks the parts at which no epoch can begin because of a rank.
func (s *Schedule) openOn(rank int, open []bool) {
	o := s.orderingOn(rank)
	least := len(o.number) // number of first parts that every part from here on waits for
	for n := len(o.number) - 1; n >= 0; n-- {
		for stream := range o.streams {
			if left := o.after(n, stream); len(left) > 0 {
				least = min(least, int(left[0]))
			}
		}
		if least < n {
			from := 0
			if n > 0 {
				from = o.number[n-1] + 1
			}
			for k := from; k <= o.number[n]; k++ {
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
