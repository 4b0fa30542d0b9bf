package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/formats/measured"
	"collsim/hw"
	"collsim/scenarios"
	"collsim/unit"
)

// work is a collective to put below a preset, which makes it a scenario.
const work = "\n[[collective]]\nkind = \"all_reduce\"\nalgorithm = \"ring\"\nbytes = \"1 MiB\"\n"

// loaded is the one point of a preset with work to do.
func loaded(t *testing.T, preset string) *scenarios.Point {
	t.Helper()
	d, err := scenarios.Read("preset.toml", []byte(preset+work), scenarios.Options{})
	require.NoError(t, err)
	_, open, err := d.Points(scenarios.Facts{})
	require.NoError(t, err)
	require.Len(t, open, 1) // whether ring has no parameters, which it may
	s, _, err := d.Points(scenarios.Facts{Answers: []scenarios.Answer{{Question: open[0]}}})
	require.NoError(t, err)
	require.Len(t, s.Points, 1)
	return s.Points[0]
}

// campaignPreset measures the known machine, with noise.
func campaignPreset(t *testing.T, sizes []unit.Bytes) string {
	t.Helper()
	c, err := NewCampaign(CampaignOptions{Ranks: 4, Sizes: sizes, Classes: []Class{{Name: "link",
		Pairs: [][2]int{{0, 1}, {2, 3}}, Preset: "switch", Wires: 2}}})
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(5, 6))
	m := known(t, 4)
	m.noise = func(int) float64 { return 1 + 0.01*random.NormFloat64() }
	samples, err := c.measure(t.Context(), m, hw.Env{Repetitions: 3}, zeros)
	require.NoError(t, err)
	fit, err := Solve(c.Parameters, samples, Options{})
	require.NoError(t, err)
	return c.Preset(Head{Title: "Known machine", Source: "the simulator, with noise of 1 %"}, fit)
}

// shapedPreset is that of a network which is built to have its rate, with two classes of wires in
// one table, of which the second has one pair.
func shapedPreset(t *testing.T) string {
	t.Helper()
	rate := 10_400 * unit.Rate(unit.MB)
	c, err := NewCampaign(CampaignOptions{Ranks: 4, Sizes: []unit.Bytes{8, unit.MiB},
		Classes: []Class{
			{Name: "near", Pairs: [][2]int{{0, 1}, {2, 3}}, Preset: AsIs, Wires: 2, Shaped: rate},
			{Name: "far", Pairs: [][2]int{{0, 2}}, Preset: AsIs, Wires: 4, Shaped: rate}}})
	require.NoError(t, err)
	executed := 0
	c.Done = func(e *Experiment, r *hw.Result) {
		require.Same(t, &c.Experiments[executed], e)
		require.Len(t, r.Repetitions, 2)
		executed++
	}
	samples, err := c.Measure(t.Context(), known(t, 4), hw.Env{Repetitions: 2})
	require.NoError(t, err)
	require.Equal(t, len(c.Experiments), executed)
	fit, err := Solve(c.Parameters, samples, Options{})
	require.NoError(t, err)
	text := c.Preset(Head{Title: "Shaped", Source: "the simulator"}, fit)
	head, _, _ := strings.Cut(text, "\n# point, measured")
	return head
}

// rangesPreset is that of a table with two protocols.
func rangesPreset(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/two-protocols.log")
	require.NoError(t, err)
	tables, err := measured.ReadTables("two-protocols.log", text)
	require.NoError(t, err)
	require.Len(t, tables, 1)
	curve, err := closedForm(tables[0].Kind, "ring", tables[0].Ranks)
	require.NoError(t, err)
	r, err := FitRanges([]Series{{Points: PointsOf(&tables[0], true, false), Curve: curve,
		Message: part(tables[0].Ranks)}}, Options{})
	require.NoError(t, err)
	return r.Preset(Head{Title: "Two protocols", Source: "two-protocols.log, in place, as ring"},
		tables[0].Ranks)
}

// part is the size of the messages of a ring.
func part(ranks int) func(unit.Bytes) unit.Bytes {
	return func(n unit.Bytes) unit.Bytes { return n / unit.Bytes(ranks) }
}

func TestPreset(t *testing.T) {
	datadriven.RunTest(t, "testdata/preset", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "campaign":
			return campaignPreset(t, []unit.Bytes{8, 4 * unit.KiB, unit.MiB, 16 * unit.MiB})
		case "small":
			return campaignPreset(t, []unit.Bytes{8, 16, 32})
		case "shaped":
			return shapedPreset(t)
		default:
			return rangesPreset(t)
		}
	})
}

// TestPresetIsAScenario: what is written is what is loaded, to four digits.
func TestPresetIsAScenario(t *testing.T) {
	text := campaignPreset(t, []unit.Bytes{8, 4 * unit.KiB, unit.MiB, 16 * unit.MiB})
	require.Equal(t, text, campaignPreset(t, []unit.Bytes{8, 4 * unit.KiB, unit.MiB, 16 * unit.MiB}))
	p := loaded(t, text)
	require.Equal(t, "switch", p.Topology.Preset)
	near := func(want, got int64) { require.InEpsilon(t, want, got, 0.03) }
	near(int64(200*unit.Nanosecond), int64(p.Device.Overhead))
	near(int64(40*unit.GB), int64(p.Device.CopyRate))
	near(int64(20*unit.GB), int64(p.Device.ReduceRate))
	near(int64(10*unit.GB), int64(p.Topology.Bandwidth))
	near(int64(500*unit.Nanosecond), int64(p.Topology.Latency)) // of each of the two wires
	require.Equal(t, "switch", loaded(t, rangesPreset(t)).Topology.Preset)
}

func TestRounded(t *testing.T) {
	require.Equal(t, int64(1235000), rounded(1234567))
	require.Equal(t, int64(12), rounded(12.3))
	require.Zero(t, rounded(-1))
	require.Zero(t, rounded(math.Inf(1)))
	require.Equal(t, "unlimited", rateOf(0))
	require.Equal(t, "12.35 GB/s", rateOf(1e12/12.346e9))
}

func ExampleSolve() {
	// Messages of 8 B, 64 KiB and 1 MiB, one way, in picoseconds.
	var samples []Sample
	for _, m := range [][2]float64{{8, 2.0e6}, {65536, 7.3e6}, {131072, 12.5e6}, {1048576, 86e6}} {
		samples = append(samples, Sample{Time: m[1], Parts: []float64{1, m[0]}})
	}
	fit, err := Solve([]string{"latency", "time per byte"}, samples, Options{HoldOut: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range fit.Estimates {
		fmt.Printf("%s %.3g ps, known: %v\n", e.Name, e.Value, e.Known)
	}
	// Output:
	// latency 2e+06 ps, known: true
	// time per byte 80.1 ps, known: true
}
