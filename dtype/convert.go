package dtype

import "math"

// From rounds x to T: to nearest, ties to even. A number too large for a float format becomes
// infinity; for the 8-bit formats, which saturate as CUDA's conversions do, the largest number. For
// an integer type, x is rounded to a whole number, ties to even, and then to the nearest of the
// type's; NaN becomes 0.
func From[T Number](x float64) T { return of[T]().from(x) }

// FromUnsaturated does what From does, but for numbers too large for the 8-bit formats, infinities
// included. These become infinity in float8_e5m2 and NaN with the sign of x in float8_e4m3fn.
// PyTorch's conversions, CUDA's with __NV_NOSAT and ml_dtypes do so.
func FromUnsaturated[T Number](x float64) T { return of[T]().unsaturated(x) }

// Value returns x as a float64. It is exact, except that int64 and uint64 beyond 2⁵³ are rounded.
func Value[T Number](x T) float64 { return of[T]().value(x) }

// Widen sets dst[i] to the value of src[i], rounded to nearest where dst cannot hold it. That can
// happen for integers of more than 24 bits and float64 in float32, and of more than 53 in float64.
// REQUIRES: dst and src have the same length.
func Widen[F float32 | float64, T Number](dst []F, src []T) {
	mustMatch(len(dst), len(src))
	k := of[T]()
	switch d := any(dst).(type) {
	case []float32:
		k.widen32(d, src)
	case []float64:
		k.widen64(d, src)
	}
}

// Narrow sets dst[i] to src[i], rounded as by From: the one rounding at the end of a sum that was
// accumulated in float32. REQUIRES: dst and src have the same length.
func Narrow[T Number, F float32 | float64](dst []T, src []F) {
	mustMatch(len(dst), len(src))
	k := of[T]()
	switch s := any(src).(type) {
	case []float32:
		k.narrow32(dst, s)
	case []float64:
		k.narrow64(dst, s)
	}
}

// Precision returns the number of bits of t's significand, including the one that is not stored:
// half of 2^(1−Precision) bounds the relative error of a rounding. For an integer type it is the
// number of bits without the sign. A complex type has that of its components, and so it is with
// Largest and Smallest.
func (t Type) Precision() int { return t.info().bits }

// Largest returns the largest finite number of t; for int64 and uint64 rounded, to a power of two.
func (t Type) Largest() float64 {
	switch t.Component() {
	case Float64:
		return math.MaxFloat64
	case Float32:
		return math.MaxFloat32
	case Float16:
		return f16.decode(f16.max)
	case BFloat16:
		return bf16.decode(bf16.max)
	case Float8E4M3:
		return e4m3.decode(e4m3.max)
	case Float8E5M2:
		return e5m2.decode(e5m2.max)
	}
	return math.Ldexp(1, t.Precision()) - 1
}

// Smallest returns the least positive number of t: half of it bounds the error of a rounding where
// the relative error has no bound. For an integer type it is 1.
func (t Type) Smallest() float64 {
	switch t.Component() {
	case Float64:
		return math.SmallestNonzeroFloat64
	case Float32:
		return math.SmallestNonzeroFloat32
	case Float16:
		return f16.least
	case BFloat16:
		return bf16.least
	case Float8E4M3:
		return e4m3.least
	case Float8E5M2:
		return e5m2.least
	}
	t.info() // panics if t is not valid
	return 1
}

// mustMatch panics on slices of different lengths, which is a bug of the caller.
func mustMatch(dst, src int) {
	if dst != src {
		panic("dtype: slices of different lengths")
	}
}
