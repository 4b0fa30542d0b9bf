package judge

import (
	"fmt"
	"math"
	"slices"
)

// terms holds the values that elements may have: inputs, combined and scaled. Equal terms have the
// same number, so comparison is cheap.
type terms struct {
	problem *Problem
	list    []term
	known   map[[3]int]int
	trees   map[[2]int]int
}

// nothing is the term of unwritten memory.
const nothing = 0

// A term is the value of an element.
type term struct {
	shares  []share // sorted by input
	element int     // of the inputs
	scaled  int     // number of scalings
	tree    int     // tree of additions; a+b and b+a are the same
	// Ranks of the leftmost and the rightmost input, and whether all are in rank order.
	first, last int
	ordered     bool
	wrong       string // reason why it is invalid; the rest is then void
}

// A share counts an input in a term. Input r + c·ranks is that of rank r in call c.
type share struct{ input, times int }

// Constructors of a term, in terms.known.
const (
	isInput = -1 - iota
	isScaled
	isMerged
)

// newTerms returns the terms of a problem.
func newTerms(p *Problem) *terms {
	return &terms{problem: p, list: make([]term, 1), known: map[[3]int]int{},
		trees: map[[2]int]int{}}
}

// make returns the number of the term with a construction key; create constructs it at first.
func (t *terms) make(key [3]int, create func() term) int {
	n, known := t.known[key]
	if !known {
		n = len(t.list)
		t.known[key] = n
		t.list = append(t.list, create())
	}
	return n
}

// tree returns the number of the tree with these two branches, in either order.
func (t *terms) tree(a, b int) int {
	key := [2]int{min(a, b), max(a, b)}
	n, known := t.trees[key]
	if !known {
		n = len(t.trees)
		t.trees[key] = n
	}
	return n
}

// input returns the term of an element of a rank's input in a call.
func (t *terms) input(rank, call, element int) int {
	input := rank + call*t.problem.Ranks
	return t.make([3]int{isInput, input, element}, func() term {
		return term{shares: []share{{input, 1}}, element: element, tree: t.tree(isInput, input),
			first: input, last: input, ordered: true}
	})
}

// scale returns a scaled term.
func (t *terms) scale(a int) int {
	if a == nothing {
		return nothing
	}
	return t.make([3]int{isScaled, a, 0}, func() term {
		s := t.list[a]
		s.scaled++
		return s
	})
}

// merged returns a term that a switch has summed for a rank, in an unknown order.
func (t *terms) merged(a, rank int) int {
	if a == nothing {
		return nothing
	}
	return t.make([3]int{isMerged, a, rank}, func() term {
		s := t.list[a]
		s.ordered, s.tree = false, t.tree(isMerged-rank, s.tree)
		return s
	})
}

// combine returns the combination of a and b, in this order.
func (t *terms) combine(a, b int) int {
	return t.make([3]int{a, b, 0}, func() term {
		x, y := &t.list[a], &t.list[b]
		if why := t.mismatch(a, b); why != "" {
			return term{wrong: why}
		}
		return term{shares: union(x.shares, y.shares), element: x.element, scaled: x.scaled,
			tree: t.tree(x.tree, y.tree), first: x.first, last: y.last,
			ordered: x.ordered && y.ordered && x.last <= y.first}
	})
}

// mismatch returns the reason why two terms cannot be combined, "" if they can.
func (t *terms) mismatch(a, b int) string {
	x, y := &t.list[a], &t.list[b]
	_, after := t.problem.scales()
	switch {
	case a == nothing || b == nothing:
		return "adds what nobody wrote"
	case x.wrong != "" || y.wrong != "":
		return "adds what makes no sense"
	case x.element != y.element:
		return fmt.Sprintf("adds element %d to %d", y.element, x.element)
	case x.scaled != y.scaled || x.scaled > 0 && after && t.problem.defined():
		return fmt.Sprintf("adds values scaled %d and %d times", x.scaled, y.scaled)
	}
	return ""
}

// union adds two multisets. Counts beyond int32 saturate.
func union(a, b []share) []share {
	all := slices.Clone(a)
	for _, s := range b {
		i, found := slices.BinarySearchFunc(all, s.input, func(x share, input int) int {
			return x.input - input
		})
		if !found {
			all = slices.Insert(all, i, s)
		} else if all[i].times <= math.MaxInt32 {
			all[i].times += s.times
		}
	}
	return all
}

// wrong reports the fault of a term as an element of a rank's output of a call, "" for none.
func (t *terms) wrong(a, rank, call, i int) string {
	p := t.problem
	from, element := p.want(rank, i)
	want := []share{{from + call*p.Ranks, 1}}
	if from == everyRank {
		want = nil
		for r := range p.Ranks {
			want = append(want, share{r + call*p.Ranks, 1})
		}
	}
	before, after := p.scales()
	times := 0
	if before || after {
		times = 1
	}
	x := &t.list[a]
	switch {
	case a == nothing:
		return "is never written"
	case x.wrong != "":
		return x.wrong
	case x.element != element || x.scaled != times || !slices.Equal(x.shares, want):
		return fmt.Sprintf("holds %v of element %d, scaled %d times, instead of %v of %d", x.shares,
			x.element, x.scaled, want, element)
	}
	return ""
}
