package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// truth is a device whose times are the simulator's on a network and a device that the scenario
// does not tell.
type truth struct {
	graph *topology.Graph
	cost  device.Device
	fail  error
}

func (d *truth) Close() error { return nil }

func (d *truth) Run(_ context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil || d.fail != nil {
		return nil, errors.Join(err, d.fail)
	}
	simulated, err := sim.Run(job.Schedule, sim.Env{Graph: d.graph, Device: d.cost}, sim.Options{})
	if err != nil {
		return nil, err
	}
	r := &hw.Result{RanOn: hw.RanOn{Executor: "host", Transport: "tcp", CPU: "a test's", Cores: 2,
		OS: "any", Go: "go1"}}
	for range env.Repetitions {
		r.Repetitions = append(r.Repetitions, hw.Repetition{Time: simulated.Time + unit.Microsecond})
	}
	return r, nil
}

// work is a collective to be put below a network.
const work = `
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "1 MiB"
`

func loadText(t *testing.T, text string, with ...string) *run.Scenario {
	t.Helper()
	o := run.LoadOptions{}
	for i, one := range with {
		o.With = append(o.With, scenarios.With{Name: fmt.Sprintf("with%d.toml", i), Text: []byte(one)})
	}
	s, err := run.Load("s.toml", []byte(text), o)
	require.NoError(t, err)
	return s
}

// planned is the plan of a scenario's calibration.
func planned(t *testing.T, s *run.Scenario, o run.CalibrateOptions) *run.Calibration {
	t.Helper()
	c, err := s.Calibration(o)
	require.NoError(t, err)
	return c
}

// TestCalibrationClasses shows which pairs are measured as which kind of link, and at which sizes.
func TestCalibrationClasses(t *testing.T) {
	datadriven.RunTest(t, "testdata/calibration", func(t *testing.T, d *datadriven.TestData) string {
		s, err := run.Load("s.toml", []byte(d.Input+"\n"+work), run.LoadOptions{})
		require.NoError(t, err)
		c, err := s.Calibration(run.CalibrateOptions{Warmup: -1})
		if err != nil {
			return err.Error() + "\n"
		}
		var b strings.Builder
		for _, class := range c.Campaign.Classes {
			fmt.Fprintf(&b, "%s: [%s] preset %q, wires %d", class.Name, class.Table, class.Preset,
				class.Wires)
			if class.Shaped > 0 {
				fmt.Fprintf(&b, ", shaped to %v", class.Shaped)
			}
			if class.Own {
				b.WriteString(", figures are comments")
			}
			fmt.Fprintf(&b, ": %v\n", class.Pairs)
		}
		fmt.Fprintf(&b, "%v\n", c.Sizes)
		for _, note := range c.Notes {
			b.WriteString("note: " + note + "\n")
		}
		return b.String()
	})
}

// A scenario guesses 1 GB/s and 1 us; the machine has 5 GB/s and 3 us a wire.
const guessed = `name = "guessed"
[topology]
preset = "switch"
ranks = 4
bandwidth = "1 GB/s"
latency = "1 us"
` + work

// measuredWith is the calibration of a scenario by a simulated machine.
func measuredWith(t *testing.T, text string) *run.Calibration {
	t.Helper()
	graph, err := topology.Switch(4, 5*unit.Rate(unit.GB), 3*unit.Microsecond)
	require.NoError(t, err)
	cost := device.Ideal()
	cost.Overhead, cost.ReduceRate = unit.Microsecond, 2*unit.Rate(unit.GB)
	cost.CopyRate = 4 * unit.Rate(unit.GB)
	c := planned(t, loadText(t, text), run.CalibrateOptions{Warmup: -1})
	executed := 0
	require.NoError(t, c.Measure(t.Context(), &truth{graph: graph, cost: cost}, func() { executed++ }))
	require.Equal(t, len(c.Campaign.Experiments), executed)
	return c
}

// TestCalibrationIsTaken: what is found on a machine replaces what a scenario has guessed, and then
// the scenario takes the machine's time.
func TestCalibrationIsTaken(t *testing.T) {
	c := measuredWith(t, guessed)
	require.Less(t, c.Fit.HeldOut.Median, 1e-4)
	p := loadText(t, guessed, c.Preset()).Points[0]
	require.Equal(t, "switch", p.Topology.Preset)
	require.InEpsilon(t, 5e9, float64(p.Topology.Bandwidth), 1e-3)
	require.InEpsilon(t, float64(3*unit.Microsecond), float64(p.Topology.Latency), 1e-3)
	require.InEpsilon(t, float64(unit.Microsecond), float64(p.Device.Overhead), 1e-3)
	require.InEpsilon(t, 4e9, float64(p.Device.CopyRate), 1e-3)
	require.InEpsilon(t, 2e9, float64(p.Device.ReduceRate), 1e-3)
	require.Contains(t, c.Preset(), "# Source: host (tcp) on 2 cores of a test's, any, go1\n")
	require.Contains(t, report.CalibrationText(c), "bandwidth of 2 pairs both ways at once")

	// It is a network by itself, too.
	loadText(t, c.Preset()+work)
}

// TestCalibrationOfALab: a lab is built from the scenario, which keeps its network; latency and
// costs are the lab's.
func TestCalibrationOfALab(t *testing.T) {
	lab := guessed + "[hardware]\nnetwork = \"lab\"\n"
	c := measuredWith(t, lab)
	require.Equal(t, unit.Bytes(256), c.Sizes[0])
	require.Len(t, c.Sizes, 5)
	text := c.Preset()
	for _, key := range []string{"\npreset =", "\nranks =", "\nbandwidth ="} {
		require.NotContains(t, text, key)
	}
	require.Contains(t, text, "# It is 500.0 % of the 1 GB/s that the wires are shaped to")
	p := loadText(t, lab, text).Points[0]
	require.Equal(t, unit.Rate(unit.GB), p.Topology.Bandwidth)
	require.InEpsilon(t, float64(3*unit.Microsecond), float64(p.Topology.Latency), 1e-3)
}

// TestCalibrationOfACluster: figures go to the tables of their own networks.
func TestCalibrationOfACluster(t *testing.T) {
	const cluster = `
[topology]
nodes = 2
[topology.node]
preset = "switch"
ranks = 2
bandwidth = "1 GB/s"
latency = "1 us"
[topology.network]
preset = "switch"
bandwidth = "1 GB/s"
latency = "1 us"
` + work
	c := planned(t, loadText(t, cluster), run.CalibrateOptions{})
	true1 := strings.ReplaceAll(cluster, "1 us", "2 us")
	graph, err := loadText(t,
		strings.Replace(true1, "1 GB/s", "8 GB/s", 1)).Points[0].Topology.Graph()
	require.NoError(t, err)
	require.NoError(t, c.Measure(t.Context(), &truth{graph: graph, cost: device.Ideal()}, nil))
	g, err := loadText(t, cluster, c.Preset()).Points[0].Topology.Graph()
	require.NoError(t, err)
	for i := range g.Links() {
		require.Equal(t, graph.Links()[i].Latency, g.Links()[i].Latency, g.Links()[i].Name)
		want := graph.Links()[i].Bandwidth
		require.InEpsilon(t, float64(want), float64(g.Links()[i].Bandwidth), 1e-3, g.Links()[i].Name)
	}
}

func TestCalibrationOptions(t *testing.T) {
	s := loadText(t, guessed+"[hardware]\nrepetitions = 7\nwarmup = 2\nlibrary = true\n")
	c := planned(t, s, run.CalibrateOptions{Warmup: -1})
	require.Equal(t, [2]int{7, 2}, [2]int{c.Env.Repetitions, c.Env.Warmup})
	require.False(t, c.Hardware().Library)
	c = planned(t, s, run.CalibrateOptions{Repetitions: 3, Warmup: 0, Budget: unit.MiB,
		Sizes: []unit.Bytes{8, unit.MiB}})
	require.Equal(t, [2]int{3, 0}, [2]int{c.Env.Repetitions, c.Env.Warmup})
	require.Contains(t, c.Plan(), "2 sizes from 8 B to 1 MiB")
	require.Contains(t, c.Plan(), "each 3 times and 0 before")

	boom := &hw.Error{Call: "read", Code: "ECONNRESET", Rank: 3, Lane: -1, Step: -1}
	err := c.Measure(t.Context(), &truth{fail: boom}, nil)
	var failure *hw.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, 3, failure.Rank)
}

// TestCalibrationInterrupted: the figures are those of what was executed, and the preset says so.
func TestCalibrationInterrupted(t *testing.T) {
	s := loadText(t, guessed)
	c := planned(t, s, run.CalibrateOptions{Warmup: -1})
	graph, err := c.Point.Topology.Graph()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	executed, all := 0, len(c.Campaign.Experiments)
	err = c.Measure(ctx, &truth{graph: graph, cost: device.Ideal()}, func() {
		if executed++; executed == all/2 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, all/2, executed)
	require.NotNil(t, c.Fit)
	require.Len(t, c.Fit.Residuals, all/2)
	require.Contains(t, c.Preset(), fmt.Sprintf(
		"Note: interrupted: %d of %d experiments were executed", all/2, all))

	c = planned(t, s, run.CalibrateOptions{Warmup: -1})
	require.ErrorIs(t, c.Measure(ctx, &truth{graph: graph, cost: device.Ideal()}, nil),
		context.Canceled)
	require.Nil(t, c.Fit)
}

func TestCalibrationJSON(t *testing.T) {
	c := measuredWith(t, guessed)
	text, err := report.CalibrationJSON(c)
	require.NoError(t, err)
	var j struct {
		Scenario, Preset string
		Classes          []struct {
			Name, Table string
			Wires       int
			Pairs       [][2]int
		}
		Figures []struct {
			Name, Unit       string
			Value, Low, High float64
			Known            bool
		}
		HeldOut   struct{ Points int } `json:"held_out"`
		Residuals []map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &j))
	require.Equal(t, c.Preset(), j.Preset)
	require.Equal(t, [][2]int{{0, 1}, {2, 3}}, j.Classes[0].Pairs)
	require.Len(t, j.Residuals, len(c.Campaign.Experiments))
	require.Positive(t, j.HeldOut.Points)
	found := 0
	for _, f := range j.Figures {
		require.True(t, f.Known, f.Name)
		require.LessOrEqual(t, f.Low, f.High, f.Name)
		switch f.Name {
		case "2 wires latency":
			require.Equal(t, "ps", f.Unit)
			require.InEpsilon(t, 6e6, f.Value, 1e-3)
			found++
		case "2 wires time per byte":
			require.Equal(t, "GB/s", f.Unit)
			require.InEpsilon(t, 5.0, f.Value, 1e-3)
			found++
		}
	}
	require.Equal(t, 2, found)
}

// TestCalibrationMemory: an experiment that takes more memory than there is, is refused before any
// is executed.
func TestCalibrationMemory(t *testing.T) {
	s := loadText(t, "[topology]\npreset = \"switch\"\nranks = 4\nbandwidth = \"1 GB/s\"\n"+
		"latency = \"1 us\"\n"+work)
	c := planned(t, s, run.CalibrateOptions{Sizes: []unit.Bytes{64, 64 * unit.MiB}, Warmup: -1})
	h, err := host.New(host.Config{})
	require.NoError(t, err)
	defer h.Close()
	s.Free = run.Memory{Bytes: 100 * unit.MiB, Of: "the control group"}
	executed := 0
	err = c.Measure(context.Background(), &sized{h, &executed}, nil)
	require.ErrorContains(t, err, "64 MiB ping-pong: its real execution takes up to")
	require.ErrorContains(t, err, "the control group has 100 MiB left")
	require.Zero(t, executed)
}
