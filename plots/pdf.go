package plots

import (
	"bytes"
	"image/color"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
)

// pdfPainter draws a PDF page of the picture's size. gonum/plot's own PDF canvas is not used: it
// writes the time of day into the file, and its fonts have Western European letters only.
type pdfPainter struct {
	doc    *fpdf.Fpdf
	height length
	err    error // the first error of a font
}

func newPDF(width, height length) *pdfPainter {
	doc := fpdf.NewCustom(&fpdf.InitType{
		UnitStr: "pt", Size: fpdf.SizeType{Wd: float64(width), Ht: float64(height)},
	})
	sameDay := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	doc.SetCreationDate(sameDay) // the same picture is the same bytes on any day
	doc.SetModificationDate(sameDay)
	doc.SetCreator(Software, true)
	doc.SetCatalogSort(true)
	doc.SetAutoPageBreak(false, 0)
	doc.AddPage()
	return &pdfPainter{doc: doc, height: height}
}

func (p *pdfPainter) fill(path vg.Path, paint color.Color) {
	r, g, b := channels(paint)
	p.doc.SetFillColor(r, g, b)
	p.outline(path)
	p.doc.DrawPath("F")
}

func (p *pdfPainter) stroke(path vg.Path, with pen) {
	r, g, b := channels(with.paint)
	p.doc.SetDrawColor(r, g, b)
	p.doc.SetLineWidth(float64(with.width))
	dashes := make([]float64, len(with.dashes))
	for n, d := range with.dashes {
		dashes[n] = float64(d)
	}
	p.doc.SetDashPattern(dashes, 0)
	p.outline(path)
	p.doc.DrawPath("D")
}

// outline adds a path to the page. Our paths have straight lines only.
func (p *pdfPainter) outline(path vg.Path) {
	for _, c := range path {
		switch c.Type {
		case vg.MoveComp:
			p.doc.MoveTo(float64(c.Pos.X), float64(p.height-c.Pos.Y))
		case vg.LineComp:
			p.doc.LineTo(float64(c.Pos.X), float64(p.height-c.Pos.Y))
		case vg.CloseComp:
			p.doc.ClosePath()
		default:
			panic("plots: a curve in a path")
		}
	}
}

// text writes in the typeface. The file embeds the letters that are used.
func (p *pdfPainter) text(f typeface, at vg.Point, s string, paint color.Color, a align) {
	at = shifted(f, at, s, a)
	const family = "Liberation Sans"
	style := ""
	if f.Font.Weight == xfont.WeightBold {
		style = "B"
	}
	if p.doc.GetFontDesc(family, style).Ascent == 0 { // not added yet
		var source bytes.Buffer
		if _, err := f.Face.Face.WriteSourceTo(nil, &source); err != nil && p.err == nil {
			p.err = err
		}
		p.doc.AddUTF8FontFromBytes(family, style, source.Bytes())
	}
	p.doc.SetFont(family, style, float64(f.size()))
	r, g, b := channels(paint)
	p.doc.SetTextColor(r, g, b)
	p.doc.Text(float64(at.X), float64(p.height-at.Y), basic(s))
}

func (p *pdfPainter) bytes() ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	var out bytes.Buffer
	err := p.doc.Output(&out)
	return out.Bytes(), err
}

// basic replaces characters beyond the first 65,536, which no PDF font of ours has.
func basic(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, s)
}

func channels(paint color.Color) (r, g, b int) {
	c := color.RGBAModel.Convert(paint).(color.RGBA)
	return int(c.R), int(c.G), int(c.B)
}
