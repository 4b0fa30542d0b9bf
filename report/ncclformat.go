package report

import (
	"fmt"
	"math"
	"strings"

	"collsim/collective"
	"collsim/run"
	"collsim/scenarios"
)

// InPlace maps the point of a call out of place to the result of the same call in place; or the
// other way round, where the scenario asks for calls in place. A call without an entry takes the
// same time either way.
type InPlace map[*scenarios.Point]*run.Result

// NCCLTestsKind returns the name of nccl-tests' program for a collective, without _perf; empty
// where it has none.
func NCCLTestsKind(k collective.Kind) string {
	switch k {
	case collective.AllToAll, collective.SendRecv:
		return strings.ReplaceAll(k.String(), "_", "")
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
		collective.Reduce, collective.Gather, collective.Scatter:
		return k.String()
	}
	return ""
}

// testRun holds the output of one program of nccl-tests: one collective by one algorithm.
type testRun struct {
	program string
	rows    []testRow
}

// testRow is one size, out of place and in place.
type testRow struct {
	out, in    *run.Result
	unchecked  bool // nccl-tests does not check the result in place
	size       int64
	count      int64
	typ, redop string
	root       int
}

// testRuns groups results into runs of nccl-tests' programs.
func testRuns(in InPlace, reports []*run.Report) (all []testRun) {
	for _, r := range reports {
		place := map[string]int{}
		for _, result := range r.Results {
			if result.Gradient != nil {
				continue
			}
			key := sectionOf(result) + "\n" + variant(result) + "\n" + result.Point.Algorithm.String()
			at, seen := place[key]
			if !seen {
				at = len(all)
				place[key] = at
				all = append(all, testRun{program: NCCLTestsKind(result.Point.Spec.Kind) + "_perf"})
			}
			all[at].rows = append(all[at].rows, rowOfTest(result, in))
		}
	}
	return all
}

func rowOfTest(r *run.Result, in InPlace) testRow {
	spec := r.Point.Spec
	row := testRow{out: r, in: in[r.Point], size: int64(spec.Bytes()), count: spec.Count,
		typ: spec.Type.NCCL(), redop: "none", root: rootOf(spec)}
	switch {
	case spec.Kind == collective.SendRecv: // its default, though it adds nothing
		row.redop = "sum"
	case spec.Op == collective.PremulSum:
		row.redop = "mulsum"
	case spec.Op != 0:
		row.redop = spec.Op.String()
	}
	if row.in == nil {
		row.in = r
	}
	if spec.InPlace {
		row.out, row.in = row.in, row.out
	}
	row.unchecked = spec.Kind == collective.AllToAll || spec.Kind == collective.SendRecv
	return row
}

// busBandwidth returns the mean bus bandwidth of all rows and places, and the number of wrong
// elements.
func (t *testRun) busBandwidth() (mean float64, wrong int64) {
	sum := 0.
	for _, row := range t.rows {
		for _, r := range []*run.Result{row.out, row.in} {
			bw, _ := r.BusBW()
			sum += bw
			wrong += r.Wrong
		}
	}
	return sum / float64(2*len(t.rows)), wrong
}

// config returns the arguments with which the program would have been called.
func (t *testRun) config() (gpus, calls, step int, least, most int64, graph bool) {
	p := t.rows[0].out.Point
	least, most = t.rows[0].size, t.rows[0].size
	for _, row := range t.rows {
		least, most = min(least, row.size), max(most, row.size)
	}
	gpus = 1
	if p.Benchmark.Processes == scenarios.OneProcess {
		gpus = p.Topology.InNode()
	}
	return gpus, max(p.Benchmark.Calls, 1), 2, least, most, p.Benchmark.Graph
}

// NCCLTests prints results in the columns of nccl-tests 2.19.6 (src/util.cu), each collective and
// algorithm as a run of its program. With a benchmark the time is that of a call of its loop. The
// lines about program and machine say that they are simulated.
func NCCLTests(in InPlace, reports ...*run.Report) string {
	var b strings.Builder
	for _, t := range testRuns(in, reports) {
		t.write(&b)
	}
	return b.String()
}

func (t *testRun) write(b *strings.Builder) {
	first := t.rows[0].out
	gpus, calls, step, least, most, graph := t.config()
	checked := 0
	if first.Numbers != run.Off {
		checked = 1
	}
	fmt.Fprintf(b, "# collsim %s simulates %v, in the columns of nccl-tests 2.19.6\n"+
		"# Collective test starting: %s\n# nThread 1 nGpus %d minBytes %d maxBytes %d step: %d(factor) "+
		"warmup iters: 1 iters: %d agg iters: 1 validation: %d graph: %d unalign: 0\n#\n"+
		"# Using devices\n", run.Version, first.Algorithm, t.program, gpus, least, most, step, calls,
		checked, whether(graph))
	inNode := max(first.Point.Topology.InNode(), 1)
	for rank := range first.Point.Spec.Ranks {
		fmt.Fprintf(b, "#  Rank %2d Group %2d Pid %6d on %10s device %2d [%04x:%02x:%02x] %s\n", rank, 0,
			rank/gpus, fmt.Sprint("node", rank/inNode), rank%inNode, 0, rank%inNode, 0,
			first.Point.Device.Name)
	}
	lead := "# %10s  %12s  %8s  %6s  %6s"
	half := "  %7s  %6s  %6s  %6s"
	fmt.Fprintf(b, "#\n"+lead+"           out-of-place                       in-place          \n",
		"", "", "", "", "")
	for _, names := range [][2][]any{
		{{"size", "count", "type", "redop", "root"}, {"time", "algbw", "busbw", "#wrong"}},
		{{"(B)", "(elements)", "", "", ""}, {"(us)", "(GB/s)", "(GB/s)", ""}},
	} {
		fmt.Fprintf(b, lead, names[0]...)
		fmt.Fprintf(b, half+half+" \n", append(names[1], names[1]...)...)
	}
	for _, row := range t.rows {
		fmt.Fprintf(b, "%12d  %12d  %8s  %6s  %6d", row.size, row.count, row.typ, row.redop, row.root)
		for i, r := range []*run.Result{row.out, row.in} {
			wrong := missing
			if r.Numbers != run.Off && (i == 0 || !row.unchecked) {
				wrong = fmt.Sprintf("%.6g", float64(r.Wrong))
			}
			algbw, _ := r.AlgBW()
			busbw, _ := r.BusBW()
			if perCall(r) == missing { // a benchmark that takes too long to simulate
				fmt.Fprintf(b, half, missing, missing, missing, wrong)
				continue
			}
			fmt.Fprintf(b, half, fitted(float64(r.PerCall())/1e6, 7), fitted(algbw, 6), fitted(busbw, 6),
				wrong)
		}
		b.WriteString("\n")
	}
	bandwidth, wrong := t.busBandwidth()
	verdict := "OK"
	if wrong > 0 {
		verdict = "FAILED"
	}
	fmt.Fprintf(b, "# %-20s : %d %s\n# %-20s : %.6g \n#\n# Collective test concluded: %s\n#\n\n",
		"Out of bounds values", wrong, verdict, "Avg bus bandwidth", bandwidth, t.program)
}

// whether converts true to 1, false to 0.
func whether(b bool) int {
	if b {
		return 1
	}
	return 0
}

// NCCLTestsJSON writes what nccl-tests writes with -J, version 3: an object for one collective by
// one algorithm, a list for several. Members that depend on a clock or an environment are null or
// empty.
func NCCLTestsJSON(in InPlace, reports ...*run.Report) ([]byte, error) {
	return encode(oneOrAll(testRuns(in, reports), func(t testRun) Value { return t.value() }))
}

func (t *testRun) value() Value {
	first := t.rows[0].out
	gpus, calls, step, least, most, graph := t.config()
	yes := func(b bool) Value { return Text(fmt.Sprint(b)) } // nccl-tests has them as texts
	checked := first.Numbers != run.Off
	inNode := max(first.Point.Topology.InNode(), 1)
	var devices []Value
	for rank := range first.Point.Spec.Ranks {
		devices = append(devices, object(members{{"rank", Int(rank)}, {"group", Int(0)},
			{"pid", Int(rank / gpus)}, {"hostname", Text(fmt.Sprint("node", rank/inNode))},
			{"device", Int(rank % inNode)}, {"device_hex", Text(fmt.Sprintf("0000:%02x:00", rank%inNode))},
			{"device_info", Text(first.Point.Device.Name)}}))
	}
	same := func(v Value) Value { return v }
	bandwidth, wrong := t.busBandwidth()
	return object(members{{"version", Int(3)}, {"start_time", Value{}},
		{"args", listOf([]string{t.program}, Text)}, {"env", listOf([]string(nil), Text)},
		{"nccl_version", Value{}},
		{"config", object(members{{"nthreads", Int(1)}, {"ngpus", Int(gpus)},
			{"minimum_bytes", Int(least)}, {"maximum_bytes", Int(most)}, {"step_factor", Int(step)},
			{"warmup_iters", Int(1)}, {"iterations", Int(calls)}, {"aggregated_iterations", Int(1)},
			{"validation", Int(whether(checked))}, {"graph", Int(whether(graph))},
			{"blocking_collectives", yes(false)}, {"per_iter_timing", yes(false)},
			{"per_iter_skip", Int(0)}, {"parallel_init", yes(false)},
			{"devices", listOf(devices, same)}})},
		{"results", listOf(t.rows, func(row testRow) Value {
			return object(members{{"size", Int(row.size)}, {"count", Int(row.count)},
				{"type", Text(row.typ)}, {"redop", Text(row.redop)},
				{"root", Text(fmt.Sprintf("%6d", row.root))},
				{"out_of_place", timingValue(row.out, false)},
				{"in_place", timingValue(row.in, row.unchecked)},
				{"actual_iterations", Int(calls)}, {"experiment_name", Text("")}})
		})},
		{"out_of_bounds", object(members{{"count", Int(wrong)}, {"okay", yes(wrong == 0)}})},
		{"average_bus_bandwidth", object(members{{"bandwidth", micro(bandwidth)},
			{"okay", Text("unchecked")}})},
		{"errors", listOf([]string(nil), Text)}, {"end_time", Value{}}})
}

// timingValue makes the object of a row out of place or in place.
func timingValue(r *run.Result, unchecked bool) Value {
	algbw, _ := r.AlgBW()
	busbw, _ := r.BusBW()
	isKnown := perCall(r) != missing
	return object(members{{"time", known(isKnown, micro(float64(r.PerCall())/1e6))},
		{"alg_bw", known(isKnown, micro(algbw))}, {"bus_bw", known(isKnown, micro(busbw))},
		{"nwrong", known(r.Numbers != run.Off && !unchecked, Number(float64(r.Wrong)))}})
}

// micro makes a number rounded to six decimals.
func micro(x float64) Value { return Number(math.Round(x*1e6) / 1e6) }
