package run_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/arrays"
)

// TestQuantised: the sums of example:quantised are off by no more than both roundings to 8 bits
// allow, which docs/programs.md says: with half a unit in the last place u of 1/8, by (2u+u²)·Σ|x|,
// and a quarter of the least number for each rounding, and bfloat16's own. They do come near it.
func TestQuantised(t *testing.T) {
	const ranks, length = 8, 8 * 32
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(8, 1))
	given := make([]float32, ranks*length)
	for i := range given {
		given[i] = float32(rng.NormFloat64())
	}
	input := tensor([]int64{ranks, 8, length / 8}, given...)
	require.NoError(t, arrays.Write(filepath.Join(dir, "g.npy"), []arrays.Array{input}))
	text, _, _ := strings.Cut(example(t, "quantised"), "[[variant]]")
	text = strings.NewReplacer("524288", "32", `dtype = "bfloat16"`, `dtype = "float32"`,
		"[[program.op]]\nname = \"quantise\"", "input = \"g.npy\"\n\n[[program.tensor]]\n"+
			"name = \"whole\"\noutput = \"w.npy\"\n\n[[program.op]]\nname = \"quantise\"").Replace(text)
	r, err := runLayer(t, filepath.Join(dir, "quantised.toml"), text)
	require.NoError(t, err)
	require.True(t, r.Good())
	require.Len(t, r.Outputs, 1)
	worst := 0.0
	for i, got := range numbersOf[float32](r.Outputs[0].Arrays[3]) {
		sum, size := 0.0, 0.0
		for rank := range ranks {
			x := float64(given[rank*length+i])
			sum, size = sum+x, size+math.Abs(x)
		}
		const u, least = 1.0 / 8, 1.0 / (1 << 16)
		bound := (2*u+u*u)*size + (ranks+1)*least/2
		off := math.Abs(float64(got) - sum)
		require.LessOrEqual(t, off, bound, "element %d", i)
		worst = max(worst, off/bound)
	}
	require.Greater(t, worst, 0.1)
	t.Logf("at most %.2f of the bound", worst)
}
