package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/proof"
	"collsim/reference"
	"collsim/schedule"
)

// TestOrderExplainsBits: what proof.OrderOf tells of an element, computed, is what the
// interpreter gives, in every type, operator and way to accumulate.
func TestOrderExplainsBits(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.ReduceScatter,
		collective.Reduce} {
		for _, a := range algos.ForKind(kind) {
			t.Run(fmt.Sprintf("%v %s", kind, a.Name), func(t *testing.T) {
				for i, typ := range dtype.All() {
					spec := collective.Spec{Kind: kind, Type: typ, Ranks: 6, Count: 7}
					spec.Op = collective.Ops()[i%len(collective.Ops())]
					if spec.Op == collective.PremulSum {
						spec.Factor = 3
					}
					s, err := a.Build(spec, algos.Options{})
					require.NoError(t, err)
					explainedBits(t, s, reference.Native)
					explainedBits(t, s, reference.InFloat32)
				}
			})
		}
	}
}

func explainedBits(t *testing.T, s *schedule.Schedule, accumulate reference.Accumulate) {
	t.Helper()
	spec := s.Spec
	n := numberOf(spec.Type)
	done, err := n.play(&play{schedule: s, data: reference.Normal, seed: 1, accumulate: accumulate})
	require.NoError(t, err)
	width := int64(spec.Type.Width())
	for rank := range spec.Ranks {
		for e := range spec.Out(rank) {
			order, err := proof.OrderOf(s, rank, e)
			require.NoError(t, err)
			got := n.value(&term{order, &spec, accumulate}, func(rank int) []byte {
				return done.in[rank][order.Element*width:][:width]
			})
			require.Equal(t, done.out[rank][e*width:][:width], got, "%v %v %v: rank %d element %d: %v",
				spec.Type, spec.Op, accumulate, rank, e, order)
		}
	}
}

// TestAdjoint: the law holds of a schedule and its transpose, and of no other.
func TestAdjoint(t *testing.T) {
	build := func(kind collective.Kind, name string, op collective.Op, n int64) *schedule.Schedule {
		a, err := algos.Find(kind, name)
		require.NoError(t, err)
		s, err := a.Build(collective.Spec{Kind: kind, Op: op, Type: dtype.BFloat16, Ranks: 5,
			Count: n}, algos.Options{})
		require.NoError(t, err)
		return s
	}
	gather := build(collective.AllGather, "ring", 0, 7)
	scatter := build(collective.ReduceScatter, "ring", collective.Sum, 7)
	for _, c := range []struct {
		name       string
		f, b       *schedule.Schedule
		mask, want bool
	}{
		{"gradient", gather, scatter, false, true},
		{"and back", scatter, gather, false, true},
		{"masked", scatter, gather, true, true},
		{"average", build(collective.AllReduce, "ring", collective.Avg, 7),
			build(collective.AllReduce, "one-shot", collective.Sum, 7), false, true},
		{"another's", gather, build(collective.AllToAll, "pairwise", 0, 7), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := adjoint(c.f, c.b, c.mask, 3)
			if err != nil { // sizes that do not fit are a refusal as well
				require.False(t, c.want, err)
				return
			}
			require.Equal(t, c.want, got)
		})
	}
	// A backward pass that adds one wrong block.
	text := scatter.String()
	damaged := strings.Replace(text, "from 4, in[0] into out", "from 4, in[1] into out", 1)
	require.NotEqual(t, text, damaged, text)
	wrong, err := schedule.Parse(damaged)
	require.NoError(t, err)
	holds, err := adjoint(gather, wrong, false, 3)
	require.NoError(t, err)
	require.False(t, holds)
}

// TestLocalLaw: shares are those of the full gradient, and a share of another rank is not.
func TestLocalLaw(t *testing.T) {
	for _, spec := range []collective.Spec{
		{Kind: collective.AllReduce, Op: collective.Max, Type: dtype.Float16, Ranks: 5, Count: 9},
		{Kind: collective.AllGather, Type: dtype.Float32, Ranks: 100, Count: 3},
		{Kind: collective.ReduceScatter, Op: collective.Avg, Type: dtype.Int8, Ranks: 4, Count: 1000},
		{Kind: collective.AllToAll, Type: dtype.Float64, Ranks: 3, Count: 2},
		{Kind: collective.AllGatherV, Type: dtype.Float64, Ranks: 3, Splits: [][]int64{{4, 0, 99}}},
	} {
		wrong, count, err := localLaw(spec, 1)
		require.NoError(t, err)
		require.Zero(t, wrong, spec.Kind)
		require.Positive(t, count)
	}
	require.EqualValues(t, 2, shareWrong([]collective.Piece{{Len: 2, From: collective.Zero},
		{Off: 2, Len: 1}}, []uint64{7}, []uint64{1, 0, 8}))
	require.EqualValues(t, 1, shareWrong([]collective.Piece{{Len: 1}}, []uint64{7}, []uint64{7, 0}))
}

// TestFactorIsPrinted: wherever a factor is printed, what reads it gets the same number.
func TestFactorIsPrinted(t *testing.T) {
	for _, factor := range []float64{1.0 / 3, 16777217, 1e-300, -0x1p-52} {
		spec := collective.Spec{Kind: collective.Reduce, Op: collective.PremulSum, Factor: factor,
			Type: dtype.Float64, Ranks: 3, Count: 5}
		_, read, err := collective.ParseOp(OpOf(spec))
		require.NoError(t, err)
		require.Equal(t, factor, read)
		a, err := algos.Find(spec.Kind, "chain")
		require.NoError(t, err)
		s, err := a.Build(spec, algos.Options{})
		require.NoError(t, err)
		again, err := schedule.Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, factor, again.Spec.Factor)
	}
}
