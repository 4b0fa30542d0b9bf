// Package ramp computes with the times of many ranks at once, where most are equal or follow from
// their neighbour's. It keeps a time for each number from 0 to size − 1, in ramps: ranges in which
// the time grows evenly.
//
//	5 5 5 5 9 8 7 6 5 5 5    is    5 from 0 on, 9 from 4 on and −1 each, 5 from 8 on
//
// All results are exact, in integers. The later one of two ramps is at most two ramps.
package ramp

import "collsim/unit"

// Ramp holds the times of the numbers from From on, up to the next ramp's: At, At + Slope, At +
// 2·Slope and so on.
type Ramp struct {
	From      int32
	At, Slope unit.Time
}

// Profile holds a time for each number. Its ramps follow each other from 0 on. They are as few as
// one pass from the first number to the last finds.
type Profile []Ramp

// Push adds the times of n numbers, with r.From first, to those of all numbers before.
func (p Profile) Push(r Ramp, n int32) Profile {
	if len(p) == 0 {
		return append(p, r)
	}
	last := &p[len(p)-1]
	m := r.From - last.From
	switch {
	case m == 1: // a ramp of one number fits any slope
		if slope := r.At - last.At; n == 1 || r.Slope == slope {
			last.Slope = slope
			return p
		}
	case r.At == last.At+last.Slope*unit.Time(m) && (n == 1 || r.Slope == last.Slope):
		return p
	}
	return append(p, r)
}

// Set makes p one time for all numbers.
func (p Profile) Set(t unit.Time) Profile { return append(p[:0], Ramp{At: t}) }

// Copy makes p a copy of a.
func (p Profile) Copy(a Profile) Profile { return append(p[:0], a...) }

// end returns the number behind the last one of a ramp.
func (p Profile) end(i int, size int32) int32 {
	if i+1 < len(p) {
		return p[i+1].From
	}
	return size
}

// both visits the ranges in which each of two profiles has a single ramp, with their times at its
// first number, until visit returns false.
func both(a, b Profile, size int32, visit func(x, y Ramp, n int32) bool) {
	for i, j, at := 0, 0, int32(0); at < size; {
		endA, endB := a.end(i, size), b.end(j, size)
		to := min(endA, endB)
		x, y := a[i], b[j]
		x.At += x.Slope * unit.Time(at-x.From)
		y.At += y.Slope * unit.Time(at-y.From)
		x.From, y.From = at, at
		if !visit(x, y, to-at) {
			return
		}
		if endA == to {
			i++
		}
		if endB == to {
			j++
		}
		at = to
	}
}

// Later makes p the later time of a and b for each number.
//
// REQUIRES: a and b do not share memory with p.
func (p Profile) Later(a, b Profile, size int32) Profile {
	p = p[:0]
	if len(a) == 1 && len(b) == 1 && a[0].Slope == b[0].Slope {
		return append(p, Ramp{At: max(a[0].At, b[0].At), Slope: a[0].Slope})
	}
	both(a, b, size, func(x, y Ramp, n int32) bool {
		d, slope := x.At-y.At, x.Slope-y.Slope
		if d < 0 || d == 0 && slope < 0 { // let x be the later one at first
			x, y, d, slope = y, x, -d, -slope
		}
		k := n // the numbers for which x is the later one
		if d+slope*unit.Time(n-1) < 0 {
			k = int32(d/-slope) + 1
		}
		if p = p.Push(x, k); k < n {
			y.At += y.Slope * unit.Time(k)
			y.From += k
			p = p.Push(y, n-k)
		}
		return true
	})
	return p
}

// Plus makes p the sum of a and b.
//
// REQUIRES: a and b do not share memory with p.
func (p Profile) Plus(a, b Profile, size int32) Profile {
	p = p[:0]
	if len(b) == 1 && b[0].Slope == 0 {
		p = append(p, a...)
		for i := range p {
			p[i].At += b[0].At
		}
		return p
	}
	both(a, b, size, func(x, y Ramp, n int32) bool {
		p = p.Push(Ramp{x.From, x.At + y.At, x.Slope + y.Slope}, n)
		return true
	})
	return p
}

// Turn makes p a rotation of a: number n gets the time of number n + by, modulo size.
//
// REQUIRES: a does not share memory with p, and 0 ≤ by < size.
func (p Profile) Turn(a Profile, by, size int32) Profile {
	p = p[:0]
	if by == 0 || len(a) == 1 && a[0].Slope == 0 {
		return append(p, a...)
	}
	first := 0
	for a.end(first, size) <= by {
		first++
	}
	for i := first; i < len(a); i++ {
		r := a[i]
		from := max(r.From, by)
		p = p.Push(Ramp{from - by, r.At + r.Slope*unit.Time(from-r.From), r.Slope},
			a.end(i, size)-from)
	}
	for i := 0; i <= first && a[i].From < by; i++ {
		r := a[i]
		p = p.Push(Ramp{r.From + size - by, r.At, r.Slope}, min(a.end(i, size), by)-r.From)
	}
	return p
}

// Reaches reports whether p is at least as late as b for all numbers; if strictly, later.
func (p Profile) Reaches(b Profile, strictly bool, size int32) bool {
	least := unit.Time(0)
	if strictly {
		least = 1
	}
	does := true
	both(p, b, size, func(x, y Ramp, n int32) bool {
		d := x.At - y.At
		does = d >= least && d+(x.Slope-y.Slope)*unit.Time(n-1) >= least
		return does
	})
	return does
}

// Latest returns the latest time of all.
func (p Profile) Latest(size int32) unit.Time {
	latest := p[0].At
	for i, r := range p {
		latest = max(latest, r.At, r.At+r.Slope*unit.Time(p.end(i, size)-r.From-1))
	}
	return latest
}

// Each visits the time of each number, in order.
func (p Profile) Each(size int32, visit func(n int32, t unit.Time)) {
	for i, r := range p {
		for n, end := r.From, p.end(i, size); n < end; n++ {
			visit(n, r.At+r.Slope*unit.Time(n-r.From))
		}
	}
}
