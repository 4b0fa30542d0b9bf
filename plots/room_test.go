package plots

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

var svgText = regexp.MustCompile(`<text (?:text-anchor="(\w+)" )?x="([-\d.e+]+)" ` +
	`y="([-\d.e+]+)" [^>]*font-weight:(\w+);[^>]*font-size:(\d+)px[^>]*>([^<]*)</text>`)

// extent is where a text of an SVG picture is for somebody who sees it in DejaVu Sans.
type extent struct {
	from, to, y float64
	text        string
}

func extents(t *testing.T, svg string) (list []extent) {
	t.Helper()
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return x
	}
	all := svgText.FindAllStringSubmatch(svg, -1)
	require.Len(t, all, strings.Count(svg, "<text "), "every text is found")
	for _, m := range all {
		text := html.UnescapeString(m[6])
		width := float64(dejaVu(text, m[4] == "bold")) / dejaVuEm * number(m[5])
		begin := number(m[2]) - width*map[string]float64{"": 0, "middle": 0.5, "end": 1}[m[1]]
		list = append(list, extent{begin, begin + width, number(m[3]), text})
	}
	return list
}

// TestTextsHaveRoom: where a viewer has none of the fonts that a picture names, and takes a wider
// one, no text leaves the picture or runs into another one.
func TestTextsHaveRoom(t *testing.T) {
	caption := strings.Repeat("example:numerics, sweep.topology.ranks=[8,64,512], ", 5) +
		"medians and spread of 9 seeds, collsim 0.1.0"
	title := strings.Repeat("all_reduce of WWWW elements in MMMM ", 4)
	var named, facets []Series
	for n, name := range []string{"ring bfloat16", "ring float8_e4m3fn", "double-binary-tree bfloat16",
		"double-binary-tree float8_e4m3fn"} {
		s := curves(1, n, 1)[0]
		s.Name = name
		named = append(named, s)
		for _, group := range []string{"8 ranks, bandwidth=12.5 GB/s, latency=500 ns", "64 ranks",
			"512 ranks"} {
			s.Group = group
			facets = append(facets, s)
		}
	}
	one := manyRanks(64, func(int) unit.Time { return 5 })
	two := lanesOf([]int{9, 2, 9}, []unit.Time{5, 5, 4})
	two.End = 5
	two.Tracks[9].Name = "copy engine MW"
	for _, figure := range []Figure{Page, Column, Slide} {
		var pictures [][]byte
		for n, s := range [][]Series{named, facets, curves(8, 0, 1)} {
			o := CurveOptions{Title: title, Caption: caption, Figure: figure, XName: "ranks"}
			if n == 1 && figure == Slide { // there is room for the facets, or for long words
				o.Title, o.Caption = "", ""
			}
			svg, err := Curves(s, o)
			require.NoError(t, err)
			pictures = append(pictures, svg)
		}
		for _, panels := range [][]Panel{{{Trace: one}}, {{Trace: two}},
			{{Trace: two, Heading: title}, {Trace: one, Heading: "measured"}}} {
			svg, err := Timelines(panels, Options{Title: title, Caption: caption, Figure: figure})
			require.NoError(t, err)
			pictures = append(pictures, svg)
		}
		for _, svg := range pictures {
			box := regexp.MustCompile(`viewBox="0 0 ([\d.]+) `).FindSubmatch(svg)
			width, err := strconv.ParseFloat(string(box[1]), 64)
			require.NoError(t, err)
			list := extents(t, string(svg))
			for n, a := range list {
				require.GreaterOrEqual(t, a.from, 0.0, a.text)
				require.LessOrEqual(t, a.to, width, a.text)
				for _, b := range list[n+1:] {
					require.False(t, a.y == b.y && a.from < b.to && b.from < a.to, "%q runs into %q in %v",
						a.text, b.text, figure)
				}
			}
		}
	}
}

// TestRoom: a picture that holds its font needs no more room than that; no letter is narrower than
// in the font that is named.
func TestRoom(t *testing.T) {
	held, named := newTypefaces(PNG).label, newTypefaces(SVG).label
	const text = "double-binary-tree float8_e4m3fn"
	require.Equal(t, held.Width(text), held.room(text))
	require.Greater(t, named.room(text), 1.1*held.Width(text))
	require.InDelta(t, 8*1401.0/2048, float64(named.room("A")), 1e-9)
	require.Equal(t, named.room("A")+2*named.size(), named.room("A×…"), "an upper bound")
	require.Len(t, dejaVuSans(), '~'-' '+1)
	require.Len(t, dejaVuSansBold(), '~'-' '+1)
	require.True(t, slices.Contains(dejaVuSans(), 1401))
}

// TestGroups: curves of several groups have a facet each, under its heading, look alike in all of
// them and are explained once; bounds are in the facet of their group.
func TestGroups(t *testing.T) {
	var series []Series
	for n, group := range []string{"4 ranks", "8 ranks", "16 ranks"} {
		for _, s := range curves(4, 3, 1) {
			s.Group = group
			series = append(series, s)
		}
		series = append(series, Series{Name: "bound", Bound: true, Group: group,
			X: []unit.Bytes{8, 512}, Y: []float64{float64(9 + n), float64(9 + n)}})
	}
	groups := grouped(series)
	require.Len(t, groups, 3)
	for n, g := range groups {
		require.Len(t, g.series, 4)
		require.Len(t, g.bounds, 1)
		require.Equal(t, float64(9+n), g.bounds[0].Y[0])
		require.Equal(t, 3, g.series[0].Look)
	}
	svg, err := Curves(series, CurveOptions{})
	require.NoError(t, err)
	for text, count := range map[string]int{">4 ranks<": 1, ">16 ranks<": 1, ">curve 0<": 1,
		">bound<": 1, ">size<": 3} {
		require.Equal(t, count, strings.Count(string(svg), text), text)
	}
	require.NotContains(t, string(svg), "not drawn")

	// Few curves have one area: their names say their groups, and none looks like another.
	svg, err = Curves(series[:10], CurveOptions{})
	require.NoError(t, err)
	require.Contains(t, string(svg), ">curve 0, 8 ranks<")
	require.Contains(t, string(svg), ">2 bounds that differ are not drawn<")
	c := &chart{series: series[:10], faces: newTypefaces(SVG)}
	c.ungroup()
	require.Len(t, c.series, 8)
	looks := map[int]bool{}
	for _, s := range c.series {
		require.False(t, looks[s.Look])
		looks[s.Look] = true
	}
	svg, err = Curves(series[:5], CurveOptions{})
	require.NoError(t, err)
	require.Contains(t, string(svg), ">bound<", "all have the same")

	// Groups of one, and such as would not look the same in all, do not help.
	for n := range series {
		series[n].Group = series[n].Group + series[n].Name
	}
	require.Nil(t, grouped(series))
	swapped := curves(5, 0, 1)
	for n := range swapped {
		swapped[n].Group = "a"
	}
	for _, s := range curves(5, 1, 1) {
		s.Group = "b"
		swapped = append(swapped, s)
	}
	require.Nil(t, grouped(swapped))
}
