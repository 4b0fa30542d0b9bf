package dtype

// truth returns the kernel of bool. Sums and maxima are or, products and minima are and, as in
// NumPy; torch with NCCL reduces bools by the same (getNcclReduceOp in ProcessGroupNCCL.cpp).
func truth() kernel[B8] {
	from := func(x float64) B8 {
		if x != 0 { // so NaN is true, as in NumPy and in C
			return 1
		}
		return 0
	}
	return kernel[B8]{
		dtype:       Bool,
		sum:         orWhole[B8],
		prod:        andWhole[B8],
		min:         andWhole[B8],
		max:         orWhole[B8],
		and:         andWhole[B8],
		or:          orWhole[B8],
		xor:         xorWhole[B8],
		scale:       func(dst []B8, by B8) { scaleTruth(dst, by) },
		divide:      func([]B8, int) {}, // what is not 0 stays so: there is no half of it
		from:        from,
		unsaturated: from,
		value:       func(x B8) float64 { return float64(x) },
		widen32:     widenTruth[float32],
		widen64:     widenTruth[float64],
		narrow32:    func(dst []B8, src []float32) { narrowEach(dst, src, from) },
		narrow64:    func(dst []B8, src []float64) { narrowEach(dst, src, from) },
	}
}

func scaleTruth(dst []B8, by B8) {
	for i := range dst {
		dst[i] &= by
	}
}

func widenTruth[F float32 | float64](dst []F, src []B8) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = F(x)
	}
}
