package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// ring is the all-reduce that every test knows: n−1 steps that add, n−1 that copy.
func ring(l *schedule.Lane) {
	r, p := l.Rank, l.Ranks
	prev, next := r-1, r+1
	l.Send(next, l.Chunk(r))
	for i := 1; i < p-1; i++ {
		l.ReduceSend(prev, next, l.Chunk(r-i))
	}
	l.ReduceCopySend(prev, next, l.Chunk(r+1))
	for i := range p - 2 {
		l.CopySend(prev, next, l.Chunk(r-i))
	}
	l.Recv(prev, l.Chunk(r+2))
}

// direct is the all-to-all with a lane for every peer.
func direct(l *schedule.Lane) {
	to, from := l.Rank+l.Index+1, l.Rank-l.Index-1
	l.Send(to, l.In(to))
	l.Recv(from, l.Out(from))
	if l.Index == 0 {
		l.Copy(l.Out(l.Rank), l.In(l.Rank))
	}
}

func allReduce(ranks int, count int64) collective.Spec {
	return collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: count}
}

func ringPlan(ranks int, count int64) schedule.Plan {
	return schedule.Plan{Name: "ring", Spec: allReduce(ranks, count),
		Group: schedule.Group{int32(ranks)}, Chunks: ranks, Lane: ring}
}

func directPlan(ranks int, count int64) schedule.Plan {
	return schedule.Plan{Name: "direct", Spec: collective.Spec{Kind: collective.AllToAll,
		Type: dtype.Float32, Ranks: ranks, Count: count},
		Group: schedule.Group{int32(ranks)}, Lanes: ranks - 1, Lane: direct}
}

func build(t testing.TB, p schedule.Plan) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Build(p)
	require.NoError(t, err)
	return s
}

func onSwitch(t testing.TB, ranks int, bandwidth unit.Rate, latency unit.Time) Env {
	t.Helper()
	g, err := topology.Switch(ranks, bandwidth, latency)
	require.NoError(t, err)
	return Env{Graph: g, Device: device.Ideal(), Slots: 8}
}

const gbs = unit.Rate(1_000_000_000) // a byte is 1000 ps

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
	return build(t, schedule.Plan{Spec: spec, Chunks: 100, Lanes: lanes, Lane: f})
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

// check plays a schedule in all three ways.
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
