package plots

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"collsim/unit"
)

func TestSizeAxis(t *testing.T) {
	cases := []struct {
		least, largest unit.Bytes
		most           int
		want           []string
	}{
		{unit.KiB, unit.GiB, 4, []string{"1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"}},
		{unit.KiB, unit.GiB, 3, []string{"1 KiB", "1 MiB", "1 GiB"}},
		{8, unit.GiB, 6, []string{"32 B", "1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"}},
		{unit.KiB, 16 * unit.KiB, 9, []string{"1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB"}},
		{1000, 5000, 9, []string{"1 KiB", "2 KiB", "4 KiB"}},
		{unit.MiB, unit.MiB, 9, []string{"512 KiB", "1 MiB", "2 MiB"}},
		{1, math.MaxInt64, 1, []string{"1 B", "1 TiB"}},
	}
	for _, c := range cases {
		a := newSizeAxis([]Series{{X: []unit.Bytes{c.largest}}, {X: []unit.Bytes{c.least}}}, sizeAxis{},
			c.most)
		var got []string
		for _, tick := range a.ticks() {
			if tick.label != "" {
				got = append(got, tick.label)
			}
		}
		require.Equal(t, c.want, got)
	}
}

func TestLogAxis(t *testing.T) {
	cases := []struct {
		lowest, highest float64
		want            []string
	}{
		{1.3, 94, []string{"1", "2", "5", "10", "20", "50", "100"}},
		{0.02, 3, []string{"0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5"}},
		{0.3, 0.8, []string{"0.3", "0.4", "0.6", "0.8"}}, // whole decades would leave two labels
		{5, 5, []string{"4", "6"}},
		{1, 1, []string{"1", "2"}},
		{1.3, 9400, []string{"1", "10", "100", "1000", "10000"}},
		{1e-6, 1e12, []string{"1e-06", "0.001", "1", "1000", "1000000", "1e+09", "1e+12"}},
	}
	for _, c := range cases {
		a := newLogAxis(c.lowest, c.highest)
		var got []string
		for _, v := range a.ticks() {
			got = append(got, a.label(v))
		}
		require.Equal(t, c.want, got)
		require.GreaterOrEqual(t, a.up(c.lowest), 0.0)
		require.LessOrEqual(t, a.up(c.highest), 1.0)
	}
	_, err := Curves([]Series{{Name: "a", X: []unit.Bytes{8}, Y: []float64{0}}},
		CurveOptions{YLog: true, XName: "ranks"})
	require.ErrorContains(t, err, "more than 0 is expected on a logarithmic axis")
	svg, err := Curves([]Series{{Name: "a", X: []unit.Bytes{8, 64}, Y: []float64{1, 20}}},
		CurveOptions{YLog: true, XName: "ranks"})
	require.NoError(t, err)
	require.Contains(t, string(svg), ">64</text>")
	require.Contains(t, string(svg), ">ranks</text>")
}

func TestValueAxis(t *testing.T) {
	cases := []struct {
		highest float64
		most    int
		want    []string
	}{
		{12.5, 7, []string{"0", "2", "4", "6", "8", "10", "12"}},
		{12.5, 2, []string{"0", "10"}},
		{0.3, 4, []string{"0.0", "0.1", "0.2", "0.3"}},
		{100, 5, []string{"0", "20", "40", "60", "80", "100"}},
		{450, 5, []string{"0", "100", "200", "300", "400"}},
		{0, 5, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{3e-7, 3, []string{"0", "1e-07", "2e-07", "3e-07"}},
	}
	for _, c := range cases {
		a := newValueAxis(c.highest, c.most)
		var got []string
		for _, v := range a.ticks() {
			got = append(got, a.label(v))
		}
		require.Equal(t, c.want, got, "%v", c.highest)
	}
}

func TestLooksDiffer(t *testing.T) {
	seen := map[string]bool{}
	for look := range lookCount * lookCount {
		key := fmt.Sprint(curveColour(look), shapeOf(look))
		require.False(t, seen[key], "look %d", look)
		seen[key] = true
	}
	c, shapes := &canvas{}, map[string]bool{}
	for shape := range lookCount {
		var p vg.Path
		c.addMarker(&p, shape, vg.Point{})
		key := fmt.Sprint(p)
		require.False(t, shapes[key], "shape %d", shape)
		shapes[key] = true
	}
}

// TestNamesStandApart: six curves that end together still have names that can be read.
func TestNamesStandApart(t *testing.T) {
	for _, value := range []float64{0, 5, 12} {
		var series []Series
		for n := range 6 {
			series = append(series, Series{Name: fmt.Sprint("algorithm ", n), Look: n,
				X: []unit.Bytes{1, 1024}, Y: []float64{12, value}})
		}
		series = append(series, Series{Name: "bound", Bound: true, X: []unit.Bytes{1, 1024},
			Y: []float64{12, value}})
		for g := Page; g <= Slide; g++ {
			f, err := newFrame(SVG, g, 0)
			require.NoError(t, err)
			c := newChart(series, CurveOptions{YName: "y"}, f)
			c.layOut()
			require.Len(t, c.ends, 7)
			require.True(t, series[c.ends[0].series].Bound, "the bound is on top")
			for n := range c.ends {
				if n > 0 {
					require.GreaterOrEqual(t, float64(c.ends[n].y-c.ends[n-1].y),
						float64(c.faces.label.line())-1e-9)
				}
				require.LessOrEqual(t, c.ends[n].y, c.y1+1e-9)
				require.GreaterOrEqual(t, c.ends[n].y, c.y0-topAir-1e-9)
			}
		}
	}
}
