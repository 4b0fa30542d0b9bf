package dtype

import "math"

// kernelOfBF16 returns the kernel of bfloat16. Everything is computed in float32, or for quotients
// in float64, and rounded once: see "Why one rounding" in the package comment. With vectors, sums
// are computed in blocks, with the same bits.
func kernelOfBF16(vectors bool) kernel[BF16] {
	from := func(x float64) BF16 { return BF16(bf16.round(x)) }
	return kernel[BF16]{
		dtype:       BFloat16,
		sum:         sumOfHalves(vectors, addBlocksBF16, addBF16),
		prod:        multiplyBF16,
		min:         func(dst, src []BF16) { lesserBits(dst, src, BF16(bf16.inf)) },
		max:         func(dst, src []BF16) { greaterBits(dst, src, BF16(bf16.inf)) },
		scale:       scaleBF16,
		divide:      divideBF16,
		from:        from,
		unsaturated: from,
		value:       func(x BF16) float64 { return float64(x.float()) },
		widen32:     widenBF16[float32],
		widen64:     widenBF16[float64],
		narrow32:    narrowBF16,
		narrow64:    func(dst []BF16, src []float64) { encodeEach(dst, src, bf16) },
	}
}

func addBF16(dst, src []BF16) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = toBF16(x.float() + src[i].float())
	}
}

func multiplyBF16(dst, src []BF16) {
	src = src[:len(dst)]
	for i, x := range dst {
		dst[i] = toBF16(x.float() * src[i].float())
	}
}

func scaleBF16(dst []BF16, by BF16) {
	factor := by.float()
	for i, x := range dst {
		dst[i] = toBF16(x.float() * factor)
	}
}

func divideBF16(dst []BF16, n int) {
	for i, x := range dst {
		dst[i] = BF16(bf16.round(float64(x.float()) / float64(n)))
	}
}

func widenBF16[F float32 | float64](dst []F, src []BF16) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = F(x.float())
	}
}

func narrowBF16(dst []BF16, src []float32) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = toBF16(x)
	}
}

// float returns the value, exactly; for a NaN, its bits.
func (x BF16) float() float32 { return math.Float32frombits(uint32(x) << 16) }

// toBF16 rounds as format.encode does, from float32, and is faster. Only NaN is special: the carry
// goes into the exponent, up to infinity, and subnormals are those of float32.
func toBF16(x float32) BF16 {
	bits := math.Float32bits(x)
	if bits&^sign32 > inf32 {
		return 0x7fff
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}
