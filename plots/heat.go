package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// HeatCell is a cell of a map: what wins there, and how good that is.
type HeatCell struct {
	Name  string  // of the winner; empty: nothing is known there
	Look  int     // decides its colour, as that of a Series
	Share float64 // from 0, pale, to 1, the full colour; less and more count as these
	Text  string  // below the name
}

// HeatOptions select how a map is drawn. The zero value is the default.
type HeatOptions struct {
	Title, Caption string // as those of curves
	XName, YName   string // of the keys across and down
	Format         Format
	Figure         Figure
	WidthMM        float64 // if not 0: of the picture in mm, 60 to 1000, instead of the figure's
}

// Heat draws a map: a cell for each of the values across and down, in the colour of what wins
// there, the deeper the better it is. A name that has no room in its cell is a number there; the
// legend below has numbers and names.
//
// It returns an error if there is no cell, if rows differ in length from the values across, if
// cells have no room for their text, or if an option is out of range.
func Heat(across, down []string, cells [][]HeatCell, o HeatOptions) (file []byte, err error) {
	f, err := newFrame(o.Format, o.Figure, o.WidthMM)
	if err != nil {
		return nil, err
	}
	if len(across) == 0 || len(down) == 0 || len(cells) != len(down) {
		return nil, errors.New("no cells: a row for each value down is expected")
	}
	h := &heat{frame: f, faces: newTypefaces(f.format), across: across, down: down, cells: cells,
		options: o}
	for n, row := range cells {
		if len(row) != len(across) {
			return nil, fmt.Errorf("row %d: %d cells; %d are expected", n, len(row), len(across))
		}
		for _, c := range row {
			if c.Name != "" && !h.isListed(c) {
				h.names = append(h.names, c)
			}
		}
	}
	if err := h.layOut(); err != nil {
		return nil, err
	}
	return h.draw()
}

// heat is a map and the layout of its parts.
type heat struct {
	frame
	faces        typefaces
	across, down []string
	cells        [][]HeatCell
	options      HeatOptions

	names        []HeatCell // one of each winner, in the order of their first cells
	title, notes []string
	legend       [][]int // its lines, of indices of names

	x0, y0, wide, tall, foot length // the first cell's corner, and the size of all; top of the notes
}

func (h *heat) isListed(c HeatCell) bool { return h.place(c) >= 0 }

// place returns the index of a winner among all.
func (h *heat) place(c HeatCell) int {
	for n, one := range h.names {
		if one.Name == c.Name {
			return n
		}
	}
	return -1
}

// Sizes of a map, in points.
const (
	heatTall  length = 30 // of a cell on a page
	heatLeast length = 20 // of a cell that holds two lines
	heatWide  length = 24 // the least width
	heatMost  length = 130
)

func (h *heat) layOut() error {
	text := h.width - 2*margin
	h.title = h.faces.title.wrap(printable(h.options.Title), text)
	h.notes = h.faces.small.wrap(printable(h.options.Caption), text)
	label := h.faces.label.room(printable(h.options.YName))
	for _, name := range h.down {
		label = max(label, h.faces.label.room(printable(name)))
	}
	h.x0 = margin + label + 5
	h.y0 = margin + length(len(h.title))*h.faces.title.line() + 2*h.faces.label.line() + topAir
	h.wide = min(heatMost, (h.width-margin-h.x0)/length(len(h.across)))
	indices := make([]int, len(h.names))
	for n := range indices {
		indices[n] = n
	}
	h.legend = wrapLegend(indices, text, func(n int) length {
		return swatchWidth + swatchAir + h.faces.label.room(h.key(n))
	})
	below := 6 + length(len(h.legend))*legendLine + margin
	if len(h.notes) > 0 {
		below += 5 + length(len(h.notes))*h.faces.small.line()
	}
	h.tall = heatTall
	if h.height > 0 {
		h.tall = min(heatTall, (h.height-h.y0-below)/length(len(h.down)))
	}
	if h.wide < heatWide || h.tall < heatLeast {
		return fmt.Errorf("%d × %d cells have no room in this picture: fewer, or a larger one, are "+
			"expected", len(h.across), len(h.down))
	}
	h.foot = h.y0 + length(len(h.down))*h.tall + 6
	h.height = max(h.height, h.foot+below-6)
	return nil
}

// key returns the entry of a winner in the legend.
func (h *heat) key(n int) string {
	if h.fits(h.names[n].Name) {
		return printable(h.names[n].Name)
	}
	return fmt.Sprintf("%d  %s", n+1, printable(h.names[n].Name))
}

// fits reports whether a name has room in a cell.
func (h *heat) fits(name string) bool { return h.faces.small.room(printable(name)) <= h.wide-4 }

// paint returns the colour of a cell.
func (c HeatCell) paint() color.RGBA {
	of, share := curveColour(c.Look), min(max(c.Share, 0), 1)
	if math.IsNaN(c.Share) {
		share = 0
	}
	mix := func(full uint8) uint8 {
		return uint8(math.Round(255 - float64((255-float64(full))*float64(0.15+float64(0.85*share)))))
	}
	return color.RGBA{mix(of.R), mix(of.G), mix(of.B), 255}
}

// inkOn returns black or white, whichever is easier to read on a colour (ITU-R BT.601).
func inkOn(c color.RGBA) color.RGBA {
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) < 140_000 {
		return white()
	}
	return black()
}

func (h *heat) draw() ([]byte, error) {
	v := newCanvas(h.format, h.width, h.height)
	v.title(h.faces, h.title)
	v.ink(black())
	above := h.y0 - 4
	v.text(h.faces.label, margin, above, left, printable(h.options.YName))
	v.text(h.faces.label, h.x0, above-h.faces.label.line(), left, printable(h.options.XName))
	for n, name := range h.across {
		v.text(h.faces.label, h.x0+(length(n)+0.5)*h.wide, above, centre, printable(name))
	}
	for n, name := range h.down {
		v.ink(black())
		v.textMiddle(h.faces.label, h.x0-5, h.y0+(length(n)+0.5)*h.tall, right, printable(name))
		for m, c := range h.cells[n] {
			x, y := h.x0+length(m)*h.wide, h.y0+length(n)*h.tall
			h.drawCell(v, c, box{x + 0.5, y + 0.5, x + h.wide - 0.5, y + h.tall - 0.5})
		}
	}
	for l, line := range h.legend {
		x, middle := margin, h.foot+length(l)*legendLine+legendLine/2
		for _, n := range line {
			var swatch vg.Path
			v.addBox(&swatch, box{x, middle - barHeight/2, x + swatchWidth, middle + barHeight/2})
			v.fill(swatch, curveColour(h.names[n].Look))
			v.ink(black())
			v.textMiddle(h.faces.label, x+swatchWidth+swatchAir, middle, left, h.key(n))
			x += swatchWidth + swatchAir + h.faces.label.room(h.key(n)) + entryAir
		}
	}
	v.notes(h.faces, h.foot+length(len(h.legend))*legendLine+5, h.notes)
	return v.bytes()
}

// drawCell draws a cell with its name, or the number of that, and its text.
func (h *heat) drawCell(v *canvas, c HeatCell, b box) {
	var p vg.Path
	v.addBox(&p, b)
	if c.Name == "" {
		v.fill(p, waitingGrey())
		return
	}
	v.fill(p, c.paint())
	v.ink(inkOn(c.paint()))
	name := printable(c.Name)
	if !h.fits(c.Name) {
		name = fmt.Sprint(h.place(c) + 1)
	}
	x, middle := (b.x0+b.x1)/2, (b.y0+b.y1)/2
	v.textMiddle(h.faces.small, x, middle-h.faces.small.line()/2, centre, name)
	v.textMiddle(h.faces.small, x, middle+h.faces.small.line()/2, centre, printable(c.Text))
	v.hint(b, c.Name+" "+c.Text)
}
