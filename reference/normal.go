package reference

import (
	"math"

	"collsim/collective"
)

// fraction returns a random number of [−1, 1).
func fraction(h uint64) float64 { return float64(int64(h)>>10) * (1.0 / (1 << 53)) }

// fillNormal makes normally distributed inputs; for products, fillFactors does.
func fillNormal[F float32 | float64](g *numbers, dst []F, rank int, off int64) {
	if g.op == collective.Prod {
		fillFactors(g, dst, rank, off)
		return
	}
	table := g.normal
	state := g.stream(rank) + uint64(off)*wyStep
	for i := range dst { // table.at(fraction(h)), of integers
		h := mix(state)
		state += wyStep
		z := int64(h) >> 10
		size := uint64((z ^ z>>63) - z>>63) // |fraction(h)|·2^53
		cell := size >> (53 - cellBits)
		if cell >= cells-curved {
			dst[i] = F(table.at(fraction(h)))
			continue
		}
		between := float64(size&(1<<(53-cellBits)-1)) * (1.0 / (1 << (53 - cellBits)))
		x := table[cell] + float64(between*(table[cell+1]-table[cell]))
		dst[i] = F(math.Float64frombits(math.Float64bits(x) | h&(1<<63)))
	}
}

// fillFactors makes factors 1 + |z|/8 (normal) or 1 + |z|/2 (uniform), or one over that, so that
// long products neither overflow nor vanish; where exponents are few, only so many ranks in turn
// have one that is not ±1.
func fillFactors[F float32 | float64](g *numbers, dst []F, rank int, off int64) {
	stream := g.stream(rank)
	for i := range dst {
		at := off + int64(i)
		h := word(stream, at)
		z := fraction(h)
		switch {
		case g.turns < g.ranks && g.turn(rank, at) >= g.turns:
			z = 0
		case g.data == Normal:
			z = g.normal.at(z)
		}
		dst[i] = F(g.nearOne(z, h&1 != 0, h&2 != 0))
	}
}

// nearOne returns a factor near ±1.
func (g *numbers) nearOne(z float64, inverse, negative bool) float64 {
	x := 1 + math.Abs(z)/2
	if g.data == Normal {
		x = 1 + math.Abs(z)/8
	}
	if inverse {
		x = 1 / x
	}
	if negative {
		x = -x
	}
	return x
}

// normalTable holds quantile(i/(2·cells)) for i from 0 to cells−1. Values between are interpolated,
// which is several times faster than computing them, and accurate enough for test data.
type normalTable [cells]float64

// Of the cells, the outermost are too curved to be interpolated.
const (
	cellBits = 10
	cells    = 1 << cellBits
	curved   = 8
)

// newNormalTable computes the table.
func newNormalTable() *normalTable {
	var t normalTable
	for i := range t {
		t[i] = quantile(float64(i) / (2 * cells))
	}
	return &t
}

// at returns quantile(z/2) for −1 ≤ z ≤ 1, to 0.002.
func (t *normalTable) at(z float64) float64 {
	scaled := float64(math.Abs(z) * cells)
	i := int(scaled)
	if i >= cells-curved {
		return quantile(z / 2)
	}
	x := t[i] + float64((scaled-float64(i))*(t[i+1]-t[i]))
	return math.Copysign(x, z)
}

// quantile returns the number that a normal variable is below with probability ½ + q, to seven
// digits. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied
// Statistics 37(3), 1988, PPND7. Every product is rounded by itself: the same bits everywhere.
func quantile(q float64) float64 {
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * horner(r, 3.3871327179, 50.434271938, 159.29113202, 59.109374720) /
			horner(r, 1, 17.895169469, 78.757757664, 67.187563600)
	}
	r := math.Sqrt(-ln(max(0.5-math.Abs(q), 0x1p-55)))
	var x float64
	if r <= 5 {
		x = horner(r-1.6, 1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103) /
			horner(r-1.6, 1, 0.73700164250, 0.12021132975, 0)
	} else {
		x = horner(r-5, 6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997) /
			horner(r-5, 1, 0.24197894225, 0.012258202635, 0)
	}
	return math.Copysign(x, q)
}

// horner returns a + b·x + c·x² + d·x³.
func horner(x, a, b, c, d float64) float64 {
	return float64((float64((float64(d*x)+c)*x)+b)*x) + a
}

// ln returns the natural logarithm: math.Log differs between processors in the last bit. With x =
// m·2^e, √½ ≤ m < √2 and z = (m−1)/(m+1), ln m = 2·(z + z³/3 + z⁵/5 + …), and |z| < 0.172.
func ln(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = float64(2*m), e-1
	}
	z := (m - 1) / (m + 1)
	sum := 0.0
	for k := 21; k >= 1; k -= 2 {
		sum = float64(sum*(z*z)) + 1/float64(k)
	}
	return float64(2*z*sum) + float64(float64(e)*math.Ln2)
}
