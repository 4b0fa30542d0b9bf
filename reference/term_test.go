package reference

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/proof"
	"collsim/schedule"
)

// TestOrderExplainsBits: what proof.OrderOf tells of an element, computed, is what the
// interpreter gives, in every type, operator and way to accumulate.
func TestOrderExplainsBits(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.ReduceScatter,
		collective.Reduce} {
		for k, a := range algos.ForKind(kind) {
			t.Run(fmt.Sprintf("%v %s", kind, a.Name), func(t *testing.T) {
				for i, typ := range dtype.All() {
					if !tier.Long && (i+k)%6 != 0 {
						continue // types take turns
					}
					spec := collective.Spec{Kind: kind, Type: typ, Ranks: 6, Count: 7}
					ops := collective.OpsOf(typ)
					spec.Op = ops[i%len(ops)]
					if spec.Op == collective.PremulSum {
						spec.Factor = 3
					}
					s, err := a.Build(spec, algos.Options{})
					var unfit *algos.Unfit
					if errors.As(err, &unfit) {
						return
					}
					require.NoError(t, err)
					explainedBits(t, s, Native)
					explainedBits(t, s, InFloat32)
				}
			})
		}
	}
}

func explainedBits(t *testing.T, s *schedule.Schedule, accumulate Accumulate) {
	t.Helper()
	spec := s.Spec
	x := &Case{Schedule: s, Inputs: normal(t, s, 1), Accumulate: accumulate}
	out := x.execute(t)
	width := int64(spec.Type.Width())
	for rank := range spec.Ranks {
		for e := range spec.Out(rank) {
			order, err := proof.OrderOf(s, rank, e)
			require.NoError(t, err)
			own := &term{Term: order, spec: &spec, accumulate: accumulate}
			got := typeOf(spec.Type).value(own, func(rank int) []byte {
				return x.Inputs[rank][order.Element*width:][:width]
			})
			require.Equal(t, out[rank][e*width:][:width], got, "%v %v %v: rank %d element %d: %v",
				spec.Type, spec.Op, accumulate, rank, e, order)
		}
	}
}
