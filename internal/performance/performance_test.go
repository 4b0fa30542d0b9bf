package performance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim"
	"collsim/internal/tier"
	"collsim/unit"
)

var update = flag.Bool("update", false, "measure again, and rewrite docs/performance.md")

// row is a scenario that is measured.
type row struct {
	work     string // as the table says
	scenario string
	sets     []string
	isLarge  bool // too large for every run of the tests
	byEvent  bool // measured with the event engine too
}

const onSwitch = `[topology]
preset = "switch"
ranks = 1024
bandwidth = "100 Gbit/s"
latency = "500 ns"
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "64 MiB"
[check]
proof = false
numbers = false
`

const onNodes = `[topology]
nodes = 128
[topology.node]
preset = "switch"
ranks = 8
bandwidth = "450 GB/s"
latency = "200 ns"
[topology.network]
preset = "rails"
bandwidth = "50 GB/s"
latency = "1 us"
[sim]
sharing = "fifo"
[[collective]]
kind = "all_reduce"
algorithm = "hierarchical"
bytes = "256 MiB"
[check]
proof = false
numbers = false
`

const onDGX = `[topology]
preset = "dgx-h100"
nodes = 128
[[collective]]
kind = "all_reduce"
algorithm = "nccl:ring"
bytes = "1 GiB"
[check]
numbers = false
`

// differ has every rank start at a time of its own: no two are alike.
func differ(ranks int) string {
	var b strings.Builder
	b.WriteString(onSwitch)
	for i := range ranks {
		fmt.Fprintf(&b, "[[topology.rank]]\nmatch = \"%d\"\nstart = \"%d ns\"\n", i, i*7919%16381)
	}
	return b.String()
}

func rows() []row {
	fifo, swept, proven := `sim.sharing="fifo"`, `sim.engine="sweep"`, "check.proof=true"
	ranks := func(n int) string { return fmt.Sprintf("topology.ranks=%d", n) }
	doubling := `collective.algorithm="recursive-doubling"`
	tree := []string{`collective.algorithm="double-binary-tree"`, `collective.bytes="1 MiB"`}
	sixteen, gibi := `collective.bytes="16 MiB"`, `collective.bytes="1 GiB"`
	allToAll := []string{`collective.kind="all_to_all"`, `collective.algorithm="pairwise"`}
	return []row{
		{work: "ring all_reduce, 1,024 ranks, fifo", scenario: onSwitch, sets: []string{fifo},
			byEvent: true},
		{work: "ring all_reduce, 1,024 ranks, fluid", scenario: onSwitch, byEvent: true},
		{work: "the same, 8 channels of 4 slices", scenario: onSwitch,
			sets: []string{"collective.channels=8", "collective.slices=4", `collective.bytes="128 MiB"`}},
		{work: "ring all_reduce, 4,096 ranks, fluid", scenario: onSwitch, sets: []string{ranks(4096)}},
		{work: "ring all_reduce, 65,536 ranks, fluid", scenario: onSwitch,
			sets: []string{ranks(65536)}},
		{work: "ring all_reduce, 1,048,576 ranks, fluid", scenario: onSwitch,
			sets: []string{ranks(1 << 20)}},
		{work: "ring all_reduce, 1,024 ranks that differ, fifo", scenario: differ(1024),
			sets: []string{fifo, swept}, byEvent: true},
		{work: "ring all_reduce, 1,024 ranks that differ, fluid", scenario: differ(1024),
			sets: []string{swept}, byEvent: true},
		{work: "ring all_reduce, 4,096 ranks that differ, fluid", scenario: differ(4096),
			sets: []string{ranks(4096), swept}, byEvent: true},
		{work: "ring all_reduce, 16,384 ranks that differ, fifo", scenario: differ(16384),
			sets: []string{ranks(16384), fifo, swept}, isLarge: true},
		{work: "ring all_reduce, 16,384 ranks on a tree with k = 4, fluid", scenario: onSwitch,
			isLarge: true, sets: []string{ranks(16384), `topology.preset="tree"`, "topology.k=4"}},
		{work: "ring all_reduce, 65,536 ranks on a torus of 256 x 256, fluid", scenario: onSwitch,
			isLarge: true, sets: []string{ranks(65536), `topology.preset="torus"`,
				"topology.shape=[256, 256]"}},
		{work: "recursive doubling all_reduce, 4,096 ranks, fluid", scenario: onSwitch, byEvent: true,
			sets: []string{ranks(4096), doubling}},
		{work: "recursive doubling all_reduce, 1,048,576 ranks, fluid", scenario: onSwitch,
			sets: []string{ranks(1 << 20), doubling}},
		{work: "double-binary-tree all_reduce of 1 MiB, 4,096 ranks, fluid", scenario: onSwitch,
			byEvent: true, sets: slices.Concat([]string{ranks(4096)}, tree)},
		{work: "all_to_all, direct, 128 ranks, fluid", scenario: onSwitch, byEvent: true,
			sets: []string{ranks(128), allToAll[0], `collective.algorithm="direct"`}},
		{work: "all_to_all, pairwise, 1,024 ranks, fifo", scenario: onSwitch,
			sets: []string{fifo, allToAll[0], allToAll[1]}},
		{work: "all_to_all, pairwise, 4,096 ranks, fifo", scenario: onSwitch, isLarge: true,
			sets: []string{ranks(4096), fifo, allToAll[0], allToAll[1]}},
		{work: "ring all_reduce, 1,024 GPUs in nodes of 8, fifo", scenario: onNodes, byEvent: true,
			sets: []string{`collective.algorithm="ring"`}},
		{work: "hierarchical all_reduce, 1,024 GPUs in nodes of 8, fifo", scenario: onNodes,
			byEvent: true},
		{work: "ring all_reduce, 16,384 GPUs in nodes of 8, fifo", scenario: onNodes, isLarge: true,
			sets: []string{"topology.nodes=2048", `collective.algorithm="ring"`}},
		{work: "hierarchical all_reduce, 131,072 GPUs in nodes of 8, fifo", scenario: onNodes,
			sets: []string{"topology.nodes=16384"}},
		{work: "hierarchical all_reduce, 1,048,576 GPUs in nodes of 8, fifo", scenario: onNodes,
			sets: []string{"topology.nodes=131072"}},
		{work: "all_to_all, pairwise, 16,384 ranks on a full mesh, fifo", scenario: onSwitch,
			sets: []string{fifo, allToAll[0], allToAll[1], ranks(16384),
				`topology.preset="full-mesh"`}},
		{work: "all_to_all, pairwise, 4,096 ranks on a full fat-tree, fifo", scenario: onSwitch,
			isLarge: true, sets: []string{fifo, allToAll[0], allToAll[1], ranks(4096), "topology.k=32",
				`topology.preset="fat-tree"`, `topology.routing="shortest"`}},
		{work: "ring all_reduce, 512 ranks that differ, fluid, event", scenario: differ(512),
			sets: []string{ranks(512), `sim.engine="event"`}},
		{work: "the same, each an h100-sxm", scenario: differ(512),
			sets: []string{ranks(512), `device.preset="h100-sxm"`}},
		{work: "ring all_reduce, 1,024 ranks, fluid, proven", scenario: onSwitch,
			sets: []string{proven}},
		{work: "ring all_reduce, 4,096 ranks, fluid, proven", scenario: onSwitch,
			sets: []string{proven, ranks(4096)}},
		{work: "ring all_reduce, 1,048,576 ranks, fluid, proven", scenario: onSwitch, isLarge: true,
			sets: []string{proven, ranks(1 << 20)}},
		{work: "recursive doubling all_reduce, 1,048,576 ranks, fluid, proven", scenario: onSwitch,
			sets: []string{proven, ranks(1 << 20), doubling}},
		{work: "rabenseifner all_reduce, 1,048,576 ranks, fluid, proven", scenario: onSwitch,
			isLarge: true, sets: []string{proven, ranks(1 << 20),
				`collective.algorithm="rabenseifner"`}},
		{work: "recursive doubling all_gather, 1,048,576 ranks, fluid, proven", scenario: onSwitch,
			isLarge: true, sets: []string{proven, ranks(1 << 20), doubling,
				`collective.kind="all_gather"`}},
		{work: "binomial all_reduce of 1 MiB, 1,048,576 ranks, fifo", scenario: onSwitch,
			isLarge: true, sets: []string{ranks(1 << 20), fifo, tree[1],
				`collective.algorithm="binomial"`}},
		{work: "double-binary-tree all_reduce of 1 MiB, 1,048,576 ranks, fluid, proven", isLarge: true,
			scenario: onSwitch, sets: slices.Concat([]string{proven, ranks(1 << 20)}, tree)},
		{work: "the same of 16 MiB, in segments", isLarge: true, scenario: onSwitch,
			sets: slices.Concat([]string{proven, ranks(1 << 20)}, tree, []string{sixteen})},
		{work: "the same of 16 MiB, 1,000,000 ranks", isLarge: true, scenario: onSwitch,
			sets: slices.Concat([]string{proven, ranks(1_000_000)}, tree, []string{sixteen})},
		{work: "the same of 1 MiB, 1,048,576 ranks, fifo", isLarge: true, scenario: onSwitch,
			sets: slices.Concat([]string{proven, ranks(1 << 20), fifo}, tree)},
		{work: "the same of 1 MiB, 1,000,000 ranks, fifo", isLarge: true, scenario: onSwitch,
			sets: slices.Concat([]string{proven, ranks(1_000_000), fifo}, tree)},
		{work: "double-binary-tree all_reduce of 16 MiB, 4,000 ranks, fluid", byEvent: true,
			scenario: onSwitch, sets: slices.Concat([]string{ranks(4000)}, tree, []string{sixteen})},
		{work: "hierarchical all_reduce, 1,048,576 GPUs in nodes of 8, fifo, proven", isLarge: true,
			scenario: onNodes, sets: []string{proven, "topology.nodes=131072"}},
		{work: "two-shot all_reduce of 1 GiB, 512 ranks, fluid", scenario: onSwitch,
			sets: []string{ranks(512), gibi, `collective.algorithm="two-shot"`}},
		{work: "the fastest all_reduce of 1 GiB, 512 ranks, fluid", scenario: onSwitch,
			sets: []string{ranks(512), gibi, `collective.algorithm="fastest"`}},
		{work: "the same, proven", scenario: onSwitch, isLarge: true,
			sets: []string{proven, ranks(512), gibi, `collective.algorithm="fastest"`}},
		{work: "nccl:ring of 1 GiB, 1,024 GPUs in nodes of 8, fifo, proven", scenario: onNodes,
			sets: []string{proven, gibi, `collective.algorithm="nccl:ring"`}},
		{work: "nccl:ring of 1 GiB, 1,024 GPUs in nodes of 8, fluid, proven", scenario: onNodes,
			sets: []string{proven, gibi, `collective.algorithm="nccl:ring"`, `sim.sharing="fluid"`}},
		{work: "nccl:ring of 1 GiB, 16,384 GPUs in nodes of 8, fifo, proven", scenario: onNodes,
			isLarge: true, sets: []string{proven, gibi, `collective.algorithm="nccl:ring"`,
				"topology.nodes=2048"}},
		{work: "nccl:ring of 1 GiB, 1,024 GPUs of DGX H100, proven", scenario: onDGX},
		{work: "nccl:ring of 1 GiB, 16,384 GPUs of DGX H100, proven", scenario: onDGX, isLarge: true,
			sets: []string{"topology.nodes=2048"}},
		{work: "ring all_reduce of 1 GiB, 16,384 GPUs of DGX H100, proven", scenario: onDGX,
			isLarge: true, sets: []string{"topology.nodes=2048", `collective.algorithm="ring"`}},
		{work: "nccl:auto of 1 GiB, which is NVLSTree, 64 GPUs of DGX H100, proven", scenario: onDGX,
			isLarge: true, sets: []string{"topology.nodes=8", `collective.algorithm="nccl:auto"`}},
		{work: "nccl:auto of 1 GiB, which is a tree, 1,024 GPUs in nodes of 8, fifo", isLarge: true,
			scenario: onNodes, sets: []string{gibi, `collective.algorithm="nccl:auto"`}},
		{work: "all_to_allv, direct, splits by Zipf's law, 1,024 ranks, fifo", isLarge: true,
			scenario: onSwitch, sets: []string{fifo, `collective.kind="all_to_allv"`,
				`collective.algorithm="direct"`, "collective.splits={ zipf = 1.2 }"}},
		{work: "hierarchical all_reduce, 4,096 ranks on a full fat-tree with ECMP, fluid", isLarge: true,
			scenario: onSwitch, sets: []string{ranks(4096), `collective.algorithm="hierarchical"`,
				`topology.preset="fat-tree"`, "topology.k=32", `topology.routing="ecmp"`}},
		{work: "all_to_all, pairwise, 1,024 ranks on a full fat-tree with ECMP, fluid", isLarge: true,
			scenario: onSwitch, sets: []string{allToAll[0], allToAll[1], `topology.preset="fat-tree"`,
				"topology.k=16", `topology.routing="ecmp"`}},
	}
}

// report carries a row out in this process.
func (r *row) report(tb testing.TB) *collsim.Report {
	tb.Helper()
	s, err := collsim.Load("row.toml", []byte(r.scenario), collsim.LoadOptions{Set: r.sets})
	require.NoError(tb, err)
	report, err := collsim.Run(context.Background(), s, collsim.RunOptions{})
	require.NoError(tb, err)
	return report
}

// run carries out the row of a collective.
func (r *row) run(tb testing.TB) *collsim.Result {
	tb.Helper()
	report := r.report(tb)
	require.Len(tb, report.Results, 1)
	require.True(tb, report.Results[0].Timed)
	return report.Results[0]
}

// simulated returns what of a row is the same on every machine: the engine, the time, the published
// formula.
func simulated(r *collsim.Result) string {
	formula := "–"
	if r.ClosedForm >= 0 {
		formula = r.ClosedForm.String()
	}
	return fmt.Sprintf("%s | %v | %s", r.Engine, r.Time, formula)
}

// TestDocument holds what the document says of simulated times to what comes out, or measures all
// of it anew. The short tier has every other row.
func TestDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "performance.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if *update {
		text = replace(t, text, "| work |", "\n\n<!-- end of the table -->", measured(t))
		require.NoError(t, os.WriteFile(path, text, 0o644))
		return
	}
	for i, r := range rows() {
		if !r.isLarge && (tier.Long || i%2 == 0) {
			require.Contains(t, string(text), "| "+r.work+" | "+simulated(r.run(t))+" |")
		}
	}
}

// replace puts a table in place of what a text has from one mark up to the next one of another.
func replace(t *testing.T, text []byte, from, to, table string) []byte {
	t.Helper()
	before, rest, ok := strings.Cut(string(text), from)
	require.True(t, ok, from)
	_, after, ok := strings.Cut(rest, to)
	require.True(t, ok, to)
	return []byte(before + table + to + after)
}

// built returns the path of the command.
func built(t *testing.T) string {
	t.Helper()
	command := filepath.Join(t.TempDir(), "collsim")
	out, err := exec.Command("go", "build", "-o", command, "../../cmd/collsim").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return command
}

// measured returns the table: each row run by the command, three times; the least counts.
func measured(t *testing.T) string {
	t.Helper()
	command := built(t)
	var used []string // before anything large is in the memory of this process: a child begins with it
	for _, r := range rows() {
		by := "–"
		if r.byEvent {
			cpu, most := r.measure(t, command, `sim.engine="event"`)
			by = cpu + ", " + most
		}
		cpu, most := r.measure(t, command)
		used = append(used, fmt.Sprintf("%s | %s | %s", cpu, most, by))
		t.Log(r.work, used[len(used)-1])
	}
	table := "| work | engine | simulated time | formula | processor | memory " +
		"| with `engine = \"event\"` |\n|---|---|---|---|---|---|---|"
	for i, r := range rows() {
		table += "\n| " + r.work + " | " + simulated(r.run(t)) + " | " + used[i] + " |"
	}
	return table
}

// measure has the command run a row, and returns its processor time and its memory.
func (r *row) measure(t *testing.T, command string, more ...string) (cpu, most string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "row.toml")
	require.NoError(t, os.WriteFile(file, []byte(r.scenario), 0o644))
	args := []string{file, "--quiet"}
	for _, set := range slices.Concat(r.sets, more) {
		args = append(args, "--set", set)
	}
	least, memory := time.Duration(1<<62), int64(0)
	for range 3 {
		c := exec.Command(command, args...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		if used < least {
			least = used
			memory = c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		}
		if used > 10*time.Second {
			break
		}
	}
	return fmt.Sprintf("%.2f s", least.Seconds()),
		fmt.Sprintf("%d MB", unit.Bytes(memory)/unit.MB)
}

// BenchmarkRows is a row each, whole: from the text of the scenario to the result.
func BenchmarkRows(b *testing.B) {
	for _, r := range rows() {
		b.Run(strings.ReplaceAll(r.work, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			messages := int64(0)
			for b.Loop() {
				messages += r.run(b).Messages
			}
			b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "sends/s")
		})
	}
}
