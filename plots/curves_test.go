package plots_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/plots"
	"collsim/unit"
)

// curvesOf are the bus bandwidths that α–β costs give to sizes from 1 KiB to 1 GiB: each algorithm
// has more latency and more to send than the one before.
func curvesOf(names ...string) []plots.Series {
	var all []plots.Series
	for look, name := range names {
		s := plots.Series{Name: name, Look: look}
		for power := 10; power <= 30; power += 2 {
			n := math.Exp2(float64(power))
			ns := float64(1000*(14-look*13/8)) + float64(n*1.75/12.5)*(1+float64(look)*0.13)
			s.X = append(s.X, unit.Bytes(1)<<power)
			s.Y = append(s.Y, n*1.75/ns)
		}
		all = append(all, s)
	}
	return all
}

func bound(value float64) plots.Series {
	return plots.Series{Name: "bound", Bound: true, X: []unit.Bytes{unit.KiB, unit.GiB},
		Y: []float64{value, value}}
}

func allReduces() []string {
	return []string{"ring", "recursive-doubling", "double-binary-tree", "binomial", "one-shot",
		"two-shot", "rabenseifner", "hierarchical(inner=8)"}
}

func TestCurvesGolden(t *testing.T) {
	few, many := curvesOf(allReduces()[:4]...), curvesOf(allReduces()...)
	cases := []struct {
		file   string
		series []plots.Series
		o      plots.CurveOptions
	}{
		{"curves-few.svg", append(few, bound(12.5)),
			plots.CurveOptions{Title: "all_reduce on 8 ranks", Caption: caption}},
		{"curves-many.svg", append(many, bound(12.5)),
			plots.CurveOptions{Title: "all_reduce on 8 ranks", Figure: plots.Column}},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			svg, err := plots.Curves(c.series, c.o)
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

func TestCurvesSayWhatTheyShow(t *testing.T) {
	for n := 1; n <= len(allReduces()); n++ {
		svg, err := plots.Curves(append(curvesOf(allReduces()[:n]...), bound(12.5)),
			plots.CurveOptions{Title: "all_reduce", Caption: caption})
		require.NoError(t, err)
		texts := requireXML(t, svg)
		for _, want := range append(allReduces()[:n], "bound", "all_reduce", "busbw (GB/s)", "size",
			"0", "1 MiB", "1 GiB") {
			require.Contains(t, texts, want)
		}
		require.Equal(t, 1, strings.Count(strings.Join(texts, "\n"), "bound"))
		require.Contains(t, string(svg), "stroke-dasharray", "the bound is dashed")
	}
}

func TestALookStaysTheSame(t *testing.T) {
	all := curvesOf(allReduces()...)
	for look, colour := range []string{"#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9",
		"#CC79A7", "#000000", "#999999"} {
		svg, err := plots.Curves(all[look:look+1], plots.CurveOptions{})
		require.NoError(t, err)
		require.Contains(t, string(svg), "fill:none;stroke:"+colour+";stroke-width:1.2",
			"%s has its colour without the others too", all[look].Name)
	}
}

// TestSpread: what a curve stands for is within a vertical line at each size, and on the axis.
func TestSpread(t *testing.T) {
	curve := plots.Series{Name: "ring", X: []unit.Bytes{8, 64}, Y: []float64{2, 5},
		Low: []float64{1, 4}, High: []float64{3, 900}}
	plain := curve
	plain.Low, plain.High = nil, nil
	with, err := plots.Curves([]plots.Series{curve}, plots.CurveOptions{YLog: true})
	require.NoError(t, err)
	without, err := plots.Curves([]plots.Series{plain}, plots.CurveOptions{YLog: true})
	require.NoError(t, err)
	require.Contains(t, string(with), ">1000<", "the axis has room for the greatest")
	require.NotContains(t, string(without), ">1000<")
	require.Contains(t, string(with), "stroke-width:0.7")
	require.NotContains(t, string(without), "stroke-width:0.7")
	for _, damage := range []func(s *plots.Series){
		func(s *plots.Series) { s.Low = s.Low[:1] },
		func(s *plots.Series) { s.High = nil },
		func(s *plots.Series) { s.Low = []float64{1, 6} },
		func(s *plots.Series) { s.High = []float64{1, 900} },
		func(s *plots.Series) { s.High = []float64{3, math.NaN()} },
	} {
		wrong := curve
		damage(&wrong)
		_, err := plots.Curves([]plots.Series{wrong}, plots.CurveOptions{})
		require.ErrorContains(t, err, "series \"ring\"")
	}
	curve.Low = []float64{0, 4}
	_, err = plots.Curves([]plots.Series{curve}, plots.CurveOptions{YLog: true})
	require.ErrorContains(t, err, "more than 0 is expected on a logarithmic axis")
}

func TestCurvesAtTheEdge(t *testing.T) {
	one := []unit.Bytes{1}
	cases := map[string][]plots.Series{
		"a point":      {{Name: "ring", X: []unit.Bytes{3 * unit.MiB}, Y: []float64{3}}},
		"all 0":        {{Name: "ring", X: one, Y: []float64{0}}},
		"bounds alone": {bound(3), {Name: "another", Bound: true, X: one, Y: []float64{9}}},
		"any size": {{Name: "", X: []unit.Bytes{1, math.MaxInt64}, Look: 999,
			Y: []float64{0, math.MaxFloat32}}},
		"tiny":           {{Name: "x", X: one, Y: []float64{1e-300}}},
		"a name too far": {{Name: strings.Repeat("long ", 50), X: one, Y: []float64{1}}},
	}
	for name, series := range cases {
		for g := plots.Page; g <= plots.Slide; g++ {
			svg, err := plots.Curves(series, plots.CurveOptions{Figure: g})
			require.NoError(t, err, name)
			for _, word := range []string{"NaN", "Inf"} {
				require.NotContains(t, string(svg), word, name)
			}
		}
	}
}

func TestCurvesRefuse(t *testing.T) {
	x, y := []unit.Bytes{1, 2}, []float64{1, 2}
	cases := []struct {
		series []plots.Series
		o      plots.CurveOptions
		want   string
	}{
		{nil, plots.CurveOptions{}, "no series: at least one curve is expected"},
		{[]plots.Series{{Name: "ring"}}, plots.CurveOptions{},
			`series "ring": 0 sizes and 0 values: as many of each, at least one, are expected`},
		{[]plots.Series{{X: x, Y: y[:1]}}, plots.CurveOptions{},
			`series "": 2 sizes and 1 values: as many of each, at least one, are expected`},
		{[]plots.Series{{X: []unit.Bytes{2, 2}, Y: y}}, plots.CurveOptions{},
			`series "": size 2 B follows 2 B: ascending sizes are expected`},
		{[]plots.Series{{X: []unit.Bytes{0, 2}, Y: y}}, plots.CurveOptions{},
			`series "": size 0 B: at least 1 B is expected`},
		{[]plots.Series{{X: x, Y: []float64{1, math.NaN()}}}, plots.CurveOptions{},
			`series "": value NaN at 2 B: a finite number of at least 0 is expected`},
		{[]plots.Series{{X: x, Y: []float64{-1, 1}}}, plots.CurveOptions{},
			`series "": value -1 at 1 B: a finite number of at least 0 is expected`},
		{[]plots.Series{{X: x, Y: y, Look: -1}}, plots.CurveOptions{},
			`series "": look = -1: at least 0 is expected`},
		{[]plots.Series{{X: x, Y: y}}, plots.CurveOptions{WidthMM: 1},
			"width = 1 mm: 60 to 1000 is expected"},
		{[]plots.Series{{X: x, Y: y}}, plots.CurveOptions{Format: 3},
			"format(3): svg, png or pdf is expected"},
		{[]plots.Series{{X: x, Y: y}}, plots.CurveOptions{Figure: 3},
			"figure(3): page, column or slide is expected"},
	}
	for _, c := range cases {
		file, err := plots.Curves(c.series, c.o)
		require.EqualError(t, err, ""+c.want)
		require.Nil(t, file)
	}
}

// A curve needs a name, sizes and values; what it is called decides nothing, its Look does.
func ExampleCurves() {
	ring := plots.Series{Name: "ring", X: []unit.Bytes{unit.MiB, unit.GiB}, Y: []float64{10.9, 12.5}}
	limit := plots.Series{Name: "bound", X: ring.X, Y: []float64{12.5, 12.5}, Bound: true}
	pdf, err := plots.Curves([]plots.Series{ring, limit}, plots.CurveOptions{
		Title: "all_reduce on 8 ranks", Format: plots.PDF, Figure: plots.Column,
	})
	fmt.Println(string(pdf[:5]), err)
	// Output: %PDF- <nil>
}
