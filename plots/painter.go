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

// painter puts marks on a picture of one format. Its y grows upwards from the lower edge.
type painter interface {
	fill(p vg.Path, paint color.Color)
	stroke(p vg.Path, with pen)
	text(f typeface, at vg.Point, s string, paint color.Color)
	bytes() ([]byte, error) // the finished picture
}

// pen is how a line is drawn: dashes are its marks and gaps in turn, none for a whole line.
type pen struct {
	width  length
	paint  color.Color
	dashes []length
}

func newPainter(f Format, width, height length) painter {
	switch f {
	case SVG:
		svg := vgsvg.New(width, height)
		return vgPainter{canvas: svg, finish: func() ([]byte, error) { return finishSVG(svg) }}
	case PNG:
		return newPNG(width, height)
	case PDF:
		return newPDF(width, height)
	}
	panic("plots: no painter for " + f.String()) // the options have been checked
}

// Software is what pictures as PNG and PDF say that they were made with.
const Software = "collsim"

// signed puts into a PNG, behind its header, what it was made with.
func signed(png []byte) []byte {
	const header = 8 + 4 + 4 + 13 + 4 // signature; length, type, content and sum of IHDR
	chunk := []byte("tEXtSoftware\x00" + Software)
	sum := crc32.ChecksumIEEE(chunk)
	sized := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-len("tEXt")))
	sized = binary.BigEndian.AppendUint32(append(sized, chunk...), sum)
	return slices.Concat(png[:header], sized, png[header:])
}

// vgPainter draws with gonum/plot.
type vgPainter struct {
	canvas vg.Canvas
	finish func() ([]byte, error)
}

func (v vgPainter) fill(p vg.Path, paint color.Color) {
	v.canvas.SetColor(paint)
	v.canvas.Fill(p)
}

func (v vgPainter) stroke(p vg.Path, with pen) {
	v.canvas.SetColor(with.paint)
	v.canvas.SetLineWidth(with.width)
	v.canvas.SetLineDash(with.dashes, 0)
	v.canvas.Stroke(p)
}

func (v vgPainter) text(f typeface, at vg.Point, s string, paint color.Color) {
	v.canvas.SetColor(paint)
	v.canvas.FillString(f.Face, at, s)
}

func (v vgPainter) bytes() ([]byte, error) { return v.finish() }

// finishSVG returns the SVG picture. The fonts are named, not embedded (that would be 400 kB);
// Arial and Helvetica have the same widths as Liberation Sans.
func finishSVG(svg *vgsvg.Canvas) ([]byte, error) {
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return nil, err
	}
	const one = `style="font-family:Liberation Sans;`
	const family = `style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`
	return bytes.ReplaceAll(out.Bytes(), []byte(one), []byte(family)), nil
}
