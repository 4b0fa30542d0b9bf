package run_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/measured"
	"collsim/report"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// published is a table of times in microseconds by size.
func published(t *testing.T, kind string, sizes []unit.Bytes,
	us func(n float64) float64) *measured.Table {
	t.Helper()
	var b strings.Builder
	b.WriteString("size_bytes,collective,type,time_us_ip\n")
	for _, n := range sizes {
		fmt.Fprintf(&b, "%d,%s,float,%.4f\n", n, kind, us(float64(n)))
	}
	tables, err := measured.ReadTables(kind+".csv", []byte(b.String()))
	require.NoError(t, err)
	require.Len(t, tables, 1)
	return &tables[0]
}

func powers(from, to unit.Bytes) (sizes []unit.Bytes) {
	for n := from; n <= to; n *= 2 {
		sizes = append(sizes, n)
	}
	return sizes
}

// fitted is the fit of a table on 8 ranks.
func fitted(t *testing.T, table *measured.Table, algorithm string) *run.TableFit {
	t.Helper()
	f, err := run.FitTable(table, run.TableOptions{Ranks: 8, Algorithm: algorithm})
	require.NoError(t, err)
	return f
}

// own is a scenario that has figures of its own for all that a preset may have.
const own = `
[topology]
preset = "switch"
ranks = 8
bandwidth = "1 GB/s"
latency = "30 ms"

[device]
overhead = "20 ms"
reduce_rate = "1 MB/s"
lane_rate = "1 MB/s"
launch = "10 ms"
latency = "5 ms"
efficiency = "1 %%"

[[device.range]]
up_to = "64 KiB"
latency = "3 ms"

[check]
proof = false
numbers = false

[[collective]]
kind = "%s"
algorithm = "%s"
bytes = [%s]
`

// simulated are the times of sizes in microseconds where a preset takes the place of the scenario's
// own figures.
func simulated(t *testing.T, preset, kind, algorithm string, sizes []unit.Bytes) (us []float64) {
	t.Helper()
	var list []string
	for _, n := range sizes {
		list = append(list, fmt.Sprint(int64(n)))
	}
	text := fmt.Sprintf(own, kind, algorithm, strings.Join(list, ", "))
	s, err := run.Load("own.toml", []byte(text), run.LoadOptions{
		With: []scenarios.With{{Name: "preset.toml", Text: []byte(preset)}}})
	require.NoError(t, err)
	r, err := s.Run(t.Context(), run.RunOptions{})
	require.NoError(t, err)
	for _, one := range r.Results {
		us = append(us, float64(one.Time)/float64(unit.Microsecond))
	}
	return us
}

// TestPresetTakesTheTimes: on the preset of a table every collective takes the times that the fit
// predicts, to the digits of a preset, and so the table's, over all sizes and whatever the
// scenario had: 1 us and 5 GB/s a message, then 4 us and 50 GB/s, then 9
// us and 200 GB/s, whichever is least. Algorithms that send to several at once share their port.
func TestPresetTakesTheTimes(t *testing.T) {
	least := func(rounds, bytes float64) float64 {
		return min(rounds+bytes/5e3, 4*rounds+bytes/50e3, 9*rounds+bytes/200e3)
	}
	for _, tt := range []struct {
		kind, algorithm string
		us              func(n float64) float64
	}{
		{"all_reduce", "ring", func(n float64) float64 { return least(14, 14*n/8) }},
		{"all_gather", "ring", func(n float64) float64 { return least(7, 7*n/8) }},
		{"reduce_scatter", "ring", func(n float64) float64 { return least(7, 7*n/8) }},
		{"all_to_all", "pairwise", func(n float64) float64 { return least(7, 7*n/8) }},
		{"all_to_all", "direct", func(n float64) float64 { return least(1, 7*n/8) }},
		{"all_reduce", "two-shot", func(n float64) float64 { return least(2, 14*n/8) }},
		{"all_reduce", "recursive-doubling", func(n float64) float64 { return least(3, 3*n) }},
		{"broadcast", "binomial", func(n float64) float64 { return least(3, 3*n) }},
		{"reduce", "binomial", func(n float64) float64 { return least(3, 3*n) }},
	} {
		t.Run(tt.kind+"/"+tt.algorithm, func(t *testing.T) {
			sizes := powers(256, 256*unit.MiB)
			f := fitted(t, published(t, tt.kind, sizes, tt.us), tt.algorithm)
			require.Len(t, f.Ranges.Ranges, 3)
			require.Less(t, f.Ranges.Trained.P90, 0.03)
			for i, us := range simulated(t, f.Preset(), tt.kind, tt.algorithm, sizes) {
				require.InEpsilon(t, f.Ranges.Residuals[i].Predicted/1e6, us, 0.003, sizes[i])
				require.InEpsilon(t, tt.us(float64(sizes[i])), us, 0.1, sizes[i])
			}
		})
	}
}

// TestPresetOfSeveralSizes: a call whose messages have several sizes has one range.
func TestPresetOfSeveralSizes(t *testing.T) {
	us := func(n float64) float64 { return 3*2 + 7*n/8/10e3 }
	sizes := powers(256, 64*unit.MiB)
	f := fitted(t, published(t, "gather", sizes, us), "")
	require.Len(t, f.Ranges.Ranges, 1)
	require.Contains(t, strings.Join(f.Notes, "\n"), "of several sizes in a call")
	for i, got := range simulated(t, f.Preset(), "gather", "binomial", sizes) {
		require.InEpsilon(t, us(float64(sizes[i])), got, 0.02, sizes[i])
	}
}

// TestPresetHasPorts: two-shot sends to all others at once, through one port: on the preset that a
// ring's table gives, its busbw is the ring's, 50 GB/s. On a full mesh it was 7 times as much.
func TestPresetHasPorts(t *testing.T) {
	us := func(n float64) float64 { return 14 * (2 + n/8/50e3) }
	f := fitted(t, published(t, "all_reduce", powers(unit.KiB, unit.GiB), us), "")
	ring := simulated(t, f.Preset(), "all_reduce", "ring", []unit.Bytes{unit.GiB})
	two := simulated(t, f.Preset(), "all_reduce", "two-shot", []unit.Bytes{unit.GiB})
	require.InEpsilon(t, us(float64(unit.GiB)), ring[0], 0.01)
	busbw := float64(unit.GiB) * 14 / 8 / two[0] / 1e3
	require.InDelta(t, 50.0, busbw, 1)
}

// TestNotKnownIsStated: of large sizes alone nobody knows the latency, which the data only bound.
// What the fit took is in the preset, and told; the scenario's own 30 ms are not left there.
func TestNotKnownIsStated(t *testing.T) {
	sizes := powers(64*unit.MiB, unit.GiB)
	us := func(n float64) float64 { return 14 * n / 8 / 50e3 * (1 + 0.002*math.Cos(n)) }
	f := fitted(t, published(t, "all_reduce", sizes, us), "")
	require.False(t, f.Ranges.Ranges[0].Fit.Estimates[0].Known)
	require.Contains(t, strings.Join(f.Notes, "\n"), "latency")
	require.Contains(t, strings.Join(f.Notes, "\n"), "not known: the data only bound it")
	require.Contains(t, report.TableFitsText(f), "note: of messages of 8 MiB to 128 MiB, latency")
	for i, got := range simulated(t, f.Preset(), "all_reduce", "ring", sizes) {
		require.InEpsilon(t, us(float64(sizes[i])), got, 0.02, sizes[i])
	}
}

// TestNotKnownIsRefused: two sizes do not even bound two figures. The preset says so to whoever
// takes it, by file, line and key, until both are given.
func TestNotKnownIsRefused(t *testing.T) {
	us := func(n float64) float64 { return 14 * (2 + n/8/50e3) }
	f := fitted(t, published(t, "all_reduce", []unit.Bytes{unit.KiB, unit.GiB}, us), "")
	with := []scenarios.With{{Name: "preset.toml", Text: []byte(f.Preset())}}
	text := fmt.Sprintf(own, "all_reduce", "ring", "8")
	_, err := run.Load("own.toml", []byte(text), run.LoadOptions{With: with})
	at := 1 + strings.Count(strings.Split(f.Preset(), "bandwidth =")[0], "\n")
	require.ErrorContains(t, err, fmt.Sprintf("preset.toml:%d: topology.bandwidth = \"not known\": "+
		"the calibration that wrote this could not tell; a rate is expected", at))
	require.ErrorContains(t, err, "topology.latency = \"not known\"")
	_, err = run.Load("own.toml", []byte(text), run.LoadOptions{With: with,
		Set: []string{"topology.bandwidth=50 GB/s", "topology.latency=1 us"}})
	require.NoError(t, err)
	require.Contains(t, strings.Join(f.Notes, "\n"), "the preset is refused until it is given")
}

// TestFewSizes: of ten sizes two would be held out, and their errors tell nothing.
func TestFewSizes(t *testing.T) {
	us := func(n float64) float64 { return 14 * (2 + n/8/50e3) }
	few := fitted(t, published(t, "all_reduce", powers(unit.MiB, 512*unit.MiB), us), "")
	require.Zero(t, few.Ranges.HeldOut.Points)
	require.Equal(t, 10, few.Ranges.Trained.Points)
	text := report.TableFitsText(few)
	require.Contains(t, text, "error of 10 points")
	require.Contains(t, text, "no points were held out: there are too few")
	enough := fitted(t, published(t, "all_reduce", powers(64*unit.KiB, unit.GiB), us), "")
	require.Equal(t, 3, enough.Ranges.HeldOut.Points)
}

// TestFitMachine: what every call costs, 30 us, is told from latency by two tables of one machine,
// 1 us and 10 GB/s a message, and so a kind that neither of them is of is predicted.
func TestFitMachine(t *testing.T) {
	sizes := powers(256, 64*unit.MiB)
	us := func(rounds float64) func(n float64) float64 {
		return func(n float64) float64 { return 30 + rounds*(1+n/8/10e3) }
	}
	fits := []*run.TableFit{fitted(t, published(t, "all_reduce", sizes, us(14)), ""),
		fitted(t, published(t, "all_gather", sizes, us(7)), "")}
	m, err := run.FitMachine(fits)
	require.NoError(t, err)
	require.True(t, m.Ranges.Launch.Known)
	require.InEpsilon(t, 30e6, m.Ranges.Launch.Value, 1e-3)
	require.Contains(t, report.MachineFitText(m), "launch of a call       30")
	for kind, rounds := range map[string]float64{"all_reduce": 14, "all_gather": 7,
		"reduce_scatter": 7} {
		for i, got := range simulated(t, m.Preset(), kind, "ring", sizes) {
			require.InEpsilon(t, us(rounds)(float64(sizes[i])), got, 0.01, sizes[i])
		}
	}
	// One of them alone has it in the latency of its rounds, and is wrong for the other.
	alone := simulated(t, fits[0].Preset(), "all_gather", "ring", sizes[:1])
	require.InDelta(t, 22, alone[0], 0.5)

	// Where all tables have as many messages, nobody can tell the two apart.
	alike := []*run.TableFit{fits[1],
		fitted(t, published(t, "reduce_scatter", sizes, us(7)), "")}
	m, err = run.FitMachine(alike)
	require.NoError(t, err)
	require.False(t, m.Ranges.Launch.Known)
	require.Zero(t, m.Ranges.Launch.Value)
	require.Contains(t, strings.Join(m.Notes, "\n"), "launch is not known: it cannot be told from")
	_, err = run.FitMachine(fits[:1])
	require.EqualError(t, err, "1 table: two or more are expected to be of one machine")
}

// TestUsualAlgorithms: every kind with an algorithm to be held against can be fitted.
func TestUsualAlgorithms(t *testing.T) {
	for _, kind := range collective.Kinds() {
		name := run.UsualAlgorithm(kind)
		if name == "" {
			continue
		}
		f := fitted(t, published(t, kind.String(), powers(256, 64*unit.MiB),
			func(n float64) float64 { return 20 + n/10e3 }), "")
		require.Equal(t, name, f.Algorithm.Name)
		got := simulated(t, f.Preset(), kind.String(), name, []unit.Bytes{256, 64 * unit.MiB})
		require.InEpsilon(t, 20+256/10e3, got[0], 0.02, kind)
		require.InEpsilon(t, 20+float64(64*unit.MiB)/10e3, got[1], 0.02, kind)
	}
}
