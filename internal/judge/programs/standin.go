package programs

import "math"

// A stand-in is what an opaque kernel writes, since nobody knows it: the sum, over all elements of
// all operands, of a hash of the element and its place, spread over the result
// (docs/programs.md#opaque-kernels).

const golden = 0x9e3779b97f4a7c15

// mixed applies the finalizer of SplitMix64.
func mixed(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// standIn returns a stand-in of a shape; gradient is 0, or 1 and the place of the operand.
func standIn(in []*tensor, shape []int64, out numberType, gradient int) *tensor {
	sum := uint64(gradient) * golden
	for k, t := range in {
		for i, x := range t.list {
			bits := uint64(x.n)
			switch {
			case !t.typ.float:
			case x.f == 0:
				bits = 0
			case math.IsNaN(x.f):
				bits = 0x7ff8000000000000
			default:
				bits = math.Float64bits(x.f)
			}
			sum += mixed(bits + golden*mixed(uint64(i)+golden*uint64(k+1)))
		}
	}
	return pointwise(shape, out, func(j int) number {
		w := mixed(sum + golden*mixed(uint64(j+1)))
		if !out.float && !out.signed {
			return number{n: int64(1 + w%8)}
		}
		m := int64(1 + w/2%4)
		if w%2 == 1 {
			m = -m
		}
		if out.float {
			return number{f: float64(m)}
		}
		return number{n: m}
	})
}

// opaque returns the result of an opaque kernel. On a rank with some rows of the first operand, it
// has as many rows.
func (o *op) opaque(m *machine, in []*tensor, out numberType) *tensor {
	shape := o.shape
	if shape == nil {
		shape = m.tensors[o.out].shape
	}
	if most := m.shapes[o.in[0]]; len(most) > 0 && in[0].shape[0] != most[0] {
		shape = with(shape, 0, in[0].shape[0])
	}
	return standIn(in, shape, out, 0)
}
