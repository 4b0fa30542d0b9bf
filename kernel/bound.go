package kernel

import (
	"math"
	"slices"

	"collsim/dtype"
)

// A bounding is a layer, or its gradient, with operands that may be off.
//
// What is bounded is every implementation by the formula in the layer's file in the precision p,
// float32 unless an operand is of float64: with sums in any order, with or without fused
// multiply-adds, with the functions of a GPU's library. Where a well-known implementation keeps
// something in the type of the tensors between two kernels, the layer's bound says so, and adds its
// unit roundoff, kept.
type bounding struct {
	computation
	off  [][]float64 // of each operand
	p    precision
	kept float64
	by   int // the operand by which the gradient is; −1: it is none
}

// Bounds returns how far each element of a layer's result may be from that of Apply: what another
// implementation computes from operands that are at most off away from these (nil: not at all), and
// rounds to the type of the result. NaN stands for no bound, where something may overflow or be
// divided by 0 on the way. An opaque operation has none. REQUIRES: Validate; a layer; operands as
// Apply takes them.
//
// Both results are rounded, each by u of the result's type, and what Apply computes in float64 is
// as far off as that precision has it.
func Bounds(o Op, operands [][]byte, off [][]float64) []float64 {
	b := &bounding{off: slices.Clone(off), p: precisionOf(dtype.Float32), by: o.Gradient - 1,
		kept: max(precisionOf(o.A).u, precisionOf(o.Out).u)}
	b.op = &o
	for i, t := range o.listed() {
		if t.Type == dtype.Float64 {
			b.p = precisionOf(dtype.Float64)
		}
		b.shapes, b.in = append(b.shapes, t.Shape), append(b.in, widened(t, operands[i]))
		if b.off[i] == nil {
			b.off[i] = make([]float64, len(b.in[i]))
		}
	}
	to := precisionOf(o.Out)
	least, own := float64(2*o.Out.Smallest()), 1+0x1p-53/b.p.u
	list := o.layer().bound(b)
	most := make([]float64, len(list))
	for i, a := range list {
		if a.off != 0 { // exact otherwise
			last := float64(to.u * (math.Abs(a.x) + a.off))
			most[i] = float64(own*a.off) + float64(2*last) + least
		}
	}
	return most
}

// at returns an element of an operand.
func (b *bounding) at(operand, i int) approx { return approx{b.in[operand][i], b.off[operand][i]} }

// gradient returns the number of the operand that is the gradient of the result.
func (b *bounding) gradient() int { return len(b.in) - 1 }

// stored returns a number as it may be kept between two kernels.
func (b *bounding) stored(a approx) approx { return stored(a, b.kept) }

// each bounds as many elements as the first operand has.
func (b *bounding) each(of func(i int) approx) []approx {
	out := make([]approx, len(b.in[0]))
	parts(len(out), func() func(at, n int) {
		return func(at, n int) {
			for i := at; i < at+n; i++ {
				out[i] = of(i)
			}
		}
	})
	return out
}

// movedBound bounds a layer that moves elements and rounds none: as much as these are off.
func movedBound(b *bounding) []approx {
	row := b.op.layer()
	move := func(in [][]float64) []float64 {
		c := computation{op: b.op, shapes: b.shapes, in: in}
		if b.by < 0 {
			return row.apply(&c)
		}
		last := b.gradient()
		c.in, c.shapes = in[:last], b.shapes[:last]
		return row.gradient(&c, b.by, in[last])
	}
	off := slices.Clone(b.off)
	for _, i := range row.integers {
		off[i] = b.in[i] // which choose what is moved
	}
	out := exactly(move(b.in))
	for i, most := range move(off) {
		out[i].off = most
	}
	return out
}
