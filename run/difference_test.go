package run

import (
	"fmt"
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
