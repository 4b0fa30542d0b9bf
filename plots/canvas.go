package plots

import (
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
)

// Lengths are in points (1/72 inch), and y grows downwards from the top edge: the first row is on
// top.
type length = vg.Length

// margin is the empty border of a picture, in points.
const margin length = 8

// capHeight is the height of Liberation Sans's capitals and digits, as a share of the font size.
const capHeight = 0.69

// typeface measures and draws text of one size and weight.
type typeface struct {
	font.Face
	named bool // the file names its font and does not embed it: a viewer may substitute another
}

// typefaces are the four of a picture. No text is smaller than 7 pt, the least that prints well.
type typefaces struct{ title, heading, label, small typeface }

func newTypefaces(in Format) typefaces {
	cache := font.NewCache(liberation.Collection())
	face := func(size length, weight xfont.Weight) typeface {
		sans := font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}
		return typeface{cache.Lookup(sans, size), in == SVG}
	}
	return typefaces{
		title:   face(10, xfont.WeightBold),
		heading: face(8, xfont.WeightBold),
		label:   face(8, xfont.WeightNormal),
		small:   face(7, xfont.WeightNormal),
	}
}

func (f typeface) size() length { return f.Font.Size }

// line returns the distance between two baselines.
func (f typeface) line() length { return 1.3 * f.size() }

// wrap breaks a text between words into lines of at most a width. A word that is wider has a line
// of its own.
func (f typeface) wrap(text string, width length) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines) - 1; n >= 0 && f.room(lines[n]+" "+word) <= width {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// canvas draws on a picture of some format.
type canvas struct {
	painter painter
	height  length
	paint   color.Color // of text
	name    string      // the title
	hinted  bool        // the format has hints
	hints   []hint
}

func newCanvas(f Format, width, height length) *canvas {
	c := &canvas{painter: newPainter(f, width, height), height: height, paint: black(),
		hinted: f == SVG}
	var page vg.Path
	c.addBox(&page, box{0, 0, width, height})
	c.fill(page, white())
	return c
}

// box is a rectangle; y0 is its upper edge.
type box struct{ x0, y0, x1, y1 length }

// addBox adds a box to a path: a path of many boxes is far smaller than many paths.
func (c *canvas) addBox(p *vg.Path, b box) {
	p.Move(c.at(b.x0, b.y0))
	p.Line(c.at(b.x1, b.y0))
	p.Line(c.at(b.x1, b.y1))
	p.Line(c.at(b.x0, b.y1))
	p.Close()
}

// addLine adds a line to a path.
func (c *canvas) addLine(p *vg.Path, x0, y0, x1, y1 length) {
	p.Move(c.at(x0, y0))
	p.Line(c.at(x1, y1))
}

// at converts a point, whose y grows downwards, to the picture's, whose y grows upwards.
func (c *canvas) at(x, y length) vg.Point { return vg.Point{X: x, Y: c.height - y} }

func (c *canvas) fill(p vg.Path, paint color.Color) {
	if len(p) > 0 {
		c.painter.fill(p, paint)
	}
}

func (c *canvas) stroke(p vg.Path, width length, paint color.Color) {
	c.dashed(p, pen{width: width, paint: paint})
}

func (c *canvas) dashed(p vg.Path, with pen) {
	if len(p) > 0 {
		c.painter.stroke(p, with)
	}
}

// align is the point of a text that is placed at its x: its left end, its middle or its right end.
type align float64

const (
	left   align = 0
	centre align = 0.5
	right  align = 1
)

// text writes a line with its baseline at y.
func (c *canvas) text(f typeface, x, y length, a align, s string) {
	c.painter.text(f, c.at(x, y), s, c.paint, a)
}

// textMiddle writes a line whose capitals are vertically centred on y.
func (c *canvas) textMiddle(f typeface, x, y length, a align, s string) {
	c.text(f, x, y+length(capHeight/2*f.size()), a, s)
}

// title writes a picture's title at its top.
func (c *canvas) title(f typefaces, lines []string) {
	c.ink(black())
	c.name = strings.Join(lines, " ")
	for n, line := range lines {
		c.text(f.title, margin, margin+length(n)*f.title.line()+8, left, line)
	}
}

// notes writes a picture's caption and its notes, from y on.
func (c *canvas) notes(f typefaces, y length, lines []string) {
	c.ink(captionGrey())
	for _, line := range lines {
		c.text(f.small, margin, y+f.small.size(), left, line)
		y += f.small.line()
	}
}

func (c *canvas) ink(paint color.Color) { c.paint = paint }

func (c *canvas) bytes() ([]byte, error) {
	content, err := c.painter.bytes()
	if err != nil || !c.hinted {
		return content, err
	}
	return c.annotated(content), nil
}

// printable replaces characters that XML cannot hold: control characters, and invalid UTF-8.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
