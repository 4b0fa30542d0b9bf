package programs

import (
	"encoding/binary"
	"math"
	"slices"
)

// A numberType is an element type.
type numberType struct {
	name   string
	width  int // bytes
	float  bool
	signed bool // of integers
	// Bits of a float's exponent and fraction. An 8-bit float saturates; e4m3fn has no infinity,
	// and one NaN.
	exponent, fraction int
}

// numberTypes lists all element types.
func numberTypes() []numberType {
	float := func(name string, width, exponent, fraction int) numberType {
		return numberType{name: name, width: width, float: true, exponent: exponent,
			fraction: fraction}
	}
	return []numberType{
		float("float64", 8, 11, 52), float("float32", 4, 8, 23), float("float16", 2, 5, 10),
		float("bfloat16", 2, 8, 7), float("float8_e4m3fn", 1, 4, 3), float("float8_e5m2", 1, 5, 2),
		{name: "int8", width: 1, signed: true}, {name: "int16", width: 2, signed: true},
		{name: "int32", width: 4, signed: true}, {name: "int64", width: 8, signed: true},
		{name: "uint8", width: 1}, {name: "uint16", width: 2}, {name: "uint32", width: 4},
		{name: "uint64", width: 8},
	}
}

// typeOf returns the type with a name.
func typeOf(name string) (numberType, bool) {
	list := numberTypes()
	i := slices.IndexFunc(list, func(t numberType) bool { return t.name == name })
	if i < 0 {
		return numberType{}, false
	}
	return list[i], true
}

// A number is an element: f for a float type; n for an integer type, extended to 64 bits by its
// sign or by zeros.
type number struct {
	f float64
	n int64
}

// finite reports whether the type is e4m3fn, whose largest exponent has numbers, too.
func (t numberType) finite() bool { return t.name == "float8_e4m3fn" }

// bias returns the bias of the exponent.
func (t numberType) bias() int { return 1<<(t.exponent-1) - 1 }

// largest returns the largest finite number.
func (t numberType) largest() float64 {
	top := 1<<t.exponent - 2 - t.bias()
	steps := float64(int64(2)<<t.fraction - 1)
	if t.finite() {
		top, steps = top+1, steps-1
	}
	return math.Ldexp(steps, top-t.fraction)
}

// smallest returns the smallest positive number of the type, a subnormal one.
func (t numberType) smallest() float64 { return math.Ldexp(1, 1-t.bias()-t.fraction) }

// round rounds to the nearest number of the type, ties to even.
func (t numberType) round(x float64) float64 {
	if t.width == 8 || x == 0 || math.IsNaN(x) {
		return x
	}
	_, e := math.Frexp(x)
	step := max(e-1-t.fraction, 1-t.bias()-t.fraction)
	if !math.IsInf(x, 0) {
		x = math.Ldexp(math.RoundToEven(math.Ldexp(x, -step)), step)
	}
	if most := t.largest(); math.Abs(x) > most {
		if t.width == 1 {
			return math.Copysign(most, x)
		}
		return math.Inf(int(math.Copysign(1, x)))
	}
	return x
}

// wrap reduces an integer modulo 2 to the type's number of bits.
func (t numberType) wrap(n int64) int64 {
	shift := uint(64 - 8*t.width)
	if t.signed {
		return n << shift >> shift
	}
	return int64(uint64(n) << shift >> shift)
}

// decode decodes elements.
func (t numberType) decode(data []byte) []number {
	list := make([]number, len(data)/t.width)
	for i := range list {
		var word [8]byte
		copy(word[:], data[i*t.width:][:t.width])
		bits := binary.LittleEndian.Uint64(word[:])
		if t.float {
			list[i].f = t.fromBits(bits)
		} else {
			list[i].n = t.wrap(int64(bits))
		}
	}
	return list
}

// fromBits returns the float with a bit pattern.
func (t numberType) fromBits(bits uint64) float64 {
	e := int(bits >> t.fraction & (1<<t.exponent - 1))
	m := bits & (1<<t.fraction - 1)
	x := 0.0
	switch top := e == 1<<t.exponent-1; {
	case t.finite() && top && m == 1<<t.fraction-1 || !t.finite() && top && m != 0:
		return math.NaN()
	case !t.finite() && top:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(float64(m), 1-t.bias()-t.fraction)
	default:
		x = math.Ldexp(float64(m|1<<t.fraction), e-t.bias()-t.fraction)
	}
	if bits>>(t.exponent+t.fraction)&1 != 0 {
		x = -x
	}
	return x
}

// encode encodes elements for a digest: −0 as +0, and every NaN as the positive quiet one without
// payload. REQUIRES: floats are numbers of the type.
func (t numberType) encode(list []number) []byte {
	data := make([]byte, 0, len(list)*t.width)
	for _, x := range list {
		bits := uint64(x.n)
		if t.float {
			bits = t.toBits(x.f)
		}
		word := binary.LittleEndian.AppendUint64(nil, bits)
		data = append(data, word[:t.width]...)
	}
	return data
}

// toBits returns the bit pattern of a float.
func (t numberType) toBits(x float64) uint64 {
	top := uint64(1<<t.exponent-1) << t.fraction
	switch {
	case x == 0:
		return 0
	case math.IsNaN(x) && t.finite():
		return top | (1<<t.fraction - 1)
	case math.IsNaN(x):
		return top | 1<<(t.fraction-1)
	}
	sign := uint64(0)
	if x < 0 {
		sign, x = 1<<(t.exponent+t.fraction), -x
	}
	if math.IsInf(x, 0) {
		return sign | top
	}
	_, e := math.Frexp(x)
	e = max(e-1, 1-t.bias())
	m := uint64(math.Ldexp(x, t.fraction-e))
	if m < 1<<t.fraction { // subnormal
		return sign | m
	}
	return sign | uint64(e+t.bias())<<t.fraction | m&(1<<t.fraction-1)
}

// Canonical converts elements to the form of the digest.
func Canonical(typ string, data []byte) []byte {
	t, _ := typeOf(typ)
	return t.encode(t.decode(data))
}
