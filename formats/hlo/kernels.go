package hlo

import (
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
)

// matmuls returns the matmuls of an instruction: a dot, a convolution, a fusion with some, or a
// call of a library that is known; none otherwise.
func (e *emitter) matmuls(c *computation, i *instr) ([]Op, error) {
	switch i.opcode {
	case "dot":
		text := func(name string) string { value, _ := i.attr(name); return value }
		return e.dot(c, i, [4]string{text("lhs_contracting_dims"), text("rhs_contracting_dims"),
			text("lhs_batch_dims"), text("rhs_batch_dims")})
	case "convolution":
		return e.convolution(c, i)
	case "custom-call":
		return e.library(c, i)
	case "fusion":
		of, err := e.callee(i, "calls")
		if err != nil {
			return nil, err
		}
		return e.within(of, i)
	}
	return nil, nil
}

// within returns the matmuls of the computation of a fusion, those of fusions in it too.
func (e *emitter) within(of *computation, i *instr) (all []Op, err error) {
	if of.busy {
		return nil, e.fail(i, "%s calls itself", of.name)
	}
	of.busy = true
	defer func() { of.busy = false }()
	for k := range of.instrs {
		some, err := e.matmuls(of, &of.instrs[k])
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// dot returns the matmul of two operands, given the contracted axes of each and the batch axes of
// each.
func (e *emitter) dot(c *computation, i *instr, texts [4]string) ([]Op, error) {
	if len(i.operands) < 2 {
		return nil, e.fail(i, "two operands are expected of a dot")
	}
	var axes [4][]int64
	of := [2]*shape{&c.instrs[i.operands[0]].shape, &c.instrs[i.operands[1]].shape}
	for k, text := range texts {
		inner := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
		var err error
		if axes[k], err = wholes(inner); err != nil {
			return nil, e.fail(i, "axes %.60s: %v", text, err)
		}
		for _, axis := range axes[k] {
			if axis >= int64(len(of[k%2].dims)) {
				return nil, e.fail(i, "axis %d of an operand with %d", axis, len(of[k%2].dims))
			}
		}
	}
	k, m := of[0].product(axes[0], axes[2])
	kB, n := of[1].product(axes[1], axes[3])
	batch, _ := of[0].product(axes[2])
	batchB, _ := of[1].product(axes[3])
	if k/max(batch, 1) != kB/max(batchB, 1) || batch != batchB {
		return nil, e.fail(i, "%d and %d elements are contracted, of %d and %d batches: as many are "+
			"expected", k/max(batch, 1), kB/max(batchB, 1), batch, batchB)
	}
	return e.matmul(i, [2]string{of[0].elem, of[1].elem}, sizes4{batch, m, n, k / max(batch, 1)})
}

// product returns the product of the lengths of some axes, and of the others.
func (s *shape) product(which ...[]int64) (of, others int64) {
	of, others = 1, 1
	for axis, n := range s.dims {
		if slices.Contains(slices.Concat(which...), int64(axis)) {
			of *= n
		} else {
			others *= n
		}
	}
	return of, others
}

// sizes4 are those of a matmul: so many of [m, k] times [k, n].
type sizes4 struct{ batch, m, n, k int64 }

// matmul returns the matmul of two types to that of an instruction's result. Those of a batch are
// one, whose rows are those of the larger operand: as many operations, and no more bytes are left
// out than the smaller operand has. A product of complex numbers is four of real ones.
func (e *emitter) matmul(i *instr, elems [2]string, s sizes4) ([]Op, error) {
	result := i.shape.arrays()
	if len(result) == 0 {
		return nil, e.fail(i, "a matmul without a result")
	}
	a, per := mathType(elems[0])
	b, perB := mathType(elems[1])
	out, _ := mathType(result[0].elem)
	if per == 0 || per != perB {
		return nil, e.fail(i, "a product of %s and %s is not read", elems[0], elems[1])
	}
	if a.IsFloat() != b.IsFloat() { // the integer is converted
		if a.IsFloat() {
			b = a
		} else {
			a = b
		}
	}
	if out == 0 || out.IsFloat() != a.IsFloat() {
		if out = dtype.Int32; a.IsFloat() {
			out = dtype.Float32
		}
	}
	if s.batch > 1 {
		e.note("matmuls of a batch are taken for one with as many times the rows, those of the larger " +
			"operand")
		if s.n > s.m {
			s.m, s.n, a, b = s.n, s.m, b, a
		}
		s.m *= s.batch
	}
	s.n, s.k = s.n*per, s.k*per
	if s.m == 0 || s.n == 0 || s.k == 0 {
		return nil, nil
	}
	return []Op{{Tensors: []Tensor{{a, collective.Shape{s.m, s.k}}, {b, collective.Shape{s.k, s.n}}},
		Out: out}}, nil
}

// mathType returns the type that a matmul is computed in, for an element, and the number of our
// elements in it. Small floats and integers that we have no type for are the nearest of 8 bits.
func mathType(elem string) (dtype.Type, int64) {
	switch elem {
	case "f8e5m2fnuz":
		return dtype.Float8E5M2, 1
	case "f8e4m3", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e3m4", "f4e2m1fn":
		return dtype.Float8E4M3, 1
	case "s4", "s2", "s1":
		return dtype.Int8, 1
	case "u4", "u2", "u1":
		return dtype.Uint8, 1
	}
	return typeOf(elem)
}
