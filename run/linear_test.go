package run_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats"
	"collsim/internal/tier"
	"collsim/run"
	"collsim/schedule"
)

// amount holds the sizes of a scenario or a trace that are doubled, one at a time.
type amount struct{ layers, microbatches, iterations, nodes int }

// pipelined writes a pipeline of two stages of two ranks, with tensors cut between them: each layer
// is a matmul and an all_reduce.
func pipelined(a amount) string {
	var b strings.Builder
	fmt.Fprintf(&b, `[topology]
preset = "switch"
ranks = 4
bandwidth = "450 GB/s"
latency = "500 ns"
[device]
preset = "h100-sxm"
[check]
numbers = false
[program]
gradient = "full"
order = "1f1b"
iterations = %d
stages = ["s0", "s1"]
group = [{ name = "s0", ranks = [[0, 1]] }, { name = "s1", ranks = [[2, 3]] },
  { name = "next", ranks = [[0, 2], [1, 3]] }]
[[program.tensor]]
name = "x0_{i}"
shape = [64, 64]
repeat = %d
gradient = false
`, a.iterations, a.microbatches)
	op := func(name, does, in, out, group string) {
		fmt.Fprintf(&b, "[[program.op]]\nname = \"%s {i}\"\nrepeat = %d\n%s\nin = [%s]\nout = %q\n"+
			"group = %q\n", name, a.microbatches, does, in, out, group)
	}
	on := "x0_{i}"
	for stage := range 2 {
		group := fmt.Sprintf("s%d", stage)
		for k := range a.layers {
			l := stage*a.layers + k
			fmt.Fprintf(&b, "[[program.tensor]]\nname = \"w%d\"\nshape = [64, 64]\n", l)
			m, s := fmt.Sprintf("m%d_{i}", l), fmt.Sprintf("s%d_{i}", l)
			op(fmt.Sprint("mul", l), `kernel = "matmul"`, fmt.Sprintf("%q, \"w%d\"", on, l), m, group)
			op(fmt.Sprint("sum", l), "call = \"all_reduce\"\nalgorithm = \"ring\"", fmt.Sprintf("%q", m), s,
				group)
			on = s
		}
		if stage == 0 {
			op("send", "call = \"broadcast\"\nalgorithm = \"flat\"", fmt.Sprintf("%q", on), "b_{i}", "next")
			on = "b_{i}"
		}
	}
	return b.String()
}

// chain writes the traces of two ranks that send to each other in turn.
func chain(nodes int) (parts []formats.Part) {
	for rank := range 2 {
		var list []string
		for i := range nodes {
			kind, key := 5, "comm_dst"
			if i%2 != rank {
				kind, key = 6, "comm_src"
			}
			list = append(list, traceNode(i+1, fmt.Sprintf(
				`"NodeType": %d, "comm_size": 64, %q: %d, "comm_tag": %d`, kind, key, 1-rank, i)))
		}
		text := `{"workload_graph": [` + strings.Join(list, ",\n") + "]}"
		parts = append(parts, formats.Part{Name: fmt.Sprintf("t.%d.json", rank),
			Reader: strings.NewReader(text)})
	}
	return parts
}

// carryOut carries a pipeline out, and verifies a trace. It returns the blocks of memory that this
// takes, their bytes, and how many steps there are.
func carryOut(t *testing.T, a amount) (work [3]float64) {
	t.Helper()
	text, parts := pipelined(a), chain(a.nodes)
	runtime.GC()
	runtime.GC() // a pool keeps what it holds for one
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if a.layers > 0 {
		s, err := run.Load("s.toml", []byte(text), run.LoadOptions{})
		require.NoError(t, err)
		r, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		require.True(t, r.Programs[0].Good())
		work[2] = float64(schedule.NumParts(r.Programs[0].Lowered.Schedule))
	}
	if a.nodes > 0 {
		f, err := formats.ReadTrace("t", parts, formats.Options{})
		require.NoError(t, err)
		v := run.VerifyFile("t", f, run.VerifyOptions{})
		require.True(t, v.Good())
		work[2] = float64(a.nodes)
	}
	runtime.ReadMemStats(&after)
	work[0] = float64(after.Mallocs - before.Mallocs)
	work[1] = float64(after.TotalAlloc - before.TotalAlloc)
	return work
}

// TestLinear: twice as many layers, microbatches, iterations or nodes of a trace are little more
// than twice the work, counted in blocks and bytes of memory that are asked for. What copies or
// lists all of a program for each of its parts is four times as much. (A loop over all of them that
// asks for no memory is not seen.)
func TestLinear(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	// What is read side by side has memory of its own: how much depends on who begins first.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	n := tier.Of(12, 36)
	for _, c := range []struct {
		name     string
		from, to amount
	}{
		{"layers", amount{n, 4, 1, 0}, amount{2 * n, 4, 1, 0}},
		{"microbatches", amount{4, n, 1, 0}, amount{4, 2 * n, 1, 0}},
		{"iterations", amount{4, 4, n / 3, 0}, amount{4, 4, 2 * n / 3, 0}},
		{"nodes", amount{0, 1, 1, 80 * n}, amount{0, 1, 1, 160 * n}},
	} {
		carryOut(t, c.from) // for what is made once
		one, two := carryOut(t, c.from), carryOut(t, c.to)
		for i, what := range []string{"blocks", "bytes", "parts"} {
			ratio := two[i] / one[i]
			t.Logf("%s: %s %.0f, %.0f: %.2f", c.name, what, one[i], two[i], ratio)
			require.Less(t, ratio, 2.3, "%s: %s", c.name, what)
			require.Greater(t, ratio, 1.5, "%s: %s", c.name, what)
		}
	}
}
