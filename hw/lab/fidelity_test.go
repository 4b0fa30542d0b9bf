//go:build fidelity

package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/calibrate"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

const (
	labRanks = 8
	labRate  = 12_500_000 // 100 Mbit/s: two cores carry eight ranks at it
	labSlots = 8
)

// figures are what one calibration, on the star, tells of every lab.
type figures struct {
	latency unit.Time // of a wire
	device  device.Device
}

// measure calibrates by ping-pongs, streams and exchanges between pairs.
func measure(t *testing.T, l *Lab) figures {
	t.Helper()
	c, err := calibrate.NewCampaign(calibrate.CampaignOptions{Ranks: labRanks, Budget: 4 * unit.MiB,
		Sizes: []unit.Bytes{256, 64 * unit.KiB, 512 * unit.KiB, 2 * unit.MiB},
		Classes: []calibrate.Class{{Name: "wires", Wires: 2,
			Pairs: [][2]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}}}})
	require.NoError(t, err)
	samples, err := c.Measure(context.Background(), l, hw.Env{Warmup: 1, Repetitions: 5})
	require.NoError(t, err)
	fit, err := calibrate.Solve(c.Parameters, samples, calibrate.Options{})
	require.NoError(t, err)
	value := map[string]float64{}
	for _, e := range fit.Estimates {
		value[e.Name] = e.Value
		t.Logf("%-40s %12.4g (%.4g to %.4g) known %v", e.Name, e.Value, e.Low, e.High, e.Known)
	}
	t.Logf("held out: %+v", fit.HeldOut)
	for _, name := range c.Parameters[5:9] { // times per byte: one way, both, all pairs so
		require.InEpsilon(t, 1e12/labRate, value[name], 0.02, name)
	}
	f := figures{latency: unit.Time(value[c.Parameters[4]] / 2), device: device.Ideal()}
	f.device.Overhead = unit.Time(value[c.Parameters[1]])
	f.device.CopyRate = rateOf(value[c.Parameters[2]])
	f.device.ReduceRate = rateOf(value[c.Parameters[3]])
	return f
}

// rateOf is a rate of which a byte takes so many picoseconds.
func rateOf(perByte float64) unit.Rate {
	if perByte < 1e-3 {
		return unit.Unlimited
	}
	return unit.Rate(1e12 / perByte)
}

// predict is how long the simulator says that a schedule takes.
func (f figures) predict(t *testing.T, g *topology.Graph, s *schedule.Schedule) unit.Time {
	t.Helper()
	g = g.Clone()
	for i := range g.Links() {
		g.Links()[i].Latency = f.latency
	}
	r, err := sim.Run(s, sim.Env{Graph: g, Device: f.device, Slots: labSlots}, sim.Options{})
	require.NoError(t, err)
	return r.Time
}

// labs are the networks that are measured.
func labs(t *testing.T) (names []string, graphs []*topology.Graph) {
	t.Helper()
	star, err := topology.Switch(labRanks, labRate, 0)
	require.NoError(t, err)
	racks, err := topology.Build(topology.Params{Preset: "leaf-spine", Ranks: labRanks, K: 4,
		Oversubscription: 4_000_000, Bandwidth: labRate})
	require.NoError(t, err)
	slow := star.Clone()
	require.NoError(t, slow.Override("gpu3 <-> switch", topology.Change{Share: 500_000}))
	return []string{"star", "two racks", "slow link"}, []*topology.Graph{star, racks, slow}
}

func inMs(t unit.Time) float64 { return float64(t) / float64(unit.Millisecond) }

// quantiles are the median and the 90th percentile.
func quantiles(errs []float64) (median, p90 float64) {
	slices.Sort(errs)
	return errs[len(errs)/2], errs[len(errs)*9/10]
}

// TestFidelity holds the simulator against labs, and prints the table.
func TestFidelity(t *testing.T) {
	names, graphs := labs(t)
	var f figures
	var errs, bests []float64
	var table strings.Builder
	for i, g := range graphs {
		l := open(t, g)
		if i == 0 {
			f = measure(t, l)
			t.Logf("latency of a wire %v, overhead %v, copy %v, reduce %v", f.latency,
				f.device.Overhead, f.device.CopyRate, f.device.ReduceRate)
		}
		for _, c := range []struct {
			kind collective.Kind
			op   collective.Op
			name string
		}{{collective.AllReduce, collective.Sum, "ring"},
			{collective.AllReduce, collective.Sum, "recursive-doubling"},
			{collective.AllReduce, collective.Sum, "rabenseifner"},
			{collective.AllToAll, 0, "pairwise"}, {collective.Broadcast, 0, "binomial"},
			{collective.Broadcast, 0, "scatter-allgather"}} {
			for _, n := range []unit.Bytes{unit.MiB, 4 * unit.MiB, 16 * unit.MiB} {
				a, err := algos.Find(c.kind, c.name)
				require.NoError(t, err)
				count := int64(n) / 4
				if c.kind == collective.AllToAll {
					count /= labRanks
				}
				s, err := a.Build(collective.Spec{Kind: c.kind, Op: c.op, Type: dtype.Float32,
					Ranks: labRanks, Count: count}, algos.Options{})
				require.NoError(t, err)
				env := hw.Env{Slots: labSlots, Warmup: 1, Repetitions: 3, Timeout: time.Minute}
				if n > 4*unit.MiB {
					env.Warmup, env.Repetitions = 0, 2
				}
				r := execute(t, l, s, env)
				got, spread := r.Median()
				want := f.predict(t, g, s)
				e := float64(want)/float64(got) - 1
				best := float64(want)/float64(r.Repetitions[r.Fastest()].Time) - 1
				errs, bests = append(errs, math.Abs(e)), append(bests, math.Abs(best))
				line := fmt.Sprintf("%-10s %-11v %-19s %-7v %6.0f ms %6.0f ms ± %3.0f ms  %+6.1f %% %+6.1f %%",
					names[i], c.kind, c.name, n, inMs(want), inMs(got), inMs(spread), 100*e, 100*best)
				t.Log(line)
				table.WriteString(line + "\n")
			}
		}
	}
	median, p90 := quantiles(errs)
	t.Logf("lab, kind, algorithm, bytes, simulated, measured (median, spread), error of the median "+
		"and of the fastest\n%s", &table)
	t.Logf("median %.1f %%, 90th percentile %.1f %%", 100*median, 100*p90)
	bestMedian, bestP90 := quantiles(bests)
	t.Logf("of the fastest: median %.1f %%, 90th percentile %.1f %%", 100*bestMedian, 100*bestP90)
	require.LessOrEqual(t, median, 0.05)
	require.LessOrEqual(t, p90, 0.12)
}
