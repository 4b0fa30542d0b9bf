package kernel

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/parallel"
	"collsim/unit"
)

// The attributes of an opaque operation that states its cost and not its time.
const (
	opaqueFLOPs = iota
	opaqueBytes
)

// opaqueLayer returns the row of an opaque operation. Its result is a stand-in: see standIn.
func opaqueLayer() layer {
	return layer{kind: Opaque,
		attributes: []attribute{{name: "flops", whole: true, most: maxWhole},
			{name: "bytes", whole: true, most: maxWhole}},
		result: func(o *Op, _ []Tensor) (collective.Shape, error) { return o.In.Lengths(), nil },
		flops:  func(o *Op, _ []Tensor) int64 { return int64(o.Attributes[opaqueFLOPs]) },
	}
}

// cost consumes the time of an opaque operation, or its FLOPs and bytes, and its gradient.
func (r *reader) cost() {
	var time []string
	for len(r.words) > 0 {
		word := r.next("cost", "")
		name, value, named := strings.Cut(word, "=")
		switch {
		case !named:
			time = append(time, word)
		case name == "flops" || name == "bytes":
			r.stated(name, value)
		case name == "gradient":
			r.gradient(value)
		default:
			r.fail("the cost", word, "a time such as 150 us, flops=2e12, bytes=64MiB or gradient=0 is "+
				"expected")
		}
	}
	if time == nil && r.op.Attributes != [maxAttributes]float64{} {
		return
	}
	text := strings.Join(time, " ")
	t, err := unit.ParseTime(text)
	if err != nil {
		r.fail("time", text, "a time such as 150 us, or flops=2e12 and bytes=64MiB, is expected")
	}
	r.op.Time = t
}

// stated parses the FLOPs or bytes that an opaque operation states.
func (r *reader) stated(name, text string) {
	x, err := strconv.ParseFloat(text, 64)
	at := opaqueFLOPs
	if name == "bytes" {
		if at = opaqueBytes; err != nil {
			var n unit.Bytes
			n, err = unit.ParseBytes(text)
			x = float64(n)
		}
	}
	if err != nil || x < 1 || x > maxWhole || x != math.Trunc(x) {
		r.fail(name, text, "a whole number from 1 to 2^53 is expected, as 2e12")
	}
	r.op.Attributes[at] = x
}

// gradient parses the place of the operand by which a gradient is.
func (r *reader) gradient(text string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		r.fail("gradient", text, "the place of an operand, from 0, is expected")
	}
	r.op.Gradient = n + 1
}

// costText returns what cost consumes, without the gradient.
func (o *Op) costText() string {
	var words []string
	for i, a := range o.layer().attributes {
		if x := o.Attributes[i]; x > 0 {
			words = append(words, a.name+"="+strconv.FormatFloat(x, 'g', -1, 64))
		}
	}
	if words != nil {
		return strings.Join(words, " ")
	}
	if t, err := unit.ParseTime(o.Time.String()); err != nil || t != o.Time {
		return strconv.FormatInt(int64(o.Time), 10) + " ps"
	}
	return o.Time.String()
}

// Part returns an opaque operation with a part of the cost: what is between from/all and to/all of
// it. Parts that follow each other add up to the whole, exactly.
func (o Op) Part(from, to, all int64) Op {
	part := func(n int64) int64 {
		return cut(n, to, all) - cut(n, from, all)
	}
	o.Time = unit.Time(part(int64(o.Time)))
	for i := range o.Attributes {
		o.Attributes[i] = float64(part(int64(o.Attributes[i])))
	}
	return o
}

// cut returns n·a / b, rounded down. REQUIRES: 0 ≤ a ≤ b, b > 0.
func cut(n, a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(a))
	if a == b {
		return n
	}
	quotient, _ := bits.Div64(hi, lo, uint64(b))
	return int64(quotient)
}

// Cost returns the words that state the cost of an opaque operation: "150 us".
func (o *Op) Cost() string { return o.costText() }

// checkCost checks that an opaque operation states its time or its cost, and not both.
func (o *Op) checkCost() error {
	states := o.Attributes != [maxAttributes]float64{}
	switch {
	case o.Time < 0 || o.Time >= unit.Forever:
		return o.fail("time", o.Time, "a time from 0 s is expected")
	case o.Time > 0 && states:
		return o.fail("time", o.Time, "a time, or flops and bytes, is expected, and not both")
	case o.HasResult():
		return nil
	case *o != Op{Kind: Opaque, Time: o.Time, Attributes: o.Attributes}:
		return o.fail("its shape and types", o.In, "nothing is expected without operands")
	}
	return o.checkAttributes()
}

// golden is 2^64 divided by the golden ratio, an odd number that spreads counters.
const golden = 0x9e3779b97f4a7c15

// scramble applies the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014): a bijection in which each bit of the result
// depends on all.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// MostOfStandIn is the largest magnitude in a stand-in of a type with signs.
const MostOfStandIn = 4

// standIn returns the result of an opaque operation, which nobody knows: whole numbers from 1 to 4
// with either sign (without signs from 1 to 8), which every type has. They depend on every element
// of all operands and on its place, so that wrong operands give another result. The sums are modulo
// 2^64; element i of operand k, from 0, counts as the bits of its value in float64 (−0 as 0, and
// every NaN as one), or as its 64-bit integer. Of
// complex numbers each component counts, and is made, as an element.
//
//	h      = gradient·G + Σ scramble(bits(k, i) + G·scramble(i + G·(k + 1)))
//	out[j] : w = scramble(h + G·scramble(j + 1)), of magnitude 1 + (w / 2 mod 4), negative if w is
//	         odd; of unsigned integers 1 + (w mod 8); of bools w mod 2
func standIn(o *Op, out []byte, operands [][]byte) {
	h := uint64(o.Gradient) * golden
	for k, t := range o.listed() {
		h += hashOf(t.Type.Component(), operands[k], uint64(k+1)*golden)
	}
	t := o.Out.Component() // of complex numbers, each component is one
	to, unsigned := codecOf(t), !t.IsFloat() && !t.Signed()
	parts(len(out)/t.Width(), func() func(at, n int) {
		x, u := make([]float64, part), make([]uint64, part)
		return func(at, n int) {
			for i := range n {
				w := scramble(h + golden*scramble(uint64(at+i)+1))
				m := int64(1 + w>>1%MostOfStandIn)
				if w&1 != 0 {
					m = -m
				}
				if unsigned {
					m = int64(1 + w&7)
				}
				if t == dtype.Bool {
					m = int64(w & 1)
				}
				x[i], u[i] = float64(m), uint64(m)
			}
			if dst := out[at*t.Width():]; t.IsFloat() {
				to.narrow64(dst, x[:n])
			} else {
				to.wrap(dst, u[:n])
			}
		}
	})
}

// hashOf returns the sum of a stand-in over an operand; from is G·(k + 1).
func hashOf(t dtype.Type, data []byte, from uint64) (h uint64) {
	n := len(data) / t.Width()
	sums := make([]uint64, (n+part-1)/part)
	c := codecOf(t)
	parallel.Each(len(sums), func() func(piece int) {
		x, u := make([]float64, part), make([]uint64, part)
		return func(piece int) {
			at := piece * part
			m := min(part, n-at)
			if src := data[at*t.Width():]; t.IsFloat() {
				c.widen64(x[:m], src)
				for i := range m {
					u[i] = bitsOf(x[i])
				}
			} else {
				c.whole(u[:m], src)
			}
			for i := range m {
				sums[piece] += scramble(u[i] + golden*scramble(uint64(at+i)+from))
			}
		}
	})
	for _, s := range sums {
		h += s
	}
	return h
}

// bitsOf returns the bits of a float64, without the sign of a zero and what is in a NaN.
func bitsOf(x float64) uint64 {
	switch {
	case x == 0:
		return 0
	case math.IsNaN(x):
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}
