package kernel

import (
	"fmt"
	"slices"
)

// checkOperands checks the number and the types of operands.
func (o *Op) checkOperands(operands []Tensor) error {
	row, n := o.layer(), len(operands)
	if o.Gradient > 0 {
		n--
	}
	if o.Gradient > n {
		return o.fail("gradient", o.Gradient-1, fmt.Sprintf("the place of one of %d operands, from 0, "+
			"with the gradient of the result behind them, is expected", max(n, 0)))
	}
	if o.Kind == Opaque {
		return nil
	}
	if n < row.least || n > len(row.operands) || o.Kind == Attention && n == 2 {
		return o.fail("the number of operands", n, row.expected())
	}
	if o.Gradient > 0 && (row.gradient == nil || slices.Contains(row.integers, o.Gradient-1)) {
		return o.fail("gradient", o.Gradient-1, "it has none by this operand")
	}
	for i, t := range operands {
		whole := slices.Contains(row.integers, i) && i < n
		switch {
		case !t.Type.Valid():
			return o.fail("the type of "+t.called(o.nameOf(i, n)), t.Type, "a data type is expected")
		case t.Type.IsFloat() == whole && whole:
			return o.fail("the type of "+t.called(o.nameOf(i, n)), t.Type, "an integer is expected")
		case t.Type.IsFloat() == whole, t.Type.IsComplex():
			return o.fail("the type of "+t.called(o.nameOf(i, n)), t.Type, "a float is expected")
		}
	}
	if o.Out != 0 && (!o.Out.IsFloat() || o.Out.IsComplex()) {
		return o.fail("the type of out", o.Out, "a float is expected")
	}
	return nil
}

// expected describes the operands of a layer.
func (l *layer) expected() string {
	switch {
	case l.kind == Attention:
		return "q, k and v, or one of all three side by side, are expected"
	case l.least == len(l.operands):
		return fmt.Sprintf("%d, %s, are expected", l.least, listed(l.operands))
	}
	return fmt.Sprintf("%d to %d, %s, are expected", l.least, len(l.operands), listed(l.operands))
}

// listed joins names: "x, weight and bias".
func listed(names []string) string {
	text := names[0]
	for i, name := range names[1:] {
		if i == len(names)-2 {
			text += " and " + name
		} else {
			text += ", " + name
		}
	}
	return text
}

// checkListed checks an operation that lists its operands. Their sizes are checked first: shapes
// that follow from them cannot overflow then.
func (o *Op) checkListed() error {
	list, err := parseList(o.Reads)
	if err != nil {
		return o.fail("the operands", fmt.Sprintf("%.60q", o.Reads),
			"such as 128x64:bfloat16+64:float32 is expected")
	}
	for i, t := range list {
		if err := t.Shape.Validate(); err != nil || t.Shape.Elements() > largest || !t.Type.Valid() {
			return o.fail(fmt.Sprintf("operand %d", i), t.Shape, "a type, lengths from 0, and at most 2^57 "+
				"elements are expected")
		}
	}
	if err := o.In.Lengths().Validate(); err != nil || o.In.Lengths().Elements() > largest {
		return o.fail("the shape of the result", o.In, "lengths from 0, and at most 2^57 elements, are "+
			"expected")
	}
	if !o.Out.Valid() {
		return o.fail("the type of out", o.Out, "a data type is expected")
	}
	if err := o.checkAttributes(); err != nil {
		return err
	}
	again, err := o.bare().follow(list)
	if err != nil {
		return err
	}
	if again != *o {
		return o.fail("the result", fmt.Sprintf("%v %v", o.In, o.Out), fmt.Sprintf(
			"%v %v is expected of %s", again.In, again.Out, o.Reads))
	}
	return nil
}

// bare returns the operation without what follows from its operands.
func (o *Op) bare() Op {
	return Op{Kind: o.Kind, In: o.In, Out: o.Out, Attributes: o.Attributes, Time: o.Time,
		Gradient: o.Gradient}
}

// checkAttributes checks that attributes are in their ranges, and others 0.
func (o *Op) checkAttributes() error {
	row := o.layer()
	for i, x := range o.Attributes {
		if i >= len(row.attributes) {
			if x != 0 {
				return o.fail(fmt.Sprintf("attribute %d", i), x, "nothing is expected")
			}
			continue
		}
		if err := row.attributes[i].check(o, x); err != nil {
			return err
		}
	}
	if o.Gradient < 0 {
		return o.fail("gradient", o.Gradient-1, "the place of an operand, from 0, is expected")
	}
	return nil
}

// check checks the value of an attribute.
func (a *attribute) check(o *Op, x float64) error {
	switch {
	case a.flag && x != 0 && x != 1:
		return o.fail(a.name, x, "1 or 0 is expected")
	case a.flag || x >= a.least && x <= a.most && (!a.whole || x == float64(int64(x))):
		return nil
	case a.whole:
		return o.fail(a.name, x, fmt.Sprintf("a whole number from %.0f to %.0f is expected", a.least,
			a.most))
	}
	return o.fail(a.name, x, fmt.Sprintf("a number from %g to %g is expected", a.least, a.most))
}
