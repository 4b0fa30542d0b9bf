package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/program"
	"collsim/proof"
)

// TestPassesOnWhatSomeHave: random programs have found these: a pass copied the operand of a
// broadcast on ranks that have none of it, and looked for the operand of a barrier.
func TestPassesOnWhatSomeHave(t *testing.T) {
	root := [][]int{{1}}
	sums := []program.Op{{Name: "sums", Call: "reduce root 1", In: []string{"x", "x"},
		Outs: []string{"a", "b"}},
		{Name: "back", Call: "broadcast root 1", In: []string{"a", "b"}, Outs: []string{"c", "d"}},
		{Name: "use", Kernel: "add", In: []string{"a", "b"}, Out: "y", Group: "root"}}
	for name, c := range map[string]struct {
		passes program.Lowering
		ops    []program.Op
	}{
		"cloned":    {program.Lowering{InPlace: true}, sums},
		"in bucket": {program.Lowering{Bucket: 1 << 20}, sums},
		"both":      {program.Lowering{Bucket: 1 << 20, InPlace: true}, sums},
		"barrier": {program.Lowering{Pipeline: program.RepairedPipeline}, []program.Op{
			{Name: "product", Kernel: "matmul", In: []string{"x", "x"}, Out: "y"},
			{Name: "meet", Call: "barrier"}}},
	} {
		t.Run(name, func(t *testing.T) {
			low, err := program.Lower(&program.Program{Name: "p", Ranks: 3, Ops: c.ops,
				Groups:  []program.Group{{Name: "root", Teams: root}},
				Tensors: []program.Tensor{f64("x", 4, 4)}}, c.passes, byName)
			require.NoError(t, err)
			_, found := proof.Verify(low.Schedule, proof.Options{})
			require.Empty(t, found)
		})
	}
}
