package dtype

import "math"

// kernelOfF16 returns the kernel of float16. Everything is computed in float32, or for quotients in
// float64, and rounded once: see "Why one rounding" in the package comment. With vectors, sums are
// computed in blocks, with the same bits.
func kernelOfF16(vectors bool) kernel[F16] {
	from := func(x float64) F16 { return F16(f16.round(x)) }
	return kernel[F16]{
		dtype:       Float16,
		sum:         sumOfHalves(vectors, addBlocksF16, addF16),
		prod:        multiplyF16,
		min:         func(dst, src []F16) { lesserBits(dst, src, F16(f16.inf)) },
		max:         func(dst, src []F16) { greaterBits(dst, src, F16(f16.inf)) },
		scale:       scaleF16,
		divide:      divideF16,
		from:        from,
		unsaturated: from,
		value:       func(x F16) float64 { return float64(x.float()) },
		widen32:     widenF16[float32],
		widen64:     widenF16[float64],
		narrow32:    narrowF16,
		narrow64:    func(dst []F16, src []float64) { encodeEach(dst, src, f16) },
	}
}

// blockOfHalves is the number of elements that vectors add at once.
const blockOfHalves = 16

// sumOfHalves returns each or, with vectors, a function that adds whole blocks by blocks and the
// rest by each.
func sumOfHalves[T F16 | BF16](vectors bool, blocks, each func(dst, src []T)) func(dst, src []T) {
	if !vectors {
		return each
	}
	return func(dst, src []T) {
		whole := len(dst) - len(dst)%blockOfHalves
		blocks(dst[:whole], src[:whole])
		each(dst[whole:], src[whole:])
	}
}

func addF16(dst, src []F16) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = toF16(x.float() + src[i].float())
	}
}

func multiplyF16(dst, src []F16) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = toF16(x.float() * src[i].float())
	}
}

func scaleF16(dst []F16, by F16) {
	factor := by.float()
	for i, x := range dst {
		dst[i] = toF16(x.float() * factor)
	}
}

func divideF16(dst []F16, n int) {
	for i, x := range dst {
		dst[i] = F16(f16.round(float64(x.float()) / float64(n)))
	}
}

func widenF16[F float32 | float64](dst []F, src []F16) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = F(x.float())
	}
}

func narrowF16(dst []F16, src []float32) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = toF16(x)
	}
}

// The bits of some float32.
const (
	sign32 = 1 << 31
	inf32  = 0x7f800000

	normal16   = 113 << 23             // 2^−14, the least normal number
	overflow16 = 0x477ff000            // 65520, half a unit above the largest number
	rebias16   = (127 - 15) << 23      // the difference of the exponents' biases, in place
	magic16    = (127 + 23 - 24) << 23 // ½, whose unit in the last place is 2^−24
)

// float returns the value, exactly.
func (x F16) float() float32 {
	sign, abs := uint32(x&0x8000)<<16, uint32(x&0x7fff)<<13
	if abs >= 0x7c00<<13 {
		if abs > 0x7c00<<13 {
			return math.Float32frombits(nan32)
		}
		return math.Float32frombits(sign | inf32)
	}
	// As a float32, it is too small by the difference of the biases, also if subnormal.
	return math.Float32frombits(sign|abs) * 0x1p112
}

// toF16 rounds as format.encode does, from float32, and is faster.
func toF16(x float32) F16 {
	bits := math.Float32bits(x)
	sign, abs := F16(bits>>16&0x8000), bits&^sign32
	if normal16 <= abs && abs < overflow16 {
		odd := abs >> 13 & 1
		return sign | F16((abs-rebias16+0xfff+odd)>>13)
	}
	return toF16Rare(sign, abs)
}

// toF16Rare handles the results of toF16 that are not normal numbers.
func toF16Rare(sign F16, abs uint32) F16 {
	switch {
	case abs > inf32:
		return F16(f16.nan)
	case abs >= overflow16:
		return sign | F16(f16.inf)
	}
	sum := math.Float32frombits(abs) + math.Float32frombits(magic16)
	return sign | F16(math.Float32bits(sum)-magic16)
}

// lesserBits sets every dst[i] to the lesser of dst[i] and src[i]. Patterns above inf are NaN; both
// formats have the same result NaN.
func lesserBits[T F16 | BF16](dst, src []T, inf T) {
	src = src[:len(dst)]
	for i, a := range dst {
		b := src[i]
		if a&0x7fff > inf || b&0x7fff > inf {
			dst[i] = numberBits(a, b, inf)
		} else if ordered(b) < ordered(a) {
			dst[i] = b
		}
	}
}

// greaterBits sets every dst[i] to the greater of dst[i] and src[i]; see lesserBits.
func greaterBits[T F16 | BF16](dst, src []T, inf T) {
	src = src[:len(dst)]
	for i, a := range dst {
		b := src[i]
		if a&0x7fff > inf || b&0x7fff > inf {
			dst[i] = numberBits(a, b, inf)
		} else if ordered(b) > ordered(a) {
			dst[i] = b
		}
	}
}

// ordered maps bits to integers in the order of the values, −0 below +0.
func ordered[T F16 | BF16](x T) int16 {
	s := int16(x)
	return s ^ int16(uint16(s>>15)>>1) // of negative numbers, all bits but the sign are inverted
}

// numberBits returns the one of a and b that is a number, or else the NaN.
func numberBits[T F16 | BF16](a, b, inf T) T {
	switch {
	case a&0x7fff <= inf:
		return a
	case b&0x7fff <= inf:
		return b
	}
	return 0x7fff
}
