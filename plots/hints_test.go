package plots

import (
	"encoding/xml"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/trace"
	"collsim/unit"
)

// TestHints looks for the texts of a picture: its title, and one for each bar and each point.
func TestHints(t *testing.T) {
	run := &trace.Trace{Tracks: []trace.Track{{Rank: 3, Lane: 1}}, End: 2 * unit.Microsecond,
		Intervals: []trace.Interval{{Kind: trace.Send, Verb: trace.VerbSend, Chunk: 7, Peer: 2,
			Bytes: 1024, Ready: 0, Start: unit.Microsecond, Done: unit.Microsecond,
			End: 2 * unit.Microsecond}}}
	svg, err := Timelines([]Panel{{Trace: run}}, Options{Title: "a & b"})
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(svg, &struct{}{}))
	require.Contains(t, string(svg), " role=\"img\"><title>a &amp; b</title>")
	require.Contains(t, string(svg), "<title>rank 3, lane 1: send, chunk 7, peer rank 2, 1 KiB, "+
		"1.00 us to 2.00 us, after waiting 1.00 us</title></rect>")

	svg, err = Curves([]Series{{Name: "ring", X: []unit.Bytes{8, 16}, Y: []float64{1, 2.5}}},
		CurveOptions{})
	require.NoError(t, err)
	require.Contains(t, string(svg), "<title>ring, 16 B: 2.5</title></rect>")
	require.True(t, strings.HasSuffix(string(svg), "</g>\n<!-- collsim -->\n</svg>\n"))
	png, err := Curves([]Series{{Name: "ring", X: []unit.Bytes{8}, Y: []float64{1}}},
		CurveOptions{Format: PNG})
	require.NoError(t, err)
	require.NotContains(t, string(png), "ring, 8 B")
}

// TestShades gives curves of one algorithm a scale of shades, and those of several their colours.
func TestShades(t *testing.T) {
	curve := func(name, group string) Series {
		return Series{Name: name, Group: group, X: []unit.Bytes{8, 16}, Y: []float64{1, 2}, Look: 6}
	}
	one := []Series{curve("ring", "4 ranks"), curve("ring", "8 ranks"), curve("ring", "16 ranks"),
		{Name: "bound", Group: "4 ranks", Bound: true, X: []unit.Bytes{8}, Y: []float64{3}}}
	require.Equal(t, []float64{0, 0.5, 1, 0}, Shades(one))
	require.Nil(t, Shades([]Series{curve("ring", "4 ranks"), curve("tree", "4 ranks")}))
	require.Nil(t, Shades([]Series{curve("ring", "")}))
	svg, err := Curves(one, CurveOptions{})
	require.NoError(t, err)
	colours := regexp.MustCompile(`fill:none;stroke:(#\w+);stroke-width:1.2`).FindAllSubmatch(svg, -1)
	require.Len(t, colours, 3)
	require.Equal(t, "#7FBCE4", string(colours[0][1]))
	require.Equal(t, "#08306B", string(colours[2][1]))
}
