package proof

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// bench is formulas with two given tensors of 3 ranks, of elements enough.
type bench struct {
	*formulas
	t *testing.T
}

func newBench(t *testing.T) bench {
	s := mustParse(t, "collective custom float32\nranks 3\ntensor a given float32 100\n"+
		"tensor b given float32 100\nrank 0\nrank 1\nrank 2\n")
	return bench{newFormulas(s), t}
}

// a is n elements of tensor a of a rank, from off on.
func (b bench) a(rank int, off, n int64) []seg { return b.of(0, dtype.Float32, rank, off, n) }

func (b bench) of(tensor int, typ dtype.Type, rank int, off, n int64) []seg {
	return []seg{{n, b.given(schedule.FirstTensor+schedule.Buffer(tensor), typ, rank, 0), off}}
}

func (b bench) apply(op string, in ...[]seg) []seg {
	o, err := kernel.Parse(op)
	require.NoError(b.t, err)
	return b.formulas.apply(o, in)
}

func join(lists ...[]seg) (all []seg) {
	for _, list := range lists {
		for _, g := range list {
			all = appendSeg(all, g)
		}
	}
	return all
}

// TestMatmulByRows: a matmul by blocks of rows is the matmul of all, wherever the rows lie and
// however they are pieced together.
func TestMatmulByRows(t *testing.T) {
	b := newBench(t)
	weight := b.of(1, dtype.Float32, 0, 0, 8)
	mm := func(m string, a []seg) []seg {
		return b.apply("matmul m="+m+" k=4 n=2 float32*float32->float32", a, weight)
	}
	whole := mm("6", b.a(1, 0, 24))
	require.Len(t, whole, 1)
	require.Equal(t, whole,
		join(mm("1", b.a(1, 0, 4)), mm("3", b.a(1, 4, 12)), mm("2", b.a(1, 16, 8))))
	require.Equal(t, cut(whole, 4, 4), mm("2", b.a(1, 8, 8)))
	// rows of two values, one after the other
	mixed := mm("4", join(b.a(1, 8, 8), b.a(2, 0, 8)))
	require.Equal(t, join(cut(whole, 4, 4), mm("2", b.a(2, 0, 8))), mixed)
	// rows that begin elsewhere are others
	moved := mm("2", b.a(1, 2, 8))
	require.NotEqual(t, moved[0].v, whole[0].v)
	require.Equal(t, cut(mm("3", b.a(1, 2, 12)), 2, 4), mm("2", b.a(1, 6, 8)))
	// each row half of rank 0, half of rank 1: row i begins at element 2·i of both
	var rows []seg
	for i := range int64(5) {
		rows = join(rows, b.a(0, 2*i, 2), b.a(1, 2*i, 2))
	}
	pieced := mm("5", rows)
	require.Len(t, pieced, 1)
	require.Equal(t, cut(pieced, 2, 4), mm("2", rows[2:6]))
	require.NotEqual(t, cut(pieced, 0, 2), mm("1", join(b.a(1, 0, 2), b.a(0, 0, 2))))
	require.NotEqual(t, cut(pieced, 0, 2), mm("1", join(b.a(0, 0, 2), b.a(1, 2, 2))))
	// another weight, of another rank or from elsewhere
	other := b.apply("matmul m=6 k=4 n=2 float32*float32->float32", b.a(1, 0, 24),
		b.of(1, dtype.Float32, 1, 0, 8))
	require.NotEqual(t, whole[0].v, other[0].v)
	other = b.apply("matmul m=6 k=4 n=2 float32*float32->float32", b.a(1, 0, 24),
		b.of(1, dtype.Float32, 0, 1, 8))
	require.NotEqual(t, whole[0].v, other[0].v)
	// nothing is made of what nobody has written, but of the rows beside it
	holed := mm("3", join(b.a(1, 0, 4), []seg{{n: 4}}, b.a(1, 8, 4)))
	require.Equal(t, cut(whole, 0, 2), holed[:1])
	require.Nil(t, holed[1].v)
	require.Equal(t, cut(whole, 4, 2), holed[2:])
}

// TestSums: sums have no order of additions; a sum over the outermost axis is one of its slices.
func TestSums(t *testing.T) {
	b := newBench(t)
	add := func(x, y []seg) []seg { return b.apply("add 4 float32+float32->float32", x, y) }
	x, y, z := b.a(0, 0, 4), b.a(1, 0, 4), b.a(2, 0, 4)
	require.Equal(t, add(add(x, y), z), add(y, add(z, x)))
	require.NotEqual(t, add(x, y), add(x, b.a(1, 1, 4)))
	require.NotEqual(t, add(x, x), x)
	stacked := join(x, y, z)
	require.Equal(t, add(add(x, y), z), b.apply("sum 3x4 axis=0 float32->float32", stacked))
	require.Equal(t, add(add(x, y), z), b.apply("sum 3x2x2 axis=0 float32->float32", stacked))
	// slices of one tensor
	require.Equal(t, add(b.a(0, 0, 4), b.a(0, 4, 4)), b.apply("sum 2x4 axis=0 float32->float32",
		b.a(0, 0, 8)))
	require.Equal(t, cut(b.apply("sum 2x4 axis=0 float32->float32", b.a(0, 0, 8)), 1, 2),
		add2(b, b.a(0, 1, 2), b.a(0, 5, 2)))
	// a mean is what a collective's is, and one third of a sum is not the sum
	third := b.scaling(&collective.Spec{Op: collective.Avg, Ranks: 3})
	mean := b.apply("mean 3x4 axis=0 float32->float32", stacked)
	require.Equal(t, mean[0].v, b.times(add(add(x, y), z)[0].v, third))
	scaled := func(list []seg) []seg {
		return []seg{{list[0].n, b.times(list[0].v, third), list[0].off}}
	}
	require.Equal(t, mean, add(add(scaled(z), scaled(x)), scaled(y)))
	require.NotEqual(t, mean, add(add(x, y), z))
	// along another axis rows are added up, whichever tensor they are in
	rows := b.apply("sum 3x4 axis=1 float32->float32", b.a(1, 0, 12))
	require.Equal(t, cut(rows, 1, 2), b.apply("sum 2x4 axis=1 float32->float32", b.a(1, 4, 8)))
	// a sum in float32 that is rounded to bfloat16 is the sum, cast
	require.Equal(t, b.apply("cast 4 float32->bfloat16", add(x, y)),
		b.apply("sum 2x4 axis=0 float32->bfloat16", join(x, y)))
	require.Equal(t, x, b.apply("cast 4 float32->float32", x))
	require.NotEqual(t, x[0].v, b.apply("cast 4 float32->bfloat16", x)[0].v)
}

func add2(b bench, x, y []seg) []seg { return b.apply("add 2 float32+float32->float32", x, y) }

// TestOtherOperators: what another operator has combined stays together; and a rounded quotient of
// integers is not a sum of quotients.
func TestOtherOperators(t *testing.T) {
	b := newBench(t)
	x, y, z := b.a(0, 0, 4)[0], b.a(1, 0, 4)[0], b.a(2, 0, 4)[0]
	most := func(x, y seg) seg { return b.plus(collective.Max, x, y) }
	sum := func(x, y seg) seg { return b.plus(collective.Sum, x, y) }
	require.Equal(t, most(most(x, y), z), most(z, most(y, x)))
	require.NotEqual(t, sum(most(x, y), z), most(sum(x, z), sum(y, z)))
	require.NotEqual(t, sum(most(x, y), z), sum(sum(x, y), z))
	require.Equal(t, sum(z, most(x, y)), sum(most(y, x), z))
	further := func(g seg) seg { g.off += 2; return g }
	require.Equal(t, further(sum(z, most(x, y))), sum(further(most(x, y)), further(z)))
	third := b.scaling(&collective.Spec{Op: collective.Avg, Ranks: 3})
	i := b.of(1, dtype.Int32, 0, 0, 4)[0]
	j := b.of(1, dtype.Int32, 1, 0, 4)[0]
	over := func(g seg) seg { g.v = b.times(g.v, third); return g }
	require.NotEqual(t, over(sum(i, j)), sum(over(i), over(j)))
	require.Equal(t, over(sum(x, y)), sum(over(x), over(y)))
	require.NotEqual(t, over(most(x, y)), most(over(x), over(y)))
}
