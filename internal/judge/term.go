package judge

import (
	"fmt"
	"math"
	"slices"
)

// terms are what elements may hold: inputs, combined and scaled. Equal terms have one number, so
// that they are compared at a glance.
type terms struct {
	problem *Problem
	list    []term
	known   map[[3]int]int
	trees   map[[2]int]int
}

// nothing is the term of what nobody has written.
const nothing = 0

// term is one of them.
type term struct {
	shares  []share // sorted by input
	element int     // of the inputs
	scaled  int     // how often
	tree    int     // of additions; a+b and b+a are one
	// The inputs' ranks from left to right are first … last, in order or not.
	first, last int
	ordered     bool
	wrong       string // why it makes no sense; all else is void then
}

// share is how often an input is in a term. Input r + c·ranks is that of rank r in call c.
type share struct{ input, times int }

// What makes a term, in terms.known.
const (
	isInput = -1 - iota
	isScaled
	isMerged
)

func newTerms(p *Problem) *terms {
	return &terms{problem: p, list: make([]term, 1), known: map[[3]int]int{},
		trees: map[[2]int]int{}}
}

// make is the number of the term of that making; new makes it, the first time.
func (t *terms) make(key [3]int, create func() term) int {
	n, known := t.known[key]
	if !known {
		n = len(t.list)
		t.known[key] = n
		t.list = append(t.list, create())
	}
	return n
}

// tree is the number of the tree with these two branches, in either order.
func (t *terms) tree(a, b int) int {
	key := [2]int{min(a, b), max(a, b)}
	n, known := t.trees[key]
	if !known {
		n = len(t.trees)
		t.trees[key] = n
	}
	return n
}

// input is an element of a rank's input in a call.
func (t *terms) input(rank, call, element int) int {
	input := rank + call*t.problem.Ranks
	return t.make([3]int{isInput, input, element}, func() term {
		return term{shares: []share{{input, 1}}, element: element, tree: t.tree(isInput, input),
			first: input, last: input, ordered: true}
	})
}

// scale is a term scaled.
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

// merged is a term that a switch has added up for a rank, in an order that it does not tell.
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

// combine is a and b combined, in this order.
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

// mismatch is why two terms cannot be combined.
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

// union adds two multisets; what is there more often than can be counted stays so.
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

// wrong says what is wrong with a term as an element of a rank's output of a call, "" for nothing.
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
