package run

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkTrainingStep: a step, forward and backward, of layers of example:training-step on 8
// ranks with half the tokens, whose gradients stay where they are: lowered, proven and timed.
func BenchmarkTrainingStep(b *testing.B) {
	for _, layers := range []int{96, 288, 1000} {
		b.Run(fmt.Sprint(layers), func(b *testing.B) { benchmarkStep(b, layers) })
	}
}

func benchmarkStep(b *testing.B, repeat int) {
	path := filepath.Join("..", "scenarios", "examples", "training-step.toml")
	text, err := os.ReadFile(path)
	require.NoError(b, err)
	layers := strings.ReplaceAll(string(text), "repeat = 2\n", fmt.Sprintf("repeat = %d\n", repeat))
	averages := regexp.MustCompile(`(?s)\[\[program\.op\]\]\nname = "average.*`)
	layers = averages.ReplaceAllString(layers, "")
	layers = strings.Replace(layers, "shape = [1024, 8192]", "shape = [512, 8192]", 1)
	s, err := Load("step.toml", []byte(layers), LoadOptions{Set: []string{"lowering.reuse=true"}})
	require.NoError(b, err)
	p := s.Programs[0]
	for b.Loop() {
		r := &runner{s: s}
		low, chosen, err := r.lower(p, nil)
		require.NoError(b, err)
		require.NoError(b, r.enter(p.Point))
		result := &ProgramResult{Point: p, Lowered: low, chosen: chosen}
		require.NoError(b, r.proveAndTime(result))
		require.Equal(b, Proved, result.Proof)
	}
}
