package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
)

// A piped is a program of one pipeline, or of calls and matmuls apart.
type piped struct {
	tensors, ops string // "x 2x3x8 e4m3, …"; "gather = all_gather axis 1: x -> xs; …"
}

// program reads it.
func (c piped) program(t *testing.T, ranks, iterations int) *program.Program {
	t.Helper()
	p := &program.Program{Name: "piped", Ranks: ranks, Iterations: iterations}
	for _, text := range strings.Split(c.tensors, ", ") {
		words := strings.Fields(text)
		shape, err := collective.ParseShape(words[1])
		require.NoError(t, err)
		typ, err := dtype.Parse(words[2])
		require.NoError(t, err)
		p.Tensors = append(p.Tensors, program.Tensor{Name: words[0], Shape: shape, Type: typ,
			Keep: len(words) > 3})
	}
	for _, text := range strings.Split(c.ops, "; ") {
		name, rest, _ := strings.Cut(text, " = ")
		what, rest, _ := strings.Cut(rest, ": ")
		in, out, _ := strings.Cut(rest, " -> ")
		o := program.Op{Name: name, Kernel: what, In: strings.Fields(in), Out: out}
		if k, _, _ := strings.Cut(what, " "); strings.HasPrefix(k, "all_") || k == "reduce_scatter" {
			o.Call, o.Kernel = what, ""
		}
		if strings.Contains(what, "result-scale") {
			o.Type = dtype.Float8E4M3
		}
		p.Ops = append(p.Ops, o)
	}
	return p
}

// TestPipelinesOfPrograms: scales by tensor and by row, biases and result scales, types, several
// right operands, axes in the middle, and A that others read, or that nobody does. Each is one
// pipeline, proven, exact, and has the digest of its ops one after the other.
func TestPipelinesOfPrograms(t *testing.T) {
	const rows = "sa 2x24x1 float32, sb 1x5 float32, w 8x5 float8_e4m3fn, b 5 bfloat16"
	for name, c := range map[string]piped{
		"plain": {"x 3x8 bfloat16, w 8x5 bfloat16",
			"gather = all_gather: x -> xs; mm = matmul: xs w -> h"},
		"kept": {"x 3x8 bfloat16, w 8x5 bfloat16, xs 12x8 bfloat16 keep",
			"gather = all_gather: x -> xs; mm = matmul: xs w -> h"},
		"tensor-wise": {"x 3x8 float8_e4m3fn, w 8x5 float8_e5m2, sa 1 float32, sb 1 float32",
			"gather = all_gather: x -> xs; mm = scaled_matmul: xs w sa sb -> h"},
		"result scale": {"x 3x8 float8_e4m3fn, w 8x5 float8_e4m3fn, sa 1 float32, sb 1 float32, " +
			"b 5 bfloat16, r 1 float32, h 12x5 float8_e4m3fn",
			"gather = all_gather: x -> xs; mm = scaled_matmul result-scale: xs w sa sb b r -> h"},
		"row-wise, axis 1": {"x 2x6x8 float8_e4m3fn, " + rows,
			"gather = all_gather axis 1: x -> xs; mm = scaled_matmul: xs w sa sb b -> h"},
		"two of three, axis 1": {"x 2x6x8 float32, w 8x5 float32, v 7x8 float32",
			"gather = all_gather axis 1: x -> xs; mm = matmul: xs w -> h; " +
				"mm2 = matmul transpose=b: xs v -> k"},
		"axis 1 kept": {"x 2x6x8 float32, w 8x5 float32, xs 2x24x8 float32 keep",
			"gather = all_gather axis 1: x -> xs; mm = matmul: xs w -> h"},
		"axis 2": {"x 2x3x6x8 float32, w 8x5 float32",
			"gather = all_gather axis 2: x -> xs; mm = matmul: xs w -> h"},
		"gathered scales": {"x 3x8 float8_e4m3fn, s 3x1 float32, w 8x5 float8_e4m3fn, sb 1x5 float32",
			"scales = all_gather: s -> sa; gather = all_gather: x -> xs; " +
				"mm = scaled_matmul: xs w sa sb -> h"},
		"two scaled": {"x 3x8 float8_e4m3fn, w 8x5 float8_e4m3fn, sa 12x1 float32, sb 1x5 float32, " +
			"v 8x7 float8_e4m3fn, ta 12x1 float32, tb 1x7 float32",
			"gather = all_gather: x -> xs; mm = scaled_matmul: xs w sa sb -> h; " +
				"mm2 = scaled_matmul: xs v ta tb -> k"},
		"scatter": {"x 12x8 bfloat16, w 8x5 bfloat16",
			"mm = matmul: x w -> h; scatter = reduce_scatter avg: h -> y"},
		"scatter axis 1": {"x 2x12x8 float32, w 5x8 float32",
			"mm = matmul transpose=b: x w -> h; scatter = reduce_scatter axis 1: h -> y"},
		"scatter tensor-wise": {"x 12x8 float8_e4m3fn, w 8x5 float8_e4m3fn, sa 1 float32, sb 1 float32",
			"mm = scaled_matmul: x w sa sb -> h; scatter = reduce_scatter: h -> y"},
		"scatter row-wise, axis 1": {"x 2x24x8 float8_e4m3fn, " + rows,
			"mm = scaled_matmul: x w sa sb b -> h; scatter = reduce_scatter axis 1: h -> y"},
	} {
		for _, pipeline := range []program.Pipeline{program.RepairedPipeline, program.SeedPipeline} {
			digests := map[string]bool{}
			for _, passes := range []program.Lowering{{}, {Pipeline: pipeline}} {
				p := c.program(t, 4, 2)
				low, err := program.LowerBy(p, passes, program.Guide{Choose: byName})
				require.NoError(t, err, name)
				report, err := reference.Check(low.Schedule, reference.CheckOptions{})
				require.NoError(t, err, name)
				require.Contains(t, []reference.Verdict{reference.NumbersExact, reference.NumbersBounded},
					report.Numbers, "%s %+v", name, report.First)
				if report.Numbers == reference.NumbersExact {
					digests[report.Digest] = true
				}
				if pipeline == program.RepairedPipeline {
					_, found := proof.Verify(low.Schedule, proof.Options{})
					require.Empty(t, found, name)
				}
				if passes.Pipeline != program.NoPipeline {
					last := low.Ops[len(low.Ops)-1]
					require.Contains(t, last.Became, "pipeline ", name)
					require.NotContains(t, fmt.Sprint(notesOf(low)), "layout", name)
				}
			}
			require.LessOrEqual(t, len(digests), 1, name)
		}
	}
}

// TestWithoutA: what is gathered is laid out whole only where somebody needs it, as torch's
// return_A says; of what is published it always is.
func TestWithoutA(t *testing.T) {
	copies := func(c piped, pipeline program.Pipeline) (n int) {
		low, err := program.LowerBy(c.program(t, 4, 1), program.Lowering{Pipeline: pipeline},
			program.Guide{Choose: byName})
		require.NoError(t, err)
		return strings.Count(low.Schedule.String(), "copy a into gathered")
	}
	one := piped{"x 3x8 bfloat16, w 8x5 bfloat16", "g = all_gather: x -> xs; mm = matmul: xs w -> h"}
	require.Zero(t, copies(one, program.RepairedPipeline))
	require.Positive(t, copies(one, program.SeedPipeline))
	one.tensors += ", xs 12x8 bfloat16 keep"
	require.Positive(t, copies(one, program.RepairedPipeline))
}

// TestUnpiped: every call that is no pipeline says why.
func TestUnpiped(t *testing.T) {
	const xw = "x 4x8 bfloat16, w 8x8 bfloat16"
	for _, c := range []struct {
		piped
		want string
	}{
		{piped{xw, "g = all_gather: x -> xs; s = scale by=2: xs -> t; mm = matmul: xs w -> h"},
			"[g]: left as it is (s stands between it and mm)"},
		{piped{xw, "g = all_gather: x -> xs; s = scale by=2: xs -> t"},
			"[g]: left as it is (no matmul reads what it gathers)"},
		{piped{xw, "s = scale by=2: x -> t; r = reduce_scatter: t -> y"},
			"[r]: left as it is (no matmul writes what it scatters)"},
		{piped{xw, "mm = matmul: x w -> h; s = scale by=2: x -> t; r = reduce_scatter: h -> y"},
			"[r]: left as it is (s stands between mm and it)"},
		{piped{xw, "mm = matmul: x w -> h; r = all_reduce: h -> y"},
			"[r]: left as it is (there is no pipeline of a matmul and all_reduce)"},
		{piped{xw, "g = all_gather: w -> ws; mm = matmul transpose=b: x ws -> h"},
			"[g]: left as it is (what is gathered is not the left operand of mm alone)"},
		{piped{"x 4x2 bfloat16, w 8x8 bfloat16",
			"g = all_gather axis 1: x -> xs; mm = matmul: xs w -> h"},
			"[g]: left as it is (mm adds up along the axis that is gathered)"},
		{piped{xw, "mm = matmul: x w -> h; r = reduce_scatter axis 1: h -> y"},
			"[r]: left as it is (the columns that it scatters are those of mm)"},
		{piped{xw, "mm = matmul: x w -> h; g = all_gather: h -> y"},
			"[g]: left as it is (no matmul reads what it gathers)"},
		{piped{xw, "r = reduce_scatter: x -> y; mm = matmul: y w -> h"},
			"[r]: left as it is (no matmul writes what it scatters)"},
	} {
		low, err := program.LowerBy(c.program(t, 4, 1),
			program.Lowering{Pipeline: program.RepairedPipeline}, program.Guide{Choose: byName})
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(notesOf(low)), "pipeline "+c.want)
	}
}
