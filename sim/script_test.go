package sim_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestScripts runs the scripts of testdata. Numbers of ranks are those of the network; a time is in
// nanoseconds, and a block 100 bytes, which take 100 ns at 1 GB/s. Commands:
//
//	network [ranks=N] [preset=P] [multimem]
//	                  links of 1 GB/s and 100 ns: a preset (full-mesh), or one a line, where what is
//	                  said after its name changes it: "gpu0->a 0.5 GB/s, 10 ns"
//	env               a line for everything that is not as on the ideal device with 8 slots
//	schedule          lanes in the text form; who is not named has none
//	simulate fluid|fifo|stored [links] [path]
//	                  what was sent, then a line a sub-step: rank/lane, name, S, D, E; then what
//	                  each link had carried when, and the critical path
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		var x script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "network":
				x = script{network: d.Input}
				x.ranks, x.preset = 2, "full-mesh"
				d.MaybeScanArgs(t, "ranks", &x.ranks)
				d.MaybeScanArgs(t, "preset", &x.preset)
				x.multimem = d.HasArg("multimem")
				return ""
			case "env":
				x.lines = d.Input
				return ""
			case "schedule":
				x.lanes = d.Input
				return ""
			case "simulate":
				return x.simulate(t, d)
			}
			d.Fatalf(t, "no command %q", d.Cmd)
			return ""
		})
	}
}

// script is what its commands have said so far.
type script struct {
	network, preset string
	ranks           int
	multimem        bool
	lines, lanes    string
}

func (x *script) simulate(t *testing.T, d *datadriven.TestData) string {
	s, env := x.schedule(t), x.env(t)
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "fluid":
			env.Sharing = sim.Fluid
		case "fifo":
			env.Sharing = sim.FIFO
		case "stored":
			env.Sharing, env.Switching = sim.FIFO, sim.StoreForward
		}
	}
	r, err := sim.Run(s, env, sim.Options{Trace: true, Critical: true})
	if err != nil {
		return err.Error() + "\n"
	}
	require.NoError(t, r.Trace.Validate())
	var out strings.Builder
	fmt.Fprintf(&out, "%d messages, %d bytes sent, %d on links\n", r.Messages, r.BytesSent,
		r.LinkBytes)
	for _, v := range r.Trace.Intervals {
		track := r.Trace.Tracks[v.Track]
		fmt.Fprintf(&out, "%d/%d  %-14s %9v %9v %9v\n", track.Rank, track.Lane, v.Name(),
			inNs(v.Start), inNs(v.Done), inNs(v.End))
	}
	if d.HasArg("links") {
		for _, c := range r.Trace.Counters {
			if len(c.Samples) == 0 {
				continue
			}
			fmt.Fprintf(&out, "%s:", c.Name)
			for _, v := range c.Samples {
				fmt.Fprintf(&out, "  %d at %v", v.Value, inNs(v.At))
			}
			out.WriteString("\n")
		}
	}
	if d.HasArg("path") {
		out.WriteString(pathText(env, r.Critical))
	}
	return out.String()
}

// inNs is a time in nanoseconds.
func inNs(t unit.Time) float64 { return float64(t) / 1000 }

// pathText is a critical path, a line a piece: what, on which link ("-": none), from when to when,
// and whose step it is.
func pathText(env sim.Env, path []sim.Piece) string {
	var out strings.Builder
	for _, p := range path {
		link := "-"
		if p.Link >= 0 {
			link = env.Graph.Links()[p.Link].Name
		}
		fmt.Fprintf(&out, "%-12v %-14s %9v %9v  %d/%d step %d\n", p.What, link, inNs(p.From), inNs(p.To),
			p.Rank, p.Lane, p.Step)
	}
	return out.String()
}

func (x *script) schedule(t *testing.T) *schedule.Schedule {
	text := fmt.Sprintf("schedule test\ncollective all_reduce int8 sum\nranks %d\ncount 10000\n"+
		"cut in block even 100\ncut out block even 100\n", x.ranks)
	for rank := range x.ranks {
		head := fmt.Sprintf("\nrank %d\n", rank)
		_, after, _ := strings.Cut("\n"+x.lanes+"\n", head)
		mine, _, _ := strings.Cut(after, "\nrank ")
		text += head + mine + "\n"
	}
	s, err := schedule.Parse(text)
	require.NoError(t, err)
	return s
}

func (x *script) env(t *testing.T) sim.Env {
	env := sim.Env{Graph: x.graph(t), Device: device.Ideal(), Slots: 8}
	env.Start, env.Slowdown = make([]unit.Time, x.ranks), make([]unit.Share, x.ranks)
	for rank := range env.Slowdown {
		env.Slowdown[rank] = 1_000_000
	}
	for line := range strings.Lines(x.lines) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		require.NoError(t, set(&env, key, value), line)
	}
	return env
}

func (x *script) graph(t *testing.T) *topology.Graph {
	const rate, latency = unit.Rate(1_000_000_000), 100 * unit.Nanosecond
	var wires []topology.Wire
	for line := range strings.Lines(x.network) {
		w := topology.Wire{Bandwidth: rate, Latency: latency}
		ends, costs, _ := strings.Cut(strings.TrimSpace(line), " ")
		w.From, w.To, _ = strings.Cut(ends, "->")
		for cost := range strings.SplitSeq(costs, ", ") {
			if v, err := unit.ParseRate(cost); err == nil {
				w.Bandwidth = v
			} else if v, err := unit.ParseTime(cost); err == nil {
				w.Latency = v
			} else {
				require.Empty(t, cost, line)
			}
		}
		wires = append(wires, w)
	}
	g, err := simtest.Network(x.preset, x.ranks, rate, latency)
	if len(wires) > 0 {
		g, err = topology.Links(x.ranks, wires)
	}
	require.NoError(t, err)
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		n.Multicast, n.Reduce = n.Switch && x.multimem, n.Switch && x.multimem
	}
	return g
}

// set changes one thing of an environment: "overhead 10 ns", "start 1 100 ns" (of rank 1).
func set(env *sim.Env, key, value string) (err error) {
	d := &env.Device
	first, second, _ := strings.Cut(value, " ")
	number, _ := strconv.Atoi(first)
	switch key {
	case "overhead":
		d.Overhead, err = unit.ParseTime(value)
	case "launch":
		d.Launch, err = unit.ParseTime(value)
	case "slot_latency":
		d.SlotLatency, err = unit.ParseTime(value)
	case "reduce_rate":
		d.ReduceRate, err = unit.ParseRate(value)
	case "copy_rate":
		d.CopyRate, err = unit.ParseRate(value)
	case "lane_rate":
		d.LaneRate, err = unit.ParseRate(value)
	case "queue":
		d.Offload, d.Queue = true, number
	case "send_buffer":
		d.SendBuffer, err = unit.ParseBytes(value)
	case "eager_limit":
		d.EagerLimit, err = unit.ParseBytes(value)
	case "receives_ahead":
		d.ReceivesAhead = number
	case "latency":
		d.Own.Latency, err = unit.ParseTime(value)
	case "efficiency":
		d.Own.Efficiency, err = unit.ParseShare(value)
	case "latency_up_to": // so many bytes
		r := device.Range{UpTo: unit.Bytes(number)}
		r.Latency, err = unit.ParseTime(second)
		d.Ranges = append(d.Ranges, r)
	case "start":
		env.Start[number], err = unit.ParseTime(second)
	case "slowdown":
		env.Slowdown[number], err = unit.ParseShare(second)
	case "segment":
		env.Segment, err = unit.ParseBytes(value)
	case "slots":
		env.Slots = number
	case "free_compute":
		env.FreeCompute = true
	default:
		err = fmt.Errorf("nothing is called %q", key)
	}
	return err
}
