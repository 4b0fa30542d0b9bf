package kernel

import (
	"math/rand/v2"

	"collsim/collective"
	"collsim/dtype"
)

// naive is a second implementation: one element after the other, by the sentences of the package's
// comment, with no packing, no parts and no goroutines. It shares the conversions of dtype.
type naive struct {
	op       Op
	types    []Tensor // of operands
	operands [][]byte
}

func newNaive(o Op, in [][]byte) naive { return naive{o, o.Operands(), in} }

// at is an element as a number, in float64 of floats, and as a 64-bit integer of others.
func at(t dtype.Type, data []byte, i int64) (float64, uint64) {
	data = data[i*int64(t.Width()):]
	switch t {
	case dtype.Float64:
		return value[float64](data), 0
	case dtype.Float32:
		return value[float32](data), 0
	case dtype.Float16:
		return value[dtype.F16](data), 0
	case dtype.BFloat16:
		return value[dtype.BF16](data), 0
	case dtype.Float8E4M3:
		return value[dtype.E4M3](data), 0
	case dtype.Float8E5M2:
		return value[dtype.E5M2](data), 0
	}
	u := uint64(0)
	for b := t.Width() - 1; b >= 0; b-- {
		u = u<<8 | uint64(data[b])
	}
	if shift := 64 - 8*t.Width(); t.Signed() {
		return 0, uint64(int64(u<<shift) >> shift)
	}
	return 0, u
}

func value[T dtype.Number](data []byte) float64 {
	var x [1]T
	dtype.Get(x[:], data)
	return dtype.Value(x[0])
}

// put rounds a float to an element.
func put(t dtype.Type, dst []byte, x float64) {
	switch t {
	case dtype.Float64:
		dtype.Put(dst, []float64{dtype.From[float64](x)})
	case dtype.Float32:
		dtype.Put(dst, []float32{dtype.From[float32](x)})
	case dtype.Float16:
		dtype.Put(dst, []dtype.F16{dtype.From[dtype.F16](x)})
	case dtype.BFloat16:
		dtype.Put(dst, []dtype.BF16{dtype.From[dtype.BF16](x)})
	case dtype.Float8E4M3:
		dtype.Put(dst, []dtype.E4M3{dtype.From[dtype.E4M3](x)})
	case dtype.Float8E5M2:
		dtype.Put(dst, []dtype.E5M2{dtype.From[dtype.E5M2](x)})
	default:
		panic("an integer")
	}
}

func putWhole(t dtype.Type, dst []byte, u uint64) {
	for b := range t.Width() {
		dst[b] = byte(u >> (8 * b))
	}
}

// round is what a sum, product or quotient of exact operands becomes; it was computed in float64,
// which for two float32 is innocuous (24 bits, 53 ≥ 2·24 + 1).
func (v naive) round(x float64) float64 {
	if v.op.A == dtype.Float64 || v.op.B == dtype.Float64 {
		return x
	}
	return float64(float32(x))
}

// element is an element of an operand.
func (v naive) element(operand int, i int64) (float64, uint64) {
	return at(v.types[operand].Type, v.operands[operand], i)
}

func (v naive) apply() []byte {
	o := v.op
	if o.A.IsComplex() {
		return v.byPlanes()
	}
	out := make([]byte, o.Written())
	width := int64(o.Out.Width())
	for i := range o.Output().Shape.Elements() {
		if o.Kind == Move { // whose bits stay as they are
			inner, outer := o.inner(), o.outer()
			row, at := i/(inner*outer), i%(inner*outer)
			from := (at/inner*o.length()+row)*inner + at%inner
			copy(out[i*width:][:width], v.operands[0][from*width:])
			continue
		}
		if o.Kind == Expand {
			inner := o.inner()
			copy(out[i*width:][:width], v.operands[0][(i/(inner*o.N)*inner+i%inner)*width:])
			continue
		}
		x, u := v.result(i)
		if o.Out == dtype.Bool {
			if x != 0 || u != 0 { // so NaN is true
				out[i] = 1
			}
		} else if o.A.IsFloat() {
			put(o.Out, out[i*width:], x)
		} else {
			putWhole(o.Out, out[i*width:], u)
		}
	}
	return out
}

// byPlanes computes the real parts alone and the imaginary parts alone.
func (v naive) byPlanes() []byte {
	o := v.op
	o.A, o.B, o.Out = o.A.Component(), o.B.Component(), o.Out.Component()
	width := o.Out.Width()
	out := make([]byte, v.op.Written())
	for plane := range 2 {
		var in [][]byte
		for i, all := range v.operands {
			var part []byte
			each := v.types[i].Type.Component().Width()
			for at := plane * each; at < len(all); at += 2 * each {
				part = append(part, all[at:at+each]...)
			}
			in = append(in, part)
		}
		for i, one := 0, newNaive(o, in).apply(); i < len(one); i += width {
			copy(out[2*i+plane*width:], one[i:i+width])
		}
	}
	return out
}

func (v naive) result(i int64) (x float64, u uint64) {
	o := v.op
	switch o.Kind {
	case Matmul, ScaledMatmul:
		row, column := i/o.N, i%o.N
		for k := range o.K() {
			left, right := row*o.K()+k, k*o.N+column
			if o.TransposeA {
				left = k*o.M() + row
			}
			if o.TransposeB {
				right = column*o.K() + k
			}
			a, ua := v.element(0, left)
			b, ub := v.element(1, right)
			product := v.round(a * b)
			x, u = v.round(x+product), u+ua*ub
		}
		if o.Kind == ScaledMatmul {
			x = v.scaled(x, row, column)
		}
	case Add:
		a, ua := v.element(0, i)
		b, ub := v.element(1, i)
		x, u = v.round(a+b), ua+ub
	case Cast:
		x, u = v.element(0, i)
	case Scale:
		a, _ := v.element(0, i)
		x = v.round(a * v.round(o.Factor))
	case Sum, Mean:
		inner := o.inner()
		for j := range o.length() {
			a, ua := v.element(0, (i/inner*o.length()+j)*inner+i%inner)
			if j == 0 {
				x, u = a, ua
			} else {
				x, u = v.round(x+a), u+ua
			}
		}
		if o.Kind == Mean && o.A.Signed() {
			x, u = v.round(x/float64(o.length())), uint64(int64(u)/o.length())
		} else if o.Kind == Mean {
			u /= uint64(o.length())
		}
	}
	return x, u
}

func (v naive) scaled(x float64, row, column int64) float64 {
	o := v.op
	if o.Scaling == TensorWise {
		row = 0
	}
	a, _ := v.element(2, row)
	if o.Scaling == TensorWise {
		b, _ := v.element(3, 0)
		x = v.round(v.round(x*a) * b)
	} else {
		b, _ := v.element(3, column)
		x = v.round(v.round(x*a) * b)
	}
	next := 4
	if o.Bias != 0 {
		bias, _ := v.element(next, column)
		x = v.round(x + bias)
		next++
	}
	if o.ResultScale {
		scale, _ := v.element(next, 0)
		x = v.round(x * scale)
	}
	return x
}

// random fills operands: usual ones are small numbers of every sign, others any bits, with NaN,
// infinities and overflow.
func random(rng *rand.Rand, o Op, anyBits bool) [][]byte {
	var operands [][]byte
	for _, t := range o.Operands() {
		data := make([]byte, t.Bytes())
		of := t.Type.Component()
		width := of.Width()
		for i := range len(data) / width {
			switch {
			case of == dtype.Bool:
				data[i] = byte(rng.IntN(2))
			case anyBits || !of.IsFloat():
				putWhole(of, data[i*width:], rng.Uint64())
			default:
				put(of, data[i*width:], rng.NormFloat64())
			}
		}
		operands = append(operands, data)
	}
	return operands
}

// tensor is bytes of numbers.
func tensor(t dtype.Type, numbers ...float64) []byte {
	data := make([]byte, len(numbers)*t.Width())
	for i, x := range numbers {
		if t.IsFloat() {
			put(t, data[i*t.Width():], x)
		} else {
			putWhole(t, data[i*t.Width():], uint64(int64(x)))
		}
	}
	return data
}

func shaped(t dtype.Type, lengths ...int64) Tensor {
	return Tensor{Shape: collective.Shape(lengths), Type: t}
}
