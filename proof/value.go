package proof

import (
	"fmt"
	"strings"

	"collsim/schedule"
)

// A value is the symbolic content of elements: the multiset of inputs combined into them, and the
// tree of additions. It does not say which element of the inputs; seg and cell do. Values are
// immutable and shared.
type value struct {
	runs     []run  // sorted, disjoint, not empty
	tree     uint64 // a hash of the tree of additions; equal for a+b and b+a
	ordered  bool   // operands are in rank order
	own      bool   // the input of the rank that made it is known to be in it: see roleCounts
	relative bool   // runs are counted from the rank that holds it: see treeClasses
	absolute bool   // runs are rank 0's numbers, whatever the block; it has no tree: see folding
	scaled   int32  // number of times it was scaled
	small    [2]run // memory of runs: most values have one or two
}

// A run is the inputs from … to−1, each with a multiplicity, at most often. Rank r's input of
// iteration i is number r + i·ranks.
type run struct{ from, to, times int32 }

// often bounds multiplicities, where counting saturates: what doubles in each step must not wrap
// around to 1.
const often = 1<<31 - 1

// A seg is n elements of one value: element i combines elements off+i of the inputs. A nil value is
// unwritten.
type seg struct {
	n   int64
	v   *value
	off int64
}

// spoilt is the value of elements whose mistake has been reported already, or that may be anything.
var spoilt = &value{}

// inputOf returns the value of an input.
func inputOf(rank int32) *value { return new(value).input(rank) }

// input sets a value to that of an input, and returns it.
func (v *value) input(rank int32) *value {
	*v = value{tree: inputTree(rank), ordered: true}
	v.small[0] = run{rank, rank + 1, 1}
	v.runs = v.small[:1]
	return v
}

// inputs returns the number of inputs in a value, with multiplicities.
func (v *value) inputs() (n int64) {
	for _, r := range v.runs {
		n += int64(r.to-r.from) * int64(r.times)
	}
	return n
}

// inputTree returns the hash of an input's tree.
func inputTree(rank int32) uint64 { return scramble(uint64(rank) + 1) }

// plus returns the combination of a and b, in this order.
func plus(a, b *value) *value {
	v := &value{tree: scramble(a.tree + b.tree), scaled: a.scaled}
	v.ordered = a.ordered && b.ordered && a.runs[len(a.runs)-1].to <= b.runs[0].from
	runs := v.small[:0]
	if most := len(a.runs) + len(b.runs); most > len(v.small) {
		runs = make([]run, 0, most)
	}
	v.runs = union(runs, a.runs, b.runs)
	return v
}

// scramble mixes the bits of a hash: the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA
// 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// union appends the sum of two multisets to dst.
func union(dst, a, b []run) []run {
	add := func(r run) {
		if n := len(dst); n > 0 && dst[n-1].to == r.from && dst[n-1].times == r.times {
			dst[n-1].to = r.to
			return
		}
		dst = append(dst, r)
	}
	var x, y run
	for {
		if x.from == x.to && len(a) > 0 {
			x, a = a[0], a[1:]
		}
		if y.from == y.to && len(b) > 0 {
			y, b = b[0], b[1:]
		}
		switch {
		case x.from == x.to && y.from == y.to:
			return dst
		case y.from == y.to || x.from != x.to && x.to <= y.from:
			add(x)
			x.from = x.to
		case x.from == x.to || y.to <= x.from:
			add(y)
			y.from = y.to
		case x.from < y.from:
			add(run{x.from, y.from, x.times})
			x.from = y.from
		case y.from < x.from:
			add(run{y.from, x.from, y.times})
			y.from = x.from
		default:
			end := min(x.to, y.to)
			add(run{x.from, end, x.times + min(y.times, often-x.times)})
			x.from, y.from = end, end
		}
	}
}

// describe explains how the runs differ from what is wanted: ranks first … last−1 once each.
func (v *value) describe(first, last, ranks int32,
	names names) (schedule.ViolationKind, string) {
	at := first
	for _, r := range v.runs {
		stranger := r.from
		if r.from >= first {
			stranger = max(last, r.from)
		}
		switch {
		case r.from < first || r.to > last:
			text := fmt.Sprintf("holds the input of rank %d", names.of(int(stranger%ranks)))
			if stranger/ranks < first/ranks {
				return schedule.Misplaced, text + " of the call before"
			} else if stranger/ranks > (last-1)/ranks {
				return schedule.Misplaced, text + " of the next call"
			}
			return schedule.Misplaced, text + ", which does not belong there"
		case r.from > at:
			return schedule.Missing, "lacks the input of " + names.text(at, r.from, ranks)
		case r.times != 1:
			times := fmt.Sprintf("%d times", r.times)
			if r.times == often {
				times += ", or more"
			}
			return schedule.Doubled,
				fmt.Sprintf("holds the input of %s %s", names.text(r.from, r.to, ranks), times)
		}
		at = r.to
	}
	if at < last {
		return schedule.Missing, "lacks the input of " + names.text(at, last, ranks)
	}
	return 0, ""
}

// names maps ranks to the numbers that violations call them by: those of a team, by its ranks. Nil
// is the identity.
type names []int

// of returns the name of a rank.
func (n names) of(rank int) int {
	if n == nil {
		return rank
	}
	return n[rank]
}

// text formats the ranks from … to−1, counted modulo ranks.
func (n names) text(from, to, ranks int32) string {
	switch first, last := int(from%ranks), int((to-1)%ranks); {
	case to == from+1:
		return fmt.Sprintf("rank %d", n.of(first))
	case n == nil:
		return fmt.Sprintf("ranks %d to %d", first, last)
	default:
		return "ranks " + strings.Trim(fmt.Sprint(n[first:last+1]), "[]")
	}
}
