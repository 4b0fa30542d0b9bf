package reference

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// A term is a schedule's term with what is needed to compute it.
type term struct {
	*schedule.Term
	spec       *collective.Spec
	accumulate Accumulate
	once       dtype.Type // computed in it, rounded once; 0: by accumulate
	mean       meanRule   // how avg divides floats
}

// A meanRule is how avg divides floats by the number of ranks.
type meanRule int

const (
	meanOfSpec  meanRule = iota // as the collective says
	timesFirst                  // inputs are multiplied by 1/n, rounded to the type: avg = "nccl"
	divideFirst                 // inputs are divided by n
	timesLast                   // the sum is multiplied by 1/n, rounded to the type
	divideLast                  // the sum is divided by n: avg = "post"
)

// leaf returns the first input of a term.
func (t *term) leaf() *schedule.Term {
	leaf := t.Term
	for leaf.Left != nil {
		leaf = leaf.Left
	}
	return leaf
}

// chain returns ((a + b) + c) + …, a step for each, with the leaves of a term.
func chain(order *term, ranks []int) *schedule.Term {
	leaf := order.leaf()
	var sum *schedule.Term
	for _, rank := range ranks {
		one := *leaf
		one.Rank = rank
		if sum == nil {
			sum = &one
			continue
		}
		sum = &schedule.Term{Left: sum, Right: &one, Rank: -1, Ends: true}
	}
	if order.Left != nil && order.Scaled {
		sum.Scaled = true
	}
	return sum
}

// scaledBy returns a copy of a term that scales where a rule does.
func scaledBy(t *schedule.Term, rule meanRule) *schedule.Term {
	var walk func(*schedule.Term) *schedule.Term
	walk = func(t *schedule.Term) *schedule.Term {
		c := *t
		if c.Scaled = c.Left == nil && rule <= divideFirst; c.Left != nil {
			c.Left, c.Right = walk(c.Left), walk(c.Right)
		}
		return &c
	}
	c := walk(t)
	c.Scaled = c.Scaled || rule > divideFirst
	return c
}

// valueAs computes a term in T. It reads leaves from left to right, each of the same number of
// elements.
func valueAs[T dtype.Number](t *term, leaf func(position int) []byte) []byte {
	switch {
	case t.once == dtype.Float64:
		return put(narrowedFrom[T](widely[T, float64](t, t.Term, leaf)))
	case t.once == dtype.Float32 || t.accumulate.widens(t.spec.Type):
		return put(narrowedFrom[T](widely[T, float32](t, t.Term, leaf)))
	}
	return put(natively[T](t, t.Term, leaf))
}

// narrowedFrom rounds wide numbers to T.
func narrowedFrom[T dtype.Number, W float32 | float64](wide []W) []T {
	x := make([]T, len(wide))
	dtype.Narrow(x, wide)
	return x
}

// natively rounds after every operation.
func natively[T dtype.Number](t *term, at *schedule.Term, leaf func(int) []byte) []T {
	var x []T
	if at.Left == nil {
		x = getAll[T](leaf(at.Rank))
	} else {
		x = natively[T](t, at.Left, leaf)
		combine(t.spec.Op, x, natively[T](t, at.Right, leaf))
	}
	if at.Scaled {
		scaleTerm[T](t, x)
	}
	return x
}

// widely computes in W, and rounds to T where a step ends unless the whole is rounded once.
func widely[T dtype.Number, W float32 | float64](t *term, at *schedule.Term,
	leaf func(int) []byte) []W {
	var x []W
	if at.Left == nil {
		in := getAll[T](leaf(at.Rank))
		x = make([]W, len(in))
		dtype.Widen(x, in)
	} else {
		x = widely[T, W](t, at.Left, leaf)
		combine(t.spec.Op, x, widely[T, W](t, at.Right, leaf))
	}
	if at.Scaled {
		scaleTerm[T](t, x)
	}
	if at.Ends && t.once == 0 {
		dtype.Widen(x, narrowedFrom[T](x))
	}
	return x
}

// scaleTerm scales values in W of a term of T.
func scaleTerm[T, W dtype.Number](t *term, x []W) {
	switch before := t.spec.ScalesBefore(); {
	case t.mean == meanOfSpec && before:
		dtype.Scale(x, dtype.From[W](dtype.Value(factor[T](t.spec))))
	case t.mean == timesFirst || t.mean == timesLast:
		dtype.Scale(x, dtype.From[W](dtype.Value(dtype.Reciprocal[T](t.spec.Ranks))))
	default:
		dtype.Divide(x, t.spec.Ranks)
	}
}
