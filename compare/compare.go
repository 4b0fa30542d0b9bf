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
	"strings"

	"collsim/dtype"
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

// same reports whether two rows may be of one call: nothing that both state differs.
func same(a, b *measured.Row) bool {
	return sameSize(a, b) && a.InPlace == b.InPlace && agree(a.Kind, b.Kind) &&
		agree(a.Ranks, b.Ranks) && agree(a.Nodes, b.Nodes) &&
		(a.Root == b.Root || a.Root < 0 || b.Root < 0) &&
		agree(typeName(a.Type), typeName(b.Type)) && agree(opName(a.Op), opName(b.Op)) &&
		agree(plain(a.Algorithm), plain(b.Algorithm)) && agree(plain(a.Protocol), plain(b.Protocol))
}

// sameSize reports whether two rows have the same size. That of a rank's block is held against the
// whole by the ranks that the other row states.
func sameSize(a, b *measured.Row) bool {
	if a.PerRank == b.PerRank {
		return a.Size == b.Size
	}
	if b.PerRank {
		a, b = b, a
	}
	return a.Size*unit.Bytes(b.Ranks) == b.Size
}

// agree reports whether two facts are equal, or one is not stated.
func agree[T comparable](a, b T) bool {
	var unstated T
	return a == b || a == unstated || b == unstated
}

// typeName returns our name of an element type that nccl-tests may have named.
func typeName(name string) string {
	for _, t := range dtype.All() {
		if strings.EqualFold(name, t.NCCL()) {
			return t.String()
		}
	}
	return strings.ToLower(name)
}

// opName returns the name of an operator; "" for none.
func opName(name string) string {
	if name = strings.ToLower(name); name != "none" {
		return name
	}
	return ""
}

// plain returns a name without case, blanks and hyphens, as "nvlstree" of "NVLS_TREE".
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}
