package plots_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/plots"
)

// winners has two algorithms, an empty cell, and shares from none to all.
func winners(columns int) (across []string, cells [][]plots.HeatCell) {
	for n := range columns {
		across = append(across, strings.Repeat("4", 1+n%3))
	}
	cells = make([][]plots.HeatCell, 2)
	for row := range cells {
		for n := range columns {
			c := plots.HeatCell{Name: "ring", Look: 0, Share: float64(n) / float64(columns), Text: "12 %"}
			if n > row {
				c.Name, c.Look = "double-binary-tree", 1
			}
			cells[row] = append(cells[row], c)
		}
	}
	cells[1][0] = plots.HeatCell{}
	return across, cells
}

// TestHeat draws maps whose names fit their cells, and narrower ones whose cells have numbers.
func TestHeat(t *testing.T) {
	for _, columns := range []int{4, 15} {
		across, cells := winners(columns)
		o := plots.HeatOptions{Title: "a map", Caption: "by hand", XName: "bytes", YName: "ranks"}
		svg, err := plots.Heat(across, []string{"8", "16"}, cells, o)
		require.NoError(t, err)
		again, err := plots.Heat(across, []string{"8", "16"}, cells, o)
		require.NoError(t, err)
		require.Equal(t, svg, again)
		text := string(svg)
		require.Equal(t, columns == 15, strings.Contains(text, ">2  double-binary-tree<"))
		require.Equal(t, columns-1+columns-2, strings.Count(text, "<title>double-binary-tree 12 %"))
		require.Equal(t, 2, strings.Count(text, "<title>ring 12 %"), "of three, one is empty")
		require.Contains(t, text, "<title>a map</title>")
		for _, word := range []string{">bytes<", ">ranks<", ">by hand<"} {
			require.Contains(t, text, word)
		}
		for _, f := range []plots.Format{plots.PNG, plots.PDF} {
			o.Format = f
			file, err := plots.Heat(across, []string{"8", "16"}, cells, o)
			require.NoError(t, err)
			require.Greater(t, len(file), 1000)
			require.False(t, bytes.Equal(file, svg))
		}
	}
}

// TestHeatDepth: the nearer to the bound, the deeper the colour.
func TestHeatDepth(t *testing.T) {
	paint := func(share float64) string {
		cell := [][]plots.HeatCell{{{Name: "ring", Share: share}}}
		svg, err := plots.Heat([]string{"1"}, []string{"1"}, cell, plots.HeatOptions{})
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(svg), "fill:#FFFFFF") // the page
		_, after, _ = strings.Cut(after, "fill:#")
		return after[:6]
	}
	require.Equal(t, "D9EAF3", paint(0))
	require.Equal(t, "0072B2", paint(1))
	require.Equal(t, paint(1), paint(7))
	require.Equal(t, paint(0), paint(-1))
}

func TestHeatErrors(t *testing.T) {
	across, cells := winners(4)
	down := []string{"8", "16"}
	for want, draw := range map[string]func() ([]byte, error){
		"no cells: a row for each value down is expected": func() ([]byte, error) {
			return plots.Heat(across, down[:1], cells, plots.HeatOptions{})
		},
		"row 0: 4 cells; 3 are expected": func() ([]byte, error) {
			return plots.Heat(across[:3], down, cells, plots.HeatOptions{})
		},
		"have no room in this picture": func() ([]byte, error) {
			across, cells := winners(60)
			return plots.Heat(across, down, cells, plots.HeatOptions{})
		},
		"width = 1 mm": func() ([]byte, error) {
			return plots.Heat(across, down, cells, plots.HeatOptions{WidthMM: 1})
		},
	} {
		_, err := draw()
		require.ErrorContains(t, err, want)
	}
}
