package calibrate

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/hw"
	"collsim/hw/host"
	"collsim/proof"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// machine is a device whose times are the simulator's, plus a launch, times what noise says.
type machine struct {
	env    sim.Env
	launch unit.Time
	noise  func(repetition int) float64
}

func (m *machine) Close() error { return nil }

func (m *machine) Run(_ context.Context, job *hw.Job) (*hw.Result, error) {
	env, err := job.Check()
	if err != nil {
		return nil, err
	}
	simulated, err := sim.Run(job.Schedule, m.env, sim.Options{})
	if err != nil {
		return nil, err
	}
	result := &hw.Result{}
	for i := range env.Repetitions {
		result.Repetitions = append(result.Repetitions, hw.Repetition{
			Time: unit.Time(math.Round(float64(m.launch+simulated.Time) * m.noise(i)))})
	}
	return result, nil
}

// zeros are enough for every campaign here. They are made once, and as no machine that is simulated
// reads them, they take no memory: those that are freed and made again are written, by Go.
var zeros = hw.Memory(sources * 64 << 20)

// known is a machine of known figures: two ranks a microsecond apart at 10 GB/s.
func known(t *testing.T, ranks int) *machine {
	t.Helper()
	graph, err := topology.Switch(ranks, 10*unit.Rate(unit.GB), 500*unit.Nanosecond)
	require.NoError(t, err)
	d := device.Ideal()
	d.Overhead, d.CopyRate = 200*unit.Nanosecond, 40*unit.Rate(unit.GB)
	d.ReduceRate = 20 * unit.Rate(unit.GB)
	return &machine{env: sim.Env{Graph: graph, Device: d}, launch: 3 * unit.Microsecond,
		noise: func(int) float64 { return 1 }}
}

// truth is what a campaign's parameters are on a known machine, in picoseconds.
func truth(c *Campaign) []float64 {
	want := make([]float64, len(c.Parameters))
	for i, name := range c.Parameters {
		switch {
		case name == launch:
			want[i] = 3e6
		case name == overhead:
			want[i] = 2e5
		case name == copyTime:
			want[i] = 25
		case name == reduceTime:
			want[i] = 50
		case strings.Contains(name, latency):
			want[i] = 1e6
		case strings.Contains(name, perByte):
			want[i] = 100
		}
	}
	return want
}

// TestExperimentsAreWhatTheyCount: launch + o·… + l·… + n·…, as the experiment says, is what the
// simulator says, to a picosecond a step.
func TestExperimentsAreWhatTheyCount(t *testing.T) {
	pairs := [][2]int{{0, 1}, {3, 2}}
	c, err := NewCampaign(CampaignOptions{Ranks: 4, Classes: []Class{{Name: "link", Pairs: pairs}},
		Sizes: []unit.Bytes{4, 8, 1000, unit.MiB, 64 * unit.MiB}})
	require.NoError(t, err)
	m, want := known(t, 4), truth(c)
	for i := range c.Experiments {
		e := &c.Experiments[i]
		_, violations := proof.Verify(e.Schedule, proof.Options{})
		require.Empty(t, violations, e.Name)
		result, err := m.Run(t.Context(), e.job(hw.Env{}, zeros))
		require.NoError(t, err, e.Name)
		require.InDelta(t, dot(e.Parts, want), e.Sample(result).Time, 100, e.Name)
	}
}

func TestCampaignFindsAKnownMachine(t *testing.T) {
	tests := []struct {
		name              string
		noise             float64 // standard deviation of a normal relative error
		outliers          float64 // share of samples ten times too slow
		within            float64
		median            float64 // held-out errors
		everybodyIsKnown  bool
		intervalsAreWrong int // at most, of the parameters
	}{
		{name: "exact", within: 1e-6, median: 1e-6, everybodyIsKnown: true, intervalsAreWrong: 12},
		{name: "noise", noise: 0.02, within: 0.03, median: 0.03, everybodyIsKnown: true,
			intervalsAreWrong: 1},
		{name: "noise and outliers", noise: 0.02, outliers: 0.05, within: 0.05, median: 0.03,
			everybodyIsKnown: true, intervalsAreWrong: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pairs := [][2]int{{0, 1}, {2, 3}}
			c, err := NewCampaign(CampaignOptions{Ranks: 4,
				Classes: []Class{{Name: "link", Pairs: pairs}}})
			require.NoError(t, err)
			random := rand.New(rand.NewPCG(1, 2))
			m, factor := known(t, 4), 1.0
			m.noise = func(repetition int) float64 {
				if repetition == 0 { // an experiment's repetitions are all too slow, or none
					factor = 1 + tt.noise*random.NormFloat64()
					if random.Float64() < tt.outliers {
						factor = 10
					}
				}
				return factor
			}
			samples, err := c.measure(t.Context(), m, hw.Env{Repetitions: 3}, zeros)
			require.NoError(t, err)
			fit, err := Solve(c.Parameters, samples, Options{})
			require.NoError(t, err)
			outside := 0
			for i, want := range truth(c) {
				e := fit.Estimates[i]
				require.InEpsilon(t, want, e.Value, tt.within, e.Name)
				require.Equal(t, tt.everybodyIsKnown, e.Known, "%s: %s", e.Name, e.Why)
				if want < e.Low || want > e.High {
					outside++
				}
			}
			require.LessOrEqual(t, outside, tt.intervalsAreWrong)
			require.Less(t, fit.HeldOut.Median, tt.median)
			require.Greater(t, fit.HeldOut.Points, len(samples)/6)
			t.Logf("%d samples, held out: %+v", len(samples), fit.HeldOut)
		})
	}
}

// TestCampaignOnRealProcessors measures this machine by goroutines: what is found is plausible, and
// every job ends.
func TestCampaignOnRealProcessors(t *testing.T) {
	c, err := NewCampaign(CampaignOptions{Ranks: 2, Budget: unit.MiB,
		Sizes: []unit.Bytes{8, 1024, 64 * unit.KiB, 256 * unit.KiB}})
	require.NoError(t, err)
	d, err := host.New(host.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	samples, err := c.Measure(t.Context(), d, hw.Env{Repetitions: 3, Timeout: 20 * time.Second})
	require.NoError(t, err)
	require.Len(t, samples, len(c.Experiments))
	fit, err := Solve(c.Parameters, samples, Options{})
	require.NoError(t, err)
	for _, e := range fit.Estimates {
		require.GreaterOrEqual(t, e.Value, 0.0, e.Name)
		require.Equal(t, e.Known, e.Why == "", e.Name)
	}
}
