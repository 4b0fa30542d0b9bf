package reference

import (
	"math"
	"math/rand/v2"
	"testing"

	"collsim/collective"
	"collsim/dtype"

	"github.com/stretchr/testify/require"
)

// spec is a collective of int32, with an operator if it reduces.
func spec(kind collective.Kind, op collective.Op, ranks int, count int64) collective.Spec {
	return collective.Spec{Kind: kind, Op: op, Type: dtype.Int32, Ranks: ranks, Count: count}
}

func TestDefinitionOfKinds(t *testing.T) {
	rooted := func(s collective.Spec) collective.Spec { s.Root = 1; return s }
	split := func(kind collective.Kind, op collective.Op, rows ...[]int64) collective.Spec {
		return collective.Spec{Kind: kind, Op: op, Type: dtype.Int32, Ranks: 3, Splits: rows}
	}
	c := func(kind collective.Kind, op collective.Op, n int64) collective.Spec {
		return spec(kind, op, 3, n)
	}
	abc := [][]int32{{1, 2}, {10, 20}, {100, 200}}
	long := [][]int32{{1, 2, 3}, {10, 20, 30}, {100, 200, 300}}
	none := []int32{}
	tests := []struct {
		spec     collective.Spec
		in, want [][]int32
	}{
		{c(collective.AllReduce, collective.Sum, 2), abc,
			[][]int32{{111, 222}, {111, 222}, {111, 222}}},
		{c(collective.AllGather, 0, 2), abc, [][]int32{{1, 2, 10, 20, 100, 200},
			{1, 2, 10, 20, 100, 200}, {1, 2, 10, 20, 100, 200}}},
		{c(collective.ReduceScatter, collective.Sum, 1), long, [][]int32{{111}, {222}, {333}}},
		{rooted(c(collective.Broadcast, 0, 2)), [][]int32{none, {10, 20}, none},
			[][]int32{{10, 20}, {10, 20}, {10, 20}}},
		{rooted(c(collective.Reduce, collective.Sum, 2)), abc, [][]int32{none, {111, 222}, none}},
		{rooted(c(collective.Gather, 0, 2)), abc,
			[][]int32{none, {1, 2, 10, 20, 100, 200}, none}},
		{rooted(c(collective.Scatter, 0, 1)), [][]int32{none, {10, 20, 30}, none},
			[][]int32{{10}, {20}, {30}}},
		{c(collective.AllToAll, 0, 1), long, [][]int32{{1, 10, 100}, {2, 20, 200}, {3, 30, 300}}},
		{split(collective.AllToAllV, 0, []int64{1, 0, 2}, []int64{0, 1, 0}, []int64{2, 1, 0}),
			[][]int32{{1, 2, 3}, {10}, {100, 200, 300}},
			[][]int32{{1, 100, 200}, {10, 300}, {2, 3}}},
		{split(collective.AllGatherV, 0, []int64{2, 0, 1}), [][]int32{{1, 2}, none, {100}},
			[][]int32{{1, 2, 100}, {1, 2, 100}, {1, 2, 100}}},
		{split(collective.ReduceScatterV, collective.Max, []int64{2, 0, 1}), long,
			[][]int32{{100, 200}, none, {300}}},
		{c(collective.SendRecv, 0, 2), abc, [][]int32{{100, 200}, {1, 2}, {10, 20}}},
		{collective.Spec{Kind: collective.Barrier, Ranks: 3}, [][]int32{none, none, none},
			[][]int32{none, none, none}},
		{c(collective.AllReduce, collective.Sum, 0), [][]int32{none, none, none},
			[][]int32{none, none, none}},
	}
	for _, tt := range tests {
		t.Run(tt.spec.Kind.String(), func(t *testing.T) {
			got, err := Define(tt.spec, tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// define reduces one element of every rank.
func define[T dtype.Number](t *testing.T, s collective.Spec, values ...T) T {
	t.Helper()
	s = meant(s)
	s.Kind, s.Type, s.Ranks, s.Count = collective.AllReduce, dtype.Of[T](), len(values), 1
	inputs := make([][]T, len(values))
	for i, x := range values {
		inputs[i] = []T{x}
	}
	out, err := Define(s, inputs)
	require.NoError(t, err)
	return out[0][0]
}

func TestDefinitionOfIntegerOperators(t *testing.T) {
	op := func(o collective.Op) collective.Spec { return collective.Spec{Op: o, Factor: 3} }
	require.Equal(t, int32(-3), define[int32](t, op(collective.Sum), 1, -5, 1))
	require.Equal(t, int32(math.MinInt32), define[int32](t, op(collective.Sum), math.MaxInt32, 1))
	require.Equal(t, int32(-14), define[int32](t, op(collective.Prod), 2, -7, 1))
	require.Equal(t, int64(0), define[int64](t, op(collective.Prod), 1<<32, 1<<32))
	require.Equal(t, int32(-7), define[int32](t, op(collective.Min), 2, -7, 1))
	require.Equal(t, int32(2), define[int32](t, op(collective.Max), 2, -7, 1))
	require.Equal(t, int32(-1), define[int32](t, op(collective.Avg), -1, -1, -3)) // −5/3, truncated
	require.Equal(t, int64(18), define[int64](t, op(collective.PremulSum), 1, 2, 3))
	post := collective.Spec{Op: collective.Avg, Avg: collective.AvgPost}
	require.Equal(t, int32(1), define[int32](t, post, 1, 2, 2))
}

func TestDefinitionOfFloatOperators(t *testing.T) {
	op := func(o collective.Op) collective.Spec { return collective.Spec{Op: o, Factor: 0.1} }
	inf, nan := math.Inf(1), math.NaN()
	// Left to right, 1e8 + 1 is 1e8 and the sum 0.
	require.Equal(t, float32(1), define[float32](t, op(collective.Sum), 1e8, 1, -1e8))
	require.Equal(t, 1.0, define[float64](t, op(collective.Sum), 1e300, 1, -1e300))
	// Half an ulp of 1 is a tie, and rounds to even; the least more does not, though float64
	// cannot hold 1 + 2^−24 + 2^−100.
	require.Equal(t, float32(1), define[float32](t, op(collective.Sum), 1, 0x1p-24))
	require.Equal(t, float32(1+0x1p-23), define[float32](t, op(collective.Sum), 1, 0x1p-24, 0x1p-100))
	require.Equal(t, 1+0x1p-52, define[float64](t, op(collective.Sum), 1, 0x1p-53, 0x1p-1000, 0))
	require.Equal(t, float32(inf), define[float32](t, op(collective.Sum), 3e38, 3e38))
	require.Equal(t, float32(3e38), define[float32](t, op(collective.Sum), 3e38, 3e38, -3e38))
	require.Equal(t, 1.5e308, define[float64](t, op(collective.Sum), 1.5e308, 1.5e308, -1.5e308))
	require.Equal(t, inf, define[float64](t, op(collective.Sum), inf, -1e308, -1e308))
	require.True(t, math.IsNaN(define[float64](t, op(collective.Sum), inf, -inf)))
	// 2^−200 · 2^200 does not pass through float32's 0.
	require.Equal(t, float32(1), define[float32](t, op(collective.Prod), 0x1p-100, 0x1p-100, 0x1p100,
		0x1p100))
	require.Equal(t, float32(0x1p-149), define[float32](t, op(collective.Prod), 0x1p-75, 0x1p-74))
	require.Equal(t, -inf, define[float64](t, op(collective.Prod), inf, -2))
	require.Equal(t, 2.0, define[float64](t, op(collective.Min), nan, 2, 3))
	require.Equal(t, 3.0, define[float64](t, op(collective.Max), nan, 2, 3))
	require.True(t, math.IsNaN(define[float64](t, op(collective.Max), nan, nan)))
	require.True(t, math.Signbit(define[float64](t, op(collective.Min), 0, math.Copysign(0, -1))))
	require.False(t, math.Signbit(define[float64](t, op(collective.Max), math.Copysign(0, -1), 0)))
	// The mean of 1, 1, 1 is 1, although 3·fl(1/3) need not be.
	require.Equal(t, float32(1), define[float32](t, op(collective.Avg), 1, 1, 1))
	require.Equal(t, 1.0/3, define[float64](t, op(collective.Avg), 1, 1e300, -1e300))
	// The factor is float32's 0.1, the sum of products is rounded once.
	tenth := float64(float32(0.1))
	require.Equal(t, float32(tenth+float64(3*tenth)),
		define[float32](t, op(collective.PremulSum), 1, 3))
}

// TestFastFloatsArePrecise compares hi+lo arithmetic with arbitrary precision.
func TestFastFloatsArePrecise(t *testing.T) {
	for _, o := range []collective.Op{collective.Sum, collective.Prod, collective.Avg,
		collective.PremulSum} {
		for _, data := range []Data{Exact, Uniform, Normal} {
			for _, ranks := range []int{1, 2, 3, 10, 37} {
				s := collective.Spec{Kind: collective.AllReduce, Op: o, Factor: 0.7, Ranks: ranks,
					Count: 300}
				fastIsPrecise[float32](t, s, data)
				fastIsPrecise[float64](t, s, data)
			}
		}
	}
}

func fastIsPrecise[T dtype.Number](t *testing.T, s collective.Spec, data Data) {
	s.Type = dtype.Of[T]()
	g := newGenerator[T](&s, data, 7)
	for _, simple := range []bool{false, g.simple()} {
		d := newDefinition(&s, g.fill, simple)
		fast := make([]T, s.Count)
		d.reduceFloats(fast, 0)
		for i, x := range fast {
			require.Equal(t, d.precisely(int64(i)), x, "%v %v %d ranks", s.Op, data, s.Ranks)
		}
	}
}

func TestDefinitionAgreesWithWant(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		s := randomSpec(random)
		inputs := randomInputs(random, &s)
		got, err := Define(s, inputs)
		require.NoError(t, err)
		for rank, out := range got {
			want := make([]int32, 0, len(out))
			for _, p := range s.Want(rank) {
				require.Equal(t, int64(len(want)), p.Off)
				for i := p.InOff; i < p.InOff+p.Len; i++ {
					want = append(want, element(&s, inputs, p.From, i))
				}
			}
			require.Equal(t, want, out, "%+v rank %d", s, rank)
		}
	}
}

// element is element i of a rank's input, or the sum over all.
func element(s *collective.Spec, inputs [][]int32, from int, i int64) int32 {
	if from != collective.AllRanks {
		return inputs[from][i]
	}
	total := int32(0)
	for r := range s.Ranks {
		total += inputs[r][i]
	}
	return total
}

func randomSpec(random *rand.Rand) collective.Spec {
	kinds := collective.Kinds()
	s := collective.Spec{Kind: kinds[random.IntN(len(kinds))], Type: dtype.Int32,
		Ranks: 1 + random.IntN(7), Count: int64(random.IntN(20))}
	if s.Kind.Reduces() {
		s.Op = collective.Sum
	}
	if s.Kind.Rooted() {
		s.Root = random.IntN(s.Ranks)
	}
	if s.Kind == collective.Barrier || s.Kind.Splits() {
		s.Count = 0
	}
	if s.Kind.Splits() {
		s.Splits = make([][]int64, 1)
		if s.Kind == collective.AllToAllV {
			s.Splits = make([][]int64, s.Ranks)
		}
		for r := range s.Splits {
			for range s.Ranks {
				s.Splits[r] = append(s.Splits[r], int64(random.IntN(6)))
			}
		}
	}
	return s
}

func randomInputs(random *rand.Rand, s *collective.Spec) [][]int32 {
	inputs := make([][]int32, s.Ranks)
	for r := range inputs {
		inputs[r] = make([]int32, s.In(r))
		for i := range inputs[r] {
			inputs[r][i] = int32(random.Uint32())
		}
	}
	return inputs
}

func TestWhatDefineRefuses(t *testing.T) {
	s := spec(collective.AllReduce, collective.Sum, 2, 1)
	premul := func(f float64) collective.Spec {
		p := spec(collective.AllReduce, collective.PremulSum, 2, 1)
		p.Factor = f
		return p
	}
	tests := []struct {
		spec collective.Spec
		in   [][]int32
		want string
	}{
		{s, [][]int32{{1}}, "inputs of 1 ranks; there are 2"},
		{s, [][]int32{{1}, {1, 2}}, "rank 1 has 2 input elements; 1 are expected"},
		{premul(0.5), [][]int32{{1}, {1}},
			"premulsum factor 0.5: for int32 a whole number of that type is expected"},
		{premul(math.Inf(1)), [][]int32{{1}, {1}},
			"premulsum factor +Inf: a finite number is expected"},
		{collective.Spec{}, nil, "kind Kind(0) is none"},
	}
	for _, tt := range tests {
		_, err := Define(tt.spec, tt.in)
		require.EqualError(t, err, tt.want)
	}
	_, err := Define(s, [][]float32{{1}, {1}})
	require.EqualError(t, err, "inputs are float32, but the collective is of int32")
}
