package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

const gbs = simtest.GBs // a byte is 1000 ps

// wires are links of 100 ns and 1 GB/s but for what is said: "gpu0->switch", "a->b 0.5 GB/s, 10
// ns".
func wires(t testing.TB, lines ...string) Env {
	t.Helper()
	var list []topology.Wire
	for _, line := range lines {
		w := topology.Wire{Bandwidth: gbs, Latency: 100 * ns}
		ends, costs, _ := strings.Cut(line, " ")
		w.From, w.To, _ = strings.Cut(ends, "->")
		rate, latency, timed := strings.Cut(costs, ", ")
		var err error
		if rate != "" {
			w.Bandwidth, err = unit.ParseRate(rate)
			require.NoError(t, err)
		}
		if timed {
			w.Latency, err = unit.ParseTime(latency)
			require.NoError(t, err)
		}
		list = append(list, w)
	}
	g, err := topology.Links(0, list)
	require.NoError(t, err)
	return Env{Graph: g, Device: device.Ideal(), Slots: 8}
}

const ns = unit.Nanosecond

// script is a schedule in which every rank has so many lanes, each doing what f says. Data are
// blocks of 100 bytes, which take 100 ns at 1 GB/s.
func script(t testing.TB, ranks, lanes int, f func(l *schedule.Lane)) *schedule.Schedule {
	t.Helper()
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Int8,
		Ranks: ranks, Count: 10_000}
	return simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 100, Lanes: lanes, Lane: f})
}

// written is a schedule of so many ranks from the text of their lanes; who is not named has none.
// Data are blocks of 100 bytes, which take 100 ns at 1 GB/s.
func written(t testing.TB, ranks int, lanes string) *schedule.Schedule {
	t.Helper()
	if !strings.Contains(lanes, "rank *") {
		all := ""
		for rank := range ranks {
			head := fmt.Sprintf("\nrank %d\n", rank)
			_, after, _ := strings.Cut(lanes+"\n", head)
			mine, _, _ := strings.Cut(after, "\nrank ")
			all += head + mine
		}
		lanes = all
	}
	s, err := schedule.Parse(fmt.Sprintf("schedule test\ncollective all_reduce int8 sum\nranks %d\n"+
		"count 10000\ncut in block even 100\ncut out block even 100\n%s", ranks, lanes))
	require.NoError(t, err)
	return s
}

// mode is a way to share links.
type mode struct {
	name      string
	sharing   Sharing
	switching Switching
}

var modes = [...]mode{{"fluid", Fluid, CutThrough}, {"fifo", FIFO, CutThrough},
	{"stored", FIFO, StoreForward}}

// want is when every lane ends, in nanoseconds: under fluid sharing, FIFO with cut-through, and
// FIFO with store-and-forward.
type want struct{ fluid, fifo, stored []float64 }

// check simulates a schedule in all three ways.
func check(t *testing.T, s *schedule.Schedule, env Env, w want) {
	t.Helper()
	for i, expected := range [][]float64{w.fluid, w.fifo, w.stored} {
		if expected == nil {
			continue
		}
		env.Sharing, env.Switching = modes[i].sharing, modes[i].switching
		r, err := Run(s, env, Options{Trace: true})
		require.NoError(t, err, modes[i].name)
		require.NoError(t, r.Trace.Validate(), modes[i].name)
		var ends []float64
		for _, end := range r.LaneEnd {
			ends = append(ends, float64(end)/1000)
		}
		require.Equal(t, expected, ends, modes[i].name)
	}
}
