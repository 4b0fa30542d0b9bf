package programs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A kernel is an operation: its name and its attributes.
type kernel struct {
	name                   string
	transposeA, transposeB bool
	resultScale            bool
	axis, times, rows      int
	by                     float64
	numbers                map[string]float64 // of a layer
	over                   string             // the group of a shard
}

// parseKernel parses a kernel, such as "matmul transpose=ab", "sum axis=1" or "opaque 150 us".
func parseKernel(text string) (*kernel, error) {
	words := strings.Fields(text)
	k := &kernel{name: strings.ReplaceAll(words[0], "-", "_")}
	takes, known := map[string][]string{"matmul": {"transpose"},
		"scaled_matmul": {"result-scale"}, "add": nil, "cast": nil, "sum": {"axis"},
		"mean": {"axis"}, "move": {"axis"}, "expand": {"axis", "times"},
		"scale": {"by"}, "pad": {"rows"}, "opaque": nil}[k.name]
	if l, is := layers()[k.name]; is {
		return k, parseLayer(l, k, words[1:])
	}
	if !known {
		return nil, fmt.Errorf("there is no kernel %q", words[0])
	}
	if k.name == "opaque" { // its time does not matter
		return k, nil
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		if !slices.Contains(takes, name) {
			return nil, fmt.Errorf("%s: %q is not known", k.name, word)
		}
		var err error
		switch name {
		case "result-scale":
			k.resultScale = true
		case "transpose":
			if value != "a" && value != "b" && value != "ab" {
				return nil, fmt.Errorf("%q: transpose=a, b or ab is expected", word)
			}
			k.transposeA, k.transposeB = value != "b", value != "a"
		case "axis":
			k.axis, err = strconv.Atoi(value)
		case "rows":
			k.rows, err = strconv.Atoi(value)
		case "times":
			k.times, err = strconv.Atoi(value)
		case "by":
			k.by, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: a number is expected", word)
		}
	}
	return k, nil
}

// do computes the kernel on one rank; out is the type of the result.
func (k *kernel) do(a *account, in []*tensor, out numberType) (*tensor, error) {
	if k.numbers != nil {
		return k.layer(a, in, out)
	}
	want := map[string]int{"matmul": 2, "add": 2}[k.name]
	switch last := len(in) - 1; {
	case k.resultScale && (last == 4 || last == 5):
		return k.scaled(a, in[:last], in[last], out)
	case k.name == "scaled_matmul" && (last == 3 || last == 4) && !k.resultScale:
		return k.scaled(a, in, nil, out)
	case len(in) != max(want, 1) || k.name == "scaled_matmul":
		return nil, fmt.Errorf("%s of %d tensors is not known", k.name, len(in))
	}
	x := in[0]
	if slices.Contains([]string{"sum", "mean", "move"}, k.name) {
		if err := axisOf(x.shape, k.axis); err != nil {
			return nil, err
		}
	}
	if k.name != "cast" {
		for _, t := range in {
			if t.typ.float != out.float || t.typ.float != x.typ.float {
				return nil, fmt.Errorf("%s of integers and floats is not known", k.name)
			}
		}
	}
	switch k.name {
	case "matmul":
		return multiply(a, factor{in[0], k.transposeA}, factor{in[1], k.transposeB}, out)
	case "add":
		if !slices.Equal(x.shape, in[1].shape) {
			return nil, fmt.Errorf("add of shapes %v and %v", x.shape, in[1].shape)
		}
		return pointwise(x.shape, out, func(i int) number {
			if !out.float {
				return number{n: out.wrap(x.list[i].n + in[1].list[i].n)}
			}
			s := a.sum([]float64{x.list[i].f, in[1].list[i].f}, accumulator(in...))
			return number{f: a.round(out, s)}
		}), nil
	case "cast":
		return k.cast(a, x, out)
	case "scale":
		return k.scale(a, x, out)
	case "move":
		return moved(x, k.axis), nil
	case "expand":
		return expanded(x, k.axis, k.times)
	case "pad":
		return padded(x, int64(k.rows))
	}
	return total(a, x, k.axis, out, k.name == "mean")
}

// accumulator returns the type in which floats are computed.
func accumulator(in ...*tensor) numberType {
	wide, _ := typeOf("float32")
	for _, t := range in {
		if t.typ.name == "float64" {
			wide = t.typ
		}
	}
	return wide
}

// pointwise returns a tensor, element by element.
func pointwise(shape []int64, out numberType, of func(i int) number) *tensor {
	r := zeros(out, shape)
	for i := range r.list {
		r.list[i] = of(i)
	}
	return r
}

// matrix returns a tensor's rows, columns and strides as a matrix: all axes but the last form its
// rows. If flipped, rows and columns are exchanged.
func matrix(t *tensor, flipped bool) (rows, columns, down, right int64) {
	columns = t.shape[len(t.shape)-1]
	rows = elements(t.shape[:len(t.shape)-1])
	if flipped {
		return columns, rows, 1, columns
	}
	return rows, columns, columns, 1
}

// A factor is an operand of a matrix product; it may be transposed.
type factor struct {
	*tensor
	flipped bool
}

// multiply returns the product of two matrices.
func multiply(a *account, x, y factor, out numberType) (*tensor, error) {
	if len(x.shape) < 2 || len(y.shape) < 2 {
		return nil, fmt.Errorf("matmul of shapes %v and %v", x.shape, y.shape)
	}
	rows, inner, down, right := matrix(x.tensor, x.flipped)
	depth, columns, downY, rightY := matrix(y.tensor, y.flipped)
	if inner != depth {
		return nil, fmt.Errorf("matmul of shapes %v and %v", x.shape, y.shape)
	}
	shape := []int64{rows, columns}
	if !x.flipped {
		shape = append(slices.Clone(x.shape[:len(x.shape)-1]), columns)
	}
	wide := accumulator(x.tensor, y.tensor)
	return pointwise(shape, out, func(i int) number {
		r, c := int64(i)/columns, int64(i)%columns
		terms, whole := make([]float64, inner), int64(0)
		for k := range inner {
			p, q := x.list[r*down+k*right], y.list[k*downY+c*rightY]
			terms[k] = p.f * q.f
			a.note(math.FMA(p.f, q.f, -terms[k]) != 0)
			whole += p.n * q.n
		}
		if !out.float {
			return number{n: out.wrap(whole)}
		}
		return number{f: a.round(out, a.sum(terms, wide))}
	}), nil
}

// scaled returns a scaled matmul: operands, their scales, and perhaps a bias; and the scale of the
// result, if it has one.
func (k *kernel) scaled(a *account, in []*tensor, result *tensor, out numberType) (*tensor,
	error) {
	wide, _ := typeOf("float32")
	t, err := multiply(a, factor{in[0], false}, factor{in[1], false}, wide)
	if err != nil {
		return nil, err
	}
	columns := t.shape[len(t.shape)-1]
	pick := func(s *tensor, i int64) float64 { return s.list[min(i, int64(len(s.list))-1)].f }
	return pointwise(t.shape, out, func(i int) number {
		x := a.round(wide, t.list[i].f*pick(in[2], int64(i)/columns))
		x = a.round(wide, x*pick(in[3], int64(i)%columns))
		if len(in) == 5 {
			x = a.sum([]float64{x, in[4].list[int64(i)%columns].f}, wide)
		}
		if result != nil {
			x = a.round(wide, x*result.list[0].f)
		}
		return number{f: a.round(out, x)}
	}), nil
}

// cast converts each element to another type.
func (k *kernel) cast(a *account, x *tensor, out numberType) (*tensor, error) {
	if x.typ.float && !out.float {
		return nil, fmt.Errorf("cast of %s to %s is not known", x.typ.name, out.name)
	}
	return pointwise(x.shape, out, func(i int) number {
		switch n := x.list[i].n; {
		case x.typ.float:
			return number{f: out.round(x.list[i].f)} // rounded once, whatever the order elsewhere
		case !out.float:
			return number{n: out.wrap(n)}
		case x.typ.signed:
			a.note(n > 1<<53 || n < -(1<<53))
			return number{f: out.round(float64(n))}
		default:
			a.note(uint64(n) > 1<<53)
			return number{f: out.round(float64(uint64(n)))}
		}
	}), nil
}

// scale multiplies each element by a number.
func (k *kernel) scale(a *account, x *tensor, out numberType) (*tensor, error) {
	if !out.float && k.by != math.Trunc(k.by) {
		return nil, fmt.Errorf("scale of integers by %v is not known", k.by)
	}
	wide := accumulator(x)
	by := wide.round(k.by)
	return pointwise(x.shape, out, func(i int) number {
		if !out.float {
			return number{n: out.wrap(x.list[i].n * int64(k.by))}
		}
		return number{f: a.round(out, a.round(wide, x.list[i].f*by))}
	}), nil
}

// moved returns the tensor with an axis moved to the front.
func moved(x *tensor, axis int) *tensor {
	outer, inner := around(x.shape, axis)
	length := x.shape[axis]
	shape := append([]int64{length}, slices.Delete(slices.Clone(x.shape), axis, axis+1)...)
	return pointwise(shape, x.typ, func(i int) number {
		at, rest := int64(i)/(outer*inner), int64(i)%(outer*inner)
		return x.list[(rest/inner*length+at)*inner+rest%inner]
	})
}

// expanded returns the tensor with a new axis, along which it is repeated.
func expanded(x *tensor, axis, times int) (*tensor, error) {
	if axis < 0 || axis > len(x.shape) || times < 0 {
		return nil, fmt.Errorf("the shape %v has no place for axis %d", x.shape, axis)
	}
	inner := elements(x.shape[axis:])
	shape := slices.Insert(slices.Clone(x.shape), axis, int64(times))
	return pointwise(shape, x.typ, func(i int) number {
		return x.list[int64(i)/(inner*int64(times))*inner+int64(i)%inner]
	}), nil
}

// padded returns the tensor with rows of zeros behind its own.
func padded(x *tensor, rows int64) (*tensor, error) {
	if len(x.shape) == 0 || x.shape[0] > rows {
		return nil, fmt.Errorf("the shape %v has more rows than %d", x.shape, rows)
	}
	t := zeros(x.typ, with(x.shape, 0, rows))
	copy(t.list, x.list)
	return t, nil
}

// total returns the sum or the mean over an axis, which it removes.
func total(a *account, x *tensor, axis int, out numberType, mean bool) (*tensor, error) {
	outer, inner := around(x.shape, axis)
	length := x.shape[axis]
	if mean && length == 0 {
		return nil, fmt.Errorf("the mean of no elements is not known")
	}
	shape := slices.Delete(slices.Clone(x.shape), axis, axis+1)
	wide := accumulator(x)
	r := zeros(out, shape)
	for o := range outer {
		for i := range inner {
			terms, whole := make([]float64, length), int64(0)
			for k := range length {
				e := x.list[(o*length+k)*inner+i]
				terms[k] = e.f
				whole += e.n
			}
			to := &r.list[o*inner+i]
			switch {
			case !out.float && mean:
				to.n = out.wrap(x.typ.divide(whole, int(length)))
			case !out.float:
				to.n = out.wrap(whole)
			case mean:
				to.f = a.round(out, a.round(wide, a.sum(terms, wide)/float64(length)))
			default:
				to.f = a.round(out, a.sum(terms, wide))
			}
		}
	}
	return r, nil
}
