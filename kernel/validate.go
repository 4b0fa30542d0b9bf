package kernel

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// Error names the part of an operation that is not valid.
type Error struct {
	Op    string // the operation, or the text that is not one
	What  string // the part of it
	Value string // its value
	Want  string // what is expected
}

// Error returns one line.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s = %s: %s", e.Op, e.What, e.Value, e.Want)
}

// fail makes an error of a value.
func (o Op) fail(what string, value any, want string) error {
	text := fmt.Sprint(value)
	if t, ok := value.(dtype.Type); ok && t == 0 {
		text = "none"
	}
	return &Error{o.Kind.String(), what, text, want}
}

// maxFLOPs bounds an operation, so that the sum of many does not overflow.
const maxFLOPs = 1 << 60

// Validate returns an *Error that names the first invalid part of the operation.
func (o Op) Validate() error {
	if o.Kind < Matmul || o.Kind > Adam {
		return &Error{"an operation", "kind", o.Kind.String(), "one of " + kindList() + " is expected"}
	}
	if err := o.checkUnused(); err != nil || !o.HasResult() {
		return err
	}
	if o.isListed() {
		return o.checkListed()
	}
	if err := o.In.Lengths().Validate(); err != nil || o.In.Lengths().Elements() > largest {
		return o.fail("the shape of a", o.In, "lengths from 0, and at most 2^57 elements, are expected")
	}
	if err := o.checkShape(); err != nil {
		return err
	}
	if err := o.checkTypes(); err != nil {
		return err
	}
	if o.Kind == ScaledMatmul {
		return o.checkScaled()
	}
	return nil
}

const largest = collective.MaxElements

// checkUnused checks that unused fields are zero, so that equal operations are equal values.
func (o Op) checkUnused() error {
	const nothing = "nothing is expected"
	switch {
	case o.Kind != Opaque && o.Time != 0:
		return o.fail("time", o.Time, nothing)
	case !o.isListed() && (o.Reads != "" || o.Attributes != [maxAttributes]float64{}):
		return o.fail("the operands", o.Reads, nothing)
	case !o.isListed() && o.Gradient != 0:
		return o.fail("gradient", o.Gradient-1, nothing)
	case !o.IsMatmul() && o.Kind != Expand && o.N != 0:
		return o.fail("n", o.N, nothing)
	case o.Kind != Matmul && (o.TransposeA || o.TransposeB):
		return o.fail("transpose", o.transposed(), nothing)
	case o.Kind != Scale && o.Factor != 0:
		return o.fail("by", o.Factor, nothing)
	case !o.hasAxis() && o.Axis != 0:
		return o.fail("axis", o.Axis, nothing)
	case !o.IsMatmul() && o.Kind != Add && o.B != 0:
		return o.fail("the type of b", o.B, nothing)
	case o.Kind == ScaledMatmul:
		return nil
	case o.Kind == Opaque && o.checkCost() != nil:
		return o.checkCost()
	case o.Scaling != 0:
		return o.fail("scaling", o.Scaling, nothing)
	case o.Bias != 0:
		return o.fail("the type of the bias", o.Bias, nothing)
	case o.ResultScale:
		return o.fail("the result scale", o.ResultScale, nothing)
	}
	return nil
}

func (o Op) checkShape() error {
	switch {
	case o.IsMatmul() && o.In.axes < 2:
		return o.fail("the shape of a", o.In, "at least 2 axes are expected")
	case o.TransposeA && o.In.axes > 2:
		return o.fail("the shape of a", o.In, "2 axes are expected where it is transposed")
	case (o.IsMatmul() || o.Kind == Expand) && o.N < 0:
		return o.fail("n", o.N, "a number from 0 is expected")
	case o.IsMatmul():
		m, k := o.M(), o.K()
		most := max(unit.MultiplyCapped(m, o.N), unit.MultiplyCapped(k, o.N))
		if most > largest || unit.MultiplyCapped(m*k, o.N) > maxFLOPs/2 {
			return o.fail("its sizes", o.sizes(), "at most 2^60 FLOPs and 2^57 elements are expected")
		}
		return nil
	case o.Kind == Scale && (math.IsNaN(o.Factor) || math.IsInf(o.Factor, 0)):
		return o.fail("by", o.Factor, "a finite number is expected")
	case !o.hasAxis():
		return nil
	case o.Kind == Expand:
		return o.checkExpand()
	case o.Axis < 0 || o.Axis >= o.In.Axes():
		return o.fail("axis", o.Axis, fmt.Sprintf("an axis of %v, from 0 to %d, is expected", o.In,
			o.In.Axes()-1))
	case o.Output().Shape.Validate() != nil: // the axis of length 0 vanishes
		return o.fail("the shape of a", o.In, "at most 2^57 elements of the result are expected")
	case o.Kind == Mean && (o.length() == 0 || o.length() >= maxMean):
		return o.fail("the length of axis "+fmt.Sprint(o.Axis), o.length(),
			"1 to 134217727 elements are expected")
	}
	return nil
}

// checkExpand checks the new axis.
func (o Op) checkExpand() error {
	switch {
	case o.In.Axes() == MaxAxes:
		return o.fail("the shape of a", o.In, fmt.Sprintf("at most %d axes are expected", MaxAxes-1))
	case o.Axis < 0 || o.Axis > o.In.Axes():
		return o.fail("axis", o.Axis, fmt.Sprintf("a place among those of %v, from 0 to %d, is expected",
			o.In, o.In.Axes()))
	case o.Output().Shape.Validate() != nil:
		return o.fail("times", o.N, "at most 2^57 elements of the result are expected")
	}
	return nil
}

// maxMean is the bound of dtype.Divide.
const maxMean = 1 << 27

// hasAxis reports whether the operation is along an axis.
func (o Op) hasAxis() bool {
	return o.Kind == Sum || o.Kind == Mean || o.Kind == Move || o.Kind == Expand
}

func (o Op) checkTypes() error {
	if err := checkClass(o); err != nil {
		return err
	}
	if o.Kind == Scale && !o.A.IsFloat() {
		return o.fail("the type of a", o.A, "a float is expected")
	}
	if (o.Kind == Move || o.Kind == Expand) && o.Out != o.A {
		return o.fail("the type of out", o.Out, o.A.String()+", as a, is expected; cast makes another")
	}
	for _, t := range []struct {
		what  string
		dtype dtype.Type
		used  bool
	}{{"the type of a", o.A, true}, {"the type of b", o.B, o.IsMatmul() || o.Kind == Add},
		{"the type of out", o.Out, true}} {
		switch {
		case t.used && !t.dtype.Valid():
			return o.fail(t.what, t.dtype, "a data type is expected")
		case t.used && t.dtype.IsComplex() != o.A.IsComplex():
			want := "a complex type, as " + o.A.String() + ", is expected"
			if t.dtype.IsComplex() {
				want = "no complex type, as " + o.A.String() + " is none, is expected"
			}
			return o.fail(t.what, t.dtype, want)
		case t.used && o.Kind != Cast && t.dtype == dtype.Bool && o.A != dtype.Bool:
			return o.fail(t.what, t.dtype, fmt.Sprintf("%v has no bools; cast makes them", o.Kind))
		case t.used && o.Kind != Cast && t.dtype.IsFloat() != o.A.IsFloat():
			class := "an integer"
			if o.A.IsFloat() {
				class = "a float"
			}
			return o.fail(t.what, t.dtype, fmt.Sprintf("%s as %v is expected; cast one of them",
				class, o.A))
		}
	}
	return nil
}

// checkClass refuses bools and complex numbers where an operation does not compute with them. What
// works on each component alone takes complex numbers, what only moves and converts takes bools.
func checkClass(o Op) error {
	moves := o.Kind == Move || o.Kind == Expand || o.Kind == Cast
	switch {
	case o.A == dtype.Bool && !moves:
		return o.fail("the type of a", o.A, "a number is expected; move, expand and cast take bools")
	case o.A.Valid() && o.A.IsComplex() && o.IsMatmul():
		return o.fail("the type of a", o.A, "a float or an integer is expected")
	case o.A.Valid() && o.A.IsComplex() && o.In.Axes() == MaxAxes:
		return o.fail("the shape of a", o.In, fmt.Sprintf("at most %d axes of complex numbers are "+
			"expected", MaxAxes-1))
	}
	return nil
}

// checkScaled checks the conditions of torch._scaled_mm.
func (o Op) checkScaled() error {
	narrow := func(t dtype.Type) bool { return t.IsFloat() && t.Width() == 1 }
	switch {
	case o.Scaling != TensorWise && o.Scaling != RowWise:
		return o.fail("scaling", fmt.Sprintf("%q", o.Scaling), "tensor-wise or row-wise is expected")
	case !narrow(o.A):
		return o.fail("the type of a", o.A, "an 8-bit float is expected")
	case !narrow(o.B):
		return o.fail("the type of b", o.B, "an 8-bit float is expected")
	case o.A == dtype.Float8E5M2 && o.B == dtype.Float8E5M2:
		return o.fail("the type of b", o.B, "float8_e4m3fn is expected beside float8_e5m2")
	case o.Out == dtype.Float64:
		return o.fail("the type of out", o.Out, "a float of at most 32 bits is expected")
	case o.Scaling == RowWise && narrow(o.Out):
		return o.fail("the type of out", o.Out,
			"float16, bfloat16 or float32 is expected with row-wise scales")
	case o.ResultScale && !narrow(o.Out):
		return o.fail("the result scale", o.ResultScale, "an 8-bit float is expected as the type of "+
			"out; PyTorch ignores the scale with others")
	case o.Bias == 0:
		return nil
	case o.Out == dtype.Float32:
		return o.fail("the type of the bias", o.Bias, "no bias is expected where out is float32")
	case o.Bias != dtype.BFloat16 && o.Bias != dtype.Float16:
		return o.fail("the type of the bias", o.Bias, "bfloat16 or float16 is expected")
	case !narrow(o.Out) && o.Bias != o.Out:
		return o.fail("the type of the bias", o.Bias, o.Out.String()+", as out, is expected")
	}
	return nil
}
