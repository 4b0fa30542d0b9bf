package collsim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/driven"
	"collsim/dtype"
	"collsim/reference"
	"collsim/schedule"
)

// TestMessageDriven: every algorithm, carried out by callbacks with messages that arrive in any
// order, gives the bits that the interpreter gives, in every type and with every operator, also of
// NaN, infinities and numbers that overflow. Numbers of ranks take turns.
func TestMessageDriven(t *testing.T) {
	runs, turn := 0, 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			for _, ranks := range []int{1, 2, 3, 4, 6, 8} {
				spec := drivenSpec(kind, ranks, rand.New(rand.NewPCG(uint64(ranks), 7)))
				for _, op := range drivenOps(kind) {
					for _, dt := range dtype.All() {
						// Each operator in each type on two of the six numbers of ranks.
						if turn++; turn%3 != 0 && kind.Reduces() {
							continue
						}
						spec.Op, spec.Avg, spec.Factor, spec.Type = op.Op, op.Avg, op.Factor, dt
						if kind == collective.Barrier {
							spec.Type = 0
						}
						s, err := a.Build(spec, algos.Options{})
						if err != nil {
							continue // not for so many ranks
						}
						drivenAs(t, s, dt, rand.New(rand.NewPCG(uint64(turn), 7)))
						runs++
					}
				}
			}
		}
	}
	require.Greater(t, runs, 5000)
}

// drivenOps are operators with their factor and mode; a kind that does not reduce has none.
func drivenOps(kind collective.Kind) []collective.Spec {
	if !kind.Reduces() {
		return []collective.Spec{{}}
	}
	list := []collective.Spec{{Op: collective.Avg, Avg: collective.AvgPost}}
	for _, op := range collective.Ops() {
		list = append(list, collective.Spec{Op: op})
	}
	list[len(list)-1].Factor = 3
	return list
}

// drivenAs compares the two executors in a type.
func drivenAs(t *testing.T, s *schedule.Schedule, dt dtype.Type, r *rand.Rand) {
	switch dt {
	case dtype.Float64:
		drivenIs[float64](t, s, r)
	case dtype.Float32:
		drivenIs[float32](t, s, r)
	case dtype.Float16:
		drivenIs[dtype.F16](t, s, r)
	case dtype.BFloat16:
		drivenIs[dtype.BF16](t, s, r)
	case dtype.Float8E4M3:
		drivenIs[dtype.E4M3](t, s, r)
	case dtype.Float8E5M2:
		drivenIs[dtype.E5M2](t, s, r)
	case dtype.Int8:
		drivenIs[int8](t, s, r)
	case dtype.Int16:
		drivenIs[int16](t, s, r)
	case dtype.Int32:
		drivenIs[int32](t, s, r)
	case dtype.Int64:
		drivenIs[int64](t, s, r)
	case dtype.Uint8:
		drivenIs[uint8](t, s, r)
	case dtype.Uint16:
		drivenIs[uint16](t, s, r)
	case dtype.Uint32:
		drivenIs[uint32](t, s, r)
	case dtype.Uint64:
		drivenIs[uint64](t, s, r)
	}
}

func drivenIs[T dtype.Number](t *testing.T, s *schedule.Schedule, r *rand.Rand) {
	in := make([][]T, s.Spec.Ranks)
	for rank := range in {
		for range s.Spec.In(rank) {
			in[rank] = append(in[rank], wild[T](r))
		}
	}
	want, err := reference.Run(s, in)
	require.NoError(t, err)
	got, err := driven.Run(s, in, driven.Options{Next: r.IntN})
	require.NoError(t, err)
	for rank := range want {
		require.Equal(t, bitsOf(want[rank]), bitsOf(got[rank]), "%s %v %v %v, rank %d of %d", s.Name,
			s.Spec.Kind, s.Spec.Op, s.Spec.Type, rank, len(want))
	}
}

// wild is a random number: of a float type sometimes no number, or close to an end of the range.
func wild[T dtype.Number](r *rand.Rand) T {
	dt := dtype.Of[T]()
	x := r.NormFloat64()
	switch {
	case !dt.IsFloat():
		x = math.Ldexp(x, dt.Precision()-2)
		if !dt.Signed() {
			x = math.Abs(x)
		}
	case r.IntN(12) == 0:
		x = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), dt.Largest(),
			-dt.Largest(), dt.Smallest()}[r.IntN(8)]
	}
	return dtype.From[T](x)
}

// drivenSpec is a collective of float32, a sum or a mean, of any size and root.
func drivenSpec(kind collective.Kind, ranks int, r *rand.Rand) collective.Spec {
	s := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks}
	rows := 0
	switch {
	case kind == collective.Barrier:
		s.Type = 0
	case kind == collective.AllToAllV:
		rows = ranks
	case kind.Splits():
		rows = 1
	default:
		s.Count = int64(ranks) + r.Int64N(9)
	}
	if kind.Rooted() {
		s.Root = r.IntN(ranks)
	}
	if kind.Reduces() {
		s.Op = []collective.Op{collective.Sum, collective.Avg}[r.IntN(2)]
	}
	for range rows {
		row := make([]int64, ranks)
		for i := range row {
			row[i] = r.Int64N(5)
		}
		s.Splits = append(s.Splits, row)
	}
	return s
}

func bitsOf[T dtype.Number](x []T) []uint64 {
	bits := make([]uint64, len(x))
	for i := range x {
		bits[i] = dtype.Bits(x[i])
	}
	return bits
}
