package algostest

import (
	"math"
	"slices"
	"testing"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/random"
	"collsim/reference"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// TestOracleAcceptsWhatIsRight: the definition itself, and every algorithm of the table as package
// reference carries it out, whatever the order of its additions.
func TestOracleAcceptsWhatIsRight(t *testing.T) {
	laws := gopter.NewProperties(gopter.DefaultTestParametersWithSeed(1))
	laws.Property("nothing to complain about", prop.ForAll(
		func(spec collective.Spec) string {
			return holds(func(t require.TestingT) {
				acceptsAs(t, spec)
			})
		}, random.Specs()))
	laws.TestingRun(t)
}

// acceptsAs is accepts in the spec's type.
func acceptsAs(t require.TestingT, spec collective.Spec) {
	switch spec.Type {
	case dtype.Float64:
		accepts[float64](t, spec)
	case dtype.Float32, 0:
		accepts[float32](t, spec)
	case dtype.Float16:
		accepts[dtype.F16](t, spec)
	case dtype.BFloat16:
		accepts[dtype.BF16](t, spec)
	case dtype.Float8E4M3:
		accepts[dtype.E4M3](t, spec)
	case dtype.Float8E5M2:
		accepts[dtype.E5M2](t, spec)
	case dtype.Int8:
		accepts[int8](t, spec)
	case dtype.Int16:
		accepts[int16](t, spec)
	case dtype.Int32:
		accepts[int32](t, spec)
	case dtype.Int64:
		accepts[int64](t, spec)
	case dtype.Uint8:
		accepts[uint8](t, spec)
	case dtype.Uint16:
		accepts[uint16](t, spec)
	case dtype.Uint32:
		accepts[uint32](t, spec)
	case dtype.Uint64:
		accepts[uint64](t, spec)
	}
}

func accepts[T dtype.Number](t require.TestingT, spec collective.Spec) {
	Oracle(t, spec, func(inputs [][]T) [][]T {
		outputs, err := reference.Define(spec, inputs)
		require.NoError(t, err)
		return outputs
	})
	for _, a := range algos.ForKind(spec.Kind) {
		s, err := a.Build(spec, algos.Options{})
		if err != nil {
			continue // it is for other collectives
		}
		Oracle(t, spec, func(inputs [][]T) [][]T {
			outputs, err := reference.Run(s, inputs)
			require.NoError(t, err)
			return outputs
		})
	}
}

// inTurn adds all inputs in rank order and gives every rank the sum.
func inTurn(inputs [][]float32) [][]float32 {
	sum := inputs[0] // it is a copy
	for _, in := range inputs[1:] {
		for i, x := range in {
			sum[i] += x
		}
	}
	return slices.Repeat([][]float32{sum}, len(inputs))
}

// TestOracleComplains names what is wrong in words.
func TestOracleComplains(t *testing.T) {
	sum := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 4, Count: 10}
	max, scaled, root := sum, sum, sum
	max.Op = collective.Max
	scaled.Op, scaled.Factor = collective.PremulSum, 0.5
	root.Kind, root.Root = collective.Reduce, 2
	clone := func(outputs [][]float32) [][]float32 {
		for i := range outputs {
			outputs[i] = slices.Clone(outputs[i])
		}
		return outputs
	}
	for _, c := range []struct {
		spec collective.Spec
		f    func([][]float32) [][]float32
		want string
	}{
		{sum, func(in [][]float32) [][]float32 {
			out := clone(inTurn(in))
			out[3][7], out[3][9], out[1][5] = 0.25, 0.25, 0.25
			return out
		}, `all_reduce sum of float32 on 4 ranks, count 10, exact data: rank 1 element 5 is 0.25; ` +
			`-?[0-9e.+]+ is wanted; 3 of 40 elements are wrong`},
		{max, inTurn, `^all_reduce max of float32 on 4 ranks, count 10, exact data: rank 0 element 0`},
		{scaled, inTurn, `^all_reduce premulsum\(factor=0.5\) of float32 on 4 ranks, count 10, exact`},
		{sum, func(in [][]float32) [][]float32 { return inTurn(in[1:]) },
			`^all_reduce sum of float32 on 4 ranks, count 10: outputs of 3 ranks; ` +
				`there are 4$`},
		{root, inTurn, `^reduce sum of float32 on 4 ranks, count 10, root 2: rank 0 has 10 ` +
			`output elements; 0 are expected$`},
		{collective.Spec{Kind: collective.AllGatherV, Type: dtype.Float32, Ranks: 2,
			Splits: [][]int64{{1, 2}}}, unchanged,
			`^all_gatherv of float32 on 2 ranks, splits \[\[1 2\]\]: rank 0 has 1 output ` +
				`elements; 3 are expected$`},
		{collective.Spec{}, inTurn, `^kind Kind\(0\) is none$`},
		{sum, func(in [][]float32) [][]float32 { // right to 12 bits: a cast to a narrower type
			out := inTurn(in)
			for i, x := range out[0] {
				out[0][i] = x - x/4096
			}
			return out
		}, `^all_reduce sum of float32 on 4 ranks, count 10, exact data: rank 0 element 0`},
	} {
		require.Regexp(t, c.want, holds(func(t require.TestingT) { Oracle(t, c.spec, c.f) }))
	}
}

// TestOracleNeedsExactNumbersWhereTheyAre: being within the bound is not enough on exact data.
func TestOracleNeedsExactNumbersWhereTheyAre(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float64,
		Ranks: 3, Count: 4}
	complaint := holds(func(t require.TestingT) {
		Oracle(t, spec, func(inputs [][]float64) [][]float64 {
			outputs, err := reference.Define(spec, inputs)
			require.NoError(t, err)
			outputs[1][1] = math.Nextafter(outputs[1][1], math.Inf(1))
			return outputs
		})
	})
	require.Regexp(t, `^all_reduce sum of float64 on 3 ranks, count 4: the definition is exact on `+
		`this data, the result is not; the largest distance is 0.5 units`, complaint)
	complaint = holds(func(t require.TestingT) {
		Oracle(t, spec, func(inputs [][]float32) [][]float32 { return inputs })
	})
	require.Contains(t, complaint, "inputs are float32, but the collective is of float64")
}

func unchanged(inputs [][]float32) [][]float32 { return inputs }
