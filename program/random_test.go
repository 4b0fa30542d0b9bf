package program_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/program"
	"collsim/proof"
	"collsim/random"
	"collsim/reference"
	"collsim/schedule"
	"collsim/unit"
)

// TestRandomPrograms: whatever passes at whatever parameters lower a random program, whatever they
// take for faster, it is proven, and every rank has what it has without them.
func TestRandomPrograms(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(37)
	parameters.MinSuccessfulTests = tier.Of(40, 1000)
	properties := gopter.NewProperties(parameters)
	properties.Property("passes keep what is computed", prop.ForAll(func(p random.Program) string {
		plain, err := program.Lower(p.Program, program.Lowering{}, byName)
		require.NoError(t, err)
		times := rand.New(rand.NewPCG(37, uint64(p.Ranks)))
		guide := program.Guide{Choose: byName, Time: func(*schedule.Schedule) (unit.Time, error) {
			return unit.Time(times.Int64N(1000)), nil
		}}
		low, err := program.LowerBy(p.Program, p.Lowering, guide)
		if err != nil {
			return err.Error()
		}
		for _, l := range []*program.Lowered{plain, low} {
			if _, found := proof.Verify(l.Schedule, proof.Options{}); len(found) > 0 {
				return found[0].Error()
			}
		}
		return otherwise(computed(t, plain), computed(t, low))
	}, random.Programs()))
	properties.TestingRun(t)
}

// computed is what results are on each rank, of small numbers that are not negative.
func computed(t *testing.T, low *program.Lowered) map[string][][]float64 {
	t.Helper()
	s := low.Schedule
	given := make(reference.Tensors, len(s.Tensors))
	for i := range s.Tensors {
		if x := &s.Tensors[i]; x.Role.IsGiven() {
			r := rand.New(rand.NewPCG(uint64(len(x.Name)), uint64(x.Name[0])))
			for range s.Spec.Ranks {
				values := make([]float32, x.Shape.Elements())
				for k := range values {
					values[k] = float32(r.IntN(3))
				}
				data := make([]byte, 4*len(values))
				dtype.Put(data, values)
				given[i] = append(given[i], data)
			}
		}
	}
	out, err := reference.RunTensors(s, given, reference.RunOptions{})
	require.NoError(t, err)
	is := map[string][][]float64{}
	for name, at := range low.Where {
		i := int(at.Tensor - schedule.FirstTensor)
		if out[i] == nil {
			continue
		}
		for rank := range s.Spec.Ranks {
			values := make([]float32, len(out[i][rank])/4)
			dtype.Get(values, out[i][rank])
			var list []float64
			for _, v := range values[at.Offset(rank):] {
				list = append(list, float64(v))
			}
			is[name] = append(is[name], list)
		}
	}
	return is
}

// otherwise says where a result is another one. Where no number is negative, 12 ops of at most 64
// additions each have a relative error of less than 1000·2⁻²⁴.
func otherwise(plain, low map[string][][]float64) string {
	for _, name := range sortedKeys(plain) {
		if low[name] == nil {
			return name + " is no result"
		}
		for rank, values := range plain[name] {
			for i, want := range values {
				is := low[name][rank][i]
				if !math.IsNaN(want) && !(math.Abs(is-want) <= 1000.0/(1<<24)*want) {
					return fmt.Sprintf("element %d of %s on rank %d is %v; without passes it is %v", i, name, rank,
						is, want)
				}
			}
		}
	}
	return ""
}
