package run_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
)

// TestGradientOfScenario: forward and backward are a step, whose results are the gradients of what
// is given; numbers are those of the definition.
func TestGradientOfScenario(t *testing.T) {
	memory := "check.memory=" + tier.Of("1MiB", "1GiB") // of little, numbers are soon computed
	r := ran(t, example(t, "mlp"), "program.gradient=full", "sweep.lowering.pipeline=[\"off\"]",
		memory)[0]
	require.Equal(t, run.Proved, r.Proof, "%v", r.Violations)
	require.Equal(t, "exact", r.Numbers)
	var names []string
	for _, o := range r.Lowered.Ops[4:] {
		names = append(names, o.Names...)
	}
	require.Equal(t, []string{"scatter:grad", "down:grad h", "down:grad down_weight",
		"up:grad tokens", "up:grad up_weight", "gather:grad"}, names)
	require.Contains(t, r.Lowered.Where, "up_weight_grad")
	r = ran(t, example(t, "1f1b"), memory)[0]
	require.Equal(t, run.Proved, r.Proof, "%v", r.Violations)
	require.Equal(t, "exact", r.Numbers)
}

// TestGradientMistakes: at the line of the op or the key that they are about.
func TestGradientMistakes(t *testing.T) {
	text := strings.NewReplacer( // as it was before there was a kernel of attention
		"kernel = \"attention heads=8 kv_heads=1 causal\"\nin = \"q{i}\"\nout = \"s{i}\"\n",
		"kernel = \"opaque 280 us\"\nbackward = \"opaque 670 us\"\nin = \"q{i}\"\n",
		`["s{i}", "wo{i}"]`, `["q{i}", "wo{i}"]`, "shape = [8192, 1280]", "shape = [8192, 1024]",
	).Replace(example(t, "training-step"))
	for _, c := range []struct{ was, is, line, want string }{
		{"backward = \"opaque 670 us\"\n", "", "kernel = \"opaque 280 us\"",
			"attention 1: how long the backward pass of an opaque kernel takes is not known"},
		{"backward = \"opaque 670 us\"", "backward = \"670 us\"", "backward = \"670 us\"",
			"backward = \"670 us\": opaque and a time are expected"},
		{"gradient = \"full\"\n", "order = \"1f1b\"\n", "order = \"1f1b\"",
			"order \"1f1b\" is one of forward and backward passes"},
		{"gradient = \"full\"\n",
			"gradient = \"full\"\norder = \"1f1b\"\nstages = [\"tp\", \"pp\"]\n", "stages = ",
			"there is no group \"pp\""},
		{"wq{i}_grad", "x{i}_grad", "in = \"x{i}_grad\"", "average wq0: x0 has no gradient"},
		{"opaque 280 us", "opaque 0 s", "kernel = \"opaque 0 s\"",
			"an opaque kernel takes a time: more than 0 s is expected"},
	} {
		changed := strings.Replace(text, c.was, c.is, 1)
		s, err := run.Load("p.toml", []byte(changed), run.LoadOptions{})
		require.NoError(t, err, c.want)
		_, err = s.Run(t.Context(), run.RunOptions{})
		require.ErrorContains(t, err, c.want)
		_, at, _ := strings.Cut(err.Error(), "p.toml:")
		at, _, _ = strings.Cut(at, ":")
		line, err := strconv.Atoi(at)
		require.NoError(t, err, c.want)
		require.Contains(t, strings.Split(changed, "\n")[line-1], c.line, c.want)
	}
}
