package run_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/trace"
	"collsim/unit"
)

// anyScenario is a random program of kernels and calls of 4 ranks or of 2 of them, on two streams
// each, on a GPU or where all but links and kernels is free.
func anyScenario(r *rand.Rand) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[topology]\npreset = \"switch\"\nranks = 4\nbandwidth = \"50 GB/s\"\n"+
		"latency = %q\n[check]\nproof = false\nnumbers = false\n[sim]\nsharing = %q\n",
		[]string{"0 s", "1 us", "20 us"}[r.IntN(3)], []string{"fluid", "fifo"}[r.IntN(2)])
	if r.IntN(2) == 0 {
		b.WriteString("[device]\npreset = \"h100-sxm\"\n")
	}
	if r.IntN(2) == 0 {
		b.WriteString("[program]\niterations = 2\n")
	}
	b.WriteString("[[program.group]]\nname = \"some\"\nranks = [[0, 1], [3, 2]]\n" +
		"[[program.group]]\nname = \"odd\"\nranks = [[1], [3]]\n" +
		"[[program.tensor]]\nname = \"w\"\nshape = [256, 256]\n")
	have, names := []string{"w"}, []string{}
	for i := range 3 + r.IntN(6) {
		in, name := have[r.IntN(len(have))], fmt.Sprint("t", i)
		fmt.Fprintf(&b, "[[program.op]]\nname = %q\n", name)
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "kernel = \"matmul\"\nin = [%q, \"w\"]\nout = %q\n", in, name)
			have = append(have, name)
		case 1:
			fmt.Fprintf(&b, "kernel = \"opaque %d us\"\ngroup = \"odd\"\n", 1+r.IntN(40))
			if len(names) > 0 {
				fmt.Fprintf(&b, "after = [%q]\n", names[r.IntN(len(names))])
			}
		default:
			call := [][2]string{{"all_reduce", "ring"}, {"broadcast", "flat"}, {"broadcast", "chain"},
				{"all_reduce", "ring(channels=3)"}}[r.IntN(4)]
			fmt.Fprintf(&b, "call = %q\nalgorithm = %q\nin = %q\nout = %q\nasync = %v\n", call[0],
				call[1], in, name, r.IntN(2) == 0)
			if r.IntN(2) == 0 {
				b.WriteString("group = \"some\"\n")
			}
			if len(names) > 0 && r.IntN(3) == 0 {
				fmt.Fprintf(&b, "after = [%q]\n", names[r.IntN(len(names))])
			}
			have = append(have, name)
		}
		if r.IntN(3) == 0 {
			b.WriteString("stream = \"other\"\n")
		}
		names = append(names, name)
	}
	return b.String()
}

// TestPartsSumToTheWhole: of the rank with the most exposed time, kernels, moving, waiting and idle
// sum up to the time, what ops have of it to the exposed time, and what is waited for to the
// waiting; all of it as it is found moment by moment in the timeline, whatever the number of
// processors.
func TestPartsSumToTheWhole(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(22)
	parameters.MinSuccessfulTests = tier.Raced(10, 60, 1000)
	properties := gopter.NewProperties(parameters)
	waited := 0
	properties.Property("parts sum to the whole", prop.ForAll(func(seed uint64) string {
		rng := rand.New(rand.NewPCG(seed, 21))
		text, set := anyScenario(rng), []string(nil)
		if rng.IntN(2) == 0 {
			set = []string{`lowering.comm_buffer="64 KiB"`, `lowering.registering="2 us"`}
		}
		r := runProgram(t, text, set, run.RunOptions{Trace: true})
		var all [4]run.Usage
		most := 0
		for rank := range all {
			all[rank] = moments(r, rank)
			u := &all[rank]
			if u.Compute+u.Moving+u.Waiting+u.Idle != r.Time {
				return fmt.Sprint(r.Time, *u)
			}
			if u.Exposed() > all[most].Exposed() {
				most = rank
			}
		}
		if r.Usage != all[most] {
			return fmt.Sprintf("%+v is told, %+v found\n%s", r.Usage, all[most], text)
		}
		var moving, waiting, waits unit.Time
		for i := range r.Ops {
			moving, waiting = moving+r.Ops[i].Moving, waiting+r.Ops[i].Waiting
		}
		for _, w := range r.Waits {
			waits += w.Time
		}
		if moving != r.Moving || waiting != r.Waiting || waits != r.Waiting {
			return fmt.Sprint(moving, waiting, waits, r.Usage, text)
		}
		if r.Waiting > 0 {
			waited++
		}
		before := runtime.GOMAXPROCS(1)
		again := runProgram(t, text, set, run.RunOptions{}) // stretch by stretch
		runtime.GOMAXPROCS(before)
		if again.Usage != r.Usage || !slices.Equal(again.Waits, r.Waits) ||
			!slices.Equal(again.Ops, r.Ops) {
			return "it is told otherwise the second time"
		}
		return ""
	}, gen.UInt64()))
	properties.TestingRun(t)
	require.Greater(t, waited, parameters.MinSuccessfulTests/4)
}

func runProgram(t *testing.T, text string, set []string, o run.RunOptions) *run.ProgramResult {
	s, err := run.Load("p.toml", []byte(text), run.LoadOptions{Set: set})
	require.NoError(t, err, text)
	report, err := s.Run(t.Context(), o)
	require.NoError(t, err, text)
	r := report.Programs[0]
	if o.Trace {
		require.NoError(t, r.Trace.Validate())
	}
	return r
}

// moments walks the moments of a rank at which something begins or ends.
func moments(r *run.ProgramResult, rank int) run.Usage {
	type during struct{ from, to unit.Time }
	var kernels, moves, begun []during
	within := map[int]*during{} // from when a call could begin to its end
	program, s := r.Lowered.Schedule.Program(rank), r.Lowered.Schedule
	calls := map[int]bool{}
	for _, o := range r.Lowered.Ops {
		for _, p := range o.Parts {
			calls[p] = o.IsCall
		}
	}
	ended := map[int]unit.Time{}
	for _, x := range r.Trace.Intervals {
		if k := r.Trace.Tracks[x.Track]; int(k.Rank) == rank {
			part := program.Part(int(k.Lane))
			ended[part] = max(ended[part], x.End)
		}
	}
	for part, end := range ended {
		if calls[part] {
			within[part] = &during{0, end}
			for _, w := range s.Waits(part, rank) {
				within[part].from = max(within[part].from, ended[w])
			}
		}
	}
	if r.Point.Device.GPU.SMs > 0 { // a call begins with its first bracket
		for part := range within {
			within[part].from = unit.Forever
		}
		for _, b := range r.Trace.Brackets {
			k := r.Trace.Tracks[b.Track]
			if int(k.Rank) != rank {
				continue
			}
			if w := within[program.Part(int(k.Lane))]; w != nil {
				w.from = min(w.from, b.Start)
			}
		}
	}
	for _, w := range within {
		begun = append(begun, *w)
	}
	add := func(part int, from, to unit.Time) {
		if w := within[part]; w != nil {
			moves = append(moves, during{max(from, w.from), min(to, w.to)})
		}
	}
	for _, x := range r.Trace.Intervals {
		k := r.Trace.Tracks[x.Track]
		if int(k.Rank) != rank {
			continue
		}
		switch part := program.Part(int(k.Lane)); {
		case x.Kind == trace.Compute && !slices.Contains(r.Lowered.Registering, part):
			kernels = append(kernels, during{x.Start, x.End})
		case x.Kind == trace.Copy && x.Peer < 0:
			add(part, x.Start, x.End)
		case x.Kind != trace.Compute:
			add(part, x.Start, x.Done)
		}
	}
	for _, m := range r.Trace.Messages {
		for _, track := range []int32{m.From, m.To} {
			if k := r.Trace.Tracks[track]; int(k.Rank) == rank {
				add(program.Part(int(k.Lane)), m.Sent, m.Arrived)
			}
		}
	}
	times := []unit.Time{0, r.Time}
	for _, list := range [][]during{kernels, moves, begun} {
		for _, d := range list {
			times = append(times, d.from, d.to)
		}
	}
	slices.Sort(times)
	u := run.Usage{Rank: rank}
	for i, to := range times[1:] {
		from := times[i]
		is := func(list []during) bool {
			return slices.ContainsFunc(list, func(d during) bool { return d.from <= from && to <= d.to })
		}
		if from == to {
			continue
		}
		switch computes, moves := is(kernels), is(moves); {
		case computes && moves:
			u.Hidden += to - from
			fallthrough
		case computes:
			u.Compute += to - from
		case moves:
			u.Moving += to - from
		case is(begun):
			u.Waiting += to - from
		default:
			u.Idle += to - from
		}
	}
	return u
}

// TestExposedHasAnOwner: what a rank waits for with nothing else to do is of a call, and of a peer.
// Messages of 16 KiB take 327.68 ns and 100 us, kernels 10 us or 30.
func TestExposedHasAnOwner(t *testing.T) {
	const head = "[topology]\npreset = \"switch\"\nranks = 2\nbandwidth = \"50 GB/s\"\n" +
		"latency = \"50 us\"\n[[program.tensor]]\nname = \"x\"\nshape = [8192]\n" +
		"[[program.group]]\nname = \"first\"\nranks = [[0]]\n"
	const us, link = unit.Microsecond, 100*unit.Microsecond + 327_680
	op := func(lines ...string) string { return "[[program.op]]\n" + strings.Join(lines, "\n") + "\n" }
	kernel := func(name, takes string, more ...string) string {
		return op(append(more, "name = \""+name+"\"", "kernel = \"opaque "+takes+"\"")...)
	}
	broadcast := func(name string, more ...string) string {
		return op(append(more, "name = \""+name+"\"", `call = "broadcast"`, `algorithm = "flat"`,
			`in = "x"`, "out = \"y"+name+"\"")...)
	}
	const first, async = `group = "first"`, "async = true"
	for name, c := range map[string]struct {
		text  string
		usage run.Usage
		waits []run.CallWait
	}{
		"a broadcast": {broadcast("b") + kernel("k", "10 us", `after = ["b"]`),
			run.Usage{Rank: 1, Compute: 10 * us, Moving: link}, nil},
		// rank 0 computes before it sends
		"a broadcast from a late rank": {kernel("k", "30 us", first) + broadcast("b", `after = ["k"]`),
			run.Usage{Rank: 1, Moving: link, Waiting: 30 * us}, []run.CallWait{{Op: 1, Time: 30 * us}}},
		// rank 1 has 10 us of its own to do meanwhile
		"and a kernel meanwhile": {kernel("k", "30 us", first) +
			broadcast("b", `after = ["k"]`, async) + kernel("l", "10 us"),
			run.Usage{Rank: 1, Compute: 10 * us, Moving: link, Waiting: 20 * us},
			[]run.CallWait{{Op: 1, Time: 20 * us}}},
		// Of two calls that wait the second is what the next kernel needs: until it comes it has the
		// waiting, and then the first has.
		"of two": {kernel("k", "10 us", first, `stream = "s"`) +
			kernel("l", "250 us", first, `stream = "t"`) +
			broadcast("late", `after = ["l"]`, async, `stream = "c"`) +
			broadcast("soon", `after = ["k"]`, async, `stream = "d"`) +
			kernel("m", "10 us", `after = ["soon"]`),
			run.Usage{Rank: 1, Compute: 10 * us, Moving: 2 * link, Waiting: 240*us - link},
			[]run.CallWait{{Op: 2, Time: 230*us - link}, {Op: 3, Time: 10 * us}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := runProgram(t, head+c.text, nil, run.RunOptions{})
			require.Equal(t, c.usage, r.Usage)
			require.Equal(t, c.waits, r.Waits)
			require.Equal(t, r.Time, r.Compute+r.Moving+r.Waiting+r.Idle)
		})
	}
}

// TestExplainedShares: what the rank with the most exposed time spends it on sums up to 100 %.
func TestExplainedShares(t *testing.T) {
	for _, name := range []string{"1f1b", "moe", "two-groups"} {
		s, err := run.Load(name, []byte(example(t, name)), run.LoadOptions{})
		require.NoError(t, err)
		e, err := s.ExplainProgram(s.Programs[0], run.RunOptions{})
		require.NoError(t, err)
		sum := unit.Time(0)
		for _, x := range e.Spent {
			sum += x.Time
		}
		require.Equal(t, e.Result.Time, sum, name)
	}
}

// TestBubble: stages that take the same, with sends that cost nothing, lose (p − 1)/(m + p − 1) of
// their time, in either order.
//
// Huang et al., "GPipe: Easy Scaling with Micro-Batch Pipeline Parallelism", 2019, section 2.3;
// Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
// Megatron-LM", 2021, section 2.2.1: (p − 1)/m of the time without a bubble, in both orders.
func TestBubble(t *testing.T) {
	for _, c := range [][2]int{{2, 1}, {2, 4}, {3, 3}, {4, 8}, {8, 4}} {
		p, m := c[0], c[1]
		for _, order := range []string{"as written", "1f1b"} {
			s, err := run.Load("p.toml", []byte(pipelineOf(p, m, order)), run.LoadOptions{})
			require.NoError(t, err)
			graph, err := topology.Switch(p, unit.Unlimited, 0)
			require.NoError(t, err)
			s.Programs[0].Topology, err = scenarios.TopologyOf("free", graph)
			require.NoError(t, err)
			report, err := s.Run(t.Context(), run.RunOptions{})
			require.NoError(t, err)
			r := report.Programs[0]
			require.Len(t, r.Stages, p)
			for _, s := range r.Stages {
				// lost / time = (p − 1)/(m + p − 1), but for the kernels of 1 ps, one of each microbatch
				all := m + p - 1
				require.InDelta(t, int64(r.Time)*int64(p-1), int64(s.Lost)*int64(all), float64(all*all),
					"%v %s %s", c, order, s.Name)
			}
		}
	}
}

// pipelineOf is a pipeline of stages of a rank each, 10 us forward and 20 us back, with matmuls and
// sends that take no time.
func pipelineOf(stages, microbatches int, order string) string {
	var b strings.Builder
	names := make([]string, stages)
	for s := range names {
		names[s] = fmt.Sprintf("%q", fmt.Sprint("stage", s))
	}
	fmt.Fprintf(&b, "[topology]\npreset = \"switch\"\nranks = %d\nbandwidth = \"1 GB/s\"\n"+
		"latency = \"0 s\"\n[check]\nproof = false\nnumbers = false\n[program]\ngradient = \"full\"\n"+
		"order = %q\nstages = [%s]\n", stages, order, strings.Join(names, ", "))
	for s := range stages {
		fmt.Fprintf(&b, "[[program.group]]\nname = \"stage%d\"\nranks = [[%d]]\n", s, s)
		if s > 0 {
			fmt.Fprintf(&b, "[[program.group]]\nname = \"to%d\"\nranks = [[%d, %d]]\n", s, s-1, s)
		}
	}
	fmt.Fprintf(&b, "[[program.tensor]]\nname = \"w\"\nshape = [2, 2]\n[[program.tensor]]\n"+
		"name = \"x0_{i}\"\nrepeat = %d\nshape = [2, 2]\ngradient = false\n", microbatches)
	op := func(s int, name string, lines ...string) {
		fmt.Fprintf(&b, "[[program.op]]\nname = \"%s%d:{i}\"\nrepeat = %d\n%s\n", name, s,
			microbatches, strings.Join(lines, "\n"))
	}
	for s := range stages {
		group := fmt.Sprintf("group = \"stage%d\"", s)
		in, out := fmt.Sprintf("\"x%d_{i}\"", s), fmt.Sprintf("\"y%d_{i}\"", s)
		op(s, "forward", `kernel = "opaque 10 us"`, `backward = "opaque 0 s"`, "in = "+in, group)
		op(s, "mul", `kernel = "matmul"`, "in = ["+in+`, "w"]`, "out = "+out, group)
		reads := "in = " + out // before its gradient goes on
		if s == stages-1 {
			reads = "" // nobody reads a result
		}
		op(s, "back", `kernel = "opaque 1 ps"`, `backward = "opaque 20 us"`, reads, group)
		if s < stages-1 {
			to := fmt.Sprintf("\"to%d\"", s+1)
			op(s, "send", `call = "broadcast"`, `algorithm = "flat"`, "in = "+out,
				fmt.Sprintf("out = \"x%d_{i}\"", s+1), "group = "+to, "stream = "+to, "async = true")
		}
	}
	return b.String()
}
