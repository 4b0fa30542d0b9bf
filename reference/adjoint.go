package reference

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// AdjointBytes estimates the memory of Adjoint: a few integers for each element.
func AdjointBytes(spec *collective.Spec) int64 {
	total := int64(0)
	for rank := range spec.Ranks {
		total += spec.In(rank) + spec.Out(rank)
	}
	return total * 8 * 4
}

// lawFactor replaces 1/n and premulsum's factor: an odd integer that is unlikely to arise from
// other sums.
const lawFactor = 0x9e3779b1

// Adjoint checks the law of gradients: that the second schedule is the transpose of the first. It
// reports whether ⟨F(M t), y⟩ = ⟨t, M S B(y)⟩ for random t and y, in integers modulo 2^64, where
// sums are exact in any order. M keeps everything or, with mask, the elements of the inputs that
// are equal to the output of max. S is the scale, where the forward pass has one: an integer
// replaces it on both sides.
func Adjoint(f, b *schedule.Schedule, mask bool, seed uint64) (bool, error) {
	forward, backward := linear(f, false), linear(b, false)
	t, err := Inputs[uint64](forward.Spec, Uniform, seed)
	if err != nil {
		return false, err
	}
	y, err := Inputs[uint64](backward.Spec, Uniform, seed+1)
	if err != nil {
		return false, err
	}
	keep := func(values [][]uint64) [][]uint64 { return values }
	if mask {
		m, holds, err := maskOf(f, b, seed+2)
		if err != nil || !holds {
			return false, err
		}
		keep = m.keep
	}
	x, err := Run(forward, keep(t))
	if err != nil {
		return false, err
	}
	z, err := Run(backward, y)
	if err != nil {
		return false, err
	}
	if forward.Spec.Op == collective.PremulSum {
		for rank := range z {
			Scale(&forward.Spec, z[rank])
		}
	}
	left, err := dot(x, y)
	if err != nil {
		return false, err
	}
	right, err := dot(t, keep(z))
	return left == right, err
}

// linear returns a schedule on integers that adds, whatever s did; its factor is lawFactor, if it
// had one. With largest it computes the maximum instead.
func linear(s *schedule.Schedule, largest bool) *schedule.Schedule {
	c := *s
	c.Spec.Type, c.Spec.Avg, c.Spec.Factor = dtype.Uint64, 0, 0
	switch {
	case !s.Spec.Kind.Reduces():
	case largest:
		c.Spec.Op = collective.Max
	case s.Spec.ScalesBefore() || s.Spec.ScalesAfter():
		c.Spec.Op, c.Spec.Factor = collective.PremulSum, lawFactor
	default:
		c.Spec.Op = collective.Sum
	}
	return &c
}

// dot returns the sum of the products of corresponding elements of all ranks.
func dot(x, y [][]uint64) (uint64, error) {
	total := uint64(0)
	for rank := range x {
		if len(x[rank]) != len(y[rank]) {
			return 0, fmt.Errorf("rank %d has %d elements and gradients of %d", rank,
				len(x[rank]), len(y[rank]))
		}
		for i, a := range x[rank] {
			total += a * y[rank][i]
		}
	}
	return total, nil
}

// A mask marks the elements of each rank's input that are equal to the output.
type mask [][]bool

// keep returns the values with 0 where the mask is not set.
func (m mask) keep(values [][]uint64) [][]uint64 {
	kept := make([][]uint64, len(values))
	for rank := range values {
		kept[rank] = make([]uint64, len(values[rank]))
		for i, v := range values[rank] {
			if m[rank][i] {
				kept[rank][i] = v
			}
		}
	}
	return kept
}

// maskOf makes the mask of max on inputs with many ties, as a framework would: from the output that
// a rank has, or that the backward schedule brings to it. It reports whether that is the mask of
// the definition. (The mask of min is the same on negated inputs.)
func maskOf(f, b *schedule.Schedule, seed uint64) (mask, bool, error) {
	largest := linear(f, true)
	x, err := Inputs[uint64](largest.Spec, Uniform, seed)
	if err != nil {
		return nil, false, err
	}
	for rank := range x {
		for i := range x[rank] {
			x[rank][i] >>= 62
		}
	}
	out, err := Run(largest, x)
	if err == nil && f.Spec.Kind != collective.AllReduce {
		out, err = Run(linear(b, false), out)
	}
	if err != nil {
		return nil, false, err
	}
	m, holds := make(mask, len(x)), true
	for rank := range x {
		m[rank] = make([]bool, len(x[rank]))
		for i, v := range x[rank] {
			most := uint64(0)
			for _, other := range x {
				most = max(most, other[i])
			}
			m[rank][i] = v == out[rank][i]
			holds = holds && m[rank][i] == (v == most)
		}
	}
	return m, holds, nil
}
