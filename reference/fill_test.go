package reference

import (
	"math/bits"
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"

	"github.com/stretchr/testify/require"
)

// TestFillIsTheSlowOne: data of every float type, kind and operator, from even and odd elements on,
// are those that are made one by one in float64 and then rounded.
func TestFillIsTheSlowOne(t *testing.T) {
	all := []int{1, 2, 3, 8, 9, 31, 100, 256, 1000, 5000}
	for _, ranks := range tier.Of([]int{1, 3, 8, 100, 5000}, all) {
		for _, op := range append(collective.Ops(), 0) {
			for _, data := range []Data{Exact, Uniform, Normal} {
				for _, mode := range []collective.AvgMode{collective.AvgNCCL, collective.AvgPost} {
					s := collective.Spec{Kind: collective.AllReduce, Op: op, Avg: mode, Factor: 0.3,
						Ranks: ranks, Count: 3000}
					if op == 0 {
						s.Kind = collective.AllGather
					}
					fillIsSlow[float64](t, s, data)
					fillIsSlow[float32](t, s, data)
					fillIsSlow[dtype.F16](t, s, data)
					fillIsSlow[dtype.BF16](t, s, data)
					fillIsSlow[dtype.E4M3](t, s, data)
					fillIsSlow[dtype.E5M2](t, s, data)
				}
			}
		}
	}
}

func fillIsSlow[T dtype.Number](t *testing.T, s collective.Spec, data Data) {
	t.Helper()
	s.Type = dtype.Of[T]()
	g := newGenerator[T](&s, data, 9)
	got := make([]T, 500)
	for _, off := range []int64{0, 1, 1998, 2047} {
		for _, n := range []int{0, 1, 2, 499} {
			rank := int(off) % s.Ranks
			g.another().fill(got[:n], rank, off)
			for i, x := range got[:n] {
				want := dtype.From[T](slowElement(&g.numbers, rank, off+int64(i)))
				if dtype.Bits(want) != dtype.Bits(x) {
					require.Failf(t, "another element", "%v %v %v of %d ranks: rank %d element %d: %v, not %v",
						s.Type, s.Op, data, s.Ranks, rank, off+int64(i), x, want)
				}
			}
		}
	}
}

// slowElement is one element of a float type before it is rounded to it, by the words of Data and
// exactness.
func slowElement(g *numbers, rank int, at int64) float64 {
	h := word(g.stream(rank), at)
	first, _ := bits.Mul64(word(g.stream(-1), at), uint64(g.ranks))
	turn := (rank + int(first)) % g.ranks
	product := g.op == collective.Prod
	switch {
	case g.data == Exact && product:
		x := g.factor(h, turn)
		if h&1 != 0 {
			x = -x
		}
		return x
	case g.data == Exact && g.exact.powers:
		if turn >= g.exact.active {
			return 0
		}
		x := g.exact.unit * float64(uint64(1)<<(uint(h>>32)%(g.exact.spread+1)))
		if h&1 != 0 {
			x = -x
		}
		return x
	case product:
		z := fraction(h)
		if turn >= g.turns {
			z = 0
		} else if g.data == Normal {
			z = g.normal.at(z)
		}
		return g.nearOne(z, h&1 != 0, h&2 != 0)
	case g.data == Normal:
		return g.normal.at(fraction(h))
	case g.dtype == dtype.Float64 && g.data == Uniform:
		return float64(int64(h)>>10) / (1 << 53)
	case g.dtype == dtype.Float64:
		return float64(int64(h) >> g.shift)
	case g.data == Uniform:
		return float64(int32(half(g.stream(rank), at))>>7) / (1 << 24)
	}
	return float64(int32(half(g.stream(rank), at)) >> g.shift)
}
