package reference

import (
	"fmt"
	"math/bits"
	"strings"

	"collsim/collective"
)

// Data is the kind of numbers that a check is made on (check.data).
type Data uint8

const (
	// Exact are small integers, times a power of two where the operator wants that, such that
	// every partial result is exact in whatever order (the idea of nccl-tests' verifiable data):
	// a right schedule then gives exactly the definition.
	Exact Data = iota
	// Uniform are uniformly distributed in [−1, 1), or over all values of an integer type. Sums
	// of floats depend on the order of additions.
	Uniform
	// Normal are normally distributed with mean 0 and deviation 1, or the square root of an integer
	// type's range. Sums of floats depend on the order of additions.
	Normal
)

var dataNames = [...]string{"exact", "uniform", "normal"}

// String is the name in scenarios.
func (d Data) String() string {
	if int(d) >= len(dataNames) {
		return fmt.Sprintf("Data(%d)", d)
	}
	return dataNames[d]
}

// ParseData reads "exact", "uniform" or "normal".
func ParseData(name string) (Data, error) {
	for i, n := range dataNames {
		if n == name {
			return Data(i), nil
		}
	}
	return 0, fmt.Errorf("reference: data %q: %s is expected", name, strings.Join(dataNames[:], ", "))
}

// generator makes the inputs of a check: every element is a pure function of it, rank and index.
type generator[T Number] struct {
	data  Data
	op    collective.Op // 0 for kinds that do not reduce
	float bool
	ranks int
	seed  uint64
	// Exact sums without scale are integers of 32 or 64 random bits, shifted right by so much.
	shift  uint
	exact  exactness
	normal *normalTable // of Normal
}

func newGenerator[T Number](spec *collective.Spec, data Data, seed uint64) *generator[T] {
	g := &generator[T]{data: data, op: spec.Op, float: isFloat[T](), ranks: spec.Ranks,
		seed: scramble(seed + golden)}
	p := precision[T]()
	word := uint(8 * size[T]())
	g.shift = word - 1 - p // magnitudes up to 2^p
	if g.op == collective.Sum {
		// n of them add up to 2^p at most
		g.shift = min(word-1, g.shift+uint(bits.Len(uint(spec.Ranks-1))))
	}
	g.exact = exactFor[T](spec)
	if data == Normal {
		g.normal = newNormalTable()
	}
	return g
}

// precision is the number of significant bits of a float format.
func precision[T Number]() uint {
	if size[T]() == 4 {
		return 24
	}
	return 53
}

const golden = 0x9e3779b97f4a7c15

// scramble is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
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

// word is the i-th random word of a stream.
func word(stream uint64, i int64) uint64 { return mix(stream + uint64(i)*wyStep) }

func mix(state uint64) uint64 {
	hi, lo := bits.Mul64(state, state^wyMask)
	return hi ^ lo
}

// stream is the state of a rank's random words; rank −1 has those that all ranks share.
func (g *generator[T]) stream(rank int) uint64 {
	return scramble(g.seed + uint64(rank+2)*golden)
}

// fill makes dst the elements off, off+1, … of a rank's input.
func (g *generator[T]) fill(dst []T, rank int, off int64) {
	special := g.float && g.data == Exact && (g.op == collective.Prod || g.exact.powers)
	switch {
	case special:
		g.fillExact(dst, rank, off)
	case g.data == Normal || g.op == collective.Prod && g.float:
		g.fillNormal(dst, rank, off)
	default:
		switch dst := any(dst).(type) {
		case []float32:
			fillFloat32(dst, g.stream(rank), off, g.shift, g.data == Uniform)
		case []float64:
			fillFloat64(dst, g.stream(rank), off, g.shift, g.data == Uniform)
		case []int32:
			fillInt32(dst, g.stream(rank), off, g.op == collective.Prod)
		case []int64:
			fillInt64(dst, g.stream(rank), off, g.op == collective.Prod)
		}
	}
}

// half is the upper or lower half of a word: two elements of four bytes share a word.
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

// fillInt32 makes any integers; odd ones for products, which would else soon be 0.
func fillInt32(dst []int32, stream uint64, off int64, odd bool) {
	or := int32(0)
	if odd {
		or = 1
	}
	for i := range dst {
		dst[i] = int32(half(stream, off+int64(i))) | or
	}
}

func fillInt64(dst []int64, stream uint64, off int64, odd bool) {
	or := int64(0)
	if odd {
		or = 1
	}
	for i := range dst {
		dst[i] = int64(word(stream, off+int64(i))) | or
	}
}

// simple reports whether sums and products of these inputs are exact in float64, in every order.
func (g *generator[T]) simple() bool {
	switch {
	case !g.float || g.data == Exact:
		return true
	case size[T]() == 8 || g.data == Normal || g.op == collective.Prod:
		return false
	}
	return g.op != collective.PremulSum && g.ranks < 1<<28 // 25 bits, of one power of two
}
