package hw

import (
	"unsafe"

	"collsim/collective"
	"collsim/dtype"
)

// Arithmetic computes a collective's operations on elements in this machine's byte order. The
// length of every slice is a multiple of Width, and its first byte is aligned to Width.
type Arithmetic struct {
	Width int // of an element in bytes; 0 for a barrier, which has none
	// Combine sets dst to dst ∘ src, elementwise in this order; each result is rounded once.
	Combine func(dst, src []byte)
	// Scale multiplies by premulsum's factor. For the mean it multiplies by 1/n before the sum, or
	// divides by n after it.
	Scale func(b []byte)
	// Load and Store copy elements from and to little-endian bytes.
	Load, Store func(dst, src []byte)
}

// ArithmeticOf returns the arithmetic of a collective. Its results are bit for bit those of package
// dtype.
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
	case dtype.Bool:
		return arithmetic[dtype.B8](spec)
	case dtype.Complex64:
		return arithmetic[float32](spec)
	case dtype.Complex128:
		return arithmetic[float64](spec)
	}
	none := func(_, _ []byte) {}
	return Arithmetic{Combine: none, Scale: func([]byte) {}, Load: none, Store: none}
}

// arithmetic returns the arithmetic of a collective on elements of type T, or on complex numbers
// whose components are of type T.
func arithmetic[T dtype.Number](spec *collective.Spec) Arithmetic {
	combine := dtype.Sum[T]
	switch spec.Op {
	case collective.Prod:
		combine = dtype.Prod[T]
	case collective.Min:
		combine = dtype.Min[T]
	case collective.Max:
		combine = dtype.Max[T]
	case collective.And:
		combine = dtype.And[T]
	case collective.Or:
		combine = dtype.Or[T]
	case collective.Xor:
		combine = dtype.Xor[T]
	}
	return Arithmetic{
		Width:   spec.Type.Width(),
		Combine: func(dst, src []byte) { combine(elements[T](dst), elements[T](src)) },
		Scale:   func(b []byte) { scale(spec, elements[T](b)) },
		Load:    func(dst, src []byte) { dtype.Get(elements[T](dst), src) },
		Store:   func(dst, src []byte) { dtype.Put(dst, elements[T](src)) },
	}
}

// scale applies a collective's scaling to values: see Arithmetic.Scale.
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

// elements views bytes as elements. Every bit pattern is an element of every type.
func elements[T dtype.Number](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/dtype.Of[T]().Width())
}

// Memory allocates n bytes that are aligned for elements of every type.
func Memory(n int64) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}
