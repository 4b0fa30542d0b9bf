package performance

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/scenarios"
)

var updatePrograms = flag.Bool("update-programs", false,
	"measure programs again, and rewrite docs/performance.md")

// A model is a transformer in a pipeline on DGX H100: tensor parallelism in a node, one node a
// stage and replica. Each layer is a norm, three matmuls and an all_reduce; its gradient follows.
type model struct{ stages, layers, microbatches, replicas int }

// width is the number of ranks that share a layer.
const width = 8

// text writes the scenario of a model: 1F1B, without the optimizer.
func (m model) text() string {
	var b strings.Builder
	var names []string
	for stage := range m.stages {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("s", stage)))
	}
	fmt.Fprintf(&b, "[topology]\npreset = \"dgx-h100\"\nnodes = %d\n[check]\nnumbers = false\n"+
		"[program]\ngradient = \"full\"\norder = \"1f1b\"\nstages = [%s]\n",
		m.stages*m.replicas, strings.Join(names, ", "))
	m.groups(&b)
	fmt.Fprintf(&b, "[[program.tensor]]\nname = \"x0_{i}\"\nrepeat = %d\nshape = [256, 8192]\n"+
		"dtype = \"bfloat16\"\ngradient = false\n", m.microbatches)
	on, layer := "x0_{i}", 0
	for stage := range m.stages {
		for end := m.layers * (stage + 1) / m.stages; layer < end; layer++ {
			on = m.layer(&b, layer, stage, on)
		}
		if stage < m.stages-1 {
			m.op(&b, fmt.Sprint("send ", stage), `call = "broadcast"`+"\nalgorithm = \"flat\"\nasync = true",
				fmt.Sprintf("to%d", stage), fmt.Sprintf("y%d_{i}", stage), on)
			on = fmt.Sprintf("y%d_{i}", stage)
		}
	}
	return b.String()
}

// groups writes the ranks of every stage, node by node, and those that a stage sends to.
func (m model) groups(b *strings.Builder) {
	for stage := range m.stages {
		var here, next []string
		for replica := range m.replicas {
			var team []string
			for k := range width {
				rank := (replica*m.stages+stage)*width + k
				team = append(team, fmt.Sprint(rank))
				next = append(next, fmt.Sprintf("[%d, %d]", rank, rank+width))
			}
			here = append(here, "["+strings.Join(team, ", ")+"]")
		}
		fmt.Fprintf(b, "[[program.group]]\nname = \"s%d\"\nranks = [%s]\n", stage,
			strings.Join(here, ", "))
		if stage < m.stages-1 {
			fmt.Fprintf(b, "[[program.group]]\nname = \"to%d\"\nranks = [%s]\n", stage,
				strings.Join(next, ", "))
		}
	}
}

// layer writes the weights and the ops of a layer, and returns its result.
func (m model) layer(b *strings.Builder, layer, stage int, on string) string {
	group, out := fmt.Sprint("s", stage), fmt.Sprintf("x%d_{i}", layer+1)
	for _, w := range []string{"qkv%d|8192, 1152", "up%d|8192, 3328", "down%d|3328, 8192"} {
		name, shape, _ := strings.Cut(fmt.Sprintf(w, layer), "|")
		fmt.Fprintf(b, "[[program.tensor]]\nname = %q\nshape = [%s]\ndtype = \"bfloat16\"\n", name, shape)
	}
	of := func(name string) string { return fmt.Sprintf("%s%d_{i}", name, layer) }
	for _, op := range [][]string{{`kernel = "rms_norm"`, "a", on},
		{`kernel = "matmul"`, "b", of("a"), fmt.Sprint("qkv", layer)},
		{`kernel = "matmul"`, "c", of("a"), fmt.Sprint("up", layer)},
		{`kernel = "silu"`, "d", of("c")},
		{`kernel = "matmul"`, "e", of("d"), fmt.Sprint("down", layer)},
		{`call = "all_reduce"` + "\nalgorithm = \"ring\"", "f", of("e")}} {
		m.op(b, fmt.Sprint(op[1], layer), op[0], group, of(op[1]), op[2:]...)
	}
	m.op(b, fmt.Sprint("add", layer), `kernel = "add"`, group, out, of("f"), on)
	return out
}

// op writes an op for every microbatch.
func (m model) op(b *strings.Builder, name, does, group, out string, in ...string) {
	fmt.Fprintf(b, "[[program.op]]\nname = \"%s {i}\"\nrepeat = %d\n%s\nin = [%s]\nout = %q\n"+
		"group = %q\n", name, m.microbatches, does, `"`+strings.Join(in, `", "`)+`"`, out, group)
}

func programRows(t *testing.T) []row {
	t.Helper()
	example, err := scenarios.Example("training-step")
	require.NoError(t, err)
	on := func(work string, nodes int, isLarge bool) row {
		return row{work: work, scenario: string(example), isLarge: isLarge,
			sets: []string{"check.numbers=false", fmt.Sprintf("topology.nodes=%d", nodes)}}
	}
	return []row{
		on("`example:training-step` (2 layers), 128 GPUs", 16, false),
		on("512 GPUs", 64, false), on("4,096 GPUs", 512, false), on("16,384 GPUs", 2048, true),
		{work: "4 stages of 2 layers, 8 microbatches, tensor parallel 8, data parallel 4: 128 GPUs",
			scenario: model{4, 8, 8, 4}.text()},
		{work: "8 stages of 2 layers, 16 microbatches, data parallel 64: 4,096 GPUs",
			scenario: model{8, 16, 16, 64}.text(), isLarge: true},
		{work: "126 layers in 16 stages, 8 microbatches, data parallel 128: 16,384 GPUs",
			scenario: model{16, 126, 8, 128}.text(), isLarge: true},
		{work: "the same of 64 microbatches, with `lowering.reuse`", isLarge: true,
			scenario: model{16, 126, 64, 128}.text(), sets: []string{"lowering.reuse=true"}},
		{work: "a step of 4 layers of Llama 3 405B: 2 stages with 2 chunks, interleaved 1F1B, 4 " +
			"microbatches, ZeRO-1 of 8 replicas: 128 GPUs",
			scenario: step{model{2, 4, 4, 8}, 2, 256}.text()},
		{work: "the step of all 126 layers: 16 stages with 2 chunks, 16 microbatches, 128 replicas: " +
			"16,384 GPUs", scenario: step{model{16, 126, 16, 128}, 2, 256}.text(), isLarge: true},
		{work: "the same of 64 microbatches", isLarge: true,
			scenario: step{model{16, 126, 64, 128}, 2, 256}.text()},
	}
}

// simulatedProgram returns what of a program is the same on every machine: its ops, the ranks that
// are lowered, proven and simulated for all, and the time.
func (r *row) simulatedProgram(t *testing.T) string {
	t.Helper()
	report := r.report(t)
	require.Len(t, report.Programs, 1)
	p := report.Programs[0]
	require.True(t, p.Good() && p.Timed)
	return fmt.Sprintf("%d | %d | %v", len(p.Lowered.Ops), p.Classes, p.Time)
}

// TestProgramsDocument is TestDocument for programs.
func TestProgramsDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "performance.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if *updatePrograms {
		table, command := "| program | ops | ranks simulated | simulated time | processor | memory |\n"+
			"|---|---|---|---|---|---|", built(t)
		var used []string // before anything large is in the memory of this process: as in measured
		for _, r := range programRows(t) {
			cpu, most := r.measure(t, command)
			used = append(used, cpu+" | "+most)
		}
		for i, r := range programRows(t) {
			table += fmt.Sprintf("\n| %s | %s | %s |", r.work, r.simulatedProgram(t), used[i])
		}
		text = replace(t, text, "| program |", "\n\n<!-- end of the programs -->", table)
		require.NoError(t, os.WriteFile(path, text, 0o644))
		return
	}
	for i, r := range programRows(t) {
		if !r.isLarge && (tier.Long || i%2 == 0) {
			require.Contains(t, string(text), "| "+r.work+" | "+r.simulatedProgram(t)+" |")
		}
	}
}
