package plots

import (
	"fmt"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Format is a format of picture files.
type Format uint8

// The formats. SVG names its font; PNG (288 dots per inch) and PDF embed it.
const (
	SVG Format = iota
	PNG
	PDF
)

// String returns the ending of a file's name: "svg".
func (f Format) String() string {
	names := [...]string{"svg", "png", "pdf"}
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// FormatOf returns the format of a file by the ending of its name: .svg, .png or .pdf, in either
// case.
func FormatOf(file string) (Format, error) {
	end := strings.ToLower(filepath.Ext(file))
	for f := SVG; f <= PDF; f++ {
		if end == "."+f.String() {
			return f, nil
		}
	}
	return SVG, fmt.Errorf("%q: a name that ends in .svg, .png or .pdf is expected", file)
}

// Figure is the place that a picture is made for. It decides the size.
type Figure uint8

// The figures. Text is at least 7 pt in print, and 14 pt on a slide 13.3 inches wide.
const (
	Page   Figure = iota // as wide as a page's text: 180 mm
	Column               // as wide as a column of two: 88 mm
	Slide                // 16:9, 1920 x 1080 pixels as PNG; taller only if its texts need it
)

// String returns the name that FigureOf reads: "page".
func (f Figure) String() string {
	names := [...]string{"page", "column", "slide"}
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("figure(%d)", uint8(f))
}

// FigureOf returns the figure with a name: page, column or slide.
func FigureOf(name string) (Figure, error) {
	for f := Page; f <= Slide; f++ {
		if name == f.String() {
			return f, nil
		}
	}
	return Page, fmt.Errorf("figure = %q: page, column or slide is expected", name)
}

// frame holds the checked options that all pictures have.
type frame struct {
	format Format
	width  length
	height length     // 0: as high as the picture needs
	ops    activities // the meanings of the colours of a program
}

func newFrame(f Format, g Figure, widthMM float64) (frame, error) {
	if f > PDF {
		return frame{}, fmt.Errorf("%v: svg, png or pdf is expected", f)
	}
	if g > Slide {
		return frame{}, fmt.Errorf("%v: page, column or slide is expected", g)
	}
	width := [...]length{180 * vg.Millimeter, 88 * vg.Millimeter, 480}[g]
	if widthMM != 0 {
		if !(widthMM >= 60 && widthMM <= 1000) {
			return frame{}, fmt.Errorf("width = %v mm: 60 to 1000 is expected", widthMM)
		}
		width = length(widthMM) * vg.Millimeter
	}
	out := frame{format: f, width: width}
	if g == Slide {
		out.height = width * 9 / 16
	}
	return out, nil
}
