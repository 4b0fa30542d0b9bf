package reference

import (
	"errors"
	"math"
	"strings"
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// reducing is an all-reduce of one element of each of so many ranks.
func reducing(op collective.Op, t dtype.Type, ranks int) collective.Spec {
	return collective.Spec{Kind: collective.AllReduce, Op: op, Type: t, Ranks: ranks, Count: 1}
}

// run reduces one element a rank and returns rank 0's result.
func run[T dtype.Number](t *testing.T, s collective.Spec, plan func() schedule.Plan,
	values ...T) T {
	t.Helper()
	s.Ranks, s.Type = len(values), dtype.Of[T]()
	inputs := make([][]T, len(values))
	for i, x := range values {
		inputs[i] = []T{x}
	}
	out, err := Run(build(t, s, plan), inputs)
	require.NoError(t, err)
	return out[0][0]
}

// TestOrderOfAdditions works out float32 sums by hand, in the order that each schedule has. Let
// u = 2^−24: 1+u is a tie and gives 1, u+u = 2u, and 1+2u is exact.
func TestOrderOfAdditions(t *testing.T) {
	const u = 0x1p-24
	sum := reducing(collective.Sum, dtype.Float32, 4)
	// Element 0 is in chunk 0 of the ring, which rank 0 sends first: ((x0 + x1) + x2) + x3.
	require.Equal(t, float32(1), run[float32](t, sum, ring, 1, u, u, u))
	require.Equal(t, float32(1+4*u), run[float32](t, sum, ring, u, u, u, 1)) // 3u + 1: tie to even
	require.Equal(t, float32(1+4*u), run[float32](t, sum, ring, u, u, 1, u)) // 1+2u, +u: tie to even
	// Recursive doubling: (x0 + x1) + (x2 + x3).
	require.Equal(t, float32(1+2*u), run[float32](t, sum, doubling, 1, u, u, u))
	require.Equal(t, float32(1+2*u), run[float32](t, sum, doubling, u, u, u, 1))
	// One step in rank order rounds at every addition, for accumulation is in the type.
	require.Equal(t, float32(1), run[float32](t, sum, oneShot, 1, u, u, u))
	require.Equal(t, float32(1+2*u), run[float32](t, sum, oneShot, u, u, 1, 0))
	// The chain begins with the rank farthest from the root: ((x3 + x2) + x1) + x0.
	s := sum
	s.Kind = collective.Reduce
	require.Equal(t, float32(1), run[float32](t, s, chainReduce, u, u, u, 1))
	require.Equal(t, float32(1+4*u), run[float32](t, s, chainReduce, u, 1, u, u))
}

// TestScales works out where scales round: NCCL's avg of floats multiplies every input by fl(1/n).
func TestScales(t *testing.T) {
	avg := reducing(collective.Avg, dtype.Float32, 3)
	third := float32(1) / 3
	x := []float32{1, 1, 3}
	nccl := (x[0]*third + x[1]*third) + x[2]*third
	require.Equal(t, nccl, run(t, avg, ring, x...))
	avg.Avg = collective.AvgPost
	post := ((x[0] + x[1]) + x[2]) / 3
	require.Equal(t, post, run(t, avg, ring, x...))
	require.NotEqual(t, nccl, post)

	avg.Avg = collective.AvgNCCL
	require.Equal(t, int32(-1), run[int32](t, avg, ring, -1, -1, -3)) // −5/3 truncated
	premul := reducing(collective.PremulSum, dtype.Float32, 3)
	premul.Factor = 0.1
	tenth := float32(0.1)
	require.Equal(t, (x[0]*tenth+x[1]*tenth)+x[2]*tenth, run(t, premul, ring, x...))
	premul.Factor = 3
	require.Equal(t, int64(30), run[int64](t, premul, ring, 1, 2, 7))
}

func TestOperatorsOfTheInterpreter(t *testing.T) {
	nan := math.NaN()
	op := func(o collective.Op) collective.Spec { return reducing(o, dtype.Float64, 2) }
	require.Equal(t, 6.0, run[float64](t, op(collective.Prod), oneShot, 1, 2, 3))
	require.Equal(t, 1.0, run(t, op(collective.Min), oneShot, nan, 2, 1))
	require.Equal(t, 2.0, run(t, op(collective.Max), oneShot, 2, nan, 1))
	require.Equal(t, int32(math.MinInt32),
		run[int32](t, op(collective.Sum), oneShot, math.MaxInt32, 1))
	require.True(t, math.Signbit(run(t, op(collective.Min), oneShot, 0, math.Copysign(0, -1))))
}

// TestRunFromText carries out a schedule that is written by hand, with a message that two steps
// pass on and a second destination.
func TestRunFromText(t *testing.T) {
	s, err := schedule.Parse(strings.TrimSpace(`
schedule by-hand
collective broadcast int64
ranks 4
root 0
count 3
rank 0
  lane 0
    copySend in into out to 1, 2 @0
rank 1
  lane 0
    recvCopySend from 0 into out to 3 @0
rank 2
  lane 0
    recv from 0 into out @0
rank 3
  lane 0
    recv from 1 into out @1
`))
	require.NoError(t, err)
	x := []int64{4, 5, 6}
	got, err := Run(s, [][]int64{x, {}, {}, {}})
	require.NoError(t, err)
	require.Equal(t, [][]int64{x, x, x, x}, got)
}

func TestOutputThatIsNeverWritten(t *testing.T) {
	s, err := schedule.Parse("schedule\ncollective send_recv float32\nranks 2\ncount 1\n" +
		"rank 0\nrank 1\n")
	require.NoError(t, err)
	got, err := Run(s, [][]float32{{1}, {2}})
	require.NoError(t, err)
	require.True(t, math.IsNaN(float64(got[0][0])))
}

func TestRunDoesNotChangeItsInputs(t *testing.T) {
	s := spec(collective.AllReduce, collective.Sum, 3, 4)
	s.InPlace = true
	inputs := [][]int32{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}
	got, err := Run(build(t, s, ring), inputs)
	require.NoError(t, err)
	require.Equal(t, []int32{15, 18, 21, 24}, got[2])
	require.Equal(t, [][]int32{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, inputs)
}

func TestStepsThatCannotBeCarriedOut(t *testing.T) {
	head := "schedule\ncollective %s\nranks 2\ncount 4\ncut in block even 4\n"
	tests := []struct{ what, steps0, steps1, want string }{
		{"all_reduce int32 sum", "send in[0] to 1 @0", "recv from 0 into out @0",
			"malformed: rank 1 lane 0 step 0: recv stores 1 elements with 4"},
		{"all_reduce int32 sum", "send in to 1 @0", "recvReduceCopy from 0, in[1] into out @0",
			"malformed: rank 1 lane 0 step 0: recvReduceCopy combines 4 elements with 1"},
	}
	for _, tt := range tests {
		text := strings.Replace(head, "%s", tt.what, 1) +
			"rank 0\n  lane 0\n    " + tt.steps0 + "\nrank 1\n  lane 0\n    " + tt.steps1 + "\n"
		s, err := schedule.Parse(text)
		require.NoError(t, err)
		_, err = Run(s, [][]int32{{1, 2, 3, 4}, {5, 6, 7, 8}})
		var violation *schedule.Violation
		require.True(t, errors.As(err, &violation))
		require.EqualError(t, err, tt.want)
	}
	s, err := schedule.Parse("schedule\ncollective send_recv int32\nranks 2\ncount 1\n" +
		"rank 0\n  lane 0\n    recv from 1 into out @0\nrank 1\n" +
		"  lane 0\n    recv from 0 into out @0\n")
	require.NoError(t, err)
	_, err = Run(s, [][]int32{{1}, {2}})
	var stall *schedule.StallError
	require.True(t, errors.As(err, &stall))
}
