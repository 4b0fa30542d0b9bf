package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/run"
)

// benched runs a scenario with a benchmark.
func benched(t *testing.T, text string, set ...string) []*run.Result {
	t.Helper()
	s, err := run.Load("x.toml", []byte(text), run.LoadOptions{Set: set})
	require.NoError(t, err)
	r, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	return r.Results
}

// onSuperbench is shared/cases/fidelity/broadcast-calls.toml: 8 A100, with NCCL's constants of
// Simple.
const onSuperbench = `
[topology]
preset = "switch"
ranks = 8
bandwidth = "246 GB/s"
latency = "0 s"
[device]
preset = "ideal"
overhead = "3.4 us"
lane_rate = "20 GB/s"
[check]
proof = false
numbers = false
`

// TestBroadcastCalls: calls of rooted kinds overlap along the chain. Twelve of them as iterations
// of a program take 57, 102 and 321 us each; and the period is what the link of the busiest rank
// takes, where a call has few slices: 8 MiB / 246 GB/s = 34.1 us, and 3.4 us a step.
func TestBroadcastCalls(t *testing.T) {
	text := onSuperbench + `
[benchmark]
calls = 12
[[collective]]
kind = "broadcast"
algorithm = "nccl:ring(machine=dgx-a100,protocol=simple)"
bytes = ["8 MiB", "16 MiB", "64 MiB"]
`
	var us []string
	for _, r := range benched(t, text) {
		us = append(us, fmt.Sprintf("%.0f %.0f %.1f", float64(r.Time)/1e6, float64(r.Calls.Time)/1e6,
			float64(r.Calls.Period)/1e6))
		gbps, _ := r.AlgBW()
		require.InDelta(t, float64(r.Point.Spec.Bytes())/float64(r.Calls.Time)*1000, gbps, 1e-6)
	}
	require.Equal(t, []string{"264 57 37.5", "393 102 75.0", "624 321 293.2"}, us)
	// A loop of more calls has less of the first one's filling in it.
	for i, r := range benched(t, text, "benchmark.calls=1000") {
		require.InEpsilon(t, float64(r.Calls.Period), float64(r.Calls.Time), 0.01, i)
		require.LessOrEqual(t, r.Calls.Calls, 12, "no more are simulated")
	}
}

// TestCallsAsAProgram: a loop of calls takes as long as a program of as many iterations, which is
// made otherwise: of parts behind one another. Connections are the part's there, so here they hold
// any number of messages.
func TestCallsAsAProgram(t *testing.T) {
	machine := `
[topology]
preset = "full-mesh"
ranks = 6
bandwidth = "50 GB/s"
latency = "700 ns"
[device]
preset = "ideal"
overhead = "1 us"
reduce_rate = "400 GB/s"
[sim]
slots = 0
sharing = %q
[check]
proof = false
numbers = false
`
	compared, overlap := 0, 0
	for _, sharing := range []string{"fluid", "fifo"} {
		for _, c := range []struct{ kind, call string }{
			{"all_reduce", "all_reduce sum"}, {"broadcast", "broadcast root 0"},
			{"reduce", "reduce sum root 0"}, {"all_to_all", "all_to_all"},
			{"all_gather", "all_gather"}, {"reduce_scatter", "reduce_scatter sum"},
		} {
			head := fmt.Sprintf(machine, sharing)
			for _, bytes := range []int{6 * 64, 6 << 16} {
				const calls = 5
				text := head + fmt.Sprintf("[benchmark]\ncalls = %d\n[[collective]]\nkind = %q\n"+
					"algorithm = \"all\"\nbytes = %d\n", calls, c.kind, bytes)
				for _, r := range benched(t, strings.ReplaceAll(text, "bytes = ", "count = ")) {
					count := r.Point.Spec.Count
					shape := count
					if k := c.kind; k == "all_to_all" || k == "reduce_scatter" {
						shape *= 6
					}
					program := head + fmt.Sprintf("[program]\niterations = %d\n[[program.tensor]]\n"+
						"name = \"x\"\ndtype = \"float32\"\nshape = [%d]\n[[program.op]]\ncall = %q\nin = \"x\"\n"+
						"out = \"y\"\nalgorithm = %q\n", calls, shape, c.call, r.Algorithm.String())
					took := ran(t, program)[0].Time
					require.Empty(t, r.Calls.Off)
					if r.Algorithm.Name == "low-contention" { // a program has another one, of symmetric memory
						continue
					}
					require.Equal(t, took/calls, r.Calls.Time, "%s %v of %d, %s", c.kind, r.Algorithm, count,
						sharing)
					compared++
					if r.Calls.Time < r.Time {
						overlap++
					}
				}
			}
		}
	}
	require.Greater(t, compared, 80)
	require.Greater(t, overlap, 20)
}

// TestCallsAreBound: no call of a loop takes longer than one alone, nor less than what it moves
// takes on the links that must carry it, whatever the kind; where no floor of a host is in the
// way.
//
// That is so of the best known algorithms. Of others it is not: with a call every time on a switch,
// ranks of butterfly get out of step and then share links.
func TestCallsAreBound(t *testing.T) {
	for _, network := range []string{
		"preset = \"switch\"\nranks = 6\nbandwidth = \"50 GB/s\"\nlatency = \"1 us\"",
		"preset = \"full-mesh\"\nranks = 5\nbandwidth = \"50 GB/s\"\nlatency = \"1 us\"",
		"nodes = 2\n[topology.node]\npreset = \"switch\"\nranks = 4\nbandwidth = \"300 GB/s\"\n" +
			"latency = \"500 ns\"\n[topology.network]\nnics = 4\npreset = \"rails\"\n" +
			"bandwidth = \"50 GB/s\"\nlatency = \"2 us\"",
	} {
		for _, kind := range []string{"all_reduce", "all_gather", "reduce_scatter", "broadcast",
			"reduce", "gather", "scatter", "all_to_all", "barrier"} {
			size := "bytes = [\"1 KiB\", \"1 MiB\"]\n"
			if kind == "barrier" {
				size = ""
			}
			text := "[topology]\n" + network + "\n[device]\npreset = \"ideal\"\noverhead = \"1 us\"\n" +
				"[check]\nproof = false\nnumbers = false\n[benchmark]\n[[collective]]\nkind = \"" + kind +
				"\"\nalgorithm = [" + bestKnown(t, kind) + "]\n" + size
			for _, r := range benched(t, text) {
				require.Empty(t, r.Calls.Off)
				slack := r.Time / 10_000 // ranks fall out of step
				require.LessOrEqual(t, r.Calls.Time, r.Time+slack, "%s", r.Point.ID)
				require.LessOrEqual(t, r.Calls.Period, r.Time+slack, "%s", r.Point.ID)
				require.LessOrEqual(t, r.Bounds.Bandwidth, r.Calls.Period, "%s", r.Point.ID)
				reached, ok := r.BoundReached()
				require.True(t, ok)
				require.LessOrEqual(t, reached, 1.0)
			}
		}
	}
}

// TestReducesInARow: 32 H100 on four nodes reduce 16 MiB in 236 us, and 1 KiB in 10, by a public
// table of nccl-tests; calls in a row come near that, one alone does not.
func TestReducesInARow(t *testing.T) {
	text := "[topology]\npreset = \"dgx-h100\"\nnodes = 4\n[check]\nproof = false\nnumbers = false\n" +
		"[benchmark]\n[[collective]]\nkind = \"reduce\"\nalgorithm = \"nccl:auto\"\nbytes = "
	small := benched(t, text+`"1 KiB"`)[0]
	require.InEpsilon(t, 10.2e6, float64(small.Calls.Time), 0.15)
	require.Greater(t, small.Time, 5*small.Calls.Time)
	large := benched(t, text+`"16 MiB"`)[0]
	require.InEpsilon(t, 236e6, float64(large.Calls.Time), 0.25)
	require.Less(t, large.Calls.Time, large.Time)
}

// TestHostIsAFloor: one process for n GPUs issues no call sooner than n times what it takes for
// one, 33.6 us for 8; that is a maximum with the period and no sum. Graphs, and a process a GPU,
// have no floor; sends and receives of a group are issued one by one.
func TestHostIsAFloor(t *testing.T) {
	text := onSuperbench + `
[benchmark]
processes = "one"
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = ["1 KiB", "64 MiB"]
`
	period := func(set ...string) (us []float64) {
		for _, r := range benched(t, text, set...) {
			us = append(us, float64(r.Calls.Period)/1e6)
		}
		return us
	}
	free := period("benchmark.graph=true")
	require.Equal(t, free, period(`benchmark.processes="per-gpu"`))
	require.Greater(t, free[0], 33.6) // 14 steps of 3.4 us
	require.Equal(t, free, period())
	quick := "device.overhead=\"500 ns\""
	free = period(quick, "benchmark.graph=true")
	require.Less(t, free[0], 33.6)
	require.Equal(t, []float64{33.6, free[1]}, period(quick))
	require.Equal(t, []float64{80, free[1]}, period(quick, "benchmark.issue=\"10 us\""))
	for _, n := range []struct {
		gpus int
		want float64 // and measured: 8, 14 to 23, 30 to 35, 60
	}{{2, 8.4}, {4, 16.8}, {8, 33.6}, {12, 50.4}} {
		require.Equal(t, n.want, period(quick, fmt.Sprint("topology.ranks=", n.gpus))[0])
	}
	// 8 × (4.2 us + 16 × 410 ns), measured 85 to 89.
	r := benched(t, text, quick, `collective.kind="all_to_all"`,
		`collective.algorithm="nccl:p2p(machine=dgx-a100)"`)
	require.InDelta(t, 86.08, float64(r[0].Calls.Floor)/1e6, 1e-9)

	// So many are issued for blocks of any size, but where empty ones are skipped.
	ragged := strings.Replace(text, `bytes = ["1 KiB", "64 MiB"]`,
		"splits = [[0, 9, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]", 1)
	for algorithm, want := range map[string]float64{
		"nccl:p2p(machine=dgx-a100)":            4 * (4.2 + 8*.41),
		"nccl:p2p(empty=skip,machine=dgx-a100)": 4*4.2 + 4*.41,
	} {
		r := benched(t, ragged, quick, `collective.kind="all_to_allv"`, "topology.ranks=4",
			fmt.Sprintf("collective.algorithm=%q", algorithm))
		require.InDelta(t, want, float64(r[0].Calls.Floor)/1e6, 1e-9, algorithm)
	}
}

// TestCallsStayTheSame: what calls take does not depend on the number of threads, nor on what else
// is asked for.
func TestCallsStayTheSame(t *testing.T) {
	text := onSuperbench + `
[benchmark]
[[collective]]
kind = ["broadcast", "reduce", "all_reduce"]
algorithm = "all"
bytes = ["10 KB", "1 MiB"]
`
	calls := func(o run.RunOptions) string {
		s, err := run.Load("x.toml", []byte(text), run.LoadOptions{})
		require.NoError(t, err)
		r, err := s.Run(context.Background(), o)
		require.NoError(t, err)
		var all []run.Calls
		for _, result := range r.Results {
			all = append(all, *result.Calls)
		}
		out, err := json.Marshal(all)
		require.NoError(t, err)
		return string(out)
	}
	want := calls(run.RunOptions{})
	require.Equal(t, want, calls(run.RunOptions{Trace: true, Links: true}))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, want, calls(run.RunOptions{}))
}

// bestKnown lists the algorithms of algos.Table that do a kind, but for those that need nodes.
func bestKnown(t *testing.T, kind string) string {
	k, err := collective.ParseKind(kind)
	require.NoError(t, err)
	var names []string
	for _, a := range algos.ForKind(k) {
		names = append(names, strconv.Quote(a.Name))
	}
	return strings.Join(names, ", ")
}
