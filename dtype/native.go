package dtype

import "math"

// The NaN of results, as bits.
const (
	nan64 = 0xfff8000000000000
	nan32 = 0x7fffffff
)

// nativeFloat returns the kernel of a float type that Go has; nan is the bits of its NaN.
func nativeFloat[T float32 | float64](t Type, nan uint64) kernel[T] {
	quiet := T(math.Float64frombits(nan64))
	if p, ok := any(&quiet).(*float32); ok {
		*p = math.Float32frombits(uint32(nan))
	}
	from := func(x float64) T { return orNaN(T(x), quiet) }
	return kernel[T]{
		dtype:       t,
		sum:         func(dst, src []T) { addFloats(dst, src, quiet) },
		prod:        func(dst, src []T) { multiplyFloats(dst, src, quiet) },
		min:         func(dst, src []T) { lesser(dst, src, quiet) },
		max:         func(dst, src []T) { greater(dst, src, quiet) },
		scale:       func(dst []T, by T) { scaleFloats(dst, by, quiet) },
		divide:      func(dst []T, n int) { divideFloats(dst, float64(n), quiet) },
		from:        from,
		unsaturated: from,
		value:       func(x T) float64 { return float64(x) },
		widen32:     convert[float32, T],
		widen64:     convert[float64, T],
		narrow32:    func(dst []T, src []float32) { convertFloats(dst, src, quiet) },
		narrow64:    func(dst []T, src []float64) { convertFloats(dst, src, quiet) },
	}
}

// orNaN replaces any NaN by the one of the type: processors differ in theirs.
func orNaN[T float32 | float64](x, quiet T) T {
	if x != x {
		return quiet
	}
	return x
}

// addFloats adds eight elements at once and then their sums, which detects any NaN. Most time is
// spent in this loop.
func addFloats[T float32 | float64](dst, src []T, quiet T) {
	for len(dst) >= 8 && len(src) >= 8 {
		d, s := (*[8]T)(dst), (*[8]T)(src)
		a, b, c, e := d[0]+s[0], d[1]+s[1], d[2]+s[2], d[3]+s[3]
		f, g, h, i := d[4]+s[4], d[5]+s[5], d[6]+s[6], d[7]+s[7]
		if all := ((a + b) + (c + e)) + ((f + g) + (h + i)); all != all {
			addEachFloat(d[:], s[:], quiet)
		} else {
			d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = a, b, c, e, f, g, h, i
		}
		dst, src = dst[8:], src[8:]
	}
	addEachFloat(dst, src, quiet)
}

func addEachFloat[T float32 | float64](dst, src []T, quiet T) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = orNaN(x+src[i], quiet)
	}
}

func multiplyFloats[T float32 | float64](dst, src []T, quiet T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = orNaN(dst[i]*src[i], quiet)
	}
}

func scaleFloats[T float32 | float64](dst []T, by, quiet T) {
	for i := range dst {
		dst[i] = orNaN(dst[i]*by, quiet)
	}
}

// divideFloats divides in float64; for float32 too that is one rounding, see maxDivisor.
func divideFloats[T float32 | float64](dst []T, n float64, quiet T) {
	for i := range dst {
		dst[i] = orNaN(T(float64(dst[i])/n), quiet)
	}
}

// lesser sets dst to Go's min, for which −0 is less than +0, and handles NaN itself.
func lesser[T float32 | float64](dst, src []T, quiet T) {
	src = src[:len(dst)]
	for i, a := range dst {
		dst[i] = number(a, src[i], min(a, src[i]), quiet)
	}
}

func greater[T float32 | float64](dst, src []T, quiet T) {
	src = src[:len(dst)]
	for i, a := range dst {
		dst[i] = number(a, src[i], max(a, src[i]), quiet)
	}
}

// number returns chosen, the operator's choice of a and b. If that is a NaN, it returns the other
// if it is a number, or else quiet.
func number[T float32 | float64](a, b, chosen, quiet T) T {
	switch {
	case chosen == chosen:
		return chosen
	case a == a:
		return a
	case b == b:
		return b
	}
	return quiet
}

func convertFloats[T, F float32 | float64](dst []T, src []F, quiet T) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = orNaN(T(x), quiet)
	}
}

// native is the set of types that Go has arithmetic for.
type native interface {
	float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func convert[F float32 | float64, T native](dst []F, src []T) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = F(x)
	}
}
