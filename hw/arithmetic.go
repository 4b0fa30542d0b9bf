package hw

import (
	"unsafe"

	"collsim/collective"
	"collsim/dtype"
)

// Arithmetic is a collective's on the bytes of its elements, as they lie in this machine's memory:
// bytes of a length that the width divides, and which begin where an element may.
type Arithmetic struct {
	Width int // of an element in bytes; 0 for a barrier, which has none
	// Combine makes dst what dst and src give together, in this order, each element rounded once.
	Combine func(dst, src []byte)
	// Scale is premulsum's factor, or the mean's 1/n before or its division after the sum.
	Scale func(b []byte)
	// Load and Store copy elements from and to little-endian bytes.
	Load, Store func(dst, src []byte)
}

// ArithmeticOf returns the arithmetic of a collective, bit for bit that of package dtype.
func ArithmeticOf(spec *collective.Spec) Arithmetic {
	switch spec.Type {
	case dtype.Float64:
		return arithmetic[float64](spec)
	case dtype.Float32:
		return arithmetic[float32](spec)
	case dtype.Float16:
		return arithmetic[dtype.F16](spec)
	case dtype.BFloat16:
		return arithmetic[dtype.BF16](spec)
	case dtype.Float8E4M3:
		return arithmetic[dtype.E4M3](spec)
	case dtype.Float8E5M2:
		return arithmetic[dtype.E5M2](spec)
	case dtype.Int8:
		return arithmetic[int8](spec)
	case dtype.Int16:
		return arithmetic[int16](spec)
	case dtype.Int32:
		return arithmetic[int32](spec)
	case dtype.Int64:
		return arithmetic[int64](spec)
	case dtype.Uint8:
		return arithmetic[uint8](spec)
	case dtype.Uint16:
		return arithmetic[uint16](spec)
	case dtype.Uint32:
		return arithmetic[uint32](spec)
	case dtype.Uint64:
		return arithmetic[uint64](spec)
	}
	none := func(_, _ []byte) {}
	return Arithmetic{Combine: none, Scale: func([]byte) {}, Load: none, Store: none}
}

func arithmetic[T dtype.Number](spec *collective.Spec) Arithmetic {
	combine := dtype.Sum[T]
	switch spec.Op {
	case collective.Prod:
		combine = dtype.Prod[T]
	case collective.Min:
		combine = dtype.Min[T]
	case collective.Max:
		combine = dtype.Max[T]
	}
	return Arithmetic{
		Width:   dtype.Of[T]().Width(),
		Combine: func(dst, src []byte) { combine(elements[T](dst), elements[T](src)) },
		Scale:   func(b []byte) { scale(spec, elements[T](b)) },
		Load:    func(dst, src []byte) { dtype.Get(elements[T](dst), src) },
		Store:   func(dst, src []byte) { dtype.Put(dst, elements[T](src)) },
	}
}

func scale[T dtype.Number](spec *collective.Spec, value []T) {
	switch {
	case spec.Op == collective.PremulSum:
		dtype.Scale(value, dtype.From[T](spec.Factor))
	case spec.ScalesBefore():
		dtype.Scale(value, dtype.Reciprocal[T](spec.Ranks))
	default:
		dtype.Divide(value, spec.Ranks)
	}
}

// elements is the bytes as elements. Every pattern of bits is an element of every type.
func elements[T dtype.Number](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/dtype.Of[T]().Width())
}

// Memory returns n bytes, in which an element of any type may begin at every multiple of its width.
func Memory(n int64) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}
