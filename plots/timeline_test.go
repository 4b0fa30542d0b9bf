package plots_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/plots"
	"collsim/trace"
	"collsim/unit"
)

// Golden pictures: go test ./plots -update rewrites them. Look at them after that.
var update = flag.Bool("update", false, "rewrite the golden pictures in testdata")

const caption = "example:ring, seed 0, collsim 0.1.0"

func TestTimelineGolden(t *testing.T) {
	cases := []struct {
		file string
		run  *trace.Trace
		o    plots.Options
	}{
		{"ring-8.svg", ringAllReduce(8, 1, 1, 64*unit.MiB),
			plots.Options{Title: "all_reduce ring, 8 ranks, 64 MiB: 9.41 ms", Caption: caption}},
		{"ring-4-channels-2.svg", ringAllReduce(4, 2, 1, 64*unit.MiB),
			plots.Options{Title: "all_reduce ring, 4 ranks, 2 channels", WidthMM: 88}},
		{"recursive-doubling-6.svg", recursiveDoubling(6, unit.MiB),
			plots.Options{Title: "all_reduce recursive-doubling, 6 ranks", Caption: caption}},
		{"kinds.svg", everyKind(), plots.Options{Title: "every kind of step"}},
		{"empty.svg", &trace.Trace{}, plots.Options{}},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			svg, err := plots.Timelines(alone(c.run), c.o)
			require.NoError(t, err)
			again, err := plots.Timelines(alone(c.run), c.o)
			require.NoError(t, err)
			require.True(t, bytes.Equal(svg, again), "a second picture differs")
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

// requireXML checks that a picture is well-formed, and returns its texts.
func requireXML(t *testing.T, svg []byte) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func TestTimelineSaysWhatItShows(t *testing.T) {
	svg, err := plots.Timelines(alone(ringAllReduce(8, 1, 1, 64*unit.MiB)), plots.Options{})
	require.NoError(t, err)
	texts := requireXML(t, svg)
	for _, want := range []string{"rank 0", "rank 7", "time (ms)", "8", "S0", "+7", "=3", "send",
		"receive", "reduce", "copy", "message", "the number is the chunk"} {
		require.Contains(t, texts, want)
	}
	require.NotContains(t, texts, "waiting", "what cannot be seen needs no legend")
	require.Contains(t, string(svg), `font-family:'Liberation Sans',Arial,Helvetica,sans-serif`)
	require.Less(t, strings.Index(string(svg), ">rank 0<"), strings.Index(string(svg), ">rank 7<"))
}

func TestTimelineTellsWhatItLeavesOut(t *testing.T) {
	cases := []struct {
		name string
		run  *trace.Trace
		o    plots.Options
		want string
	}{
		{"rows", ringAllReduce(8, 1, 1, unit.MiB), plots.Options{Rows: 5},
			"5 of 8 rows are shown: the lowest ranks, and those that finish last"},
		{"messages", ringAllReduce(32, 1, 1, unit.MiB), plots.Options{},
			"1984 messages are not drawn: they would hide the rest"},
		{"bundles of messages", recursiveDoubling(64, unit.MiB), plots.Options{Each: true},
			"384 messages are not drawn: they would hide the rest"},
		{"narrow steps", ringAllReduce(64, 1, 16, 64*unit.MiB), plots.Options{Each: true},
			"130048 steps that are too narrow to be seen are drawn together"},
		{"no time", atOnce(), plots.Options{}, "no step takes any time"},
		{"nothing", &trace.Trace{Tracks: []trace.Track{{}}, End: 5}, plots.Options{}, "no steps"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			svg, err := plots.Timelines(alone(c.run), c.o)
			require.NoError(t, err)
			require.Contains(t, requireXML(t, svg), c.want)
			require.Less(t, len(svg), 4_000_000)
		})
	}
}

// TestBarsOfOneWidthTellAsMuch: chunks 0 to 9 would fit where 10 to 15 do not; no bar has a number.
func TestBarsOfOneWidthTellAsMuch(t *testing.T) {
	tells := func(widthMM float64) []string {
		svg, err := plots.Timelines(alone(ringAllReduce(16, 1, 1, 64*unit.MiB)),
			plots.Options{WidthMM: widthMM})
		require.NoError(t, err)
		return requireXML(t, svg)
	}
	var none, all int
	for width := 60.0; width < 220; width += 10 {
		texts := tells(width)
		one, two := slices.Contains(texts, "+9"), slices.Contains(texts, "+10")
		require.Equal(t, two, one, "at %v mm", width)
		if one {
			all++
		} else {
			none++
		}
	}
	require.Positive(t, none)
	require.Positive(t, all)
}

func TestTimelineSurvivesAnyText(t *testing.T) {
	title := "<b> & \"quotes\" '\x00\x1b[31m\xff ring 環\n" + strings.Repeat("long ", 100) +
		strings.Repeat("W", 300) + ` style="font-family:Liberation Sans;`
	run := everyKind()
	run.Tracks[0].Name = title
	svg, err := plots.Timelines(alone(run), plots.Options{Title: title, Caption: title})
	require.NoError(t, err)
	texts := strings.Join(requireXML(t, svg), " ")
	require.Contains(t, texts, `<b> & "quotes" '`)
	require.Contains(t, texts, "環")
	require.Contains(t, texts, `style="font-family:Liberation Sans;`)
}

func TestTimelineRefuses(t *testing.T) {
	broken := &trace.Trace{End: -1}
	cases := []struct {
		run  *trace.Trace
		o    plots.Options
		want string
	}{
		{atOnce(), plots.Options{WidthMM: 59.9}, "width = 59.9 mm: 60 to 1000 is expected"},
		{atOnce(), plots.Options{WidthMM: 1001}, "width = 1001 mm: 60 to 1000 is expected"},
		{atOnce(), plots.Options{Rows: -1}, "rows = -1: 1 to 512 is expected"},
		{atOnce(), plots.Options{Rows: 513}, "rows = 513: 1 to 512 is expected"},
		{broken, plots.Options{}, "end = -1 ps: at least 0 is expected"},
	}
	for _, c := range cases {
		svg, err := plots.Timelines(alone(c.run), c.o)
		require.EqualError(t, err, c.want)
		require.Nil(t, svg)
	}
	_, err := plots.TimelinesText(alone(broken), plots.TextOptions{})
	require.EqualError(t, err, "end = -1 ps: at least 0 is expected")
	_, err = plots.TimelinesText(alone(atOnce()), plots.TextOptions{Width: 39})
	require.EqualError(t, err, "width = 39 columns: 40 to 1000 is expected")
	_, err = plots.TimelinesText(alone(atOnce()), plots.TextOptions{Rows: 1000})
	require.EqualError(t, err, "rows = 1000: 1 to 512 is expected")
}

// alone returns the only panel of a picture.
func alone(t *trace.Trace) []plots.Panel { return []plots.Panel{{Trace: t}} }
