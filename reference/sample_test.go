package reference_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/reference"
)

// TestSampleIsRun: the elements of a sample have the bits that they have when all ranks carry out
// all of their steps, of every algorithm with a group.
func TestSampleIsRun(t *testing.T) {
	met := map[string]int{}
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			for _, ranks := range sampledRanks() {
				for _, o := range []algos.Options{{}, {Channels: 2, Slices: 2}} {
					for _, inPlace := range []bool{false, true} {
						spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks,
							Count: int64(8 * ranks), InPlace: inPlace}
						if kind.Reduces() {
							spec.Op, spec.Avg = collective.Avg, collective.AvgNCCL
						}
						met[a.Name] += compareSample(t, a, spec, o)
					}
				}
			}
		}
	}
	require.Greater(t, met["hierarchical"], 400)
	require.Greater(t, met["ring"], 1000)
	require.Greater(t, met["bruck"], 400)
	require.Greater(t, met["recursive-doubling"], 200)
}

// compareSample is how many elements it has compared.
func compareSample(t *testing.T, a algos.Algorithm, spec collective.Spec, o algos.Options) int {
	s, err := a.Build(spec, o)
	if err != nil || reference.Samples(s) != "" {
		return 0
	}
	what := fmt.Sprintf("%v/%s of %d, %+v, in place: %v", spec.Kind, a.Name, spec.Ranks, o,
		spec.InPlace)
	inputs, err := reference.Inputs[float32](spec, reference.Normal, 5)
	require.NoError(t, err, what)
	outputs, err := reference.Run(s, inputs)
	require.NoError(t, err, what)
	ranks, at, got, err := reference.SampleOutputs(s, reference.CheckOptions{Sample: 60, Seed: 5,
		Data: reference.Normal})
	require.NoError(t, err, what)
	require.NotEmpty(t, got, what)
	for i, x := range got {
		want := outputs[ranks[i]][at[i]]
		require.Equal(t, math.Float32bits(want), math.Float32bits(x), "%s: rank %d element %d is %v, %v",
			what, ranks[i], at[i], want, x)
	}
	r, err := reference.Check(s, reference.CheckOptions{Sample: 60, Seed: 5, Data: reference.Normal})
	require.NoError(t, err, what)
	require.Zero(t, r.Wrong, what)
	require.Equal(t, len(got), r.Sampled, what)
	if spec.Kind.Reduces() {
		whole, err := reference.Check(s, reference.CheckOptions{Data: reference.Normal})
		require.NoError(t, err, what)
		require.LessOrEqual(t, r.Depth, whole.Depth, what)
	}
	return len(got)
}

func sampledRanks() []int {
	if tier.Long {
		return []int{2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 18, 32}
	}
	return []int{2, 6, 8}
}
