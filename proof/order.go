package proof

import (
	"fmt"
	"slices"

	"collsim/schedule"
)

// Orders holds, for each element of each output, the tree of additions that made it. Trees are
// equal up to exchanging the operands of an addition.
type Orders struct {
	InRankOrder bool // every sum has its operands in rank order
	SameTree    bool // all ranks evaluate the same tree for each element, so their bits agree

	ranks [][]orderRun // runs of each rank's output, in order
}

// An orderRun is n elements with equal trees.
type orderRun struct {
	n    int64
	tree uint64 // a hash
}

// OrdersOf finds the orders of a schedule by executing it on symbolic values. labels[r], if labels
// is not nil, numbers the input of rank r in the trees, from 0 on. With a permutation one sees the
// effect of another numbering of the ranks on given data. A schedule that cannot be executed is a
// *Violation or *StallError. REQUIRES: no teams (schedule.Teams).
func OrdersOf(s *schedule.Schedule, labels []int) (*Orders, error) {
	v := newVerifier(s)
	v.labels = labels
	if err := v.trace(); err != nil {
		return nil, err
	}
	o := &Orders{ranks: make([][]orderRun, s.Spec.Ranks), InRankOrder: v.ordered,
		SameTree: v.sameTree()}
	for rank := range o.ranks {
		m, base := v.memory.of(schedule.Output, rank)
		n := s.Len(schedule.Output, rank)
		if n == 0 {
			continue
		}
		list := o.ranks[rank]
		for _, g := range m.read(nil, schedule.Span{Off: base, Len: n}) {
			tree := uint64(0)
			if g.v != nil {
				tree = g.v.tree
			}
			if k := len(list) - 1; k >= 0 && list[k].tree == tree {
				list[k].n += g.n
				continue
			}
			list = append(list, orderRun{g.n, tree})
		}
		o.ranks[rank] = list
	}
	return o, nil
}

// Same reports whether all elements that both have, at the same place of the same rank's output,
// are added in the same order.
func (o *Orders) Same(p *Orders) bool {
	for rank := range min(len(o.ranks), len(p.ranks)) {
		a, b := slices.Clone(o.ranks[rank]), slices.Clone(p.ranks[rank])
		for len(a) > 0 && len(b) > 0 {
			if a[0].tree != b[0].tree {
				return false
			}
			n := min(a[0].n, b[0].n)
			a[0].n, b[0].n = a[0].n-n, b[0].n-n
			if a[0].n == 0 {
				a = a[1:]
			}
			if b[0].n == 0 {
				b = b[1:]
			}
		}
	}
	return true
}

// OrderOf returns the tree of an element of a rank's output. A schedule that cannot be executed is
// a *Violation or *StallError. An element that does not exist or is never written is an error.
// REQUIRES: no teams (schedule.Teams).
func OrderOf(s *schedule.Schedule, rank int, element int64) (*schedule.Term, error) {
	terms, err := TermsOf(s)
	if err != nil {
		return nil, err
	}
	order, _, err := terms(rank, element)
	return order, err
}

// TermsOf executes a schedule once and returns OrderOf for all of its elements. n counts the
// elements, from that one on, that have the same tree: at most mostAlike.
func TermsOf(s *schedule.Schedule) (func(rank int, element int64) (order *schedule.Term, n int64,
	err error), error) {
	v := newVerifier(s)
	v.terms = map[*value]*schedule.Term{}
	if err := v.trace(); err != nil {
		return nil, err
	}
	return v.term, nil
}

// mostAlike bounds the elements that a call of TermsOf's function covers.
const mostAlike = 1 << 12

// term implements the function that TermsOf returns.
func (v *verifier) term(rank int, element int64) (order *schedule.Term, n int64, err error) {
	s := v.s
	if rank < 0 || rank >= s.Spec.Ranks || element < 0 || element >= s.Len(schedule.Output, rank) {
		return nil, 0, fmt.Errorf("rank %d has no output element %d", rank, element)
	}
	m, base := v.memory.of(schedule.Output, rank)
	n = min(s.Len(schedule.Output, rank)-element, mostAlike)
	g := m.read(nil, schedule.Span{Off: base + element, Len: n})[0]
	if g.v == nil || g.v == spoilt {
		return nil, 0, fmt.Errorf("output element %d of rank %d is never written", element,
			rank)
	}
	leaves := int64(0)
	for _, r := range g.v.runs {
		leaves += int64(r.to-r.from) * int64(r.times)
	}
	if leaves > int64(s.Spec.Ranks) {
		return nil, 0, fmt.Errorf(
			"output element %d of rank %d has %d inputs in it; there are %d",
			element, rank, leaves, s.Spec.Ranks)
	}
	return termAt(v.terms[g.v], g.off), g.n, nil
}

// trace executes the schedule on values with the slots that it declares.
func (v *verifier) trace() error {
	if _, err := v.walk(v.s.Slots); err != nil {
		return err
	}
	for _, x := range v.found {
		if x.Kind == schedule.Malformed {
			return x
		}
	}
	return nil
}

// termAt returns a copy of a tree for one element of the inputs. Shared subtrees stay shared.
func termAt(t *schedule.Term, element int64) *schedule.Term {
	copies := map[*schedule.Term]*schedule.Term{}
	var walk func(*schedule.Term) *schedule.Term
	walk = func(t *schedule.Term) *schedule.Term {
		if t == nil {
			return nil
		}
		if c, ok := copies[t]; ok {
			return c
		}
		c := *t
		copies[t] = &c
		c.Element, c.Left, c.Right = element, walk(t.Left), walk(t.Right)
		return &c
	}
	return walk(t)
}

// The trees of values are recorded only where terms are asked for.

// noteInput records the leaf of a rank's input.
func (v *verifier) noteInput(x *value, rank int) {
	if v.terms != nil {
		v.terms[x] = &schedule.Term{Rank: rank, Ends: true}
	}
}

// noteSum records that x is the sum of left and right.
func (v *verifier) noteSum(x, left, right *value) {
	if v.terms != nil {
		v.terms[x] = &schedule.Term{Rank: -1, Left: v.terms[left], Right: v.terms[right]}
	}
}

// noteCopy records that x is another value, scaled or merged in a switch.
func (v *verifier) noteCopy(x, of *value, scaled, merged bool) {
	if v.terms == nil {
		return
	}
	t := *v.terms[of]
	t.Scaled, t.Merged = t.Scaled || scaled, t.Merged || merged
	t.Ends = t.Ends && t.Left == nil && !scaled
	v.terms[x] = &t
}

// noteEnd records that a step ends with these values, so that they are rounded.
func (v *verifier) noteEnd(segs []seg) {
	if v.terms == nil {
		return
	}
	for _, g := range segs {
		if t := v.terms[g.v]; t != nil {
			t.Ends = true
		}
	}
}
