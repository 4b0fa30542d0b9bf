package scenarios

import "collsim/unit"

// Benchmark is a loop of calls, one behind the other on one stream of every rank, as nccl-tests
// times them.
type Benchmark struct {
	Calls     int // of the loop; 0: there is no loop
	Processes Processes
	Graph     bool // the calls are launched as a CUDA graph
	// Issue is the time that a process takes to issue a call for one of its GPUs, and IssueMessage
	// the time for each send or receive of a grouped call.
	Issue, IssueMessage unit.Time
}

// maxCalls bounds a loop.
const maxCalls = 1000

// IssueTimes returns what a process takes to issue a call for one of its GPUs, and each message of
// a group, where a scenario and its machine do not say so. Both are derived from public tables of
// nccl-tests with one process (-g N). The first is the median of the least times over the number of
// GPUs, of twelve machines with 4, 8 and 12: V100, A100, H100, B300, MI355X and RTX 4090, from 3.3
// to 5.8 us a GPU. The second is the extra time of alltoall on one machine:
// (86.0 us / 8 − 4.2 us) / 16.
func IssueTimes() (call, message unit.Time) {
	var b Benchmark
	silent().fill("benchmark", &b)
	return b.Issue, b.IssueMessage
}

// idleIssue says why the times of a process have no effect.
const idleIssue = `calls wait for their process with processes = "one" alone, and no graph`

func benchmarkKeys() []Key {
	return []Key{
		{Path: "benchmark.calls", kind: aWhole, min: 1, max: maxCalls, Default: "20", Example: "50",
			Sweep: true, Doc: "Calls of the loop, the option -n of nccl-tests. They are simulated until " +
				"every call takes as long as the one before, and the rest follows.",
			to:   set(func(b *Benchmark, n int64) { b.Calls = int(n) }),
			idle: "it is for collectives; a program has iterations"},
		{Path: "benchmark.processes", kind: aChoice, Values: processes(), Default: `"per-gpu"`,
			Example: `"one"`, Sweep: true,
			Doc: "Who issues the calls: a process for each GPU, which is always quick enough, or one for " +
				"all GPUs of a node (-g 8), which takes issue for each of them: no call can follow the " +
				"one before sooner.",
			to:   pick(processes(), func(b *Benchmark, to Processes) { b.Processes = to }),
			idle: "it is for collectives; a program has iterations"},
		{Path: "benchmark.graph", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc:  "Launch the loop as a CUDA graph (-G): then no call waits for its process.",
			to:   set(func(b *Benchmark, on bool) { b.Graph = on }),
			idle: "it is for collectives; a program has iterations"},
		{Path: "benchmark.issue", kind: aTime, max: maxWait, Default: `"4.2 us"`, Example: `"5 us"`,
			Sweep: true,
			Doc: "Time of a process to issue a call for one GPU. The default is derived: the median of " +
				"twelve tables of nccl-tests with one process for 4, 8 or 12 GPUs, which have 3.3 to " +
				"5.8 us; it is the host's, not the GPU's.",
			to: set(func(b *Benchmark, t unit.Time) { b.Issue = t }), idle: idleIssue},
		{Path: "benchmark.issue_message", kind: aTime, max: maxWait, Default: `"410 ns"`,
			Example: `"500 ns"`, Sweep: true,
			Doc: "What each send or receive adds to that, where a call is a group of them, as NCCL's " +
				"all_to_all. The default is derived from one table: 86 us for 8 A100.",
			to: set(func(b *Benchmark, t unit.Time) { b.IssueMessage = t }), idle: idleIssue},
	}
}

// benchmark reads the loop of a collective. There is none without the table, or times measured in
// one.
func (v *view) benchmark(b *Benchmark) {
	if !v.hasTable("benchmark") && !v.has("measured.file") {
		return
	}
	v.fill("benchmark", b)
	v.use("benchmark.calls", "benchmark.processes", "benchmark.graph")
	if b.Processes == OneProcess && !b.Graph {
		v.use("benchmark.issue", "benchmark.issue_message")
	}
}
