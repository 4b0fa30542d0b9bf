package reference

import (
	"fmt"

	"collsim/schedule"
)

// Difference is an element that differs, and what explains all that do.
type Difference struct {
	Rank         int
	Element      int64 // of the rank's output tensor, in C order
	Chunk        int   // of the schedule
	Theirs, Ours Bits
	// Order is how the schedule puts the element together: the ranks whose inputs it adds, in their
	// order, with brackets. Of what is only moved it is the rank that it comes from.
	Order string
	// Switch says that a switch combines some of them, in an order of its own.
	Switch bool
	// Gives lists what gives theirs: of every element that differs and is not wrong, and of every one
	// that is equal. If nothing does, it lists what gives most of those that differ. First one
	// rounding of the whole sum and other ways to divide by the number of ranks are tried, and only
	// then other orders.
	Gives []string
	Tried []string // what was tried, in words; nil where nothing is added
	// Of the Differ elements that differ, and are not wrong, Gives gives Explains; and others for
	// Changes of the Equal ones. Of large results these are the first that were looked at.
	Explains, Differ int64
	Changes, Equal   int64
	Part             bool // not all elements were looked at
}

// All reports whether what is in Gives gives all of theirs that were looked at.
func (d *Difference) All() bool {
	return len(d.Gives) > 0 && d.Explains == d.Differ && d.Changes == 0
}

// explain says what is known of the first element that differs in a rank's outputs, and is not
// wrong.
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
	if err != nil { // of a wrong schedule there may be none to tell
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

// term is how the schedule puts an element of a position's output together, and how many from it
// on.
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

// named is a term with the numbers of the network's ranks.
func (t *Case) named(order *schedule.Term) *schedule.Term {
	c := *order
	if c.Left == nil {
		c.Rank = t.Ranks[c.Rank]
		return &c
	}
	c.Left, c.Right = t.named(c.Left), t.named(c.Right)
	return &c
}

func merged(t *schedule.Term) bool {
	return t != nil && (t.Merged || merged(t.Left) || merged(t.Right))
}

func (t *Case) rankName(position int) string { return fmt.Sprintf("r%d", t.Ranks[position]) }
