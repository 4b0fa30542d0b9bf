package dtype

import "math"

type whole interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// integer returns the kernel of an integer type. Go's integers wrap, as those of the GPU do.
func integer[T whole](t Type) kernel[T] {
	from := nearestWhole[T](t)
	return kernel[T]{
		dtype:       t,
		sum:         addWhole[T],
		prod:        multiplyWhole[T],
		min:         lesserWhole[T],
		max:         greaterWhole[T],
		and:         andWhole[T],
		or:          orWhole[T],
		xor:         xorWhole[T],
		scale:       scaleWhole[T],
		divide:      divideWhole[T],
		from:        from,
		unsaturated: from,
		value:       func(x T) float64 { return float64(x) },
		widen32:     convert[float32, T],
		widen64:     convert[float64, T],
		narrow32:    func(dst []T, src []float32) { narrowEach(dst, src, from) },
		narrow64:    func(dst []T, src []float64) { narrowEach(dst, src, from) },
	}
}

// nearestWhole returns the conversion from float64 to the nearest integer, ties to even. Values out
// of range become the lowest or highest integer, and NaN becomes 0. t is T's entry in the table:
// from it come T's width and sign.
func nearestWhole[T whole](t Type) func(x float64) T {
	bits := 8*table[t].width - 1
	lowest, highest := T(1)<<bits, ^(T(1) << bits) // of a signed type
	below, above := -math.Ldexp(1, bits), math.Ldexp(1, bits)
	if table[t].kind == unsigned {
		lowest, highest = 0, ^T(0)
		below, above = 0, math.Ldexp(1, bits+1)
	}
	return func(x float64) T {
		switch x = math.RoundToEven(x); {
		case x != x:
			return 0
		case x < below:
			return lowest
		case x >= above:
			return highest
		}
		return T(x)
	}
}

func narrowEach[T Number, F float32 | float64](dst []T, src []F, from func(x float64) T) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = from(float64(x))
	}
}

func addWhole[T whole](dst, src []T) {
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

func multiplyWhole[T whole](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] *= src[i]
	}
}

func lesserWhole[T whole](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = min(dst[i], src[i])
	}
}

func greaterWhole[T whole](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = max(dst[i], src[i])
	}
}

func andWhole[T whole | B8](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] &= src[i]
	}
}

func orWhole[T whole | B8](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] |= src[i]
	}
}

func xorWhole[T whole | B8](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] ^= src[i]
	}
}

func scaleWhole[T whole](dst []T, by T) {
	for i := range dst {
		dst[i] *= by
	}
}

// divideWhole divides in 64 bits: n may be more than T holds.
func divideWhole[T whole](dst []T, n int) {
	if ^T(0) > 0 {
		for i := range dst {
			dst[i] = T(uint64(dst[i]) / uint64(n))
		}
		return
	}
	for i := range dst {
		dst[i] = T(int64(dst[i]) / int64(n))
	}
}
