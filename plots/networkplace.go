package plots

import (
	"fmt"
	"slices"
)

// Sizes in a part, in points.
const (
	siteHeight  length = 15
	siteMost    length = 44 // width
	nicMost     length = 26 // width of a NIC below processors
	siteAir     length = 3  // between two side by side
	portHeight  length = 6
	gapLeast    length = 26 // between rows
	arcLeast    length = 10 // depth of a link within a row
	arcMost     length = 46
	gutterAir   length = 8
	partHeading length = 14
	labelsMost         = 5 // the most rates beside a gap
	pitchMost   length = 62
	ringSlots          = 8 // with at least so many sites the smaller circle is used
)

// gap is the room between two rows, and the texts about the links there.
type gap struct {
	y0, y1 length
	labels []gapLabel
	arcs   bool
	wires  int
}

type gapLabel struct {
	class int // of the part; −1: none
	text  string
}

// place computes the position of everything in a box, from its upper left corner, and sets the
// area.
func (p *part) place(f typefaces, b box) {
	p.faces, p.area = f, b
	p.colour = map[class]int{}
	colours := 0
	for _, c := range rateClasses(p.wires) {
		switch {
		case c.isChanged:
			p.colour[c] = changedPaint
		case c.text() == "":
			p.colour[c] = freePaint
		default:
			p.colour[c] = colours
			colours++
		}
	}
	y := b.y0
	if p.heading != "" {
		y += partHeading
	}
	switch p.shape {
	case tiered:
		p.placeTiers(y)
	case round:
		p.placeRound(y)
	default:
		p.placeGrid(y)
	}
}

// label returns the colour and the text of a class.
func (p *part) label(c class) gapLabel { return gapLabel{p.colour[c], c.text()} }

// placeTiers places rows below each other, with the rates beside the gaps between them.
func (p *part) placeTiers(y length) {
	p.makeGaps()
	for _, row := range p.rows {
		for _, text := range row.texts {
			p.gutter = max(p.gutter, p.faces.small.room(text)+gutterAir)
		}
	}
	for _, g := range p.gaps {
		for _, l := range g.labels {
			p.gutter = max(p.gutter, swatchWidth+swatchAir+p.faces.small.room(l.text)+gutterAir)
		}
	}
	for n := range p.rows {
		y = p.placeGap(n, y)
		height := siteHeight
		if p.isPorts(n) {
			height = portHeight
		}
		for _, s := range p.rows[n].sites {
			s.box.y0, s.box.y1 = y, y+height
		}
		if y += height; p.isPorts(n) {
			for _, o := range p.owners {
				o.box.y0, o.box.y1 = y, y+siteHeight
			}
			y += siteHeight
		}
	}
	p.area.y1 = p.placeGap(len(p.rows), y)
	if p.extra != "" {
		p.area.y1 += p.faces.small.line() + 2
	}
	p.placeAcross()
}

// isPorts reports whether a row has the NICs of nodes, each a small mark on its node's box.
func (p *part) isPorts(n int) bool {
	return n == len(p.rows)-1 && len(p.owners) > 0 && p.owners[0] != nil
}

// makeGaps collects the texts beside each gap.
func (p *part) makeGaps() {
	p.gaps = make([]gap, len(p.rows)+1)
	in := make([][]wire, len(p.gaps))
	for _, w := range p.wires {
		at := w.b.row
		if w.a.row == w.b.row {
			if at = p.arcGap(w.a); !p.isBeside(w) {
				p.gaps[at].arcs = true
			}
		}
		in[at] = append(in[at], w)
	}
	for n, wires := range in {
		p.gaps[n].wires = len(wires)
		list := rateClasses(wires)
		for _, c := range list {
			if c.text() == "" {
				continue
			}
			if len(p.gaps[n].labels) == labelsMost {
				p.gaps[n].labels[labelsMost-1] = gapLabel{-1, fmt.Sprintf("and %d more rates",
					len(list)-labelsMost+1)}
				break
			}
			p.gaps[n].labels = append(p.gaps[n].labels, p.label(c))
		}
	}
}

// arcGap returns the gap for links within the row of a site: below GPUs, above others.
func (p *part) arcGap(s *site) int {
	if s.kind == aGPU {
		return s.row + 1
	}
	return s.row
}

// isBeside reports whether a link within a row connects neighbours.
func (p *part) isBeside(w wire) bool {
	sites := p.rows[w.a.row].sites
	a, b := slices.Index(sites, w.a), slices.Index(sites, w.b)
	return (a-b == 1 || b-a == 1) && len(sites) < 4
}

func (p *part) placeGap(n int, y length) length {
	g := &p.gaps[n]
	g.y0 = y
	labels := length(len(g.labels)) * p.faces.small.line()
	outer := n == 0 || n == len(p.rows)
	switch {
	case g.arcs && outer:
		y += max(arcMost, labels+6)
	case g.arcs:
		y += max(arcMost+gapLeast/2, labels+6)
	case outer && len(g.labels) > 0:
		y += labels + 6
	case !outer:
		y += max(gapLeast+length(max(0, min(g.wires, 48)-8))/2, labels+6)
	}
	g.y1 = y
	return y
}

// placeAcross computes the x of all sites. Cells are evenly spaced; other sites are at the middle
// of the sites that they are connected to.
func (p *part) placeAcross() {
	x0, x1 := p.area.x0+p.gutter, p.area.x1
	slots := length(0)
	for n, cell := range p.cells {
		if slots++; n+1 < len(p.cells) && p.gapAfter(n, cell) {
			slots++
		}
	}
	pitch := min((x1-x0)/max(slots, 1), pitchMost)
	if p.isPorts(len(p.rows) - 1) {
		pitch = (x1 - x0) / max(slots, 1)
	}
	x := (x0+x1)/2 - slots*pitch/2
	done := map[*site]bool{}
	for n, cell := range p.cells {
		p.placeCell(cell, p.owners[n], x, pitch)
		for _, s := range cell {
			done[s] = true
		}
		if x += pitch; p.gapAfter(n, cell) {
			x += pitch
		}
	}
	for n := len(p.rows) - 1; n >= 0; n-- {
		sites := p.rows[n].sites
		if slices.ContainsFunc(sites, func(s *site) bool { return !done[s] }) {
			p.spread(sites, done, x0, x1)
			for _, s := range sites {
				done[s] = true
			}
		}
	}
}

// gapAfter reports whether sites are left out behind a cell.
func (p *part) gapAfter(n int, cell []*site) bool {
	if o := p.owners[n]; o != nil {
		return o.gap
	}
	return cell[len(cell)-1].gap
}

// placeCell places the sites of a cell side by side: ports on the box of their owner, others by
// themselves.
func (p *part) placeCell(cell []*site, owner *site, x, pitch length) {
	wide := min(pitch-siteAir, siteMost)
	if owner == nil {
		cell[0].box.x0, cell[0].box.x1 = x+(pitch-wide)/2, x+(pitch+wide)/2
		return
	}
	wide = min(pitch-2*siteAir, 2*siteMost)
	owner.box.x0, owner.box.x1 = x+(pitch-wide)/2, x+(pitch+wide)/2
	slots := length(len(cell))
	for _, s := range cell {
		if s.gap {
			slots++
		}
	}
	each := (wide - 2) / slots
	x = owner.box.x0 + 1
	for _, s := range cell {
		port := min(each-1, 6)
		s.box.x0, s.box.x1 = x+(each-port)/2, x+(each+port)/2
		if x += each; s.gap {
			x += each
		}
	}
}

// spread places the sites of a row near the middles of their neighbours, without overlaps. A single
// site is as wide as all its neighbours together.
func (p *part) spread(sites []*site, done map[*site]bool, x0, x1 length) {
	gaps := length(0)
	for _, s := range sites {
		if s.gap {
			gaps += 14
		}
	}
	wide := min(siteMost, (x1-x0-gaps)/length(len(sites))-siteAir)
	if sites[0].kind == aNIC && sites[0].row > 0 { // links from above pass it
		wide = min(wide, nicMost)
	}
	middle := make([]length, len(sites))
	for i, s := range sites {
		from, to, sum, n := x1, x0, length(0), 0
		for _, w := range p.wires {
			other := w.a
			if w.a == s {
				other = w.b
			} else if w.b != s {
				continue
			}
			if done[other] && other != s {
				from, to = min(from, other.box.x0), max(to, other.box.x1)
				sum, n = sum+other.middle(), n+1
			}
		}
		if middle[i] = (x0 + x1) / 2; n > 0 {
			middle[i] = sum / length(n)
		}
		if len(sites) == 1 && n > 1 && (s.kind != aNIC || s.row == 0) {
			s.box.x0, s.box.x1 = from, to
			return
		}
	}
	left := x0
	for i, s := range sites {
		s.box.x0 = max(middle[i]-wide/2, left)
		if left = s.box.x0 + wide + siteAir; s.gap {
			left += 14
		}
	}
	right := x1
	for _, s := range slices.Backward(sites) {
		if s.gap {
			right -= 14
		}
		s.box.x0 = min(s.box.x0, right-wide)
		s.box.x1 = s.box.x0 + wide
		right = s.box.x0 - siteAir
	}
	p.centred(sites, middle, x0, x1)
}

// centred shifts a row as a whole to the mean of the positions that its sites prefer.
func (p *part) centred(sites []*site, middle []length, x0, x1 length) {
	var by length
	for i, s := range sites {
		by += (middle[i] - s.middle()) / length(len(sites))
	}
	by = max(min(by, x1-sites[len(sites)-1].box.x1), x0-sites[0].box.x0)
	for _, s := range sites {
		s.box.x0, s.box.x1 = s.box.x0+by, s.box.x1+by
	}
}
