package run_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// ran carries the programs of a scenario out.
func ran(t *testing.T, text string, set ...string) []*run.ProgramResult {
	t.Helper()
	s, err := run.Load("p.toml", []byte(text), run.LoadOptions{Set: set})
	require.NoError(t, err)
	report, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	return report.Programs
}

// example is the text of one.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "scenarios", "examples", name+".toml"))
	require.NoError(t, err)
	return string(text)
}

// TestExamplePrograms: all are proven and exact, and say what they are there to say. In the short
// tier numbers are computed in little memory, which is soon done, and of the last of a sweep.
func TestExamplePrograms(t *testing.T) {
	times := map[string][]unit.Time{}
	for _, name := range []string{"ddp", "fsdp", "one-shot", "stages"} {
		s, err := run.Load("p.toml", []byte(example(t, name)),
			run.LoadOptions{Set: []string{"check.memory=" + tier.Of("4MiB", "1GiB")}})
		require.NoError(t, err)
		without := max(len(s.Programs)-tier.Of(1, len(s.Programs)), 0)
		for _, p := range s.Programs[:without] {
			p.Check.Numbers = false
		}
		report, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		for i, r := range report.Programs {
			require.Equal(t, run.Proved, r.Proof, "%s: %v", name, r.Violations)
			require.Equal(t, i >= without, r.Numbers == "exact", name)
			require.LessOrEqual(t, r.Lowered.Memory.Peak, r.Lowered.Memory.Bytes, name)
			times[name] = append(times[name], r.Time)
		}
	}
	ddp := times["ddp"] // 0, 1, 25 and 100 MB
	require.Equal(t, ddp[0], ddp[1])
	require.Less(t, ddp[2], min(ddp[1], ddp[3]))
	require.Less(t, times["fsdp"][1], times["fsdp"][0])
	for i, ring := range []bool{false, false, false, false, false, true} { // at 4 MiB
		require.Equal(t, ring, times["one-shot"][2*i] < times["one-shot"][2*i+1], "%d", i)
	}
}

// TestMemoryOfTheDevice: what takes more than the device has is refused, with what is in use when
// most is; reuse may help.
func TestMemoryOfTheDevice(t *testing.T) {
	const text = `[topology]
preset = "switch"
ranks = 2
bandwidth = "450 GB/s"
latency = "500 ns"
[device]
preset = "h100-sxm"
[[program.tensor]]
name = "x0"
shape = [131072, 65536]
[[program.op]]
name = "add{i}"
repeat = 5
kernel = "add"
in = ["x{i}", "x{i}"]
out = "x{i+1}"
[check]
numbers = false
`
	s, err := run.Load("p.toml", []byte(text), run.LoadOptions{})
	require.NoError(t, err)
	_, err = s.Run(context.Background(), run.RunOptions{})
	require.EqualError(t, err, "p.toml:8: program: a rank takes 96 GiB of memory; "+
		"h100-sxm has 80 GiB\n  at most 64 GiB are in use at once, at add1: "+
		"x0 of 16 GiB, x1 of 16 GiB, x2 of 16 GiB, "+
		"x5 of 16 GiB")
	r := ran(t, text, "lowering.reuse=true")[0]
	require.Equal(t, 64*unit.GiB, r.Lowered.Memory.Bytes)
}

// TestLoops: tables that are repeated are several, and errors name the table.
func TestLoops(t *testing.T) {
	text := example(t, "ddp")
	s, err := run.Load("p.toml", []byte(text), run.LoadOptions{})
	require.NoError(t, err)
	p := s.Programs[0]
	require.Len(t, p.Tensors, 17)
	require.Len(t, p.Ops, 24)
	require.Equal(t, []string{"dw7", "sum7", "dx7", "dw6"}, names(p.Ops[:4]))
	require.Equal(t, []string{"x6", "dy7"}, p.Ops[3].In)
	s, err = run.Load("p.toml", []byte(text), run.LoadOptions{Set: []string{
		"program.op[2].loop=second"}})
	require.NoError(t, err)
	require.Equal(t, []string{"dw0", "sum0", "dx7", "dx6"}, names(s.Programs[0].Ops[14:18]))
	for set, want := range map[string]string{
		"program.op[1].in=dw9":            `sum7: "dw9" is no tensor`,
		"program.op[0].repeat=0":          "out of range; 1 to 200000 is expected",
		"program.tensor[1].name=w":        `a second tensor "w"`,
		"program.tensor[0].repeat=200000": "200008 altogether; a program has at most 200000",
	} {
		s, err := run.Load("p.toml", []byte(text), run.LoadOptions{Set: []string{set}})
		if err == nil {
			_, err = s.Run(context.Background(), run.RunOptions{})
		}
		require.ErrorContains(t, err, want, set)
	}
}

// names are those of ops.
func names(ops []scenarios.ProgramOp) (list []string) {
	for _, o := range ops {
		list = append(list, o.Name)
	}
	return list
}

// TestProgramStallsWhileLowered: passes ask how long a program takes that stalls, as all its ranks
// send first what has to be asked for.
func TestProgramStallsWhileLowered(t *testing.T) {
	s, err := run.Load("p.toml", []byte(example(t, "one-shot")), run.LoadOptions{Set: []string{
		`sweep."program.tensor.shape"=[[65536]]`, `sweep."lowering.one_shot"=["4 MiB"]`,
		`device.eager_limit="4 KiB"`}})
	require.NoError(t, err)
	_, err = s.EstimateProgram(s.Programs[0])
	require.NoError(t, err)
	_, err = s.Run(context.Background(), run.RunOptions{})
	require.ErrorContains(t, err, "8 lanes wait in a circle")
}
