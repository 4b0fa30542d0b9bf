package reference

import (
	"fmt"

	"collsim/schedule"
)

// A Difference is an element that differs, and an explanation of all that do.
type Difference struct {
	Rank         int
	Element      int64 // of the rank's output tensor, in C order
	Chunk        int   // of the schedule
	Theirs, Ours Bits
	// Order is the order in which the schedule adds the element: the ranks whose inputs it adds,
	// with brackets. If it is only moved, Order is the rank that it comes from.
	Order string
	// Switch says that a switch combines some of them, in an order of its own.
	Switch bool
	// Gives lists recipes that give theirs for every element that differs without being wrong, and
	// for every equal one. If there are none, it lists those that give most of the differing ones.
	// One rounding of the whole sum and other ways to divide by the number of ranks are tried
	// first, then other orders.
	Gives []string
	Tried []string // what was tried; nil where nothing is added
	// Gives explains Explains of the Differ elements that differ and are not wrong. It would change
	// Changes of the Equal ones. Of large results only the first elements are counted.
	Explains, Differ int64
	Changes, Equal   int64
	Part             bool // not all elements were tried
}

// All reports whether Gives explains all elements of theirs that were tried.
func (d *Difference) All() bool {
	return len(d.Gives) > 0 && d.Explains == d.Differ && d.Changes == 0
}

// explain describes the first element of a rank's output that differs and is not wrong.
func (t *Case) explain(position int, element int64, theirs, ours [][]byte,
	wrong [][]bool) *Difference {
	s, flat := t.Schedule, t.flat(position, element)
	width := int64(s.Spec.Type.Width())
	at := element * width
	d := &Difference{Rank: t.Ranks[position], Element: element,
		Chunk:  s.BlockAt(schedule.Output, position, flat),
		Theirs: t.bits(theirs[position][at : at+width]), Ours: t.bits(ours[position][at : at+width])}
	if t.Altered {
		return d
	}
	order, _, err := t.term(position, flat)
	if err != nil { // a wrong schedule may have none
		return d
	}
	leaves := order.Ranks()
	d.Order, d.Switch = t.named(order).String(), merged(order)
	if !s.Spec.Kind.Reduces() {
		if len(leaves) == 1 {
			d.Order = fmt.Sprintf("rank %d input element %d", t.Ranks[leaves[0]], order.Element)
		}
		return d
	}
	x := &attempt{Case: t, theirs: t.allFlat(theirs), ours: t.allFlat(ours), wrong: wrong}
	x.tryAll(d, position, flat, leaves)
	return d
}

// term returns the order in which the schedule adds an element of a position's output, and the
// number of elements from it on with the same order.
func (t *Case) term(position int, flat int64) (*schedule.Term, int64, error) {
	if t.terms == nil {
		terms, err := t.TermsOf(t.Schedule)
		if err != nil {
			return nil, 0, err
		}
		t.terms = terms
	}
	return t.terms(position, flat)
}

// named returns a term with the numbers of the network's ranks.
func (t *Case) named(order *schedule.Term) *schedule.Term {
	c := *order
	if c.Left == nil {
		c.Rank = t.Ranks[c.Rank]
		return &c
	}
	c.Left, c.Right = t.named(c.Left), t.named(c.Right)
	return &c
}

// merged reports whether a switch has combined parts of a term.
func merged(t *schedule.Term) bool {
	return t != nil && (t.Merged || merged(t.Left) || merged(t.Right))
}

// rankName formats the rank of a position.
func (t *Case) rankName(position int) string { return fmt.Sprintf("r%d", t.Ranks[position]) }
