package random

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/internal/tier"
	"collsim/program"
	"collsim/proof"
)

// choose carries calls out by the first algorithm of the table.
func choose(spec collective.Spec, name string, _ []int, _ bool) (program.Chosen, error) {
	if name == "" {
		name = algos.ForKind(spec.Kind)[0].Name
	}
	a, err := algos.Find(spec.Kind, name)
	if err != nil {
		return program.Chosen{}, err
	}
	s, err := a.Build(spec, algos.Options{})
	return program.Chosen{Schedule: s, Name: name}, err
}

// TestPrograms: they are valid, every rank has what its ops read, the same source gives the same,
// and everything that a program may have occurs.
func TestPrograms(t *testing.T) {
	seen := map[string]int{}
	holds(t, tier.Of(150, 2000), prop.ForAll(func(p Program, seed uint64) string {
		for _, word := range strings.Fields(strings.ReplaceAll(p.String(), ",", " ")) {
			seen[word]++
		}
		for i := range p.Ops {
			seen[fmt.Sprint("outs ", len(outs(&p.Ops[i])))]++
		}
		low, err := program.Lower(p.Program, program.Lowering{}, choose)
		if err != nil {
			return err.Error()
		}
		for i := range low.Schedule.Tensors {
			seen[low.Schedule.Tensors[i].Role.String()]++
		}
		if _, found := proof.Verify(low.Schedule, proof.Options{}); len(found) > 0 {
			return found[0].Error()
		}
		draw := func() string { return DrawProgram(rand.New(rand.NewPCG(seed, 3))).String() }
		if once, again := draw(), draw(); once != again {
			return "another one is drawn"
		}
		return ""
	}, Programs(), numbers()))
	words := []string{"async", "keep", "after", "other", "group", "symmetric", "registered", "splits",
		"avg", "max", "premulsum", "matmul", "add", "scale", "cast", "opaque", "outs 0", "outs 2",
		"updated"}
	for _, kind := range collective.Kinds() {
		words = append(words, kind.String())
	}
	for _, pass := range passes() {
		words = append(words, pass.name)
	}
	for _, word := range words {
		require.Positive(t, seen[word], word)
	}
}

// TestProgramsShrink: a failure that one op and one pass make is reported with these alone.
func TestProgramsShrink(t *testing.T) {
	p := shrinks[Program](t, func(p Program) bool {
		return !p.Lowering.Reuse || !strings.Contains(p.String(), "all_gather ")
	}, Programs())
	require.Len(t, p.Ops, 1)
	require.Len(t, p.Tensors, 1)
	require.Equal(t, program.Op{Name: p.Ops[0].Name, Call: "all_gather", In: p.Ops[0].In,
		Out: p.Ops[0].Out, Outs: p.Ops[0].Outs}, p.Ops[0])
	require.Equal(t, program.Tensor{Name: p.Tensors[0].Name, Type: p.Tensors[0].Type,
		Shape: p.Tensors[0].Shape}, p.Tensors[0])
	require.Equal(t, program.Lowering{Reuse: true}, p.Lowering)
	require.Empty(t, p.Groups)
	require.Equal(t, 1, p.Iterations)
}
