package reference

import (
	"fmt"
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// TestCompareSaysWhatCheckSays: the outputs of a schedule, on the inputs of a check, are judged as
// the check judges them.
func TestCompareSaysWhatCheckSays(t *testing.T) {
	for _, ranks := range []int{2, 5} {
		for _, tr := range trials(ranks) {
			if tr.pow2 && ranks&(ranks-1) != 0 {
				continue
			}
			for _, data := range []Data{Exact, Uniform, Normal} {
				spec := tr.spec(collective.Sum, dtype.Float32, ranks, 3000)
				s := build(t, spec, tr.plan)
				want, err := Check(s, CheckOptions{Data: data, Seed: 7})
				require.NoError(t, err)
				inputs, err := Inputs[float32](spec, data, 7)
				require.NoError(t, err)
				outputs, err := Run(s, inputs)
				require.NoError(t, err)
				got, err := Compare(spec, inputs, outputs)
				require.NoError(t, err)
				require.Equal(t, unbounded(want), unbounded(got), "%s, %v data, %d ranks", tr.name, data, ranks)
			}
		}
	}
}

// TestCompareFindsTheFirstWrongElement damages right outputs, beyond the first block too.
func TestCompareFindsTheFirstWrongElement(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllToAll} {
		spec := collective.Spec{Kind: kind, Type: dtype.Int64, Ranks: 3, Count: 5000}
		if kind.Reduces() {
			spec.Op = collective.Max
		}
		inputs, err := Inputs[int64](spec, Uniform, 1)
		require.NoError(t, err)
		outputs, err := Define(spec, inputs)
		require.NoError(t, err)
		outputs[2][17]++
		outputs[1][4999]--
		outputs[1][3000]++
		r, err := Compare(spec, inputs, outputs)
		require.NoError(t, err)
		want := outputs[1][3000]
		require.Equal(t, Report{Numbers: NumbersMismatch, Checked: 5000, Wrong: 3, MaxULP: 1,
			MeanULP: r.MeanULP, MaxRelative: r.MaxRelative, RanksAgree: kind == collective.AllToAll,
			First: &Mismatch{Rank: 1, Element: 3000, Got: fmt.Sprint(want),
				Want: fmt.Sprint(want - 1)}}, r)
	}
}

func TestCompareRefuses(t *testing.T) {
	spec := collective.Spec{Kind: collective.Gather, Type: dtype.Float32, Ranks: 2, Count: 2, Root: 1}
	inputs, err := Inputs[float32](spec, Exact, 1)
	require.NoError(t, err)
	right := [][]float32{nil, {inputs[0][0], inputs[0][1], inputs[1][0], inputs[1][1]}}
	r, err := Compare(spec, inputs, right)
	require.NoError(t, err)
	require.Equal(t, Report{Numbers: NumbersExact, Checked: 2, RanksAgree: true}, r)
	for _, c := range []struct {
		inputs, outputs [][]float32
		want            string
	}{
		{inputs[:1], right, "inputs of 1 ranks; there are 2"},
		{inputs, right[1:], "outputs of 1 ranks; there are 2"},
		{inputs, right[:0], "outputs of 0 ranks; there are 2"},
		{inputs, [][]float32{{1}, right[1]},
			"rank 0 has 1 output elements; 0 are expected"},
		{inputs, [][]float32{nil, right[1][:3]},
			"rank 1 has 3 output elements; 4 are expected"},
	} {
		_, err := Compare(spec, c.inputs, c.outputs)
		require.EqualError(t, err, c.want)
	}
	_, err = Inputs[int32](spec, Exact, 1)
	require.EqualError(t, err, "inputs are int32, but the collective is of float32")
	spec.Ranks = -1
	_, err = Inputs[float32](spec, Exact, 1)
	require.EqualError(t, err, "-1 ranks; at least 1 is needed")
}

// TestRunAndCompareIsCheck: on the same numbers, given or made, the report is the same in all that
// it says, depth and bound of the schedule's own tree among it.
func TestRunAndCompareIsCheck(t *testing.T) {
	for _, c := range []struct {
		plan  func() schedule.Plan
		kind  collective.Kind
		op    collective.Op
		depth int // of 16 ranks
	}{
		{ring, collective.AllReduce, collective.Sum, 15},
		{doubling, collective.AllReduce, collective.Sum, 4},
		{doubling, collective.AllReduce, collective.Avg, 4},
		{doubling, collective.AllReduce, collective.Prod, 15},
		{doubling, collective.AllReduce, collective.Max, 0},
		{chainReduce, collective.Reduce, collective.Sum, 15},
		{ringReduceScatter, collective.ReduceScatter, collective.Sum, 15},
	} {
		for _, acc := range []Accumulate{Native, InFloat32} {
			s := collective.Spec{Kind: c.kind, Op: c.op, Ranks: 16, Count: 99}
			runIsCheck[float32](t, s, c.plan, c.depth, acc)
			runIsCheck[dtype.BF16](t, s, c.plan, c.depth, acc)
		}
	}
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 8, Count: 40}
	inputs, err := Inputs[float32](s, Exact, 0)
	require.NoError(t, err)
	_, r, err := RunAndCompare(twoShot(t, "float32 sum", 8), inputs[:1], RunOptions{})
	require.Error(t, err)
	require.Zero(t, r)
}

func runIsCheck[T dtype.Number](t *testing.T, s collective.Spec, plan func() schedule.Plan,
	depth int, acc Accumulate) {
	t.Helper()
	s.Type = dtype.Of[T]()
	sch := build(t, s, plan)
	want, err := Check(sch, CheckOptions{Data: Normal, Seed: 5, Accumulate: acc})
	require.NoError(t, err)
	if acc == Native {
		require.Equal(t, depth, want.Depth)
	}
	inputs, err := Inputs[T](s, Normal, 5)
	require.NoError(t, err)
	_, got, err := RunAndCompare(sch, inputs, RunOptions{Accumulate: acc})
	require.NoError(t, err)
	require.Equal(t, want, got)
}
