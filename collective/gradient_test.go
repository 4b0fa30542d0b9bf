package collective

import (
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// apply is the collective by its definition, on integers; op max or min if the Spec has it.
func apply(s Spec, in [][]int64) [][]int64 {
	out := make([][]int64, s.Ranks)
	for rank := range out {
		out[rank] = make([]int64, s.Out(rank))
		for _, p := range s.Want(rank) {
			for i := range p.Len {
				if p.From != AllRanks {
					out[rank][p.Off+i] = in[p.From][p.InOff+i]
					continue
				}
				total := in[0][p.InOff+i]
				for _, x := range in[1:] {
					switch s.Op {
					case Max:
						total = max(total, x[p.InOff+i])
					case Min:
						total = min(total, x[p.InOff+i])
					default:
						total += x[p.InOff+i]
					}
				}
				out[rank][p.Off+i] = total
			}
		}
	}
	return out
}

// vectors are random small integers, n(rank) for each rank.
func vectors(r *rand.Rand, ranks int, n func(rank int) int64) [][]int64 {
	x := make([][]int64, ranks)
	for rank := range x {
		x[rank] = make([]int64, n(rank))
		for i := range x[rank] {
			x[rank][i] = r.Int64N(2001) - 1000
		}
	}
	return x
}

func dot(x, y [][]int64) int64 {
	total := int64(0)
	for rank := range x {
		for i := range x[rank] {
			total += x[rank][i] * y[rank][i]
		}
	}
	return total
}

// linear is a random Spec of a kind: sum where it reduces, random root and splits.
func linear(r *rand.Rand, kind Kind) Spec {
	s := Spec{Kind: kind, Type: dtype.Int64, Ranks: 1 + r.IntN(6)}
	if kind.Rooted() {
		s.Root = r.IntN(s.Ranks)
	}
	if kind.Reduces() {
		s.Op = Sum
	}
	rows := 1
	switch {
	case kind == AllToAllV:
		rows = s.Ranks
	case !kind.Splits():
		s.Count = r.Int64N(5)
		return s
	}
	for range rows {
		row := make([]int64, s.Ranks)
		for i := range row {
			row[i] = r.Int64N(4)
		}
		s.Splits = append(s.Splits, row)
	}
	return s
}

// TestAdjoint is the law of gradients: ⟨C x, y⟩ = ⟨x, Cᵀ y⟩ exactly, for every linear kind.
func TestAdjoint(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(1)
	p.MinSuccessfulTests = 300
	laws := gopter.NewProperties(p)
	for _, kind := range Kinds() {
		if kind == Barrier {
			continue
		}
		laws.Property(kind.String(), prop.ForAll(func(seed uint64) bool {
			r := rand.New(rand.NewPCG(seed, 1))
			s := linear(r, kind)
			g, err := Gradient(s)
			if err != nil || g.Scale != 1 || g.Mask {
				return false
			}
			x := vectors(r, s.Ranks, s.In)
			y := vectors(r, s.Ranks, s.Out)
			for rank := range y { // Cᵀ takes what C gives and gives what C takes
				if g.Spec.In(rank) != s.Out(rank) || g.Spec.Out(rank) != s.In(rank) {
					return false
				}
			}
			return dot(apply(s, x), y) == dot(x, apply(g.Spec, y))
		}, gen.UInt64()))
	}
	laws.TestingRun(t)
}

// TestGradientTwice: the gradient of the gradient is the collective, but for send_recv, whose
// gradient is an all_to_allv.
func TestGradientTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kind := range Kinds() {
		if kind == Barrier || kind == SendRecv {
			continue
		}
		s := linear(r, kind)
		g, err := Gradient(s)
		require.NoError(t, err)
		back, err := Gradient(g.Spec)
		require.NoError(t, err)
		require.Equal(t, s, back.Spec, "%v", kind)
	}
}

// TestLocalGradient: with y as the gradient of a rank's own output, the derivative of ⟨C x, y⟩ by
// the rank's own input, which moving it by a unit gives without any formula.
func TestLocalGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, kind := range []Kind{AllReduce, AllGather, AllGatherV, ReduceScatter, ReduceScatterV,
		AllToAll, AllToAllV} {
		for range 20 {
			s := linear(r, kind)
			x, y := vectors(r, s.Ranks, s.In), vectors(r, s.Ranks, s.Out)
			before := apply(s, x)
			for rank := range s.Ranks {
				g, err := LocalGradient(s, rank)
				require.NoError(t, err)
				got := make([]int64, s.In(rank))
				end := int64(0)
				for _, p := range g.Pieces {
					require.Equal(t, end, p.Off, "%v: pieces without gaps", kind)
					end += p.Len
					if p.From != Zero {
						copy(got[p.Off:end], y[rank][p.InOff:p.InOff+p.Len])
					}
				}
				require.Equal(t, s.In(rank), end)
				for i := range got {
					x[rank][i]++
					after, want := apply(s, x), int64(0)
					x[rank][i]--
					for j := range after[rank] {
						want += (after[rank][j] - before[rank][j]) * y[rank][j]
					}
					require.Equal(t, want, got[i], "%v rank %d element %d", kind, rank, i)
				}
			}
		}
	}
}

// TestMaxGradient compares the mask with numeric differentiation: of all ranks' summed loss ⟨C x,
// y⟩ by each input, away from ties, where a step of 1 changes no order.
func TestMaxGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, kind := range []Kind{AllReduce, Reduce, ReduceScatter, ReduceScatterV} {
		for _, op := range []Op{Max, Min} {
			s := linear(r, kind)
			s.Op = op
			g, err := Gradient(s)
			require.NoError(t, err)
			require.True(t, g.Mask)
			x := vectors(r, s.Ranks, s.In)
			for rank := range x { // distinct, and further apart than the step
				for i := range x[rank] {
					x[rank][i] = 10*x[rank][i] + 2*int64(rank)
				}
			}
			out, y := apply(s, x), vectors(r, s.Ranks, s.Out)
			grad, full := apply(g.Spec, y), out
			if kind != AllReduce {
				full = apply(g.Spec, out)
			}
			for rank := range x {
				for i := range x[rank] {
					got := int64(0)
					if x[rank][i] == full[rank][i] {
						got = grad[rank][i]
					}
					x[rank][i]++
					after := apply(s, x)
					x[rank][i]--
					require.Equal(t, dot(after, y)-dot(out, y), got, "%v %v rank %d element %d",
						kind, op, rank, i)
				}
			}
		}
	}
}

func TestGradientRules(t *testing.T) {
	s := Spec{Kind: AllReduce, Op: Avg, Type: dtype.Float32, Ranks: 4, Count: 8}
	g, err := Gradient(s)
	require.NoError(t, err)
	require.Equal(t, 0.25, g.Scale)
	require.Equal(t, Sum, g.Spec.Op)
	s.Op, s.Factor = PremulSum, 0.5
	g, err = Gradient(s)
	require.NoError(t, err)
	require.Equal(t, 0.5, g.Scale)
	s.Op, s.Factor = Prod, 0
	_, err = Gradient(s)
	require.EqualError(t, err, "all_reduce prod has no gradient; sum, avg, "+
		"premulsum, min and max have one")
	_, err = Gradient(Spec{Kind: Barrier, Ranks: 2})
	require.EqualError(t, err, "barrier has no gradient")
	_, err = Gradient(Spec{Kind: AllReduce, Op: Xor, Type: dtype.Int32, Ranks: 2, Count: 1})
	require.EqualError(t, err, "all_reduce xor has no gradient; sum, avg, premulsum, min and max "+
		"have one")
	_, err = Gradient(Spec{Kind: AllGather, Type: dtype.Bool, Ranks: 2, Count: 1})
	require.EqualError(t, err, "all_gather of bool has no gradient; numbers have one")
	back, err := Gradient(Spec{Kind: AllGather, Type: dtype.Complex64, Ranks: 2, Count: 1})
	require.NoError(t, err)
	require.Equal(t, Spec{Kind: ReduceScatter, Op: Sum, Type: dtype.Complex64, Ranks: 2, Count: 1},
		back.Spec)
	for _, kind := range []Kind{Broadcast, Reduce, Gather, Scatter, SendRecv} {
		_, err = LocalGradient(linear(rand.New(rand.NewPCG(1, 1)), kind), 0)
		require.EqualError(t, err, ""+kind.String()+" has no local gradient; all_reduce, "+
			"all_gather, all_gatherv, reduce_scatter, reduce_scatterv, all_to_all and all_to_allv have one")
	}
}

// TestGradientOfCommunication: the gradient of a communication on tensors is that of the flat
// collective, and takes and gives blocks where the other gives and takes them.
func TestGradientOfCommunication(t *testing.T) {
	for _, text := range []string{
		"all_reduce float32 avg shape 4x3", "all_reduce float32 max shape 4x3 in_place",
		"all_gather float32 shape 4x3 axis 1", "all_gather float32 shape 4x3 team 5,1,2",
		"all_gatherv float32 shape 9x3 splits 1,0,5", "all_gatherv float32 shape 2x9 splits 1,0,5 axis 1",
		"reduce_scatter float32 sum shape 6x2", "reduce_scatter float32 max shape 2x6 axis 1",
		"reduce_scatterv float32 premulsum factor 3 shape 2x6 splits 1,0,5 axis 1",
		"broadcast float32 shape 3x3 team 7,4,6 root 4", "reduce float32 min shape 5 root 2",
		"gather float32 shape 2x2 root 1 axis 1", "scatter float32 shape 2x6 root 2 axis 1",
		"all_to_all float32 shape 6x2 concat 1", "all_to_all float32 shape 2x6x1 axis 1 concat 2",
		"all_to_allv float32 shape 9x2 splits 1,2,3/0,5,1/2,2,2",
		"all_to_allv float32 shape 2x9 splits 1,2,3/0,5,1/2,2,2 axis 1",
		"send_recv float32 shape 7x2", "send_recv float32 shape scalar",
	} {
		c, err := ParseCommunication(text)
		require.NoError(t, err)
		spec, err := c.Spec(3)
		require.NoError(t, err, text)
		want, err := Gradient(spec)
		require.NoError(t, err, text)
		g, err := c.Gradient(3)
		require.NoError(t, err, text)
		got, err := g.Spec(3)
		require.NoError(t, err, text)
		require.Equal(t, want.Spec, got, text)
		for place := range 3 {
			require.Equal(t, c.Unpack(place, 3), g.Pack(place, 3), "%s: gradient in, place %d", text, place)
			require.Equal(t, c.Pack(place, 3), g.Unpack(place, 3), "%s: gradient out, place %d", text, place)
		}
	}
	for _, text := range []string{"barrier", "all_reduce float32 prod shape 4",
		"all_reduce float32 sum"} {
		c, err := ParseCommunication(text)
		require.NoError(t, err)
		_, err = c.Gradient(3)
		require.Error(t, err, text)
	}
}
