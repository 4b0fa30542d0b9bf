package reference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// TestExactDataIsExactInEveryFloat adds in random trees, in formats of a few bits, on any number
// of ranks: nothing may be rounded.
func TestExactDataIsExactInEveryFloat(t *testing.T) {
	all := []int{1, 2, 3, 5, 8, 9, 16, 17, 33, 63, 65, 129, 257, 600, 1025, 2049}
	for _, op := range []collective.Op{collective.Sum, collective.Prod, collective.Avg,
		collective.PremulSum} {
		for _, ranks := range tier.Of([]int{1, 2, 5, 9, 16, 33, 65, 600, 2049}, all) {
			for _, factor := range []float64{-3, 0.1, 0.5, 96} {
				if factor != -3 && op != collective.PremulSum {
					continue
				}
				for _, mode := range []collective.AvgMode{collective.AvgNCCL, collective.AvgPost} {
					if mode == collective.AvgPost && op != collective.Avg {
						continue
					}
					s := meant(collective.Spec{Kind: collective.AllReduce, Op: op, Avg: mode,
						Factor: factor, Ranks: ranks, Count: 24})
					exactInAnyOrder[dtype.F16](t, s)
					exactInAnyOrder[dtype.BF16](t, s)
					exactInAnyOrder[dtype.E4M3](t, s)
					exactInAnyOrder[dtype.E5M2](t, s)
				}
			}
		}
	}
}

// TestExactDataOfManyRanksNoticeWhoIsMissing: where formats hold few numbers, each rank has a part
// somewhere.
func TestExactDataOfManyRanksNoticeWhoIsMissing(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Ranks: 1000, Count: 4096,
		Type: dtype.Float8E5M2}
	g := newGenerator[dtype.E5M2](&s, Exact, 1)
	in := make([]dtype.E5M2, s.Count)
	for r := range s.Ranks {
		g.fill(in, r, 0)
		sum := 0.0
		for _, x := range in {
			sum += math.Abs(dtype.Value(x))
		}
		require.Positive(t, sum, "rank %d", r)
	}
}

// TestOrderSensitiveDataAreBoundedInEveryFloat: errors are there, and within the bound, in every
// format, algorithm and way to accumulate; accumulation in float32 has no larger ones.
func TestOrderSensitiveDataAreBoundedInEveryFloat(t *testing.T) {
	plans := []struct {
		name  string
		plan  func() schedule.Plan
		depth int // of 16 ranks
		steps int // that add, on the way of an input
	}{{"ring", ring, 15, 15}, {"doubling", doubling, 4, 4}, {"one-shot", oneShot, 15, 1}}
	for i, dt := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float8E4M3,
		dtype.Float8E5M2, dtype.Float32, dtype.Float64} {
		for j, p := range plans {
			for k, op := range []collective.Op{collective.Sum, collective.Prod, collective.Avg,
				collective.PremulSum} {
				if !tier.Long && (i+j+k)%2 != 0 {
					continue // every two of type, plan and operator meet half of the third
				}
				s := meant(collective.Spec{Kind: collective.AllReduce, Op: op, Type: dt, Ranks: 16,
					Count: 500, Factor: 0.3})
				sch := build(t, s, p.plan)
				for _, data := range []Data{Uniform, Normal} {
					native, err := Check(sch, CheckOptions{Data: data})
					require.NoError(t, err)
					name := fmt.Sprintf("%v %s %v %v %v", dt, p.name, op, data, native.First)
					require.Equal(t, NumbersBounded, native.Numbers, name)
					require.Positive(t, native.MeanULP, name)
					require.LessOrEqual(t, native.MeanULP, native.MaxULP, name)
					require.Positive(t, native.MaxRelative, name)
					depth, steps := p.depth, p.steps
					if op == collective.Prod {
						depth, steps = 15, 15
					}
					require.Equal(t, depth, native.Depth, name)
					u := math.Ldexp(1, -dt.Precision())
					if op == collective.Sum { // to first order
						require.InEpsilon(t, float64(p.depth)*u, native.Bound, 4*float64(p.depth)*u, name)
						require.LessOrEqual(t, native.Bound, 15*u, name)
					}
					wide, err := Check(sch, CheckOptions{Data: data, Accumulate: InFloat32})
					require.NoError(t, err)
					if dt.Width() >= 4 {
						require.Equal(t, native, wide, name)
						continue
					}
					require.Contains(t, []Verdict{NumbersBounded, NumbersExact}, wide.Numbers, name)
					if s.ScalesBefore() && p.name != "one-shot" { // the first step scales alone
						steps++
					}
					require.Equal(t, steps, wide.Depth, name)
					if p.name == "one-shot" {
						require.Less(t, wide.MeanULP, native.MeanULP, name)
						require.LessOrEqual(t, wide.MaxULP, 1.01, name)
					}
				}
			}
		}
	}
}

// TestAccumulateInFloat32 works out by hand sums in bfloat16, which has 1 and 1 + 2^−7 next to
// each other: 1 + 2^−8 is a tie, and three of them after another, rounded each time, give 1.
func TestAccumulateInFloat32(t *testing.T) {
	f := dtype.From[dtype.BF16]
	const e = 0x1p-8
	s := reducing(collective.Sum, dtype.BFloat16, 4)
	inputs := [][]dtype.BF16{{f(1)}, {f(e)}, {f(e)}, {f(e)}}
	for _, c := range []struct {
		plan         func() schedule.Plan
		native, wide float64
	}{
		{oneShot, 1, 1 + 4*e}, // 1 + 3e is a tie of 1 + 2e and 1 + 4e
		{ring, 1, 1},          // a step adds only two
		{doubling, 1 + 2*e, 1 + 2*e},
	} {
		for acc, want := range []float64{c.native, c.wide} {
			got, err := RunWith(build(t, s, c.plan), inputs, RunOptions{Accumulate: Accumulate(acc)})
			require.NoError(t, err)
			for rank := range got {
				require.Equal(t, want, dtype.Value(got[rank][0]), "%v", Accumulate(acc))
			}
		}
	}
	// The factor, the product and the sum are all in one rounding: 3·1 + 3·e, of which fl(3·e) is
	// 3e, and 3 + 3e lies between 3 and 3 + 4e, three quarters of the way.
	s = reducing(collective.PremulSum, dtype.BFloat16, 2)
	s.Factor = 3
	got, err := RunWith(build(t, s, oneShot), inputs[:2], RunOptions{Accumulate: InFloat32})
	require.NoError(t, err)
	require.Equal(t, 3+4*e, dtype.Value(got[0][0]))
}

// TestAccumulateThroughASwitch: what a lane has is combined with what a switch has added up.
func TestAccumulateThroughASwitch(t *testing.T) {
	s, err := schedule.Parse("schedule mixed\ncollective reduce bfloat16 sum\nranks 3\nroot 0\n" +
		"count 1\nrank 0\n  lane 0\n" +
		"    reduce in, multimem{1,2} in into out @0\nrank 1\nrank 2\n")
	require.NoError(t, err)
	f := dtype.From[dtype.BF16]
	inputs := [][]dtype.BF16{{f(1)}, {f(0x1p-8)}, {f(0x1p-10)}}
	for acc, want := range []float64{1 + 0x1p-7, 1 + 0x1p-7} {
		got, err := RunWith(s, inputs, RunOptions{Accumulate: Accumulate(acc)})
		require.NoError(t, err)
		require.Equal(t, want, dtype.Value(got[0][0]))
	}
	inputs[2][0] = 0 // 1 + 2^−8 is a tie; the switch's 2^−8 + 0 loses nothing
	got, err := RunWith(s, inputs, RunOptions{Accumulate: InFloat32})
	require.NoError(t, err)
	require.Equal(t, 1.0, dtype.Value(got[0][0]))
}

// TestPartialSumsThatAreTooLarge: the total is a number, a partial sum is not. That the schedule
// gives something else is found, and is no rounding error.
func TestPartialSumsThatAreTooLarge(t *testing.T) {
	overflows[dtype.F16](t, []float64{60000, 60000, -60000, -59000}, math.Inf(1))
	overflows[dtype.E4M3](t, []float64{448, 448, -448, -416}, -416)
	overflows[dtype.E5M2](t, []float64{57344, 57344, -57344}, 0)
	overflows[float32](t, []float64{3e38, 3e38, -3e38, -3e38}, math.Inf(1))
}

func overflows[T dtype.Number](t *testing.T, values []float64, want float64) {
	t.Helper()
	s := reducing(collective.Sum, dtype.Of[T](), len(values))
	inputs := make([][]T, len(values))
	for i, x := range values {
		inputs[i] = []T{dtype.From[T](x)}
	}
	got, err := Run(build(t, s, ring), inputs)
	require.NoError(t, err)
	require.Equal(t, want, dtype.Value(got[0][0]))
	r, err := Compare(s, inputs, got)
	require.NoError(t, err)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.EqualValues(t, len(values), r.Wrong)
}

// TestTotalsThatAreTooLarge: a definition that is infinite is not far from the largest number, and
// in the 8-bit formats it is that.
func TestTotalsThatAreTooLarge(t *testing.T) {
	f := dtype.From[dtype.F16]
	s := reducing(collective.Sum, dtype.Float16, 2)
	inputs := [][]dtype.F16{{f(65504)}, {f(16)}} // 65520 is a tie, and rounds to infinity
	r, err := Compare(s, inputs, [][]dtype.F16{{f(65504)}, {f(math.Inf(1))}})
	require.NoError(t, err)
	require.Equal(t, NumbersBounded, r.Numbers)
	require.Equal(t, 0.5, r.MaxULP) // 65536 − 65504 is one below, half of one above
	r, err = Compare(s, inputs, [][]dtype.F16{{f(65408)}, {f(math.Inf(-1))}})
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Wrong)
	most := dtype.From[dtype.E4M3](448)
	require.Equal(t, most, define(t, s, most, most, most))
}

// TestInfiniteInputsLeaveNoRoom: no bound is infinite.
func TestInfiniteInputsLeaveNoRoom(t *testing.T) {
	s := reducing(collective.Sum, dtype.Float32, 2)
	inf := float32(math.Inf(1))
	r, err := Compare(s, [][]float32{{inf}, {1}}, [][]float32{{inf}, {3}})
	require.NoError(t, err)
	require.Equal(t, &Mismatch{Rank: 1, Got: "3", Want: "+Inf"}, r.First)
}

// TestMeanULP counts by hand: of three ranks' two elements, one is 2 units off, another 1.
func TestMeanULP(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.BFloat16,
		Ranks: 3, Count: 2}
	f := dtype.From[dtype.BF16]
	one := []dtype.BF16{f(1), f(1)}
	off := []dtype.BF16{f(3 + 0x1p-5), f(3 - 0x1p-6)} // 3 has units of 2^−6
	three := []dtype.BF16{f(3), f(3)}
	r, err := Compare(s, [][]dtype.BF16{one, one, one}, [][]dtype.BF16{three, off, three})
	require.NoError(t, err)
	require.Equal(t, 2.0, r.MaxULP)
	require.Equal(t, 0.5, r.MeanULP)
	require.Equal(t, 0x1p-5/3, r.MaxRelative)
	require.False(t, r.RanksAgree)
	require.Equal(t, NumbersBounded, r.Numbers) // by (n−1)·2^−8 of 3, and half a unit: 2^−5
}

// TestBoundHoldsInAnyTree adds random numbers of narrow formats in random trees of known height.
func TestBoundHoldsInAnyTree(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		boundHolds[dtype.E4M3](t, random)
		boundHolds[dtype.E5M2](t, random)
		boundHolds[dtype.BF16](t, random)
	}
}

func boundHolds[T dtype.Number](t *testing.T, random *rand.Rand) {
	t.Helper()
	type tree struct {
		value  T
		height int
	}
	n := 2 + random.IntN(30)
	trees := make([]tree, n)
	exact, sum := 0.0, 0.0
	for i := range trees {
		trees[i].value = dtype.From[T](random.NormFloat64())
		x := dtype.Value(trees[i].value)
		exact, sum = exact+x, sum+math.Abs(x) // without error: so few bits
	}
	for len(trees) > 1 {
		last := len(trees) - 1
		i := random.IntN(last)
		x := []T{trees[i].value}
		dtype.Sum(x, []T{trees[last].value})
		trees[i] = tree{x[0], 1 + max(trees[i].height, trees[last].height)}
		trees = trees[:last]
	}
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Of[T]()}
	b := rounding{n: n, height: trees[0].height}.bound(&s)
	require.LessOrEqual(t, math.Abs(dtype.Value(trees[0].value)-exact), b*sum)
	require.LessOrEqual(t, b, float64(n-1)*unitRoundoff(s.Type))
}

// TestBoundHoldsInAnyGroups adds random numbers in random groups, each in float32 and rounded to
// the type at its end: the bound of any order is that of any groups.
func TestBoundHoldsInAnyGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		groupsHold[dtype.E4M3](t, random)
		groupsHold[dtype.E5M2](t, random)
		groupsHold[dtype.BF16](t, random)
		groupsHold[dtype.F16](t, random)
	}
}

func groupsHold[T dtype.Number](t *testing.T, random *rand.Rand) {
	t.Helper()
	n := 2 + random.IntN(60)
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Of[T](),
		Ranks: n, Count: 1}
	inputs, outputs, left := make([][]T, n), make([][]T, n), make([]T, n)
	for i := range inputs {
		left[i] = dtype.From[T](random.NormFloat64())
		inputs[i] = []T{left[i]}
	}
	for len(left) > 1 {
		random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		sum, operand := make([]float32, 1), make([]float32, 1)
		some := 2 + random.IntN(len(left)-1)
		dtype.Widen(sum, left[:1])
		for _, x := range left[1:some] {
			dtype.Widen(operand, []T{x})
			dtype.Sum(sum, operand)
		}
		left = left[some-1:]
		dtype.Narrow(left[:1], sum)
	}
	for i := range outputs {
		outputs[i] = left
	}
	r, err := Compare(s, inputs, outputs)
	require.NoError(t, err)
	require.Zero(t, r.Wrong, "%v", inputs)
}

// TestHeights: of blocks that are sent together, of switches, and of unequal cuts.
func TestHeights(t *testing.T) {
	for _, c := range []struct {
		plan func() schedule.Plan
		kind collective.Kind
		want int
	}{{ring, collective.AllReduce, 7}, {doubling, collective.AllReduce, 3},
		{chainReduce, collective.Reduce, 7}, {ringReduceScatter, collective.ReduceScatter, 7}} {
		for _, inPlace := range []bool{false, true} {
			s := collective.Spec{Kind: c.kind, Op: collective.Sum, Type: dtype.BFloat16, Ranks: 8,
				Count: 29, InPlace: inPlace}
			v, err := look(build(t, s, c.plan), lookOptions{})
			require.NoError(t, err)
			require.Equal(t, c.want, v.rounding().height)
		}
	}
	v, err := look(twoShot(t, "bfloat16 sum", 8), lookOptions{})
	require.NoError(t, err)
	require.Equal(t, 3, v.rounding().height)
}

// TestMemoryOfRun counts bytes: of a ring of 8 ranks, with inputs and outputs that are live anyway,
// no more than three times these.
func TestMemoryOfRun(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.BFloat16,
		Ranks: 8, Count: 1 << 17}
	inputs, err := Inputs[dtype.BF16](s, Normal, 1)
	require.NoError(t, err)
	sch := build(t, s, ring)
	for _, acc := range []Accumulate{Native, InFloat32} {
		live := 2 * int64(s.Ranks) * int64(s.Bytes())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := RunWith(sch, inputs, RunOptions{Accumulate: acc})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		allocated := int64(after.TotalAlloc - before.TotalAlloc)
		require.LessOrEqual(t, live/2+allocated, 3*live)
		t.Logf("%v: inputs, outputs and messages take %.2f times the live buffers", acc,
			float64(live/2+allocated)/float64(live))
	}
}

// TestDefinitionsThatNeedMoreThanTwoFloats: of four numbers so far apart, hi+lo holds no sum; the
// last decides a tie.
func TestDefinitionsThatNeedMoreThanTwoFloats(t *testing.T) {
	sum := collective.Spec{Op: collective.Sum}
	require.Equal(t, float32(1+0x1p-23), define[float32](t, sum, 1, 0x1p-24, 0x1p-90, 0x1p-149))
	require.Equal(t, float32(1), define[float32](t, sum, 1, 0x1p-24, -0x1p-90, -0x1p-149))
	f := dtype.From[dtype.BF16]
	require.Equal(t, f(1+0x1p-7), define(t, sum, f(1), f(0x1p-8), f(0x1p-70), f(0x1p-130)))
	// (2^53 + 3)·(2^196 − 1): a hair below a tie, which would go up, seen with 250 bits alone. The
	// factors are 5·7·11·1187 · 19709623201, and 2^98 + 1 in two parts, (2^49 + 1)·(2^49 − 1).
	product := collective.Spec{Op: collective.Prod}
	require.Equal(t, math.Ldexp(1<<53+2, 196), define[float64](t, product, 456995, 19709623201,
		4907129832467945, 64582079724121, 1<<49+1, 1<<49-1))
	require.Equal(t, math.Ldexp(1<<53+4, 196), define[float64](t, product, 456995, 19709623201,
		1<<98, 1<<98))
	zero := float32(math.Copysign(0, -1))
	require.True(t, math.Signbit(float64(define(t, sum, zero, zero))))
	require.False(t, math.Signbit(float64(define(t, sum, zero, 0))))
}
