package reference

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// againstOther compares a schedule's outputs with those of another, damaged by a function unless it
// is nil.
func againstOther(t *testing.T, ours, theirs *schedule.Schedule, in [][]byte, accumulate Accumulate,
	damage func(out [][]byte)) *BitComparison {
	t.Helper()
	other := (&Case{Schedule: theirs, Inputs: in, Accumulate: accumulate}).execute(t)
	return compared(t, ours, in, func(_, out [][]byte) {
		for rank := range out {
			copy(out[rank], other[rank])
		}
		if damage != nil {
			damage(out)
		}
	})
}

// averaged is an avg by an algorithm.
func averaged(t *testing.T, name string, mode collective.AvgMode, typ dtype.Type,
	ranks int) *schedule.Schedule {
	t.Helper()
	a, err := algos.Find(collective.AllReduce, name)
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Avg, Avg: mode,
		Type: typ, Ranks: ranks, Count: 120}, algos.Options{})
	require.NoError(t, err)
	return s
}

// TestOneRoundingBeforeOrders: a sum in float32 that is rounded once is told as that, of all ranks
// and chunks, and no order beside it.
func TestOneRoundingBeforeOrders(t *testing.T) {
	for _, typ := range []dtype.Type{dtype.BFloat16, dtype.Float16, dtype.Float8E4M3,
		dtype.Float8E5M2} {
		ring := scheduleOf(t, collective.AllReduce, "ring", typ, 5, 120)
		got := againstOther(t, ring, scheduleOf(t, collective.AllReduce, "one-shot", typ, 5, 120),
			normal(t, ring, 1), InFloat32, nil)
		require.Positive(t, got.Different)
		require.True(t, got.First.All(), typ)
		require.Equal(t, got.Different, got.First.Differ)
		require.Equal(t, got.Elements, got.First.Differ+got.First.Equal)
		require.Equal(t, "all inputs in rank order, in float32, rounded once", got.First.Gives[0])
		require.NotContains(t, got.First.Tried, "rotations")
	}
}

// TestOrderOfAllElements: an order is told of every chunk, in each by that chunk's own, and only if
// it gives all.
func TestOrderOfAllElements(t *testing.T) {
	ring := scheduleOf(t, collective.AllReduce, "ring", dtype.Float32, 5, 120)
	in := normal(t, ring, 1)
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	later, err := a.Build(ring.Spec, algos.Options{Params: []algos.Param{{Name: "order",
		Value: "nccl"}}})
	require.NoError(t, err)
	got := againstOther(t, ring, later, in, Native, nil)
	require.True(t, got.First.All())
	require.Equal(t, []string{"rotation by 1: r1 first"}, got.First.Gives)

	// All but one element: in the first chunk another order gives it as well.
	first := got.First.Element
	one := againstOther(t, ring, later, in, Native, func(out [][]byte) {
		for rank := range out {
			out[rank][(first+1)*4] ^= 1
		}
	})
	require.Zero(t, one.Wrong)
	require.False(t, one.First.All())
	require.Equal(t, got.First.Gives, one.First.Gives)
	require.Positive(t, one.First.Explains)
	missing := one.First.Differ - one.First.Explains + one.First.Changes
	require.EqualValues(t, 5, missing, "one element of each rank")

	// Orders that are made of nothing but the same sums all explain all: integers as floats.
	whole := scheduleOf(t, collective.AllReduce, "ring", dtype.Float32, 3, 1)
	exact, err := typeOf(dtype.Float32).(tester).inputs(whole.Spec, Exact, 1)
	require.NoError(t, err)
	same := againstOther(t, whole, whole, exact, Native, nil)
	require.Nil(t, same.First)
	three := [][]byte{put([]float32{1 << 24}), put([]float32{1}), put([]float32{1})}
	several := compared(t, whole, three, func(_, out [][]byte) {
		for rank := range out {
			copy(out[rank], put([]float32{1<<24 + 2}))
		}
	})
	require.True(t, several.First.All())
	require.Contains(t, several.First.Gives, "the exact result, rounded once")
	require.NotContains(t, several.First.Gives, "rotation by 1: r1 first")
}

// TestTheirMeans: avg that divides before and after, and not at all, is told as that.
func TestTheirMeans(t *testing.T) {
	before := averaged(t, "ring", collective.AvgNCCL, dtype.BFloat16, 6)
	after := averaged(t, "ring", collective.AvgPost, dtype.BFloat16, 6)
	in := positive(t, before)
	got := againstOther(t, before, after, in, Native, nil)
	require.True(t, got.First.All())
	require.Equal(t, []string{`this order, the sum divided by n (avg = "post")`}, got.First.Gives)
	got = againstOther(t, after, before, in, Native, nil)
	require.True(t, got.First.All())
	require.Contains(t, got.First.Gives, `this order, inputs times 1/n (avg = "nccl")`)
	got = againstOther(t, before, averaged(t, "one-shot", collective.AvgPost, dtype.BFloat16, 6), in,
		InFloat32, nil)
	require.True(t, got.First.All())
	require.Contains(t, got.First.Gives,
		`all inputs in rank order, in float32, rounded once, the sum divided by n (avg = "post")`)

	for _, typ := range []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Int32} {
		sum := scheduleOf(t, collective.AllReduce, "ring", typ, 6, 120)
		mean := averaged(t, "ring", collective.AvgNCCL, typ, 6)
		in := positive(t, sum)
		for _, c := range []struct {
			ours, theirs *schedule.Schedule
			look         string
		}{{sum, mean, "the sum divided by the number of ranks, as avg is"},
			{mean, sum, "the sum, not divided by the number of ranks"}} {
			got := againstOther(t, c.ours, c.theirs, in, Native, nil)
			require.Positive(t, got.Wrong)
			for _, o := range got.Outside {
				require.Equal(t, []string{c.look}, o.Looks, typ)
			}
		}
	}
	twice := averaged(t, "ring", collective.AvgNCCL, dtype.Float32, 6)
	got = compared(t, twice, positive(t, twice), func(_, out [][]byte) {
		for rank := range out {
			x := getAll[float32](out[rank])
			for i := range x {
				x[i] /= 6
			}
			copy(out[rank], put(x))
		}
	})
	require.Equal(t, []string{"the sum divided by the number of ranks twice"}, got.Outside[0].Looks)
}

// TestIntegersHaveNoOrder: of integers every order gives the same, so that what differs is wrong.
func TestIntegersHaveNoOrder(t *testing.T) {
	s := scheduleOf(t, collective.AllReduce, "ring", dtype.Int32, 4, 40)
	got := compared(t, s, nil, func(_, out [][]byte) { out[2][8]++ })
	require.EqualValues(t, 1, got.Wrong)
	require.Nil(t, got.First)
}
