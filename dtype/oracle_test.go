package dtype

import (
	"math"
	"math/big"
	"math/rand"
)

// layout is how a float format is written, for the oracle, which knows nothing of package code: it
// counts in integers of any size.
type layout struct {
	t              Type
	exponent, frac int    // bits
	max            uint64 // the largest finite pattern
	infinite       bool
}

// layouts are from IEEE 754-2019, table 3.5, and OCP's 8-bit Floating Point Specification, table 1.
func layouts() []layout {
	return []layout{
		{Float64, 11, 52, 0x7fefffffffffffff, true},
		{Float32, 8, 23, 0x7f7fffff, true},
		{Float16, 5, 10, 0x7bff, true},
		{BFloat16, 8, 7, 0x7f7f, true},
		{Float8E4M3, 4, 3, 0x7e, false},
		{Float8E5M2, 5, 2, 0x7b, true},
	}
}

func layoutOf(t Type) layout {
	for _, l := range layouts() {
		if l.t == t {
			return l
		}
	}
	panic("no float type: " + t.String())
}

func (l layout) sign() uint64 { return 1 << (l.exponent + l.frac) }

// least is the binary logarithm of the least positive number.
func (l layout) least() int { return 2 - 1<<(l.exponent-1) - l.frac }

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(2400).SetFloat64(x) }

// value returns what a pattern stands for: fraction · 2^(exponent), and if it is a number.
func (l layout) value(pattern uint64) (x *big.Float, ok bool) {
	abs := pattern &^ l.sign()
	field, fraction := abs>>l.frac, abs&(1<<l.frac-1)
	if field == 0 {
		field = 1
	} else {
		fraction |= 1 << l.frac
	}
	x = new(big.Float).SetPrec(2400).SetUint64(fraction)
	x.SetMantExp(x, l.least()+int(field)-1)
	if pattern != abs {
		x.Neg(x)
	}
	return x, abs <= l.max
}

// round returns the pattern nearest to x, of two the even one, and whether that is a number; if
// not, it returns the sign alone.
// The patterns of positive numbers count them: number n·2^q has pattern n + (q − least)·2^frac.
func (l layout) round(x *big.Float) (pattern uint64, finite bool) {
	sign := uint64(0)
	if x.Signbit() {
		sign = l.sign()
	}
	if x.Sign() == 0 {
		return sign, true
	}
	abs := new(big.Float).SetPrec(2400).Abs(x)
	q := max(abs.MantExp(nil)-l.frac-1, l.least())
	abs.SetMantExp(abs, -q)
	n, _ := abs.Uint64()
	rest := new(big.Float).SetPrec(2400).Sub(abs, new(big.Float).SetUint64(n))
	if c := rest.Cmp(big.NewFloat(0.5)); c > 0 || c == 0 && n&1 == 1 {
		n++
	}
	pattern = n + uint64(q-l.least())<<l.frac
	if pattern > l.max {
		return sign, false
	}
	return sign | pattern, true
}

// rounded is round as CUDA does it, with what is too large.
func (l layout) rounded(x *big.Float) uint64 {
	pattern, finite := l.round(x)
	switch {
	case finite:
		return pattern
	case l.t.Width() == 1:
		return pattern | l.max
	}
	return pattern | l.infinity()
}

func (l layout) infinity() uint64 { return l.max + 1 }

// quiet are the NaN that results are, as the package documents them.
func quiet(t Type) uint64 {
	return map[Type]uint64{Float64: 0xfff8000000000000, Float32: 0x7fffffff, Float16: 0x7fff,
		BFloat16: 0x7fff, Float8E4M3: 0x7f, Float8E5M2: 0x7f}[t]
}

// fromBits returns the element with these bits.
func fromBits[T Number](bits uint64) T {
	var x [1]T
	var b [8]byte
	for i := range b {
		b[i] = byte(bits >> (8 * i))
	}
	Get(x[:], b[:])
	return x[0]
}

// randomElements are of all exponents alike, with a few zeros, infinities and NaN.
func randomElements[T Number](rng *rand.Rand, n int) []T {
	all := make([]T, n)
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN()}
	mask := ^uint64(0)
	if Of[T]() == Bool {
		mask = 1
	}
	for i := range all {
		all[i] = fromBits[T](rng.Uint64() & mask)
		if rng.Intn(8) == 0 {
			all[i] = From[T](special[rng.Intn(len(special))])
		}
	}
	return all
}

func bitsOf[T Number](s []T) []uint64 {
	all := make([]uint64, len(s))
	for i, x := range s {
		all[i] = Bits(x)
	}
	return all
}
