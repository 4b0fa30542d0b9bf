package plots

import (
	"fmt"

	"collsim/topology"
)

// NetworkOptions select how a network is drawn. The zero value is the default.
type NetworkOptions struct {
	Title   string // above the picture; none if empty
	Caption string // below all
	Format  Format // of the file
	Figure  Figure // decides the size

	// Changed lists links, by index, that differ from their preset. They have a colour of their
	// own, and their latency is written beside their rate.
	Changed []int32
	WidthMM float64 // if not 0: of the picture in mm, 60 to 1000, instead of the figure's
}

// Network draws a network, from the names of its nodes and its links alone. A cluster has two
// parts: one node in full, with its GPUs, switches, processors and NICs, and the network between
// the nodes. Where there are too many GPUs, NICs, switches or nodes, it draws the first and the
// last and writes their number. Those with changed links are always drawn. Rates are written beside
// each level of links. It returns an error if an option is out of range.
func Network(g *topology.Graph, o NetworkOptions) (file []byte, err error) {
	f, err := newFrame(o.Format, o.Figure, o.WidthMM)
	if err != nil {
		return nil, err
	}
	for _, link := range o.Changed {
		if link < 0 || int(link) >= g.NumLinks() {
			return nil, fmt.Errorf("changed link %d: 0 to %d is expected", link, g.NumLinks()-1)
		}
	}
	d := &diagram{frame: f, faces: newTypefaces(f.format)}
	text := d.width - 2*margin
	d.title = d.faces.title.wrap(printable(o.Title), text)
	d.notes = d.faces.small.wrap(printable(o.Caption), text)
	d.parts = newReader(g, o.Changed).parts(d.width)
	d.layOut()
	return d.draw()
}

// diagram is a picture of a network and the layout of its parts.
type diagram struct {
	frame
	faces typefaces
	title []string
	notes []string
	parts []*part
	foot  length // top of the caption
}

// Sizes of a diagram, in points.
const (
	partAir    length = 10 // between two parts
	besideLess length = 400
)

// layOut places the parts below each other. The part after a round one is placed at its right,
// where the picture is wide enough.
func (d *diagram) layOut() {
	y := margin + length(len(d.title))*d.faces.title.line() + 6
	x, bottom := margin, y
	for n, p := range d.parts {
		x0, x1 := x, d.width-margin
		if n+1 < len(d.parts) && p.shape != tiered && d.width >= besideLess {
			x1 = x0 + 0.42*(d.width-2*margin)
		}
		p.place(d.faces, box{x0: x0, y0: y, x1: x1})
		bottom = max(bottom, p.area.y1)
		if x = margin; x1 < d.width-margin {
			x = x1 + partAir
		} else {
			y = bottom + partAir
		}
	}
	d.foot = bottom + 8
	height := d.foot + length(len(d.notes))*d.faces.small.line() + margin - 3
	d.height = max(d.height, height)
}

func (d *diagram) draw() ([]byte, error) {
	v := newCanvas(d.format, d.width, d.height)
	v.title(d.faces, d.title)
	for _, p := range d.parts {
		p.draw(v, d.faces)
	}
	v.notes(d.faces, d.foot, d.notes)
	return v.bytes()
}
