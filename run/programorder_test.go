package run_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/internal/tier"
	"collsim/run"
)

// multiplied is a program of a matmul on three ranks and the sum of what they have.
const multiplied = `
[topology]
preset = "switch"
ranks = 3
bandwidth = "100 GB/s"
latency = "1 us"
[[program.tensor]]
name = "a"
input = "given.npz"
[[program.tensor]]
name = "b"
input = "given.npz"
[[program.tensor]]
name = "c"
compare = "theirs.npz"
[[program.tensor]]
name = "sum"
compare = "theirs.npz"
[[program.op]]
name = "multiply"
kernel = "matmul"
in = ["a", "b"]
out = "c"
[[program.op]]
name = "add"
call = "all_reduce"
in = "c"
out = "sum"
`

// An elsewhere computes the program in float32 in an order of its own, in loops that share nothing
// with package kernel. damage, unless 0, leaves out the largest product of an element of rank 1.
type elsewhere struct {
	a, b    [3][]float32 // m × k and k × n
	m, k, n int
	round   func(float32) float32
	random  *rand.Rand
	damage  bool
}

// product returns an element of c: products added up in a random order, by a fused operation or
// not, in one run or in two.
func (e *elsewhere) product(rank, i, j int) float32 {
	order, fused := e.random.Perm(e.k), e.random.IntN(2) == 0
	most, left := float32(0), -1
	for x := range e.k {
		if p := e.a[rank][i*e.k+x] * e.b[rank][x*e.n+j]; math.Abs(float64(p)) > float64(most) {
			most, left = float32(math.Abs(float64(p))), x
		}
	}
	var sums [2]float32
	for at, x := range order {
		if e.damage && rank == 1 && i == 0 && j == 0 && x == left {
			continue
		}
		half := &sums[0]
		if fused && 2*at >= e.k {
			half = &sums[1]
		}
		f, g := e.a[rank][i*e.k+x], e.b[rank][x*e.n+j]
		if fused { // exact in float64, rounded once
			*half = float32(math.FMA(float64(f), float64(g), float64(*half)))
		} else {
			*half += float32(f * g)
		}
	}
	return e.round(sums[0] + sums[1])
}

// results returns c of every rank, and their sum in a random order, rounded after every addition.
func (e *elsewhere) results() (c, sum [3][]float32) {
	for rank := range c {
		for i := range e.m {
			for j := range e.n {
				c[rank] = append(c[rank], e.product(rank, i, j))
			}
		}
	}
	order := e.random.Perm(3)
	for at := range c[0] {
		x := e.round(c[order[0]][at] + c[order[1]][at])
		x = e.round(x + c[order[2]][at])
		for rank := range sum {
			sum[rank] = append(sum[rank], x)
		}
	}
	return c, sum
}

// array makes an array of ranks × rows × columns of a type.
func array(name string, dt dtype.Type, ranks [3][]float32, rows, columns int) arrays.Array {
	a := arrays.Array{Name: name, Type: dt, Width: dt.Width(), Shape: []int64{3, int64(rows),
		int64(columns)}}
	for _, values := range ranks {
		if dt == dtype.BFloat16 {
			a.Data = append(a.Data, encoded[dtype.BF16](values)...)
		} else {
			a.Data = append(a.Data, encoded[float32](values)...)
		}
	}
	return a
}

func encoded[T dtype.Number](values []float32) []byte {
	x := make([]T, len(values))
	dtype.Narrow(x, values)
	b := make([]byte, len(x)*dtype.Of[T]().Width())
	dtype.Put(b, x)
	return b
}

// rounded rounds to bfloat16.
func rounded(x float32) float32 {
	y, z := make([]dtype.BF16, 1), make([]float32, 1)
	dtype.Narrow(y, []float32{x})
	dtype.Widen(z, y)
	return z[0]
}

// TestAnyOrderIsNotWrong: whatever the order of products and ranks, fused or not, nothing is wrong;
// with one product left out, one element of one op is.
func TestAnyOrderIsNotWrong(t *testing.T) {
	different := int64(0)
	for seed := range tier.Of(uint64(24), 400) {
		e := &elsewhere{m: 3, k: 1 + int(seed%67), n: 4, random: rand.New(rand.NewPCG(seed, 1)),
			round: func(x float32) float32 { return x }, damage: seed%2 == 1}
		dt := dtype.Float32
		if seed%4 > 1 {
			dt, e.round = dtype.BFloat16, rounded
		}
		for rank := range 3 {
			for range e.m * e.k {
				e.a[rank] = append(e.a[rank], rounded(float32(e.random.NormFloat64())))
			}
			for range e.k * e.n {
				e.b[rank] = append(e.b[rank], rounded(float32(e.random.NormFloat64())))
			}
		}
		dir := t.TempDir()
		c, sum := e.results()
		require.NoError(t, arrays.Write(filepath.Join(dir, "given.npz"), []arrays.Array{
			array("a", dtype.Float32, e.a, e.m, e.k), array("b", dtype.Float32, e.b, e.k, e.n)}))
		require.NoError(t, arrays.Write(filepath.Join(dir, "theirs.npz"), []arrays.Array{
			array("c", dt, c, e.m, e.n), array("sum", dt, sum, e.m, e.n)}))
		r, err := runLayer(t, filepath.Join(dir, "p.toml"), multiplied,
			fmt.Sprintf("program.op[0].dtype=%v", dt))
		require.NoError(t, err)
		require.Len(t, r.Compared, 2)
		different += r.Compared[0].Different
		if !e.damage {
			require.True(t, r.Good(), "seed %d: %+v", seed, r.Compared)
			continue
		}
		require.EqualValues(t, 1, r.Compared[0].Beyond, "seed %d", seed)
		require.Equal(t, 1, r.Compared[0].FirstBeyond.Rank)
		require.Zero(t, r.Compared[1].Beyond, "seed %d: the sum is right of what it adds up", seed)
		first := run.FirstOf(r.Compared, func(c *run.TensorComparison) bool { return c.Beyond > 0 })
		require.Equal(t, "multiply", first.Op)
	}
	require.Positive(t, different)
}
