package plots

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Paints of links that have no rate of their own.
const (
	changedPaint = -2
	freePaint    = -3 // without a bandwidth limit
)

// ratePaint returns the colour of links of a rate, by the rate's rank among those of a part.
func ratePaint(n int) color.RGBA {
	switch n {
	case changedPaint:
		return rgb(0xD55E00)
	case freePaint:
		return rgb(0xB8B8B8)
	}
	return rgb([...]uint32{0x0072B2, 0x009E73, 0x6E6E6E, 0xCC79A7, 0x56B4E9, 0x000000}[max(n, 0)%6])
}

// sitePaint returns the colour of a box.
func sitePaint(k siteKind) color.RGBA {
	return rgb([...]uint32{aGPU: 0xA6DBC8, aNIC: 0xF3CF80, aSwitch: 0xD4D4D4, aPCIe: 0xE8E8E8,
		aCPU: 0xE6BCD3, aNode: 0xF2F2F2}[k])
}

// draw draws a part: links behind boxes, texts in the boxes and beside them.
func (p *part) draw(v *canvas, f typefaces) {
	v.ink(black())
	if p.heading != "" {
		v.text(f.heading, p.area.x0, p.area.y0+8, left, p.heading)
	}
	p.drawWires(v)
	for n, row := range p.rows {
		p.drawSites(v, row.sites)
		if p.shape == tiered {
			p.drawRowTexts(v, n)
		}
	}
	if p.isPorts(len(p.rows) - 1) {
		p.drawSites(v, p.owners)
	}
	p.drawDots(v)
	p.drawLabels(v)
}

// drawWires draws the links of each colour as one path; changed links are on top.
func (p *part) drawWires(v *canvas) {
	list := rateClasses(p.wires)
	free := 0
	for n, c := range list {
		if p.colour[c] == freePaint {
			list[free], list[n] = list[n], list[free]
			free++
		}
	}
	for _, c := range list {
		var lines vg.Path
		for _, w := range p.wires {
			if w.class != c {
				continue
			}
			switch p.shape {
			case tiered:
				p.addWire(v, &lines, w)
			case gridded:
				p.addNeighbours(v, &lines, w)
			default:
				v.addLine(&lines, w.a.middle(), (w.a.box.y0+w.a.box.y1)/2, w.b.middle(),
					(w.b.box.y0+w.b.box.y1)/2)
			}
		}
		width := length(0.8)
		if c.isChanged {
			width = 1.8
		}
		v.stroke(lines, width, ratePaint(p.colour[c]))
	}
}

// addNeighbours adds a link of a grid, unless it wraps around.
func (p *part) addNeighbours(v *canvas, lines *vg.Path, w wire) {
	apart := 0
	var a, b int
	for i, s := range p.rows[0].sites {
		if s == w.a {
			a = i
		}
		if s == w.b {
			b = i
		}
	}
	for d := range p.at[a] {
		apart += max(p.at[a][d]-p.at[b][d], p.at[b][d]-p.at[a][d])
	}
	if apart == 1 {
		v.addLine(lines, w.a.middle(), (w.a.box.y0+w.a.box.y1)/2, w.b.middle(),
			(w.b.box.y0+w.b.box.y1)/2)
	}
}

// addWire adds a link between two rows, or within one.
func (p *part) addWire(v *canvas, lines *vg.Path, w wire) {
	if w.a.row == w.b.row {
		p.addArc(v, lines, w)
		return
	}
	x, top := p.ends(w)
	lines.Move(v.at(x, w.b.box.y0))
	if w.b.row > w.a.row+1 { // bypasses the rows between
		lines.Line(v.at(x, w.a.box.y1+9))
	}
	lines.Line(v.at(top, w.a.box.y1))
}

// ends returns the x at which a link between two rows leaves the lower and the upper site. A site's
// links are side by side. A site that is alone in its row is as wide as its neighbours, so its
// links are vertical.
func (p *part) ends(w wire) (low, high length) {
	low, high = w.b.middle(), w.a.middle()
	switch {
	case w.a.box.x0 <= low && low <= w.a.box.x1 && p.isAlone(w.a):
		return low, low
	case w.b.box.x0 <= high && high <= w.b.box.x1 && p.isAlone(w.b):
		return high, high
	}
	return p.side(w.b, w.a), p.side(w.a, w.b)
}

func (p *part) isAlone(s *site) bool { return len(p.rows[s.row].sites) == 1 }

// side returns the x on a site at which its link to a site of another row begins.
func (p *part) side(s, other *site) length {
	before, after := 0, 0
	for _, w := range p.wires {
		one := w.a
		if one == s {
			one = w.b
		} else if w.b != s {
			continue
		}
		if (one.row < s.row) != (other.row < s.row) || one.row == s.row {
			continue
		}
		switch {
		case one.middle() < other.middle():
			before++
		case one != other:
			after++
		}
	}
	share := (length(before) + 0.5) / length(before+after+1)
	air := min(4, (s.box.x1-s.box.x0)/4)
	return s.box.x0 + air + share*(s.box.x1-s.box.x0-2*air)
}

// addArc adds a link within a row: a line between neighbours, else half an ellipse.
func (p *part) addArc(v *canvas, lines *vg.Path, w wire) {
	if w.a.middle() > w.b.middle() {
		w.a, w.b = w.b, w.a
	}
	if p.isBeside(w) {
		v.addLine(lines, w.a.box.x1, (w.a.box.y0+w.a.box.y1)/2, w.b.box.x0,
			(w.a.box.y0+w.a.box.y1)/2)
		return
	}
	x0, x1, y := w.a.middle(), w.b.middle(), w.a.box.y0
	widest := p.rows[w.a.row].sites[len(p.rows[w.a.row].sites)-1].middle() -
		p.rows[w.a.row].sites[0].middle()
	deep := -(arcLeast + (arcMost-arcLeast-4)*(x1-x0)/max(widest, 1))
	if p.arcGap(w.a) > w.a.row {
		y, deep = w.a.box.y1, -deep
	}
	const steps = 20
	lines.Move(v.at(x0, y))
	for n := 1; n <= steps; n++ {
		angle := math.Pi * float64(n) / steps
		lines.Line(v.at((x0+x1)/2-(x1-x0)/2*length(cosine(angle)), y+deep*length(sine(angle))))
	}
}

// drawSites draws boxes with the longest texts that fit into all of them.
func (p *part) drawSites(v *canvas, sites []*site) {
	var edges vg.Path
	for _, s := range sites {
		var area vg.Path
		v.addBox(&area, s.box)
		v.addBox(&edges, s.box)
		v.fill(area, sitePaint(s.kind))
	}
	v.stroke(edges, 0.5, arrowGrey())
	text := func(s *site) string { return s.label }
	if !p.haveRoom(sites, text) {
		if text = func(s *site) string { return s.short }; !p.haveRoom(sites, text) {
			return
		}
	}
	v.ink(black())
	for _, s := range sites {
		if t := text(s); t != "" {
			v.textMiddle(p.faces.small, s.middle(), (s.box.y0+s.box.y1)/2, centre, t)
		}
	}
}

func (p *part) haveRoom(sites []*site, text func(*site) string) bool {
	for _, s := range sites {
		if p.faces.small.room(text(s)) > s.box.x1-s.box.x0-1 {
			return false
		}
	}
	return true
}

// drawRowTexts writes the description of a row beside it.
func (p *part) drawRowTexts(v *canvas, n int) {
	s := p.rows[n].sites[0]
	v.ink(black())
	y := (s.box.y0 + s.box.y1) / 2
	if p.isPorts(n) {
		y += 2
		if p.extra != "" {
			v.textMiddle(p.faces.small, p.area.x0, y+p.faces.small.line(), left, p.extra)
		}
	}
	if p.isAlone(s) && s.kind == aSwitch && !p.isPorts(n) {
		return // the box says it
	}
	v.textMiddle(p.faces.small, p.area.x0, y, left, strings.Join(p.rows[n].texts, ", "))
}

// drawDots draws three dots where sites are left out.
func (p *part) drawDots(v *canvas) {
	var dots vg.Path
	for _, row := range p.rows {
		for i, s := range row.sites {
			if s.gap && i+1 < len(row.sites) {
				p.addDots(v, &dots, s, row.sites[i+1])
			}
		}
	}
	for i, o := range p.owners {
		if o != nil && o.gap {
			p.addDots(v, &dots, o, p.owners[i+1])
		}
	}
	for d := range p.skips {
		for i, s := range p.rows[0].sites {
			if at := p.at[i][d]; p.skips[d][at] {
				step := 1
				for _, size := range p.sizes[d+1:] {
					step *= size
				}
				p.addDots(v, &dots, s, p.rows[0].sites[i+step])
			}
		}
	}
	v.fill(dots, black())
}

// addDots adds three dots between two sites.
func (p *part) addDots(v *canvas, dots *vg.Path, a, b *site) {
	x0, x1 := a.box.x1, b.box.x0
	y0, y1 := (a.box.y0+a.box.y1)/2, (b.box.y0+b.box.y1)/2
	if p.shape != tiered {
		x0, x1 = a.middle(), b.middle()
	}
	far := length(hypot(float64(x1-x0), float64(y1-y0)))
	step := min(4, far/4) / max(far, 1)
	for n := -1; n <= 1; n++ {
		share := 0.5 + length(n)*step
		x, y := x0+share*(x1-x0), y0+share*(y1-y0)
		v.addBox(dots, box{x - 0.7, y - 0.7, x + 0.7, y + 0.7})
	}
}

// drawLabels writes the rates: beside the gaps of a tiered part, else below the picture.
func (p *part) drawLabels(v *canvas) {
	line := p.faces.small.line()
	for _, g := range p.gaps {
		y := (g.y0+g.y1)/2 - length(len(g.labels)-1)*line/2
		if p.shape != tiered {
			y = g.y0 + line/2
			var texts []string
			for _, row := range p.rows {
				texts = append(texts, row.texts...)
			}
			v.ink(black())
			v.textMiddle(p.faces.small, p.area.x0, y, left, strings.Join(texts, ", "))
			y += line
			if p.extra != "" {
				v.textMiddle(p.faces.small, p.area.x0, y, left, p.extra)
				y += line
			}
		}
		for _, l := range g.labels {
			x := p.area.x0
			if l.class != -1 {
				var swatch vg.Path
				v.addLine(&swatch, x, y, x+swatchWidth, y)
				width := length(1.4)
				if l.class == changedPaint {
					width = 1.8
				}
				v.stroke(swatch, width, ratePaint(l.class))
			}
			v.ink(black())
			v.textMiddle(p.faces.small, x+swatchWidth+swatchAir, y, left, l.text)
			y += line
		}
	}
}
