package collective

import (
	"fmt"
	"testing"

	"collsim/dtype"
	"collsim/unit"

	"github.com/stretchr/testify/require"
)

func spec(kind Kind, ranks int, count int64) Spec {
	s := Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: count}
	if kind.Reduces() {
		s.Op = Sum
	}
	return s
}

func TestNames(t *testing.T) {
	for _, k := range Kinds() {
		parsed, err := ParseKind(k.String())
		require.NoError(t, err)
		require.Equal(t, k, parsed)
	}
	k, err := ParseKind("All-Reduce")
	require.NoError(t, err)
	require.Equal(t, AllReduce, k)
	_, err = ParseKind("allreduce")
	require.ErrorContains(t, err, `no kind "allreduce"; kinds are all_reduce, all_gather`)
	_, _, err = ParseOp("premulsum")
	require.EqualError(t, err, "premulsum without its factor: premulsum(factor=0.5), or "+
		"another, is expected")
	_, _, err = ParseOp("premulsum(factor=0)")
	require.Error(t, err)
	for _, o := range Ops()[:Avg] {
		parsed, factor, err := ParseOp(o.String())
		require.NoError(t, err)
		require.Equal(t, o, parsed)
		require.Equal(t, 1.0, factor)
	}
	op, factor, err := ParseOp("premulsum(factor=0.5)")
	require.NoError(t, err)
	require.Equal(t, PremulSum, op)
	require.Equal(t, 0.5, factor)
	for _, bad := range []string{"add", "sum(factor=2)", "premulsum(2)", "premulsum(factor=x)",
		"premulsum(factor=2"} {
		_, _, err := ParseOp(bad)
		require.ErrorContains(t, err, fmt.Sprintf("%q", bad))
	}
	for _, m := range []AvgMode{AvgNCCL, AvgPost} {
		parsed, err := ParseAvgMode(m.String())
		require.NoError(t, err)
		require.Equal(t, m, parsed)
	}
	_, err = ParseAvgMode("mean")
	require.Error(t, err)
}

// Sizes as nccl-tests has them: 3 ranks, count 4, float32, seen from rank 1 with root 0.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		kind           Kind
		in, out        int64
		bytes          unit.Bytes
		busNum, busDen int64
	}{
		{AllReduce, 4, 4, 16, 4, 3},
		{AllGather, 4, 12, 48, 2, 3},
		{ReduceScatter, 12, 4, 48, 2, 3},
		{Broadcast, 0, 4, 16, 1, 1},
		{Reduce, 4, 0, 16, 1, 1},
		{Gather, 4, 0, 48, 2, 3},
		{Scatter, 0, 4, 48, 2, 3},
		{AllToAll, 12, 12, 48, 2, 3},
		{SendRecv, 4, 4, 16, 1, 1},
	} {
		s := spec(c.kind, 3, 4)
		require.NoError(t, s.Validate(), c.kind)
		require.Equal(t, c.in, s.In(1), c.kind)
		require.Equal(t, c.out, s.Out(1), c.kind)
		require.Equal(t, c.bytes, s.Bytes(), c.kind)
		num, den := s.BusFactor()
		require.Equal(t, [2]int64{c.busNum, c.busDen}, [2]int64{num, den}, c.kind)
		require.Equal(t, s, s.WithBytes(s.Bytes()), c.kind)
		require.Equal(t, s, s.WithBytes(s.Bytes()+3), "rounded down")
	}
}

// What a rank's output is made of, and where things lie in place: rank 1 of 3.
func TestWant(t *testing.T) {
	matrix := [][]int64{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
	for _, c := range []struct {
		spec    Spec
		want    []Piece
		in, out int64 // in place
	}{
		{spec(AllReduce, 3, 4), []Piece{{0, 4, AllRanks, 0}}, 0, 0},
		{spec(AllGather, 3, 4), []Piece{{0, 4, 0, 0}, {4, 4, 1, 0}, {8, 4, 2, 0}}, 4, 0},
		{spec(ReduceScatter, 3, 4), []Piece{{0, 4, AllRanks, 4}}, 0, 4},
		{spec(Broadcast, 3, 4), []Piece{{0, 4, 0, 0}}, 0, 0},
		{spec(Reduce, 3, 4), nil, 0, 0},
		{spec(Gather, 3, 4), nil, 0, 0},
		{spec(Scatter, 3, 4), []Piece{{0, 4, 0, 4}}, 0, 0},
		{spec(AllToAll, 3, 4), []Piece{{0, 4, 0, 4}, {4, 4, 1, 4}, {8, 4, 2, 4}}, 0, 0},
		{spec(SendRecv, 3, 4), []Piece{{0, 4, 0, 0}}, 0, 0},
		{Spec{Kind: AllToAllV, Ranks: 3, Splits: matrix},
			[]Piece{{0, 2, 0, 1}, {2, 5, 1, 4}, {7, 8, 2, 7}}, 0, 0},
		{Spec{Kind: AllGatherV, Ranks: 3, Splits: [][]int64{{1, 0, 3}}},
			[]Piece{{0, 1, 0, 0}, {1, 0, 1, 0}, {1, 3, 2, 0}}, 1, 0},
		{Spec{Kind: ReduceScatterV, Ranks: 3, Splits: [][]int64{{1, 2, 3}}},
			[]Piece{{0, 2, AllRanks, 1}}, 0, 1},
	} {
		c.spec.Type = dtype.Int32
		require.Equal(t, c.want, c.spec.Want(1), c.spec.Kind)
		in, out := c.spec.Place(1)
		require.Equal(t, [2]int64{c.in, c.out}, [2]int64{in, out}, c.spec.Kind)
	}
}

// The pieces of every rank's output are in order, without gaps, and lie within what they name.
func TestWantCovers(t *testing.T) {
	for _, kind := range Kinds() {
		for ranks := 1; ranks < 9; ranks++ {
			s := spec(kind, ranks, 5)
			if kind == Barrier || kind.Splits() {
				s.Count = 0
			}
			if kind.Splits() {
				for r := range ranks {
					row := make([]int64, ranks)
					for c := range row {
						row[c] = int64(r * c % 4)
					}
					if s.Splits = append(s.Splits, row); kind != AllToAllV {
						break
					}
				}
			}
			if kind.Rooted() {
				s.Root = ranks - 1
			}
			require.NoError(t, s.Validate())
			for rank := range ranks {
				end := int64(0)
				for _, p := range s.Want(rank) {
					require.Equal(t, end, p.Off)
					end += p.Len
					from := p.From
					if from == AllRanks {
						from = rank
					}
					require.LessOrEqual(t, p.InOff+p.Len, s.In(from))
				}
				require.Equal(t, s.Out(rank), end, "%v rank %d", kind, rank)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Kind = 0 }, "kind Kind(0) is none"},
		{func(s *Spec) { s.Ranks = 0 }, "0 ranks; at least 1 is needed"},
		{func(s *Spec) { s.Root = 1 }, "all_reduce has no root, but root is 1"},
		{func(s *Spec) { s.Kind, s.Op, s.Root = Broadcast, 0, 9 },
			"root 9 is not one of the ranks 0…3"},
		{func(s *Spec) { s.Op = 0 }, "all_reduce needs an operator"},
		{func(s *Spec) { s.Op = Xor + 1 }, "all_reduce needs an operator"},
		{func(s *Spec) { s.Type = dtype.Bool }, "bool has no sum; and, or, xor are expected"},
		{func(s *Spec) { s.Type, s.Op = dtype.Complex64, Max },
			"complex64 has no max; sum, avg, premulsum are expected"},
		{func(s *Spec) { s.Type, s.Op = dtype.Complex128, Prod },
			"complex128 has no prod; sum, avg, premulsum are expected"},
		{func(s *Spec) { s.Op = And },
			"float32 has no and; sum, prod, min, max, avg, premulsum are expected"},
		{func(s *Spec) { s.Type, s.Count = dtype.Complex64, MaxElements/4/2+1 }, "is too large"},
		{func(s *Spec) { s.Kind = AllGather },
			"all_gather does not reduce, but has operator sum"},
		{func(s *Spec) { s.Type = 0 }, "all_reduce needs a data type"},
		{func(s *Spec) { s.Type = 99 }, "all_reduce needs a data type"},
		{func(s *Spec) { s.Count = -1 }, "count -1 is negative"},
		{func(s *Spec) { s.Count = MaxElements }, "is too large"},
		{func(s *Spec) { s.Splits = [][]int64{{1}} },
			"all_reduce on 4 ranks takes 0 rows of splits, not 1"},
		{func(s *Spec) { s.Kind, s.Op = AllToAllV, 0 },
			"all_to_allv takes no count, but count is 8"},
		{func(s *Spec) { s.Kind, s.Op, s.Count, s.Splits = AllGatherV, 0, 0, [][]int64{{1, 2, 3}} },
			"splits row 0 has 3 entries; 4 ranks need as many"},
		{func(s *Spec) { s.Kind, s.Op, s.Count, s.Splits = AllGatherV, 0, 0, [][]int64{{1, 2, 3, -4}} },
			"splits[0][3] = -4 is out of range"},
		{func(s *Spec) { s.Kind, s.Op, s.Count, s.InPlace = AllToAllV, 0, 0, true },
			"all_to_allv cannot run in place"},
	} {
		s := spec(AllReduce, 4, 8)
		c.change(&s)
		require.ErrorContains(t, s.Validate(), c.want)
	}
}

func TestScaling(t *testing.T) {
	for _, c := range []struct {
		op            Op
		dtype         dtype.Type
		avg           AvgMode
		before, after bool
	}{
		{Sum, dtype.Float32, AvgNCCL, false, false},
		{PremulSum, dtype.Int32, AvgNCCL, true, false},
		{Avg, dtype.Float32, AvgNCCL, true, false},
		{Avg, dtype.Int32, AvgNCCL, false, true},
		{Avg, dtype.Float32, AvgPost, false, true},
	} {
		s := Spec{Kind: AllReduce, Op: c.op, Type: c.dtype, Avg: c.avg}
		require.Equal(t, [2]bool{c.before, c.after}, [2]bool{s.ScalesBefore(), s.ScalesAfter()})
	}
}

// How much of a 64 MiB all-gather's vector a rank has, and what its bus bandwidth counts.
func ExampleSpec() {
	s := Spec{Kind: AllGather, Type: dtype.BFloat16, Ranks: 8}.WithBytes(64 * unit.MiB)
	num, den := s.BusFactor()
	fmt.Println(s.Count, s.In(3), s.Out(3), s.Bytes())
	fmt.Printf("busbw = algbw × %d/%d\n", num, den)
	// Output:
	// 4194304 4194304 33554432 64 MiB
	// busbw = algbw × 7/8
}

// TestInComponents: twice as many floats in every block, and the same bytes.
func TestInComponents(t *testing.T) {
	s := Spec{Kind: AllToAllV, Type: dtype.Complex128, Ranks: 2, Splits: [][]int64{{1, 2}, {0, 5}}}
	c := s.InComponents()
	require.NoError(t, c.Validate())
	require.Equal(t, dtype.Float64, c.Type)
	require.Equal(t, [][]int64{{2, 4}, {0, 10}}, c.Splits)
	require.Equal(t, [][]int64{{1, 2}, {0, 5}}, s.Splits)
	require.Equal(t, s.Bytes(), c.Bytes())
	r := Spec{Kind: ReduceScatter, Op: Avg, Type: dtype.Complex64, Ranks: 3, Count: 5, InPlace: true}
	for rank := range 3 {
		in, out := r.Place(rank)
		twiceIn, twiceOut := r.InComponents().Place(rank)
		require.Equal(t, [2]int64{2 * in, 2 * out}, [2]int64{twiceIn, twiceOut})
	}
	require.True(t, r.ScalesBefore())
	whole := Spec{Kind: AllReduce, Op: And, Type: dtype.Bool, Ranks: 3, Count: 5}
	require.Equal(t, whole, whole.InComponents())
}
