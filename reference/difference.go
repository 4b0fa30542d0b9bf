package reference

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// Difference is an element that differs.
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
	// Gives lists what would give their bits: another order among the rotations and the reverse of
	// Order with the same brackets, rank order, the other way to accumulate.
	Gives []string
	Tried []string // what was tried, in words; nil where nothing is added
	// Sample is on how many elements Gives holds: this one, and those behind it, of at most 64 that
	// the schedule puts together in the same way. Gives lists what holds on most.
	Sample int
}

// explain says what is known of the first element that differs in a rank's outputs, and is not
// wrong.
func (t *Case) explain(position int, element int64, theirs, ours []byte, wrong []bool) *Difference {
	s, flat := t.Schedule, t.flat(position, element)
	width := int64(s.Spec.Type.Width())
	at := element * width
	d := &Difference{Rank: t.Ranks[position], Element: element,
		Chunk:  s.BlockAt(schedule.Output, position, flat),
		Theirs: t.bits(theirs[at : at+width]), Ours: t.bits(ours[at : at+width])}
	if t.Altered {
		return d
	}
	order, err := t.OrderOf(s, position, flat)
	if err != nil { // of a wrong schedule there may be none to tell
		return d
	}
	leaves := order.Ranks()
	d.Order, d.Switch = t.named(order).String(), merged(order)
	if len(leaves) == 1 && !s.Spec.Kind.Reduces() {
		d.Order = fmt.Sprintf("rank %d input element %d", t.Ranks[leaves[0]], order.Element)
		return d
	}
	x := &attempt{Case: t, order: &term{order, &s.Spec, t.Accumulate}, wrong: wrong}
	x.take(position, element, leaves, theirs, ours)
	t.tryOrders(d, x, leaves)
	return d
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

// maxTried bounds the ranks whose orders are all tried, each of which takes a sum over them; and
// maxSample the elements behind the first that differs on which an order must hold too: on a single
// one many agree by chance.
const (
	maxTried  = 4096
	maxSample = 64
)

// attempt is what orders are tried on: an element that differs, and those behind it that the
// schedule puts together in the same way.
type attempt struct {
	*Case
	order        *term
	theirs, ours [][]byte
	wrong        []bool // by element of the position's output; nil where none is
	found        []gives
}

// gives is an order that gives their first elements, so many.
type gives struct {
	what string
	n    int
}

// value is what an order gives for the i-th element if its operands are the inputs of these places.
func (x *attempt) value(order *term, leaves []int, i int) []byte {
	width := int64(x.Schedule.Spec.Type.Width())
	next := -1
	return x.typed.value(order, func(int) []byte {
		next++
		return x.Inputs[leaves[next]][(x.order.Element+int64(i))*width:][:width]
	})
}

// try notes an order if it gives their first element.
func (x *attempt) try(what string, order *term, leaves []int) {
	same := 0
	for same < len(x.theirs) && x.same(x.value(order, leaves, same), x.theirs[same]) {
		same++
	}
	if same > 0 {
		x.found = append(x.found, gives{what, same})
	}
}

// take takes the elements from one of a position's output on, as far as the order explains ours,
// and theirs are not wrong.
func (x *attempt) take(position int, element int64, leaves []int, theirs, ours []byte) {
	spec := &x.Schedule.Spec
	width := int64(spec.Type.Width())
	flat := x.flat(position, element)
	chunk, most := x.Schedule.BlockAt(schedule.Output, position, flat), spec.In(x.order.leaf().Rank)
	for i := range int64(maxSample) {
		at := (element + i) * width
		if at >= int64(len(ours)) || x.flat(position, element+i) != flat+i ||
			x.Schedule.BlockAt(schedule.Output, position, flat+i) != chunk || x.order.Element+i >= most ||
			x.wrong != nil && x.wrong[flat+i] {
			break
		}
		mine := ours[at : at+width]
		if got := x.value(x.order, leaves, int(i)); !x.same(got, mine) {
			break
		}
		x.theirs, x.ours = append(x.theirs, theirs[at:at+width]), append(x.ours, mine)
	}
}

// tryOrders looks for what would give their bits.
func (t *Case) tryOrders(d *Difference, x *attempt, leaves []int) {
	n := len(leaves)
	if len(x.theirs) == 0 {
		return // a switch, or whatever else the order does not explain
	}
	turned := func(list []int, by int) []int { return slices.Concat(list[by:], list[:by]) }
	reversed := slices.Clone(leaves)
	slices.Reverse(reversed)
	d.Tried = []string{"rotations", "the reverse and its rotations", "rank order from the left"}
	for by := 1; by < n && n <= maxTried; by++ {
		x.try(fmt.Sprintf("rotation by %d: %s first", by, t.rankName(leaves[by])), x.order,
			turned(leaves, by))
	}
	x.try("the reverse", x.order, reversed)
	for by := 1; by < n && n <= maxTried; by++ {
		x.try(fmt.Sprintf("the reverse, rotated by %d: %s first", by, t.rankName(reversed[by])),
			x.order, turned(reversed, by))
	}
	sorted := slices.Sorted(slices.Values(leaves))
	order := x.order
	x.try("rank order from the left", &term{chain(order, sorted), order.spec, order.accumulate},
		sorted)
	if t := order.spec.Type; t.IsFloat() && t.Width() < 4 {
		other := *order
		other.accumulate = InFloat32 - order.accumulate
		what := fmt.Sprintf("this order with accumulate = %q", other.accumulate)
		d.Tried = append(d.Tried, what)
		x.try(what, &other, leaves)
	}
	for _, g := range x.found {
		if g.n > d.Sample {
			d.Gives, d.Sample = nil, g.n
		}
		if g.n == d.Sample {
			d.Gives = append(d.Gives, g.what)
		}
	}
}

func (t *Case) rankName(position int) string { return fmt.Sprintf("r%d", t.Ranks[position]) }
