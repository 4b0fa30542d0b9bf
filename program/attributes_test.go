package program_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
)

// TestCallsSayWhatHasAnEffect: what a call says of itself that follows from its tensors, its group
// or its op, or that means nothing for its kind, is refused by name.
func TestCallsSayWhatHasAnEffect(t *testing.T) {
	for call, wrong := range map[string]string{
		"all_reduce":                       "",
		"all_reduce bfloat16 shape 4x4":    "", // as the tensor has it
		"all_reduce premulsum(factor=2)":   "",
		"all_reduce premulsum":             "premulsum without its factor",
		"all_reduce premulsum(factor=0)":   "premulsum without its factor",
		"all_reduce sum factor 2":          "factor 2 is for premulsum",
		"all_reduce factor 2":              "factor 2 is for premulsum",
		"all_reduce sum max":               "a second operator, max",
		"all_reduce bfloat16 float16":      "a second type, float16",
		"all_reduce float16":               "the type is that of x, bfloat16",
		"all_reduce shape 4":               "the shape is that of x, 4x4",
		"all_reduce root 1":                "root 1 has no effect on all_reduce",
		"all_reduce axis 1":                "axis 1 has no effect on all_reduce",
		"all_reduce average post":          "average post has no effect on all_reduce",
		"all_reduce team 0,1":              "no team is expected",
		"all_reduce in_place":              "in and out are one tensor",
		"all_reduce disabled":              "no disabled is expected",
		"all_reduce splits 1,1":            "all_reduce has no splits",
		"broadcast sum":                    "operator sum has no effect on broadcast",
		"all_gather axis 2":                "has 2 axes",
		"all_gather concat 1":              "concat is an axis of all_to_all",
		"all_to_all axis 1 concat 1":       "",
		"all_to_all axis 1 axis 1":         "a second axis, axis 1",
		"reduce_scatter avg average post":  "",
		"reduce_scatter max average post":  "average post has no effect on reduce_scatter max",
		"all_reduce premulsum(2)":          "only premulsum has a parameter",
		"all_reduce sum(factor=2)":         "only premulsum has a parameter",
		"all_reduce premulsum factor 2":    "",
		"all_reduce premulsum factor much": "invalid syntax",
	} {
		p := &program.Program{Ranks: 2, Tensors: []program.Tensor{{Name: "x", Type: dtype.BFloat16,
			Shape: collective.Shape{4, 4}, Memory: program.Private}},
			Ops: []program.Op{{Name: "call", Call: call, In: []string{"x"}, Out: "y"}}}
		_, err := program.Lower(p, program.Lowering{}, byName)
		if wrong == "" {
			require.NoError(t, err, call)
			continue
		}
		require.ErrorContains(t, err, wrong, call)
	}
}
