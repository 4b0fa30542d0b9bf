// Package compare holds two tables of times of collectives against each other, such as the log of
// a good and of a slow run, or a log and a simulation. It matches rows of the same call by what
// both state (package formats/measured), and ranks calls by how far their times are apart.
//
// It knows no model of time and no scenario: package run makes rows of simulated results.
package compare

import (
	"cmp"
	"math"
	"slices"

	"collsim/fidelity"
	"collsim/formats/measured"
	"collsim/unit"
)

// Side is one of the two tables.
type Side struct {
	Name string // of the file
	Rows []measured.Row
}

// Call is a call of one side. Its time is the median of its rows.
type Call struct {
	measured.Row     // the first of them
	Rows         int // that measure the same call
}

// Pair is a call that both sides have.
type Pair struct {
	A, B  Call
	Ratio float64 // time of B over that of A
}

// Report holds how two tables compare.
type Report struct {
	A, B         string
	Pairs        []Pair // in the order of A
	OnlyA, OnlyB []Call // calls that the other side does not have
	Median, P90  float64
	Worst        []int // indices of Pairs, by how far Ratio is from 1, the farthest first
}

// Of compares two tables. Two calls match if no fact that both state differs. Median and P90 are of
// all ratios; 0 if there are none.
func Of(a, b Side) *Report {
	r := &Report{A: a.Name, B: b.Name}
	as, bs := calls(a.Rows), calls(b.Rows)
	matched := make([]bool, len(bs))
	for i := range as {
		found := false
		for j := range bs {
			if !same(&as[i].Row, &bs[j].Row) {
				continue
			}
			found, matched[j] = true, true
			ratio := float64(bs[j].Time) / float64(as[i].Time)
			r.Pairs = append(r.Pairs, Pair{as[i], bs[j], ratio})
		}
		if !found {
			r.OnlyA = append(r.OnlyA, as[i])
		}
	}
	for j, is := range matched {
		if !is {
			r.OnlyB = append(r.OnlyB, bs[j])
		}
	}
	r.sumUp()
	return r
}

// sumUp computes Median, P90 and Worst.
func (r *Report) sumUp() {
	if len(r.Pairs) == 0 {
		return
	}
	ratios := make([]float64, len(r.Pairs))
	for i := range r.Pairs {
		ratios[i] = r.Pairs[i].Ratio
		r.Worst = append(r.Worst, i)
	}
	r.Median, r.P90 = fidelity.NearestRank(ratios, 0.5), fidelity.NearestRank(ratios, 0.9)
	slices.SortStableFunc(r.Worst, func(i, j int) int {
		return cmp.Compare(r.Pairs[j].Apart(), r.Pairs[i].Apart())
	})
}

// Apart returns how far the two times of a pair are apart: the larger over the smaller, less 1.
func (p *Pair) Apart() float64 { return math.Max(p.Ratio, 1/p.Ratio) - 1 }

// Above returns the indices of the pairs that are farther apart than a share, such as 0.05.
func (r *Report) Above(share float64) (list []int) {
	for _, i := range r.Worst {
		if r.Pairs[i].Apart() > share {
			list = append(list, i)
		}
	}
	return list
}

// calls groups rows that measure the same call, in their order.
func calls(rows []measured.Row) []Call {
	type key struct {
		measured.Of
		size    unit.Bytes
		root    int
		inPlace bool
	}
	var list []Call
	times := [][]float64{}
	place := map[key]int{}
	for _, row := range rows {
		k := key{row.Of, row.Size, row.Root, row.InPlace}
		at, known := place[k]
		if !known {
			at = len(list)
			place[k] = at
			list, times = append(list, Call{Row: row}), append(times, nil)
		}
		list[at].Rows++
		times[at] = append(times[at], float64(row.Time))
	}
	for i := range list {
		list[i].Time = unit.Time(fidelity.NearestRank(times[i], 0.5))
	}
	return list
}

// same reports whether two rows may be of one call, in the same place.
func same(a, b *measured.Row) bool {
	return measured.Agree(a, b) && a.InPlace == b.InPlace &&
		(a.Root == b.Root || a.Root < 0 || b.Root < 0)
}
