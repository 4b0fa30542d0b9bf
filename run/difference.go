package run

import (
	"encoding/binary"
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/reference"
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

// Bits is an element as bits, such as 0x3f80, and in decimal.
type Bits struct{ Bits, Value string }

// String is such as "0x3f80 (1)".
func (b Bits) String() string { return b.Bits + " (" + b.Value + ")" }

// bits shows an element.
func (n *number) bits(element []byte) Bits {
	var wide [8]byte
	copy(wide[:], element)
	return Bits{fmt.Sprintf("0x%0*x", 2*len(element), binary.LittleEndian.Uint64(wide[:])),
		n.text(element)}
}

// explain says what is known of the first element that differs in a rank's outputs, and is not
// wrong.
func (t *teamRun) explain(place int, element int64, theirs, ours []byte, wrong []bool) *Difference {
	s, flat := t.schedule, t.flat(place, element)
	width := int64(s.Spec.Type.Width())
	at := element * width
	d := &Difference{Rank: t.team[place], Element: element,
		Chunk:  s.BlockAt(schedule.Output, place, flat),
		Theirs: t.number.bits(theirs[at : at+width]), Ours: t.number.bits(ours[at : at+width])}
	if t.altered {
		return d
	}
	order, err := proof.OrderOf(s, place, flat)
	if err != nil { // of a wrong schedule there may be none to tell
		return d
	}
	leaves := order.Ranks()
	d.Order, d.Switch = t.named(order).String(), merged(order)
	if len(leaves) == 1 && !s.Spec.Kind.Reduces() {
		d.Order = fmt.Sprintf("rank %d input element %d", t.team[leaves[0]], order.Element)
		return d
	}
	x := &trial{teamRun: t, order: &term{order, &s.Spec, t.sums}, wrong: wrong}
	x.take(place, element, leaves, theirs, ours)
	t.tryOrders(d, x, leaves)
	return d
}

// named is a term with the numbers of the network's ranks.
func (t *teamRun) named(order *proof.Term) *proof.Term {
	c := *order
	if c.Left == nil {
		c.Rank = t.team[c.Rank]
		return &c
	}
	c.Left, c.Right = t.named(c.Left), t.named(c.Right)
	return &c
}

func merged(t *proof.Term) bool {
	return t != nil && (t.Merged || merged(t.Left) || merged(t.Right))
}

// term is a schedule's term with what it takes to compute it.
type term struct {
	*proof.Term
	spec       *collective.Spec
	accumulate reference.Accumulate
}

// maxTried bounds the ranks whose orders are all tried, each of which takes a sum over them; and
// maxSample the elements behind the first that differs on which an order must hold too: on a single
// one many agree by chance.
const (
	maxTried  = 4096
	maxSample = 64
)

// trial is what orders are tried on: an element that differs, and those behind it that the schedule
// puts together in the same way.
type trial struct {
	*teamRun
	order        *term
	theirs, ours [][]byte
	wrong        []bool // by element of the place's output; nil where none is
	found        []gives
}

// gives is an order that gives their first elements, so many.
type gives struct {
	what string
	n    int
}

// value is what an order gives for the i-th element if its operands are the inputs of these places.
func (x *trial) value(order *term, leaves []int, i int) []byte {
	width := int64(x.schedule.Spec.Type.Width())
	next := -1
	return x.number.value(order, func(int) []byte {
		next++
		return x.played.in[leaves[next]][(x.order.Element+int64(i))*width:][:width]
	})
}

// try notes an order if it gives their first element.
func (x *trial) try(what string, order *term, leaves []int) {
	same := 0
	for same < len(x.theirs) && x.number.same(x.value(order, leaves, same), x.theirs[same]) {
		same++
	}
	if same > 0 {
		x.found = append(x.found, gives{what, same})
	}
}

// take takes the elements from one of a place's output on, as far as the order explains ours, and
// theirs are not wrong.
func (x *trial) take(place int, element int64, leaves []int, theirs, ours []byte) {
	spec := &x.schedule.Spec
	width := int64(spec.Type.Width())
	flat := x.flat(place, element)
	chunk, most := x.schedule.BlockAt(schedule.Output, place, flat), spec.In(x.order.leaf().Rank)
	for i := range int64(maxSample) {
		at := (element + i) * width
		if at >= int64(len(ours)) || x.flat(place, element+i) != flat+i ||
			x.schedule.BlockAt(schedule.Output, place, flat+i) != chunk || x.order.Element+i >= most ||
			x.wrong != nil && x.wrong[flat+i] {
			break
		}
		mine := ours[at : at+width]
		if got := x.value(x.order, leaves, int(i)); !x.number.same(got, mine) {
			break
		}
		x.theirs, x.ours = append(x.theirs, theirs[at:at+width]), append(x.ours, mine)
	}
}

// leaf is the first input of a term.
func (t *term) leaf() *proof.Term {
	leaf := t.Term
	for leaf.Left != nil {
		leaf = leaf.Left
	}
	return leaf
}

// tryOrders looks for what would give their bits.
func (t *teamRun) tryOrders(d *Difference, x *trial, leaves []int) {
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
		other.accumulate = reference.InFloat32 - order.accumulate
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

func (t *teamRun) rankName(place int) string { return fmt.Sprintf("r%d", t.team[place]) }

// chain is ((a + b) + c) + …, a step for each, with the leaves of a term.
func chain(order *term, ranks []int) *proof.Term {
	leaf := order.leaf()
	var sum *proof.Term
	for _, rank := range ranks {
		one := *leaf
		one.Rank = rank
		if sum == nil {
			sum = &one
			continue
		}
		sum = &proof.Term{Left: sum, Right: &one, Rank: -1, Ends: true}
	}
	if order.Left != nil && order.Scaled {
		sum.Scaled = true
	}
	return sum
}

// valueAs computes a term in T; leaves are asked for from left to right.
func valueAs[T dtype.Number](t *term, leaf func(place int) []byte) []byte {
	if t.accumulate == reference.InFloat32 && t.spec.Type.IsFloat() && t.spec.Type.Width() < 4 {
		var x [1]T
		dtype.Narrow(x[:], wide[T](t, t.Term, leaf))
		return put(x[:])
	}
	return put(narrow[T](t, t.Term, leaf))
}

// narrow rounds after every operation.
func narrow[T dtype.Number](t *term, at *proof.Term, leaf func(int) []byte) []T {
	var x []T
	if at.Left == nil {
		x = []T{get[T](leaf(at.Rank))}
	} else {
		x = narrow[T](t, at.Left, leaf)
		combine(t.spec.Op, x, narrow[T](t, at.Right, leaf))
	}
	if at.Scaled && t.spec.ScalesBefore() {
		dtype.Scale(x, factorOf[T](t.spec))
	} else if at.Scaled {
		dtype.Divide(x, t.spec.Ranks)
	}
	return x
}

// wide computes in float32 and rounds where a step ends.
func wide[T dtype.Number](t *term, at *proof.Term, leaf func(int) []byte) []float32 {
	x := []float32{0}
	if at.Left == nil {
		dtype.Widen(x, []T{get[T](leaf(at.Rank))})
	} else {
		x = wide[T](t, at.Left, leaf)
		combine(t.spec.Op, x, wide[T](t, at.Right, leaf))
	}
	if at.Scaled && t.spec.ScalesBefore() {
		dtype.Scale(x, float32(dtype.Value(factorOf[T](t.spec))))
	} else if at.Scaled {
		dtype.Divide(x, t.spec.Ranks)
	}
	if at.Ends {
		rounded := []T{0}
		dtype.Narrow(rounded, x)
		dtype.Widen(x, rounded)
	}
	return x
}

// factorOf is what is multiplied before anything is added.
func factorOf[T dtype.Number](spec *collective.Spec) T {
	if spec.Op == collective.PremulSum {
		return dtype.From[T](spec.Factor)
	}
	return dtype.Reciprocal[T](spec.Ranks)
}

// combine makes dst what the operator makes of both.
func combine[T dtype.Number](op collective.Op, dst, src []T) {
	switch op {
	case collective.Prod:
		dtype.Prod(dst, src)
	case collective.Min:
		dtype.Min(dst, src)
	case collective.Max:
		dtype.Max(dst, src)
	default:
		dtype.Sum(dst, src)
	}
}
