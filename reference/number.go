package reference

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"collsim/collective"
	"collsim/dtype"
)

// Number is a format that collectives are computed in.
type Number interface {
	float32 | float64 | int32 | int64
}

// typeOf is T's name.
func typeOf[T Number]() dtype.Type {
	switch any(T(0)).(type) {
	case float32:
		return dtype.Float32
	case float64:
		return dtype.Float64
	case int32:
		return dtype.Int32
	}
	return dtype.Int64
}

func isFloat[T Number]() bool { return typeOf[T]().IsFloat() }

// isNaN reports whether x is not equal to itself, which is true of NaN alone.
func isNaN[T Number](x T) bool {
	y := x
	return x != y
}

// unwritten is what a memory holds before anything is written to it: a NaN, or an integer that is
// unlikely to be right.
func unwritten[T Number]() T {
	var x T
	switch x := any(&x).(type) {
	case *float32:
		*x = float32(math.NaN())
	case *float64:
		*x = math.NaN()
	case *int32:
		*x = -0x5a5a5a5b
	case *int64:
		*x = -0x5a5a5a5a5a5a5a5b
	}
	return x
}

// refuse says why a collective cannot be computed, nil if it can.
func refuse(spec *collective.Spec) error {
	switch spec.Type {
	case dtype.Float32, dtype.Float64, dtype.Int32, dtype.Int64:
	default:
		if spec.Kind == collective.Barrier {
			return nil
		}
		return fmt.Errorf("reference: dtype %v: the numbers come with a later release: use float32, "+
			"float64, int32 or int64, or [check] numbers = false", spec.Type)
	}
	if spec.Op != collective.PremulSum {
		return nil
	}
	f, limit := spec.Factor, math.Ldexp(1, 8*spec.Type.Width()-1)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return fmt.Errorf("reference: premulsum factor %v: a finite number is expected", f)
	case !spec.Type.IsFloat() && (f != math.Trunc(f) || f < -limit || f >= limit):
		return fmt.Errorf("reference: premulsum factor %v: for %v a whole number of that type is "+
			"expected", f, spec.Type)
	}
	return nil
}

// combine makes every dst[i] what dst[i] and src[i] give together, rounded once.
// REQUIRES: the operator is one, and src is as long as dst.
func combine[T Number](op collective.Op, dst, src []T) {
	src = src[:len(dst)]
	switch op {
	case collective.Prod:
		for i := range dst {
			dst[i] *= src[i]
		}
	case collective.Min:
		for i := range dst {
			dst[i] = lesser(dst[i], src[i])
		}
	case collective.Max:
		for i := range dst {
			dst[i] = greater(dst[i], src[i])
		}
	default:
		add(dst, src)
	}
}

// add is the loop that most time is spent in: four elements at once, without bounds checks.
func add[T Number](dst, src []T) {
	for len(dst) >= 4 && len(src) >= 4 {
		d, s := (*[4]T)(dst), (*[4]T)(src)
		d[0] += s[0]
		d[1] += s[1]
		d[2] += s[2]
		d[3] += s[3]
		dst, src = dst[4:], src[4:]
	}
	for i := range dst {
		dst[i] += src[i]
	}
}

func lesser[T Number](a, b T) T {
	switch {
	case isNaN(a):
		return b
	case isNaN(b):
		return a
	}
	return min(a, b)
}

func greater[T Number](a, b T) T {
	switch {
	case isNaN(a):
		return b
	case isNaN(b):
		return a
	}
	return max(a, b)
}

// scale applies the collective's scale, as NCCL does: premulsum multiplies by the factor rounded
// to the format; avg multiplies floats by 1/n rounded to the format, or else divides by n, integers
// truncating.
func scale[T Number](spec *collective.Spec, values []T) {
	n := T(spec.Ranks)
	switch {
	case spec.Op == collective.PremulSum:
		multiply(values, T(spec.Factor))
	case spec.ScalesBefore():
		multiply(values, 1/n)
	default:
		for i := range values {
			values[i] /= n
		}
	}
}

func multiply[T Number](values []T, by T) {
	for i := range values {
		values[i] *= by
	}
}

// sameBits compares as memory is compared, which is many times faster than by value.
func sameBits[T Number](a, b []T) bool { return bytes.Equal(raw(a), raw(b)) }

func raw[T Number](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size[T]())
}

// size is the width of a number in bytes.
func size[T Number]() int {
	var x T
	return int(unsafe.Sizeof(x))
}
