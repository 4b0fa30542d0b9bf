package kernel

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
)

// NewMatmul makes the matmul of two tensors that may be stored transposed: a as [.., k, m], all
// axes but the last taken as one; b as [n, k]. A mismatch is an *Error that names the
// tensor, its shape and what was expected. All functions that make operations do so.
func NewMatmul(a, b Tensor, transposeA, transposeB bool, out dtype.Type) (Op, error) {
	o := Op{Kind: Matmul, A: a.Type, B: b.Type, Out: out, TransposeA: transposeA,
		TransposeB: transposeB}
	flip := func(t Tensor) Tensor {
		rows, columns := matrix(t.Shape)
		t.Shape = collective.Shape{columns, rows}
		return t
	}
	if transposeA && len(a.Shape) > 1 {
		a = flip(a)
		if !transposeB && len(b.Shape) > 2 {
			rows, columns := matrix(b.Shape)
			b.Shape = collective.Shape{rows, columns}
		}
	}
	if transposeB && len(b.Shape) == 2 {
		b = flip(b)
	}
	return matmulOf(o, a, b)
}

// matrix returns the rows and columns of a shape, all axes but the last taken as one.
func matrix(s collective.Shape) (rows, columns int64) {
	last := len(s) - 1
	return s[:last].Elements(), s[last]
}

// Scales holds the scales of a scaled matmul: one element each, or [.., m, 1] and [1, n]. Unless
// nil, Bias is [n] and Result has one element.
type Scales struct {
	A, B         Tensor
	Bias, Result *Tensor
}

// NewScaledMatmul makes torch._scaled_mm of two tensors.
func NewScaledMatmul(a, b Tensor, with Scales, out dtype.Type) (Op, error) {
	o := Op{Kind: ScaledMatmul, A: a.Type, B: b.Type, Out: out, Scaling: TensorWise,
		ResultScale: with.Result != nil}
	if with.A.Shape.Elements() != 1 || with.B.Shape.Elements() != 1 {
		o.Scaling = RowWise
	}
	if with.Bias != nil {
		o.Bias = with.Bias.Type
	}
	o, err := matmulOf(o, a, b)
	if err != nil {
		return Op{}, err
	}
	given := []*Tensor{&with.A, &with.B}
	if with.Bias != nil {
		given = append(given, with.Bias)
	}
	if with.Result != nil {
		given = append(given, with.Result)
	}
	for i, want := range o.Operands()[2:] {
		has := given[i]
		isScalar := o.Scaling == TensorWise && i < 2 || has == with.Result
		switch {
		case has.Type != want.Type:
			return Op{}, o.fail("the type of "+has.called(want.Name), has.Type,
				want.Type.String()+" is expected")
		case isScalar && has.Shape.Elements() == 1:
		case has.Shape.String() != want.Shape.String():
			return Op{}, o.fail("the shape of "+has.called(want.Name), has.Shape,
				want.Shape.String()+" is expected")
		}
	}
	return o, nil
}

// matmulOf sets the sizes.
func matmulOf(o Op, a, b Tensor) (Op, error) {
	switch {
	case len(a.Shape) < 2 || len(a.Shape) > MaxAxes:
		return Op{}, o.fail("the shape of "+a.called("a"), a.Shape,
			fmt.Sprintf("2 to %d axes are expected", MaxAxes))
	case len(b.Shape) != 2:
		return Op{}, o.fail("the shape of "+b.called("b"), b.Shape, "a matrix of 2 axes is expected")
	case a.Shape[len(a.Shape)-1] != b.Shape[0]:
		return Op{}, o.fail("the shape of "+b.called("b"), b.Shape, fmt.Sprintf(
			"%d rows, as %s of shape %v has columns, are expected", a.Shape[len(a.Shape)-1],
			a.called("a"), a.Shape))
	}
	o.In, o.N = ShapeOf(a.Shape...), b.Shape[1]
	return valid(o)
}

// NewAdd makes the sum of two tensors of one shape.
func NewAdd(a, b Tensor, out dtype.Type) (Op, error) {
	o := Op{Kind: Add, A: a.Type, B: b.Type, Out: out}
	if a.Shape.String() != b.Shape.String() {
		return Op{}, o.fail("the shape of "+b.called("b"), b.Shape, fmt.Sprintf(
			"%v, as %s has, is expected", a.Shape, a.called("a")))
	}
	return o.of(a)
}

// NewCast makes the conversion of a tensor to another type.
func NewCast(a Tensor, out dtype.Type) (Op, error) {
	return Op{Kind: Cast, A: a.Type, Out: out}.of(a)
}

// NewSum makes the sum over an axis.
func NewSum(a Tensor, axis int, out dtype.Type) (Op, error) {
	return Op{Kind: Sum, A: a.Type, Axis: axis, Out: out}.of(a)
}

// NewMean makes the mean over an axis.
func NewMean(a Tensor, axis int, out dtype.Type) (Op, error) {
	return Op{Kind: Mean, A: a.Type, Axis: axis, Out: out}.of(a)
}

// NewMove makes the copy of a tensor with an axis moved to the front.
func NewMove(a Tensor, axis int) (Op, error) {
	return Op{Kind: Move, A: a.Type, Axis: axis, Out: a.Type}.of(a)
}

// of sets the shape.
func (o Op) of(a Tensor) (Op, error) {
	if len(a.Shape) > MaxAxes {
		return Op{}, o.fail("the shape of "+a.called("a"), a.Shape,
			fmt.Sprintf("at most %d axes are expected", MaxAxes))
	}
	o.In = ShapeOf(a.Shape...)
	return valid(o)
}

func valid(o Op) (Op, error) {
	if err := o.Validate(); err != nil {
		return Op{}, err
	}
	return o, nil
}

// called returns the tensor's name, or the operation's name for it.
func (t *Tensor) called(otherwise string) string {
	if t.Name == "" {
		return otherwise
	}
	return t.Name
}
