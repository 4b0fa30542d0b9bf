package reference

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"collsim/collective"
	"collsim/dtype"
)

// Elements are only ever computed with by package dtype: T may hold the bits of a float in an
// unsigned integer, for which Go's own operators mean something else.

// isFloat reports whether T is a float format.
func isFloat[T dtype.Number]() bool { return dtype.Of[T]().IsFloat() }

// unwritten returns the contents of memory that was never written: a NaN, or an integer that is
// unlikely to be right.
func unwritten[T dtype.Number]() T {
	if isFloat[T]() {
		return dtype.From[T](math.NaN())
	}
	x := make([]T, 1)
	dtype.Get(x, []byte{0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5})
	return x[0]
}

// Computable returns why a collective's numbers cannot be computed, nil if they can. The factor of
// a premulsum must be a finite number in the range of the type, for integers a whole one.
func Computable(spec collective.Spec) error {
	if spec.Op != collective.PremulSum {
		return nil
	}
	f, t := spec.Factor, spec.Type
	least, beyond := math.Inf(-1), math.Inf(1)
	if !t.IsFloat() {
		beyond = math.Ldexp(1, t.Precision())
		if least = 0; t.Signed() {
			least = -beyond
		}
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return fmt.Errorf("premulsum factor %v: a finite number is expected", f)
	case !t.IsFloat() && (f != math.Trunc(f) || f < least || f >= beyond):
		return fmt.Errorf("premulsum factor %v: for %v a whole number of that type is "+
			"expected", f, t)
	case t.IsFloat() && math.Abs(f) > t.Largest():
		return fmt.Errorf("premulsum factor %v: %v has numbers up to %v", f, t, t.Largest())
	}
	return nil
}

// combine sets every dst[i] to the combination of dst[i] and src[i], rounded once. REQUIRES: op
// combines, and src is as long as dst.
func combine[T dtype.Number](op collective.Op, dst, src []T) {
	switch op {
	case collective.Prod:
		dtype.Prod(dst, src)
	case collective.Min:
		dtype.Min(dst, src)
	case collective.Max:
		dtype.Max(dst, src)
	case collective.And:
		dtype.And(dst, src)
	case collective.Or:
		dtype.Or(dst, src)
	case collective.Xor:
		dtype.Xor(dst, src)
	default:
		dtype.Sum(dst, src)
	}
}

// Scale applies the collective's scale, as NCCL does. premulsum multiplies by the factor rounded to
// the format. avg multiplies floats by 1/n rounded to the format, or else divides by n, integers
// truncating.
func Scale[T dtype.Number](spec *collective.Spec, values []T) {
	if spec.ScalesBefore() {
		dtype.Scale(values, factor[T](spec))
		return
	}
	dtype.Divide(values, spec.Ranks)
}

// factor returns the factor of inputs. REQUIRES: spec.ScalesBefore.
func factor[T dtype.Number](spec *collective.Spec) T {
	if spec.Op == collective.PremulSum {
		return dtype.From[T](spec.Factor)
	}
	return dtype.Reciprocal[T](spec.Ranks)
}

// room returns a buffer of n ≤ block elements, allocated when it is first wanted: most checks are
// small.
func room[T any](buffer *[]T, n int) []T {
	if *buffer == nil {
		*buffer = make([]T, block)
	}
	return (*buffer)[:n]
}

// sameBits reports whether two slices have the same bits; it compares memory, which is many times
// faster than values.
func sameBits[T dtype.Number](a, b []T) bool { return bytes.Equal(raw(a), raw(b)) }

// raw returns the memory of a slice.
func raw[T dtype.Number](s []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(x)))
}
