package plots

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// painter draws on a picture of one format. Its y grows upwards from the lower edge.
type painter interface {
	fill(p vg.Path, paint color.Color)
	stroke(p vg.Path, with pen)
	// text writes a line at a baseline point, which is its left end, its middle or its right end.
	text(f typeface, at vg.Point, s string, paint color.Color, a align)
	bytes() ([]byte, error) // the finished picture
}

// pen is a style of lines. dashes are the lengths of marks and gaps in turn, none for a solid line.
type pen struct {
	width  length
	paint  color.Color
	dashes []length
}

func newPainter(f Format, width, height length) painter {
	switch f {
	case SVG:
		return &svgPainter{canvas: vgsvg.New(width, height)}
	case PNG:
		return newPNG(width, height)
	case PDF:
		return newPDF(width, height)
	}
	panic("plots: no painter for " + f.String()) // the options have been checked
}

// Software is the name of the program that pictures as PNG and PDF contain.
const Software = "collsim"

// signed inserts the name of the program into a PNG, after its header.
func signed(png []byte) []byte {
	const header = 8 + 4 + 4 + 13 + 4 // signature; length, type, content and sum of IHDR
	chunk := []byte("tEXtSoftware\x00" + Software)
	sum := crc32.ChecksumIEEE(chunk)
	sized := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-len("tEXt")))
	sized = binary.BigEndian.AppendUint32(append(sized, chunk...), sum)
	return slices.Concat(png[:header], sized, png[header:])
}

// shifted returns the start of a line of text, given the point of its left end, middle or right
// end.
func shifted(f typeface, at vg.Point, s string, a align) vg.Point {
	at.X -= length(float64(a) * float64(f.Width(s)))
	return at
}

// svgPainter draws with gonum/plot, whose SVG canvas does not write text anchors.
type svgPainter struct {
	canvas *vgsvg.Canvas
	texts  []align // of each text, in order
}

func (v *svgPainter) fill(p vg.Path, paint color.Color) {
	v.canvas.SetColor(paint)
	v.canvas.Fill(p)
}

func (v *svgPainter) stroke(p vg.Path, with pen) {
	v.canvas.SetColor(with.paint)
	v.canvas.SetLineWidth(with.width)
	v.canvas.SetLineDash(with.dashes, 0)
	v.canvas.Stroke(p)
}

func (v *svgPainter) text(f typeface, at vg.Point, s string, paint color.Color, a align) {
	v.canvas.SetColor(paint)
	v.canvas.FillString(f.Face, at, s)
	v.texts = append(v.texts, a)
}

// bytes returns the SVG picture with text anchors added. Fonts are named, not embedded (that would
// be 400 kB). Arial and Helvetica have the same widths as Liberation Sans; with any other font the
// anchors keep texts in place.
func (v *svgPainter) bytes() ([]byte, error) {
	var out bytes.Buffer
	if _, err := v.canvas.WriteTo(&out); err != nil {
		return nil, err
	}
	const one = `style="font-family:Liberation Sans;`
	const family = `style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`
	named := bytes.ReplaceAll(out.Bytes(), []byte(one), []byte(family))
	const text = "<text " // no other text contains it: there it is escaped
	parts := bytes.Split(named, []byte(text))
	for n, a := range v.texts {
		begin := text
		switch a {
		case centre:
			begin += `text-anchor="middle" `
		case right:
			begin += `text-anchor="end" `
		}
		parts[n+1] = append([]byte(begin), parts[n+1]...)
	}
	return bytes.Join(parts, nil), nil
}
