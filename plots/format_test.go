package plots_test

import (
	"bytes"
	"image/color"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/plots"
	"collsim/topology"
	"collsim/unit"
)

func TestFormatOf(t *testing.T) {
	for file, want := range map[string]plots.Format{"a.svg": plots.SVG, "x/y.z.PNG": plots.PNG,
		"b.pdf": plots.PDF} {
		got, err := plots.FormatOf(file)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, file := range []string{"", "svg", "a.jpg", "a.svg/b"} {
		_, err := plots.FormatOf(file)
		require.EqualError(t, err,
			""+strconv.Quote(file)+": a name that ends in .svg, .png or .pdf is expected")
	}
}

func TestFigureOf(t *testing.T) {
	for _, want := range []plots.Figure{plots.Page, plots.Column, plots.Slide} {
		got, err := plots.FigureOf(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := plots.FigureOf("poster")
	require.EqualError(t, err, `figure = "poster": page, column or slide is expected`)
}

// pictures draws a timeline, two of them, curves and points alike.
func pictures(t *testing.T, f plots.Format, g plots.Figure, widthMM float64) [][]byte {
	t.Helper()
	timeline, err := plots.Timelines(alone(ringAllReduce(8, 1, 1, 64*unit.MiB)), plots.Options{
		Title: "all_reduce ring", Caption: caption, Format: f, Figure: g, WidthMM: widthMM})
	require.NoError(t, err)
	curves, err := plots.Curves(curvesOf("ring", "binomial"), plots.CurveOptions{
		Title: "all_reduce", Caption: caption, Format: f, Figure: g, WidthMM: widthMM})
	require.NoError(t, err)
	timelines, err := plots.Timelines(pair(ringAllReduce(4, 1, 1, 64*unit.MiB), 110, 0),
		plots.Options{Title: "a pair", Caption: caption, Format: f, Figure: g, WidthMM: widthMM})
	require.NoError(t, err)
	scatter, err := plots.Scatter(scatterOf("ring", "binomial"), plots.ScatterOptions{
		Title: "all_reduce", Caption: caption, Format: f, Figure: g, WidthMM: widthMM,
		Tolerance: 120_000})
	require.NoError(t, err)
	network, err := topology.Switch(8, unit.Rate(50_000_000_000), unit.Microsecond)
	require.NoError(t, err)
	diagram, err := plots.Network(network, plots.NetworkOptions{Title: "8 GPUs", Caption: caption,
		Format: f, Figure: g, WidthMM: widthMM})
	require.NoError(t, err)
	return [][]byte{timeline, curves, timelines, scatter, diagram}
}

func TestPicturesAreTheSameBytesAgain(t *testing.T) {
	for _, f := range []plots.Format{plots.SVG, plots.PNG, plots.PDF} {
		require.Equal(t, pictures(t, f, plots.Column, 60), pictures(t, f, plots.Column, 60), f)
	}
}

// TestFigureSizes: a width in millimetres is the width of a picture, of a slide alone in the short
// tier. TestPixels has the others.
func TestFigureSizes(t *testing.T) {
	cases := []struct {
		figure        plots.Figure
		widthMM       float64
		width, height int // in pixels of 288 dots per inch; height 0: as it comes
	}{
		{plots.Page, 127, 1440, 0}, // 5 inches
		{plots.Slide, 127, 1440, 810},
	}
	for _, c := range cases[tier.Of(1, 0):] {
		for _, picture := range pictures(t, plots.PNG, c.figure, c.widthMM) {
			size, err := png.DecodeConfig(bytes.NewReader(picture))
			require.NoError(t, err)
			require.Equal(t, c.width, size.Width)
			if c.height > 0 {
				require.Equal(t, c.height, size.Height)
			}
		}
	}
}

// TestPNG looks at the middle of the first bar of rank 0, left of its label, and at what is left of
// the first bar of rank 7. A page is 2041 pixels wide.
func TestPNG(t *testing.T) {
	picture, err := plots.Timelines(alone(ringAllReduce(8, 1, 1, 64*unit.MiB)),
		plots.Options{Title: "all_reduce ring", Format: plots.PNG})
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	require.Equal(t, 2041, img.Bounds().Dx())
	require.Equal(t, color.RGBAModel.Convert(color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}),
		color.RGBAModel.Convert(img.At(230, 128)))
	require.Equal(t, color.RGBAModel.Convert(color.White),
		color.RGBAModel.Convert(img.At(200, 560)))
}

func TestPDFHoldsItsFonts(t *testing.T) {
	for n, picture := range pictures(t, plots.PDF, plots.Page, 0) {
		text := string(picture)
		require.True(t, strings.HasPrefix(text, "%PDF-1."))
		require.Equal(t, 2, strings.Count(text, "/FontFile2"), "regular and bold")
		require.Contains(t, text, "/CreationDate (D:20000101000000")
		require.Contains(t, text, "/ModDate (D:20000101000000")
		require.Regexp(t, `/MediaBox \[0 0 510\.24 `, text, "180 mm")
		require.Less(t, len(picture), 60_000, n)
	}
}

func TestAnyTextInAnyFormat(t *testing.T) {
	run := everyKind()
	run.Tracks[0].Name = "µ ≥ · 環 😀 \xff\x00(\\)"
	width := tier.Of(60.0, 0) // the smallest picture, or a page
	for _, f := range []plots.Format{plots.SVG, plots.PNG, plots.PDF} {
		_, err := plots.Timelines(alone(run), plots.Options{Format: f, Title: run.Tracks[0].Name,
			WidthMM: width})
		require.NoError(t, err)
		series := curvesOf("😀(\\)")
		_, err = plots.Curves(series, plots.CurveOptions{Format: f, YName: "\x00環",
			WidthMM: width})
		require.NoError(t, err)
		_, err = plots.Scatter(scatterOf("😀(\\) \x00環"), plots.ScatterOptions{Format: f,
			WidthMM: width})
		require.NoError(t, err)
	}
}

// svgSize returns the width and height of an SVG picture in points.
func svgSize(t *testing.T, svg []byte) (width, height float64) {
	t.Helper()
	box := regexp.MustCompile(`viewBox="0 0 (\S+) (\S+)"`).FindSubmatch(svg)
	require.Len(t, box, 3)
	var err error
	width, err = strconv.ParseFloat(string(box[1]), 64)
	require.NoError(t, err)
	height, err = strconv.ParseFloat(string(box[2]), 64)
	require.NoError(t, err)
	return width, height
}

func TestManyRowsFitThePaper(t *testing.T) {
	svg, err := plots.Timelines(alone(ringAllReduce(64, 1, 1, 64*unit.MiB)),
		plots.Options{Title: "all_reduce ring", Caption: caption, Each: true})
	require.NoError(t, err)
	require.Contains(t, requireXML(t, svg), "rank 63")
	_, height := svgSize(t, svg)
	require.Less(t, height, 297/25.4*72-80, "A4 with margins")
}

func TestSlideShowsWhatHasRoom(t *testing.T) {
	o := plots.Options{Title: "all_reduce ring", Figure: plots.Slide, Each: true}
	for _, c := range []struct {
		ranks, lanes int
		want         string // in the notes, "" where all is shown
	}{
		{8, 1, ""}, {19, 1, ""},
		{64, 1, "19 of 64 rows are shown: the lowest ranks, and those that finish last"},
		{16, 4, "16 of 64 rows are shown: the lowest ranks, and those that finish last"},
	} {
		svg, err := plots.Timelines(alone(ringAllReduce(c.ranks, c.lanes, 1, unit.MiB)), o)
		require.NoError(t, err)
		width, height := svgSize(t, svg)
		require.InDelta(t, 480, width, 0.01)
		require.InDelta(t, 270, height, 0.01)
		if texts := requireXML(t, svg); c.want == "" {
			require.NotContains(t, strings.Join(texts, "\n"), "rows are shown")
		} else {
			require.Contains(t, texts, c.want)
		}
	}
	o.Caption = strings.Repeat("more than a slide can hold ", 400)
	svg, err := plots.Timelines(alone(ringAllReduce(8, 1, 1, unit.MiB)), o)
	require.NoError(t, err)
	_, height := svgSize(t, svg)
	require.Greater(t, height, 270.0, "no text is lost: the picture grows")
}
