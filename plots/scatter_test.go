package plots_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/plots"
	"collsim/unit"
)

// scatterOf are times of three sizes as they were measured, and as they were simulated: each series
// is wrong by a few percent, in turn upwards and downwards.
func scatterOf(names ...string) []plots.ScatterSeries {
	var all []plots.ScatterSeries
	for look, name := range names {
		s := plots.ScatterSeries{Name: name, Look: look}
		for size := range 3 {
			measured := unit.Time(10+3*look) * unit.Millisecond << (2 * size)
			percent := unit.Time(100 + (look+2)*(2*((look+size)%2)-1))
			s.Points = append(s.Points, plots.ScatterPoint{Measured: measured,
				Simulated: measured * percent / 100, Spread: measured / 8 * unit.Time(size)})
		}
		all = append(all, s)
	}
	return all
}

func onePoint(measured, simulated, spread unit.Time) []plots.ScatterSeries {
	return []plots.ScatterSeries{{Name: "ring", Points: []plots.ScatterPoint{
		{Measured: measured, Simulated: simulated, Spread: spread}}}}
}

func TestScatterGolden(t *testing.T) {
	cases := []struct {
		file   string
		series []plots.ScatterSeries
		o      plots.ScatterOptions
	}{
		{"scatter.svg", scatterOf("one", "ring", "rabenseifner")[1:], plots.ScatterOptions{
			Title: "simulated and measured", Caption: caption, Tolerance: 120_000}},
		{"scatter-one.svg", onePoint(3*unit.Millisecond, 3*unit.Millisecond, 0),
			plots.ScatterOptions{Figure: plots.Column}},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			svg, err := plots.Scatter(c.series, c.o)
			require.NoError(t, err)
			requireXML(t, svg)
			path := filepath.Join("testdata", c.file)
			if *update {
				require.NoError(t, os.WriteFile(path, svg, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(svg), "look at both, then run with -update")
		})
	}
}

func TestScatterSaysWhatItShows(t *testing.T) {
	for g := plots.Page; g <= plots.Slide; g++ {
		svg, err := plots.Scatter(scatterOf(allReduces()...),
			plots.ScatterOptions{Title: "8 ranks", Caption: caption, Figure: g, Tolerance: 50_000})
		require.NoError(t, err)
		texts := requireXML(t, svg)
		for _, want := range append(allReduces(), "8 ranks", caption, "measured time",
			"simulated time", "100 ms", "equal", "within ± 5 %", "spread of the measured time",
			"simulated takes longer", "measured takes longer") {
			require.Contains(t, texts, want)
		}
		require.Equal(t, 2, strings.Count(strings.Join(texts, "\n")+"\n", "100 ms\n"),
			"on both axes")
	}
	svg, err := plots.Scatter(onePoint(1, 1, 0), plots.ScatterOptions{})
	require.NoError(t, err)
	texts := strings.Join(requireXML(t, svg), "\n")
	for _, without := range []string{"within", "spread"} {
		require.NotContains(t, texts, without, "what is not drawn needs no legend")
	}
	require.NotContains(t, string(svg), "dasharray")
}

// TestManyScatterSeriesAreAllNamed: with more names than a slide has lines it grows.
func TestManyScatterSeriesAreAllNamed(t *testing.T) {
	var names []string
	for n := range 40 {
		names = append(names, fmt.Sprintf("network %d: an algorithm with a long name", n))
	}
	for g := plots.Page; g <= plots.Slide; g++ {
		svg, err := plots.Scatter(scatterOf(names...), plots.ScatterOptions{Figure: g})
		require.NoError(t, err)
		texts := requireXML(t, svg)
		for _, name := range names {
			require.Contains(t, texts, name)
		}
		_, height := svgSize(t, svg)
		require.Greater(t, height, 270.0)
	}
}

func TestScatterAtTheEdge(t *testing.T) {
	const far = unit.Forever
	same := onePoint(1, 1, 0)
	same[0].Points = append(same[0].Points, same[0].Points...)
	cases := map[string][]plots.ScatterSeries{
		"a point":          onePoint(9409*unit.Microsecond, 9*unit.Millisecond, 0),
		"a picosecond":     same,
		"for ever":         onePoint(far, far, far),
		"a spread of all":  onePoint(unit.Second, unit.Second, 2*unit.Second),
		"a spread of more": onePoint(unit.Second, unit.Second, far),
		"from 1 to ever":   append(onePoint(1, far, 0), onePoint(far, 1, 1)...),
		"no name": {{Look: 999, Points: []plots.ScatterPoint{{Measured: 5,
			Simulated: 7}}}},
		"a name too far": {{Name: strings.Repeat("long ", 80), Points: same[0].Points}},
	}
	for name, series := range cases {
		for g := plots.Page; g <= plots.Slide; g++ {
			for _, tolerance := range []unit.Share{0, 1, 999_999, 1_000_000, 1e12} {
				for _, width := range []float64{0, 60} {
					svg, err := plots.Scatter(series,
						plots.ScatterOptions{Figure: g, Tolerance: tolerance, WidthMM: width})
					require.NoError(t, err, name)
					for _, word := range []string{"NaN", "Inf"} {
						require.NotContains(t, string(svg), word, name)
					}
				}
			}
		}
	}
}

func TestScatterRefuses(t *testing.T) {
	ring := onePoint(1, 1, 0)
	cases := []struct {
		series []plots.ScatterSeries
		o      plots.ScatterOptions
		want   string
	}{
		{nil, plots.ScatterOptions{}, "no series: at least one point is expected"},
		{[]plots.ScatterSeries{ring[0], {Name: "tree"}}, plots.ScatterOptions{},
			`series "tree": no points: at least one is expected`},
		{onePoint(0, unit.Second, 0), plots.ScatterOptions{}, `series "ring": point 0: measured 0 s, ` +
			`simulated 1.00 s: more than 0 is expected on a logarithmic axis`},
		{onePoint(unit.Second, -1, 0), plots.ScatterOptions{}, `series "ring": point 0: measured ` +
			`1.00 s, simulated -1 ps: more than 0 is expected on a logarithmic axis`},
		{onePoint(1, 1, -2), plots.ScatterOptions{},
			`series "ring": point 0: spread -2 ps: at least 0 is expected`},
		{[]plots.ScatterSeries{{Look: -1, Points: ring[0].Points}}, plots.ScatterOptions{},
			`series "": look = -1: at least 0 is expected`},
		{ring, plots.ScatterOptions{Tolerance: -120_000},
			"tolerance = -12 %: at least 0 % is expected"},
		{ring, plots.ScatterOptions{WidthMM: 1}, "width = 1 mm: 60 to 1000 is expected"},
		{ring, plots.ScatterOptions{Format: 3}, "format(3): svg, png or pdf is expected"},
		{ring, plots.ScatterOptions{Figure: 3}, "figure(3): page, column or slide is expected"},
	}
	for _, c := range cases {
		file, err := plots.Scatter(c.series, c.o)
		require.EqualError(t, err, ""+c.want)
		require.Nil(t, file)
	}
}

// Every run is a point: how long it took, and how long it should have.
func ExampleScatter() {
	ring := plots.ScatterSeries{Name: "ring", Points: []plots.ScatterPoint{
		{Measured: 130 * unit.Millisecond, Spread: 2 * unit.Millisecond,
			Simulated: 126 * unit.Millisecond},
		{Measured: 515 * unit.Millisecond, Spread: 9 * unit.Millisecond,
			Simulated: 503 * unit.Millisecond},
	}}
	pdf, err := plots.Scatter([]plots.ScatterSeries{ring}, plots.ScatterOptions{
		Title: "all_reduce on 8 ranks", Tolerance: 120_000, Format: plots.PDF,
	})
	fmt.Println(string(pdf[:5]), err)
	// Output: %PDF- <nil>
}
