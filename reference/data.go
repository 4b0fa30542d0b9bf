package reference

import (
	"fmt"
	"math"
	"math/bits"

	"collsim/collective"
	"collsim/dtype"
)

// Data is the kind of numbers for a check (check.data).
type Data uint8

const (
	// Exact are small integers, times a power of two where the operator needs that, such that every
	// partial result is exact in any order (the idea of nccl-tests' verifiable data). A right
	// schedule then gives exactly the definition.
	Exact Data = iota
	// Uniform are uniformly distributed in [−1, 1), or over all values of an integer type. Sums
	// of floats depend on the order of additions.
	Uniform
	// Normal are normally distributed with mean 0 and deviation 1, or the square root of an integer
	// type's range. Sums of floats depend on the order of additions.
	Normal
)

var dataNames = [...]string{"exact", "uniform", "normal"}

// String returns the name in scenarios.
func (d Data) String() string {
	if int(d) >= len(dataNames) {
		return fmt.Sprintf("Data(%d)", d)
	}
	return dataNames[d]
}

// numbers defines the inputs of a check: every element is a pure function of it, rank and index.
type numbers struct {
	data      Data
	op        collective.Op // 0 for kinds that do not reduce
	dtype     dtype.Type
	ranks     int
	seed      uint64
	precision uint
	// Exact sums without scale are integers of 32 or 64 random bits, shifted right by so much.
	shift  uint
	exact  exactness
	turns  int          // ranks with a factor of a product other than ±1
	normal *normalTable // of Normal
}

// A generator makes the inputs of a check in T. Each concurrent machine has its own.
type generator[T dtype.Number] struct {
	numbers
	listed []T       // of Exact: levels, or the integers of a type narrower than 32 bits
	narrow []float32 // buffer in which other types' numbers are made, before rounding
	fine   []float64
}

// newGenerator returns a generator of a collective's inputs.
func newGenerator[T dtype.Number](spec *collective.Spec, data Data, seed uint64) *generator[T] {
	t := dtype.Of[T]()
	g := &generator[T]{numbers: numbers{data: data, op: spec.Op, dtype: t, ranks: spec.Ranks,
		seed: scramble(seed + golden), precision: uint(t.Precision())}}
	if t.IsFloat() {
		word := uint(32)
		if t == dtype.Float64 {
			word = 64
		}
		g.shift = word - 1 - g.precision // magnitudes up to 2^p
		if g.op == collective.Sum {
			// n of them add up to 2^p at most
			g.shift = min(word-1, g.shift+uint(bits.Len(uint(spec.Ranks-1))))
		}
		g.exact = exactFor[T](spec)
		g.turns = turnsOf(t, data)
	}
	switch {
	case data == Normal:
		g.normal = newNormalTable()
	case data == Exact && t.IsFloat() && g.levelled():
		g.listed = levels[T](g.exact)
	case data == Exact && t.IsFloat() && t.Width() < 4 && g.op != collective.Prod:
		g.listed = integers[T](g.shift)
	}
	return g
}

// levelled reports whether inputs have the form that type exactness describes.
func (g *numbers) levelled() bool {
	return g.data == Exact && g.op != collective.Prod && g.exact.powers
}

// another returns the same generator, for another machine.
func (g *generator[T]) another() *generator[T] {
	return &generator[T]{numbers: g.numbers, listed: g.listed}
}

const golden = 0x9e3779b97f4a7c15

// scramble mixes the bits of a number: the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA
// 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// The constants of wyrand, a counter-based generator of one multiplication a word (Wang Yi's
// wyhash, final version 4; passes BigCrush and PractRand).
const (
	wyStep = 0x2d358dccaa6c78a5
	wyMask = 0x8bb84b93962eacc9
)

// word returns the i-th random word of a stream.
func word(stream uint64, i int64) uint64 { return mix(stream + uint64(i)*wyStep) }

// mix returns the output of wyrand for a state.
func mix(state uint64) uint64 {
	hi, lo := bits.Mul64(state, state^wyMask)
	return hi ^ lo
}

// stream returns the state of a rank's random words; rank −1 has those that all ranks share.
func (g *numbers) stream(rank int) uint64 {
	return scramble(g.seed + uint64(rank+2)*golden)
}

// fill makes dst the elements off, off+1, … of a rank's input.
func (g *generator[T]) fill(dst []T, rank int, off int64) {
	switch {
	case g.levelled():
		fillLevels(&g.numbers, dst, g.listed, rank, off)
		return
	case g.listed != nil:
		fillIntegers(dst, g.listed, g.stream(rank), off, g.shift)
		return
	}
	switch dst := any(dst).(type) {
	case []float32:
		if g.fractions() {
			fillFloats(&g.numbers, dst, rank, off)
		} else {
			fillFloat32(dst, g.stream(rank), off, g.shift, g.data == Uniform)
		}
		return
	case []float64:
		if g.fractions() {
			fillFloats(&g.numbers, dst, rank, off)
		} else {
			fillFloat64(dst, g.stream(rank), off, g.shift, g.data == Uniform)
		}
		return
	}
	if !g.dtype.IsFloat() {
		fillWhole(&g.numbers, dst, rank, off)
		return
	}
	for ; len(dst) > 0; off += block {
		n := min(len(dst), block)
		if g.fractions() {
			fine := room(&g.fine, n)
			fillFloats(&g.numbers, fine, rank, off)
			dtype.Narrow(dst[:n], fine)
		} else {
			narrow := room(&g.narrow, n)
			fillFloat32(narrow, g.stream(rank), off, g.shift, g.data == Uniform)
			dtype.Narrow(dst[:n], narrow)
		}
		dst = dst[n:]
	}
}

// fractions reports whether floats are other than random integers, scaled random integers, or of
// the form of exactness.
func (g *numbers) fractions() bool { return g.data == Normal || g.op == collective.Prod }

// fillFloats makes the floats that fractions reports.
func fillFloats[F float32 | float64](g *numbers, dst []F, rank int, off int64) {
	if g.data == Exact {
		fillProduct(g, dst, rank, off)
	} else {
		fillNormal(g, dst, rank, off)
	}
}

// half returns the upper or lower half of a word: two elements of four bytes share a word.
func half(stream uint64, i int64) uint32 { return uint32(word(stream, i>>1) >> (32 * uint(i&1))) }

// fillFloat32 makes integers of 32−shift bits; unit makes them fractions below 1 of 25 bits.
func fillFloat32(dst []float32, stream uint64, off int64, shift uint, unit bool) {
	if unit {
		fillFloat32(dst, stream, off, 7, false)
		multiply(dst, 1.0/(1<<24))
		return
	}
	shift &= 31
	if len(dst) > 0 && off&1 == 1 {
		dst[0] = float32(int32(half(stream, off)) >> shift)
		dst, off = dst[1:], off+1
	}
	state := stream + uint64(off>>1)*wyStep
	for len(dst) >= 2 {
		h, d := mix(state), (*[2]float32)(dst)
		d[0] = float32(int32(h) >> shift)
		d[1] = float32(int32(h>>32) >> shift)
		dst, state = dst[2:], state+wyStep
	}
	if len(dst) > 0 {
		dst[0] = float32(int32(mix(state)) >> shift)
	}
}

// multiply multiplies all values by a number.
func multiply[F float32 | float64](values []F, by F) {
	for i := range values {
		values[i] *= by
	}
}

// fillFloat64 makes integers of 64−shift bits; unit makes them fractions below 1 of 54 bits.
func fillFloat64(dst []float64, stream uint64, off int64, shift uint, unit bool) {
	if unit {
		shift = 10
	}
	for i := range dst {
		dst[i] = float64(int64(word(stream, off+int64(i))) >> (shift & 63))
	}
	if unit {
		multiply(dst, 1.0/(1<<53))
	}
}

// fillWhole makes integers: any, or near 0 if they are normally distributed; odd ones for products,
// which would else soon be 0.
func fillWhole[T dtype.Number](g *numbers, dst []T, rank int, off int64) {
	if g.dtype == dtype.Bool || g.op >= collective.And {
		fillBits(g, dst, rank, off)
		return
	}
	stream, odd := g.stream(rank), uint64(0)
	if g.op == collective.Prod {
		odd = 1
	}
	switch {
	case g.data == Normal:
		spread := math.Sqrt(math.Ldexp(1, 8*g.dtype.Width()))
		for i := range dst {
			z := g.normal.at(fraction(word(stream, off+int64(i))))
			dst[i] = T(int64(math.RoundToEven(float64(z*spread))) | int64(odd))
		}
	case g.dtype.Width() == 8:
		for i := range dst {
			dst[i] = T(word(stream, off+int64(i)) | odd)
		}
	default:
		for i := range dst {
			dst[i] = T(half(stream, off+int64(i)) | uint32(odd))
		}
	}
}

// fillBits makes bools, and integers for operators on bits, whatever the kind of data. A bit is 0
// as often as 1. For and it is mostly 1, and for or mostly 0, so that results are either.
func fillBits[T dtype.Number](g *numbers, dst []T, rank int, off int64) {
	stream, words, mask := g.stream(rank), 1, ^uint64(0)
	if g.op == collective.And || g.op == collective.Or {
		words = max(1, bits.Len(uint(g.ranks-1))) // a bit differs with a chance of 2^−words
	}
	if g.dtype == dtype.Bool {
		mask = 1
	}
	for i := range dst {
		x := word(stream, off+int64(i))
		for k := 1; k < words; k++ {
			if more := word(stream+uint64(k)*golden, off+int64(i)); g.op == collective.And {
				x |= more
			} else {
				x &= more
			}
		}
		dst[i] = T(x & mask)
	}
}

// simple reports whether sums and products of these inputs are exact in float64, in every order.
func (g *numbers) simple() bool {
	switch {
	case !g.dtype.IsFloat() || g.data == Exact:
		return true
	case g.op == collective.Prod || g.op == collective.PremulSum:
		return false
	}
	// Elements are multiples of 2^lowest, and less than 2^highest.
	lowest, highest := exponent(g.dtype.Smallest()), 4 // 2^4 is beyond any normal number that is made
	if g.data == Uniform {
		lowest, highest = max(lowest, -24), 1
		if g.dtype == dtype.Float64 {
			lowest = -53
		}
	}
	return highest-lowest+bits.Len(uint(g.ranks)) <= 53
}

// exponent returns the exponent of a power of two.
func exponent(x float64) int {
	_, e := math.Frexp(x)
	return e - 1
}
