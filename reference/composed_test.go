package reference

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
)

// only is a composed schedule of one part, a collective.
func only(t testing.TB, part *schedule.Schedule) *schedule.Schedule {
	t.Helper()
	in, out := int64(0), int64(0)
	for rank := range part.Spec.Ranks {
		in, out = max(in, part.Spec.In(rank)), max(out, part.Spec.Out(rank))
	}
	tensors := []schedule.Tensor{
		{Name: "x", Type: part.Spec.Type, Shape: collective.Shape{in}, Role: schedule.Given},
		{Name: "y", Type: part.Spec.Type, Shape: collective.Shape{out}, Role: schedule.Result},
		{Name: "w", Type: part.Spec.Type, Shape: collective.Shape{part.Memory}}}
	s, err := schedule.Compose("only", part.Spec.Ranks, tensors, []schedule.Part{{Schedule: part,
		Memory: []schedule.Place{{Tensor: schedule.FirstTensor}, {Tensor: schedule.FirstTensor + 1},
			{Tensor: schedule.FirstTensor + 2}}}})
	require.NoError(t, err)
	return s
}

// A composed schedule of one collective equals that collective in every figure: the two
// interpreters, and the two ways to hold something against a definition, are of one mind.
func TestOneCollectiveEqualsItself(t *testing.T) {
	types := []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float8E4M3, dtype.Float64, dtype.Int16,
		dtype.Complex64, dtype.Bool}
	for _, ranks := range []int{1, 2, 4, 5} {
		for i, tr := range trials(ranks) {
			for j, op := range []collective.Op{collective.Sum, collective.Avg, collective.Max,
				collective.PremulSum, collective.And} {
				for k, dt := range types {
					if tr.kind.Reduces() && collective.CheckOp(op, dt) != nil {
						continue
					}
					if tr.pow2 && ranks&(ranks-1) != 0 || !tier.Long && (i+j+k)%3 != 0 {
						continue
					}
					part := build(t, tr.spec(op, dt, ranks, 37), tr.plan)
					for _, o := range []CheckOptions{{Data: Normal, Seed: 4}, {Data: Uniform,
						Accumulate: InFloat32}, {}} {
						want, err := Check(part, o)
						require.NoError(t, err)
						got, err := Check(only(t, part), o)
						require.NoError(t, err)
						got.Checked = want.Checked // of tensors, their elements
						if ranks > 1 && o.Data == Exact && op != collective.Sum && op != collective.Max {
							// scales have exact data of their own, where they can
							got.Numbers, got.MaxULP, got.MeanULP, got.MaxRelative = want.Numbers, 0, 0, 0
						}
						require.Equal(t, want, got, "%s %v %v on %d ranks, %+v", tr.name, op, dt, ranks, o)
					}
					if !tr.kind.Reduces() {
						break
					}
				}
				if !tr.kind.Reduces() {
					break
				}
			}
		}
	}
}

// TestComplexElsewhere: complex tensors that begin behind others in a tensor are those of the
// definition, which counts places in components.
func TestComplexElsewhere(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Complex64,
		Ranks: 4, Count: 9}
	part := build(t, spec, ring)
	tensors := []schedule.Tensor{
		{Name: "x", Type: spec.Type, Shape: collective.Shape{14}, Role: schedule.Given},
		{Name: "y", Type: spec.Type, Shape: collective.Shape{12}, Role: schedule.Result}}
	s, err := schedule.Compose("behind", spec.Ranks, tensors, []schedule.Part{{Schedule: part,
		Memory: []schedule.Place{{Tensor: schedule.FirstTensor, Offsets: []int64{5}},
			{Tensor: schedule.FirstTensor + 1, Offsets: []int64{3}}, {}}}})
	require.NoError(t, err)
	for _, data := range []Data{Exact, Normal} {
		r, err := Check(s, CheckOptions{Data: data})
		require.NoError(t, err)
		require.Zero(t, r.Wrong, "%v: %v", data, r.First)
		require.NotEqual(t, NumbersOff, r.Numbers)
	}
}

// layer is a reduce_scatter of bfloat16 among ranks 0 and 2 and another among 3 and 1 (who stand in
// this order), a cast of the result on all four, and an all_gather of float32 among all four.
func layer(t testing.TB) *schedule.Schedule {
	scatter := build(t, collective.Spec{Kind: collective.ReduceScatter, Op: collective.Sum,
		Type: dtype.BFloat16, Ranks: 2, Count: 6}, ringReduceScatter)
	gather := build(t, collective.Spec{Kind: collective.AllGather, Type: dtype.Float32, Ranks: 4,
		Count: 6}, ringAllGather)
	work := parse(t, `schedule widen
collective custom bfloat16
ranks 4
group 4
tensor a given bfloat16 6
tensor b result float32 6
define b = (cast 6 bfloat16->float32) of a
rank *
  lane 0
    compute (cast 6 bfloat16->float32) a into b @0
`)
	at := func(i int) schedule.Place {
		return schedule.Place{Tensor: schedule.FirstTensor + schedule.Buffer(i)}
	}
	own := at(2)
	own.Offsets = []int64{1, 0, 1, 0}
	s, err := schedule.Compose("layer", 4, []schedule.Tensor{
		{Name: "x", Type: dtype.BFloat16, Shape: collective.Shape{2, 6}, Role: schedule.Given},
		{Name: "y", Type: dtype.BFloat16, Shape: collective.Shape{6}},
		{Name: "wide", Type: dtype.Float32, Shape: collective.Shape{7}},
		{Name: "all", Type: dtype.Float32, Shape: collective.Shape{4, 6}, Role: schedule.Result},
	}, []schedule.Part{
		{Name: "even", Schedule: scatter, Ranks: []int{0, 2}, Memory: []schedule.Place{at(0), at(1)}},
		{Name: "odd", Schedule: scatter, Ranks: []int{3, 1}, Memory: []schedule.Place{at(0), at(1)}},
		{Name: "widen", Schedule: work, Memory: []schedule.Place{{}, {}, {}, at(1), own}},
		{Name: "gather", Schedule: gather, Stream: 1, After: []int{2},
			Memory: []schedule.Place{own, at(3)}},
	})
	require.NoError(t, err)
	return s
}

// Two kinds, two types, three teams and a kernel: the definition is that of the parts in order, and
// so is what a loop says.
func TestComposedNumbers(t *testing.T) {
	s := layer(t)
	r, err := Check(s, CheckOptions{Seed: 2})
	require.NoError(t, err)
	require.Equal(t, Report{Numbers: NumbersExact, Checked: 24, RanksAgree: true, Depth: 1,
		Bound: 1. / 256}, r)
	given, err := GivenTensors(s, Normal, 2)
	require.NoError(t, err)
	got, err := RunTensors(s, given, RunOptions{})
	require.NoError(t, err)
	var want []float32
	x := func(rank, block int) []float32 {
		return values(getAll[dtype.BF16](given[0][rank]))[6*block:][:6]
	}
	for _, c := range [][3]int{{0, 2, 0}, {3, 1, 1}, {0, 2, 1}, {3, 1, 0}} { // team, block of rank 0…3
		for i := range 6 {
			sum := dtype.From[dtype.BF16](float64(x(c[0], c[2])[i]) + float64(x(c[1], c[2])[i]))
			want = append(want, float32(dtype.Value(sum)))
		}
	}
	for rank := range 4 {
		require.Equal(t, want, getAll[float32](got[3][rank]))
	}
}

// A part that does not wait for what it reads gets something else.
func TestDroppedEvent(t *testing.T) {
	s := parse(t, strings.Replace(layer(t).String(), " after 2", "", 1))
	r, err := Check(s, CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.Regexp(t, `^rank 0 all element \d+ is NaN; -?\d+ is wanted$`, r.First.String())
}

// twoSums is a sum among fours of ranks and then one across them, and at the end a kernel of that
// if there is to be one.
func twoSums(t testing.TB, dt dtype.Type, kernel bool) *schedule.Schedule {
	return twoOf(t, collective.Sum, dt, kernel)
}

// twoOf is twoSums with another operator.
func twoOf(t testing.TB, op collective.Op, dt dtype.Type, kernel bool) *schedule.Schedule {
	spec := collective.Spec{Kind: collective.AllReduce, Op: op, Type: dt, Ranks: 4, Count: 500}
	pair := build(t, spec, doubling)
	at := func(i int) schedule.Place {
		return schedule.Place{Tensor: schedule.FirstTensor + schedule.Buffer(i)}
	}
	tensors := []schedule.Tensor{
		{Name: "x", Type: dt, Shape: collective.Shape{500}, Role: schedule.Given},
		{Name: "y", Type: dt, Shape: collective.Shape{500}},
		{Name: "z", Type: dt, Shape: collective.Shape{500}, Role: schedule.Result}}
	parts := []schedule.Part{
		{Schedule: pair, Ranks: []int{0, 1, 2, 3}, Memory: []schedule.Place{at(0), at(1)}},
		{Schedule: pair, Ranks: []int{4, 5, 6, 7}, Memory: []schedule.Place{at(0), at(1)}}}
	for i := range 4 {
		two := spec
		two.Ranks = 2
		parts = append(parts, schedule.Part{Schedule: build(t, two, doubling),
			Ranks: []int{i, 4 + i}, Memory: []schedule.Place{at(1), at(2)}})
	}
	if kernel {
		tensors[2].Role = schedule.Inner
		tensors = append(tensors, schedule.Tensor{Name: "c", Type: dt, Shape: collective.Shape{500},
			Role: schedule.Result})
		add := fmt.Sprintf("(add 500 %v+%[1]v->%[1]v)", dt)
		parts = append(parts, schedule.Part{Schedule: parse(t, fmt.Sprintf(`schedule twice
collective custom %v
ranks 8
group 8
tensor a given %[1]v 500
tensor b result %[1]v 500
define b = %[2]s of a, a
rank *
  lane 0
    compute %[2]s a, a into b @0
`, dt, add)), Memory: []schedule.Place{{}, {}, {}, at(2), at(3)}})
	}
	s, err := schedule.Compose("chain", 8, tensors, parts)
	require.NoError(t, err)
	return s
}

// A sum of sums lies within the bound of both together, and so does what a kernel makes of it. Of
// exact data both are exact.
func TestSumsOfSums(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.BFloat16, dtype.Float16, dtype.Float32} {
		for _, kernel := range []bool{false, true} {
			s := twoSums(t, dt, kernel)
			r, err := Check(s, CheckOptions{Data: Normal, Seed: 7})
			require.NoError(t, err)
			require.Equal(t, NumbersBounded, r.Numbers, "%v %+v", dt, r)
			require.Greater(t, r.MaxULP, 0.4)
			require.Less(t, r.MaxULP, 1e5) // cancellation
			require.True(t, r.RanksAgree)
			r, err = Check(s, CheckOptions{Seed: 7})
			require.NoError(t, err)
			require.Equal(t, NumbersExact, r.Numbers)
		}
	}
}

// Of products of products nobody has derived a bound; NaN is no such.
func TestUnbounded(t *testing.T) {
	s := twoOf(t, collective.Prod, dtype.Float32, false)
	given, err := GivenTensors(s, Normal, 7)
	require.NoError(t, err)
	got, err := RunTensors(s, given, RunOptions{})
	require.NoError(t, err)
	r, err := compareTensors(s, given, got, RunOptions{})
	require.NoError(t, err)
	require.Equal(t, NumbersUnbounded, r.Numbers)
	require.Zero(t, r.Wrong)
	require.Greater(t, r.MaxULP, 0.4)
	z := getAll[float32](got[2][5])
	z[3] = float32(math.NaN())
	got[2][5] = put(z)
	r, err = compareTensors(s, given, got, RunOptions{})
	require.NoError(t, err)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.Equal(t, "NaN", r.First.Got)
}

// What lies outside the bound of both sums is wrong.
func TestWrongSumOfSums(t *testing.T) {
	s := twoSums(t, dtype.BFloat16, false)
	given, err := GivenTensors(s, Normal, 7)
	require.NoError(t, err)
	got, err := RunTensors(s, given, RunOptions{})
	require.NoError(t, err)
	z := getAll[dtype.BF16](got[2][3])
	exact := float64(0)
	sizes := float64(0)
	for rank := range 8 {
		x := dtype.Value(getAll[dtype.BF16](given[0][rank])[11])
		exact, sizes = exact+x, sizes+math.Abs(x)
	}
	// Two roundings of the first sums, one of the second: 3 of half an ulp of Σ|x|, and more.
	z[11] = dtype.From[dtype.BF16](exact + 3.2*sizes/256)
	got[2][3] = put(z)
	r, err := compareTensors(s, given, got, RunOptions{})
	require.NoError(t, err)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.Equal(t, int64(1), r.Wrong)
	require.False(t, r.RanksAgree)
	require.Equal(t, "rank 3 z element 11", r.First.String()[:19])
}

// A kernel in a schedule of a collective: a reduce of two ranks whose root adds with one.
func TestKernelInCollective(t *testing.T) {
	s := readProgram(t, "reduce-by-kernel")
	for _, data := range []Data{Exact, Normal} {
		r, err := Check(s, CheckOptions{Data: data, Most: 3,
			Rebuild: func(int64) (*schedule.Schedule, error) { return nil, fmt.Errorf("not asked for") }})
		require.NoError(t, err)
		require.Equal(t, exactly(8), unbounded(r)) // a sum of two is rounded once
	}
	out, err := Run(s, [][]float32{{1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 1, 1, 1, 1, 1, 1}})
	require.NoError(t, err)
	require.Equal(t, []float32{2, 3, 4, 5, 6, 7, 8, 9}, out[0])
	_, err = Check(s, CheckOptions{Memory: 100})
	require.ErrorContains(t, err, "but memory is 100")
}

// A region that is not what the kernel reads is told, with its place.
func TestKernelMisfits(t *testing.T) {
	s := parse(t, `schedule misfit
collective reduce float32 sum
ranks 1
root 0
count 8
rank 0
  lane 0
    compute (cast 4 float32->float32) in into out @0
`)
	_, err := Check(s, CheckOptions{})
	require.ErrorContains(t, err, "malformed: rank 0 lane 0 step 0: compute has 8 elements of "+
		"float32 for a: float32 4 is expected")
}

// What is too much is not computed, or on a smaller program.
func TestProgramTooLarge(t *testing.T) {
	s := parse(t, gatherMatmul(4))
	r, err := Check(s, CheckOptions{FLOPs: 5000})
	require.NoError(t, err)
	// 4 ranks · 2·16·8·3, by the schedule and by the definition
	require.Equal(t, Report{Numbers: NumbersOff,
		Why: "the check's kernels have 6.14e+03 operations; at most 5e+03 are computed"}, r)
	r, err = Check(s, CheckOptions{Memory: 3000})
	require.NoError(t, err)
	require.Equal(t, NumbersOff, r.Numbers)
	require.Regexp(t, `^the check needs \d+ bytes, but memory is 3000$`, r.Why)
	asked := []int64{}
	r, err = Check(s, CheckOptions{FLOPs: 2000, Smaller: func(by int64) (*schedule.Schedule, error) {
		asked = append(asked, by)
		if by < 4 {
			return s, nil
		}
		return parse(t, gatherMatmul(2)), nil
	}})
	require.NoError(t, err)
	require.Equal(t, []int64{2, 4}, asked)
	require.Equal(t, Report{Numbers: NumbersExact, Checked: 64, RanksAgree: true}, r)
}

// Nothing to compare with, and nothing to compute from, are said.
func TestProgramRefusals(t *testing.T) {
	s := parse(t, gatherMatmul(2))
	_, err := Run(s, [][]float32{{}, {}})
	require.EqualError(t, err, "the schedule works on tensors: RunTensors takes it")
	_, err = RunTensors(s, nil, RunOptions{})
	require.EqualError(t, err, "values of 0 tensors; there are 4")
	given, err := GivenTensors(s, Exact, 0)
	require.NoError(t, err)
	given[1][1] = given[1][1][:4]
	_, err = RunTensors(s, given, RunOptions{})
	require.EqualError(t, err, "tensor b has 4 bytes on rank 1; 48 are expected")
	custom := parse(t, `schedule c
collective custom float32
ranks 2
tensor a given float32 4
tensor b result float32 4
rank 0
  lane 0
    copy a into b @0
rank 1
`)
	r, err := Check(custom, CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, Report{Numbers: NumbersOff,
		Why: "the schedule does not define what it computes"}, r)
}
