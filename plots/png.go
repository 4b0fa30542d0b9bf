package plots

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"github.com/golang/freetype/raster"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"
)

// pngPainter draws pixels. gonum/plot's own image canvas is not used: it transforms, dashes and
// rasterises letters in floating point. Some processors round a product and a sum once and others
// twice, so its pictures differ between machines. Here a position is rounded once to 1/64 of a
// pixel, and all that follows is done in integers.
type pngPainter struct {
	pixels *image.RGBA
	raster *raster.Rasterizer
	ink    *raster.RGBAPainter
	height length
	err    error // the first error of a font
}

// pngScale counts the pixels of a point: a slide has 1920 x 1080, a page is 2041 wide.
const pngScale = 4

func newPNG(width, height length) *pngPainter {
	wide, high := toPixels(width).Round(), toPixels(height).Round()
	p := &pngPainter{pixels: image.NewRGBA(image.Rect(0, 0, wide, high)), height: height,
		raster: raster.NewRasterizer(wide, high)}
	draw.Draw(p.pixels, p.pixels.Rect, image.White, image.Point{}, draw.Src)
	p.raster.UseNonZeroWinding = true
	p.ink = raster.NewRGBAPainter(p.pixels)
	return p
}

// toPixels rounds a length to 1/64 of a pixel.
func toPixels(l length) fixed.Int26_6 {
	return fixed.Int26_6(math.Round(float64(l) * (64 * pngScale)))
}

// at converts a point, whose y grows upwards, to pixels from the upper left corner.
func (p *pngPainter) at(of vg.Point) fixed.Point26_6 {
	return fixed.Point26_6{X: toPixels(of.X), Y: toPixels(p.height - of.Y)}
}

func (p *pngPainter) fill(path vg.Path, paint color.Color) {
	for _, line := range p.lines(path) {
		line.addTo(p.raster)
		p.raster.Add1(line.points[0])
	}
	p.flush(paint)
}

func (p *pngPainter) stroke(path vg.Path, with pen) {
	width := toPixels(with.width)
	var dashes []int64
	for _, d := range with.dashes {
		dashes = append(dashes, int64(toPixels(d)))
	}
	for _, line := range p.lines(path) {
		for _, part := range line.dashed(dashes) {
			var shape raster.Path
			part.addTo(&shape)
			raster.Stroke(p.raster, shape, width, raster.ButtCapper, raster.RoundJoiner)
		}
	}
	p.flush(with.paint)
}

// flush draws and clears the contents of the rasteriser.
func (p *pngPainter) flush(paint color.Color) {
	p.ink.SetColor(paint)
	p.raster.Rasterize(p.ink)
	p.raster.Clear()
}

// text draws the unhinted outlines of the letters, at the advance widths of the typeface.
func (p *pngPainter) text(f typeface, at vg.Point, s string, paint color.Color, a align) {
	at = shifted(f, at, s, a)
	var buffer sfnt.Buffer
	face := f.Face.Face
	em, size := int64(face.UnitsPerEm()), int64(toPixels(f.size()))
	origin, units, before := p.at(at), int64(0), sfnt.GlyphIndex(0)
	for n, letter := range s {
		glyph, err := face.GlyphIndex(&buffer, letter)
		if err != nil {
			p.err = err
			return
		}
		if n > 0 {
			kern, err := face.Kern(&buffer, before, glyph, fixed.Int26_6(em), font.HintingNone)
			if err == nil {
				units += int64(kern)
			}
		}
		outline, err := face.LoadGlyph(&buffer, glyph, fixed.Int26_6(size), nil)
		if err != nil {
			p.err = err
			return
		}
		pen := fixed.Point26_6{X: origin.X + fixed.Int26_6(units*size/em), Y: origin.Y}
		p.outline(outline, pen)
		advance, err := face.GlyphAdvance(&buffer, glyph, fixed.Int26_6(em), font.HintingNone)
		if err != nil {
			p.err = err
			return
		}
		units, before = units+int64(advance), glyph
	}
	p.flush(paint)
}

// outline adds the outline of a letter to the rasteriser, from a point on.
func (p *pngPainter) outline(letter sfnt.Segments, from fixed.Point26_6) {
	var first fixed.Point26_6
	open := false
	end := func() {
		if open {
			p.raster.Add1(first)
		}
	}
	for _, s := range letter {
		a, b, c := s.Args[0].Add(from), s.Args[1].Add(from), s.Args[2].Add(from)
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			end()
			p.raster.Start(a)
			first, open = a, true
		case sfnt.SegmentOpLineTo:
			p.raster.Add1(a)
		case sfnt.SegmentOpQuadTo:
			p.raster.Add2(a, b)
		case sfnt.SegmentOpCubeTo:
			p.raster.Add3(a, b, c)
		}
	}
	end()
}

func (p *pngPainter) bytes() ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	var out bytes.Buffer
	err := png.Encode(&out, p.pixels)
	return signed(out.Bytes()), err
}

// polyline is a chain of straight lines.
type polyline struct{ points []fixed.Point26_6 }

// lines converts a path to polylines. A closed one ends with its first point.
func (p *pngPainter) lines(path vg.Path) []polyline {
	var lines []polyline
	for _, c := range path {
		switch c.Type {
		case vg.MoveComp:
			lines = append(lines, polyline{[]fixed.Point26_6{p.at(c.Pos)}})
		case vg.LineComp:
			l := &lines[len(lines)-1]
			l.points = append(l.points, p.at(c.Pos))
		case vg.CloseComp:
			l := &lines[len(lines)-1]
			l.points = append(l.points, l.points[0])
		default:
			panic("plots: a curve in a path")
		}
	}
	return lines
}

// addTo adds a line to a rasteriser or a path. A line without length is left out, as it has no
// direction.
func (l polyline) addTo(to raster.Adder) {
	to.Start(l.points[0])
	for n, point := range l.points[1:] {
		if point != l.points[n] {
			to.Add1(point)
		}
	}
}

// dashed cuts a line into its dashes: marks and gaps in turn, in 1/64 of a pixel. Without dashes it
// returns the whole line.
func (l polyline) dashed(dashes []int64) []polyline {
	if len(dashes) == 0 {
		return []polyline{l}
	}
	var parts []polyline
	turn, left, at := 0, dashes[0], l.points[0]
	mark := []fixed.Point26_6{at}
	for _, to := range l.points[1:] {
		for {
			across := to.Sub(at)
			long := root(int64(across.X)*int64(across.X) + int64(across.Y)*int64(across.Y))
			if long <= left {
				left -= long
				mark, at = append(mark, to), to
				break
			}
			at = at.Add(fixed.Point26_6{X: fixed.Int26_6(int64(across.X) * left / long),
				Y: fixed.Int26_6(int64(across.Y) * left / long)})
			if turn%2 == 0 {
				parts = append(parts, polyline{append(mark, at)})
			}
			turn++
			left, mark = dashes[turn%len(dashes)], []fixed.Point26_6{at}
		}
	}
	if turn%2 == 0 {
		parts = append(parts, polyline{mark})
	}
	return parts
}

// root returns the square root of n, rounded down. It is exact: Sqrt is correctly rounded, and n is
// far below 2^52 in any picture.
func root(n int64) int64 { return int64(math.Sqrt(float64(n))) }
