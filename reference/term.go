package reference

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// term is a schedule's term with what it takes to compute it.
type term struct {
	*schedule.Term
	spec       *collective.Spec
	accumulate Accumulate
}

// leaf is the first input of a term.
func (t *term) leaf() *schedule.Term {
	leaf := t.Term
	for leaf.Left != nil {
		leaf = leaf.Left
	}
	return leaf
}

// chain is ((a + b) + c) + …, a step for each, with the leaves of a term.
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

// valueAs computes a term in T; leaves are asked for from left to right.
func valueAs[T dtype.Number](t *term, leaf func(position int) []byte) []byte {
	if t.accumulate == InFloat32 && t.spec.Type.IsFloat() && t.spec.Type.Width() < 4 {
		var x [1]T
		dtype.Narrow(x[:], stepwise[T](t, t.Term, leaf))
		return put(x[:])
	}
	return put(natively[T](t, t.Term, leaf))
}

// natively rounds after every operation.
func natively[T dtype.Number](t *term, at *schedule.Term, leaf func(int) []byte) []T {
	var x []T
	if at.Left == nil {
		x = []T{get[T](leaf(at.Rank))}
	} else {
		x = natively[T](t, at.Left, leaf)
		combine(t.spec.Op, x, natively[T](t, at.Right, leaf))
	}
	if at.Scaled {
		Scale(t.spec, x)
	}
	return x
}

// stepwise computes in float32 and rounds where a step ends.
func stepwise[T dtype.Number](t *term, at *schedule.Term, leaf func(int) []byte) []float32 {
	x := []float32{0}
	if at.Left == nil {
		dtype.Widen(x, []T{get[T](leaf(at.Rank))})
	} else {
		x = stepwise[T](t, at.Left, leaf)
		combine(t.spec.Op, x, stepwise[T](t, at.Right, leaf))
	}
	if at.Scaled && t.spec.ScalesBefore() {
		dtype.Scale(x, float32(dtype.Value(factor[T](t.spec))))
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
