package dtype

import "strconv"

// Number is the set of Go types that hold elements of a format.
type Number interface {
	float64 | float32 | F16 | BF16 | E4M3 | E5M2 |
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | B8
}

// The formats that Go does not have, as bits.
type (
	// F16 is a float16, IEEE 754 binary16.
	F16 uint16
	// BF16 is a bfloat16, the upper half of a binary32.
	BF16 uint16
	// E4M3 is a float8_e4m3fn. 0x7F and 0xFF are NaN; there is no infinity.
	E4M3 uint8
	// E5M2 is a float8_e5m2, the upper half of a binary16.
	E5M2 uint8
	// B8 is a bool: 0 or 1.
	B8 uint8
)

// String returns the value in decimal, with just enough digits to distinguish it from all other
// float32.
func (x F16) String() string { return decimal(f16.decode(uint16(x))) }

// String returns the value in decimal, with just enough digits to distinguish it from all other
// float32.
func (x BF16) String() string { return decimal(bf16.decode(uint16(x))) }

// String returns the value in decimal, with just enough digits to distinguish it from all other
// float32.
func (x E4M3) String() string { return decimal(e4m3.decode(uint16(x))) }

// String returns the value in decimal, with just enough digits to distinguish it from all other
// float32.
func (x E5M2) String() string { return decimal(e5m2.decode(uint16(x))) }

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 32) }

// Of returns the Type whose elements T holds.
func Of[T Number]() Type { return of[T]().dtype }

// kernel holds the operations on elements of one type. Functions of two slices change the first;
// the second is at least as long.
type kernel[T Number] struct {
	dtype               Type
	sum, prod, min, max func(dst, src []T)
	and, or, xor        func(dst, src []T) // nil of floats
	scale               func(dst []T, by T)
	divide              func(dst []T, n int)
	from, unsaturated   func(x float64) T
	value               func(x T) float64
	widen32             func(dst []float32, src []T)
	widen64             func(dst []float64, src []T)
	narrow32            func(dst []T, src []float32)
	narrow64            func(dst []T, src []float64)
}

// All kernels; nothing assigns to them.
var (
	kernelFloat64 = nativeFloat[float64](Float64, nan64)
	kernelFloat32 = nativeFloat[float32](Float32, nan32)
	kernelF16     = kernelOfF16(hasVectors())
	kernelBF16    = kernelOfBF16(hasVectors())
	kernelE4M3    = float8[E4M3](Float8E4M3, e4m3)
	kernelE5M2    = float8[E5M2](Float8E5M2, e5m2)
	kernelInt8    = integer[int8](Int8)
	kernelInt16   = integer[int16](Int16)
	kernelInt32   = integer[int32](Int32)
	kernelInt64   = integer[int64](Int64)
	kernelUint8   = integer[uint8](Uint8)
	kernelUint16  = integer[uint16](Uint16)
	kernelUint32  = integer[uint32](Uint32)
	kernelUint64  = integer[uint64](Uint64)
	kernelBool    = truth()
)

// of returns T's kernel.
func of[T Number]() *kernel[T] {
	var zero T
	var k any
	switch any(zero).(type) {
	case float64:
		k = &kernelFloat64
	case float32:
		k = &kernelFloat32
	case F16:
		k = &kernelF16
	case BF16:
		k = &kernelBF16
	case E4M3:
		k = &kernelE4M3
	case E5M2:
		k = &kernelE5M2
	case int8:
		k = &kernelInt8
	case int16:
		k = &kernelInt16
	case int32:
		k = &kernelInt32
	case int64:
		k = &kernelInt64
	case uint8:
		k = &kernelUint8
	case uint16:
		k = &kernelUint16
	case uint32:
		k = &kernelUint32
	case uint64:
		k = &kernelUint64
	case B8:
		k = &kernelBool
	}
	return k.(*kernel[T])
}
