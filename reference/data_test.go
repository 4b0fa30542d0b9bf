package reference

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"

	"github.com/stretchr/testify/require"
)

// TestExactDataIsExact adds, or multiplies, in random trees with rounding at every operation: the
// result must be the definition's whatever the tree, for every operator, type and mode.
func TestExactDataIsExact(t *testing.T) {
	for _, op := range collective.Ops() {
		for _, ranks := range tier.Of([]int{1, 2, 3, 7, 100, 255, 256, 4095},
			[]int{1, 2, 3, 7, 64, 100, 255, 256, 4095, 5001}) {
			for _, factor := range []float64{1, -3, 0.1} {
				if factor != 1 && op != collective.PremulSum {
					continue
				}
				for _, mode := range []collective.AvgMode{collective.AvgNCCL, collective.AvgPost} {
					s := meant(collective.Spec{Kind: collective.AllReduce, Op: op, Avg: mode,
						Factor: factor, Ranks: ranks, Count: 8})
					if op <= collective.PremulSum {
						exactInAnyOrder[float32](t, s)
						exactInAnyOrder[float64](t, s)
					} else {
						exactInAnyOrder[dtype.B8](t, s)
					}
					if factor != 0.1 {
						exactInAnyOrder[int32](t, s)
						exactInAnyOrder[int64](t, s)
					}
				}
			}
		}
	}
}

func exactInAnyOrder[T dtype.Number](t *testing.T, s collective.Spec) {
	t.Helper()
	s.Type = dtype.Of[T]()
	g := newGenerator[T](&s, Exact, 3)
	inputs := make([][]T, s.Ranks)
	different := map[T]bool{}
	for r := range inputs {
		inputs[r] = make([]T, s.Count)
		g.fill(inputs[r], r, 0)
		for _, x := range inputs[r] {
			different[x] = true
		}
	}
	require.Greater(t, len(different), 1, "%v of %d %v: all the same", s.Op, s.Ranks, s.Type)
	want, err := Define(s, inputs)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(uint64(s.Ranks), 5))
	for range 3 {
		values := make([][]T, s.Ranks)
		for r := range values {
			values[r] = append([]T(nil), inputs[r]...)
			if s.ScalesBefore() {
				Scale(&s, values[r])
			}
		}
		for n := len(values); n > 1; n-- { // combine any two
			i, j := random.IntN(n), random.IntN(n-1)
			if j >= i {
				j++
			}
			combine(s.Op, values[i], values[j])
			values[j] = values[n-1]
		}
		if s.ScalesAfter() {
			Scale(&s, values[0])
		}
		for i, x := range values[0] { // both zeros are one number
			require.Equal(t, dtype.Value(want[0][i]), dtype.Value(x), "%v of %d %v", s.Op, s.Ranks,
				s.Type)
		}
	}
}

// TestExactDataNoticesWhatIsMissing drops each rank once: some element must change.
func TestExactDataNoticesWhatIsMissing(t *testing.T) {
	for _, op := range []collective.Op{collective.Sum, collective.Prod, collective.Avg} {
		s := collective.Spec{Kind: collective.AllReduce, Op: op, Ranks: 300, Count: 64,
			Type: dtype.Of[float32]()}
		g := newGenerator[float32](&s, Exact, 1)
		for r := range s.Ranks {
			neutral := float32(0)
			if op == collective.Prod {
				neutral = 1
			}
			in := make([]float32, s.Count)
			g.fill(in, r, 0)
			same := make([]float32, s.Count)
			spread(same, neutral)
			require.NotEqual(t, same, in, "%v rank %d", op, r)
		}
	}
}

// TestFillIsAFunctionOfTheElement reads inputs in pieces, from anywhere.
func TestFillIsAFunctionOfTheElement(t *testing.T) {
	for _, data := range []Data{Exact, Uniform, Normal} {
		for _, op := range append(collective.Ops(), 0) {
			s := collective.Spec{Kind: collective.AllReduce, Op: op, Ranks: 5, Count: 100, Factor: 3}
			fillsAlike[float32](t, s, data)
			fillsAlike[float64](t, s, data)
			fillsAlike[int32](t, s, data)
			fillsAlike[int64](t, s, data)
			fillsAlike[dtype.B8](t, s, data)
		}
	}
}

func fillsAlike[T dtype.Number](t *testing.T, s collective.Spec, data Data) {
	t.Helper()
	g := newGenerator[T](&s, data, 11)
	whole, other := make([]T, s.Count), make([]T, s.Count)
	g.fill(whole, 2, 0)
	for _, piece := range []int{1, 2, 3, 7, 64} {
		for off := 0; off < len(whole); off += piece {
			to := min(off+piece, len(whole))
			g.fill(other[off:to], 2, int64(off))
		}
		require.Equal(t, whole, other, "%v %v in pieces of %d", s.Op, data, piece)
	}
	g.fill(other, 3, 0)
	require.NotEqual(t, whole, other, "two ranks have the same input")
	newGenerator[T](&s, data, 12).fill(other, 2, 0)
	require.NotEqual(t, whole, other, "two seeds give the same input")
}

func TestDistributions(t *testing.T) {
	const n = 100000
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Ranks: 2, Count: n}
	for _, tt := range []struct {
		data                Data
		deviation, fraction float64 // of |x| < 1/2
	}{{Uniform, 1 / math.Sqrt(3), 0.5}, {Normal, 1, math.Erf(0.5 / math.Sqrt2)}} {
		x := make([]float64, n)
		newGenerator[float64](&s, tt.data, 1).fill(x, 0, 0)
		mean, square, inside := 0.0, 0.0, 0.0
		for _, v := range x {
			mean += v / n
			square += v * v / n
			if math.Abs(v) < 0.5 {
				inside += 1.0 / n
			}
		}
		// Five standard deviations of each estimate are below 0.02.
		require.InDelta(t, 0, mean, 0.02)
		require.InDelta(t, tt.deviation, math.Sqrt(square), 0.02)
		require.InDelta(t, tt.fraction, inside, 0.02)
	}
}

func TestQuantile(t *testing.T) {
	for q := -0.4999; q < 0.5; q += 0.0001 {
		want := math.Sqrt2 * math.Erfinv(2*q)
		require.InDelta(t, want, quantile(q), 1e-6*max(1, math.Abs(want)))
	}
	for z, table := -1.0, newNormalTable(); z <= 1; z += 0.00013 {
		require.InDelta(t, quantile(z/2), table.at(z), 2e-3)
	}
	for _, tail := range []float64{1e-5, 1e-8, 1e-12, 1e-15} {
		want := math.Sqrt2 * math.Erfinv(2*(0.5-tail))
		require.InEpsilon(t, want, quantile(0.5-tail), 1e-4) // 0.5 − 1e−15 itself is rounded
	}
	for _, x := range []float64{1e-300, 1e-9, 0.075, 0.5, 0.7, 1, 1.5} {
		require.InDelta(t, math.Log(x), ln(x), 1e-14*max(1, math.Abs(math.Log(x))))
	}
}

// TestBitsAreBoth: and, or and xor of made bools and integers are neither mostly 0 nor mostly 1, on
// any number of ranks, so that a rank that is missing shows.
func TestBitsAreBoth(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 8, 100, 3000} {
		for _, op := range []collective.Op{collective.And, collective.Or, collective.Xor} {
			s := collective.Spec{Kind: collective.AllReduce, Op: op, Ranks: ranks, Count: 2000}
			require.InDelta(t, 0.5, onesOf[dtype.B8](t, s, 1), 0.4, "%v of %d bools", op, ranks)
			require.InDelta(t, 0.5, onesOf[int16](t, s, 16), 0.4, "%v of %d int16", op, ranks)
		}
	}
}

// onesOf is the share of bits that are set in the result of made inputs.
func onesOf[T dtype.Number](t *testing.T, s collective.Spec, width int) float64 {
	t.Helper()
	s.Type = dtype.Of[T]()
	inputs, err := Inputs[T](s, Uniform, 4)
	require.NoError(t, err)
	want, err := Define(s, inputs)
	require.NoError(t, err)
	ones := 0
	for _, x := range want[0] {
		require.Zero(t, dtype.Bits(x)>>width)
		ones += bits.OnesCount64(dtype.Bits(x))
	}
	return float64(ones) / float64(width*len(want[0]))
}
