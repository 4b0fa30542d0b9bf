package plots

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
)

// end is the right end of a curve, where its name is written.
type end struct {
	series int
	at     vg.Point // the last point
	y      length   // y of the name, which others may have pushed away
}

// namesWidth returns the width of the names at the ends; 0 if a legend has them.
func (c *chart) namesWidth() length {
	curves := 0
	width := length(0)
	for _, s := range c.series {
		if !s.Bound {
			curves++
		}
		width = max(width, c.faces.label.room(printable(s.Name)))
	}
	if width += markAir; curves > labelledCurves || width > c.width*2/5 {
		return 0
	}
	return width
}

// placeEnds places each name beside the end of its curve, or as near as the other names allow.
func (c *chart) placeEnds() {
	if len(c.legend) > 0 {
		return
	}
	for n, s := range c.series {
		last := len(s.X) - 1
		at := c.at(s.X[last], s.Y[last])
		c.ends = append(c.ends, end{n, at, at.Y})
	}
	slices.SortStableFunc(c.ends, func(a, b end) int {
		if a.y == b.y && c.series[a.series].Bound {
			return -1 // a bound stands above the curves that it bounds
		}
		return cmp.Compare(a.y, b.y)
	})
	apart := c.faces.label.line()
	least := c.y0 - topAir
	for n := range c.ends { // downwards from the top
		c.ends[n].y = max(c.ends[n].y, least)
		least = c.ends[n].y + apart
	}
	most := c.y1
	for n := len(c.ends) - 1; n >= 0; n-- { // and up again from the axis
		c.ends[n].y = min(c.ends[n].y, most)
		most = c.ends[n].y - apart
	}
}

func (c *chart) entryWidth(s Series) length {
	return swatchWidth + swatchAir + c.faces.label.room(printable(s.Name))
}

func (c *chart) draw() ([]byte, error) {
	v := newCanvas(c.format, c.width, c.height)
	v.title(c.faces, c.title)
	name := margin + length(len(c.title))*c.faces.title.line() + c.faces.label.size()
	v.text(c.faces.label, margin, name, left, c.yName)
	for _, f := range c.facets {
		f.draw(v)
	}
	if c.facets == nil {
		c.drawAxes(v)
		c.drawCurves(v)
		c.drawEnds(v)
	}
	c.drawLegend(v, c.legendY)
	v.notes(c.faces, c.foot+5, c.notes)
	return v.bytes()
}

func (c *chart) drawAxes(v *canvas) {
	var grid, ticks vg.Path
	values := c.y.ticks()
	for _, y := range values[1:] {
		at := c.at(1, y).Y
		v.addLine(&grid, c.x0, at, c.x1, at)
	}
	v.stroke(grid, 0.4, gridGrey())
	v.addLine(&ticks, c.x0, c.y1, c.x1, c.y1)
	v.ink(black())
	for _, y := range values {
		at := c.at(1, y).Y
		v.textMiddle(c.faces.label, c.x0-tickLength-2, at, right, c.y.label(y))
	}
	below := c.y1 + tickLength + 2 + c.faces.label.size()
	for _, t := range c.x.ticks() {
		x := c.at(t.at, 1).X
		long := tickLength
		if t.label != "" {
			v.text(c.faces.label, x, below, centre, t.label)
		} else {
			long /= 2
		}
		v.addLine(&ticks, x, c.y1, x, c.y1+long)
	}
	v.stroke(ticks, 0.5, black())
	v.text(c.faces.label, (c.x0+c.x1)/2, below+c.faces.label.line(), centre, c.xName)
}

// drawCurves draws the curves: bounds above the lines that they bound, which they may cover, and
// markers on top of all.
func (c *chart) drawCurves(v *canvas) {
	for _, bounds := range [...]bool{false, true} {
		for _, s := range c.series {
			if s.Bound == bounds {
				c.drawLine(v, s)
			}
		}
	}
	for _, s := range c.series {
		if s.Bound {
			continue
		}
		var markers, spreads vg.Path
		for n := range s.Low {
			low, high := c.at(s.X[n], s.Low[n]), c.at(s.X[n], s.High[n])
			v.addLine(&spreads, low.X, low.Y, high.X, high.Y)
		}
		if len(s.Low) > 0 {
			v.stroke(spreads, 0.7, s.colour())
		}
		for n := range s.X {
			at := c.at(s.X[n], s.Y[n])
			v.addMarker(&markers, shapeOf(s.Look), at)
			v.hint(box{at.X - 4, at.Y - 4, at.X + 4, at.Y + 4}, fmt.Sprintf("%s, %s: %.4g", s.Name,
				c.x.name(s.X[n]), s.Y[n]))
		}
		v.fill(markers, s.colour())
	}
}

func (c *chart) drawLine(v *canvas, s Series) {
	var line vg.Path
	from := c.at(s.X[0], s.Y[0])
	line.Move(v.at(from.X, from.Y))
	for n := range s.X[1:] {
		to := c.at(s.X[n+1], s.Y[n+1])
		line.Line(v.at(to.X, to.Y))
	}
	if len(s.X) == 1 {
		if !s.Bound {
			return // its marker shows it
		}
		line = nil
		v.addLine(&line, from.X-10, from.Y, from.X+10, from.Y)
	}
	v.dashed(line, s.pen())
}

func (s Series) pen() pen {
	if s.faint {
		return pen{width: 0.6, paint: gridGrey()}
	}
	if s.Bound {
		return pen{width: 0.9, paint: captionGrey(), dashes: []length{4, 2.5}}
	}
	return pen{width: 1.2, paint: s.colour()}
}

// drawEnds writes the names at the curves' ends behind their markers. A thin line connects a name
// that was moved away.
func (c *chart) drawEnds(v *canvas) {
	for _, e := range c.ends {
		s, x := c.series[e.series], c.x1+endAir
		if moved := e.y - e.at.Y; moved > 1.5 || moved < -1.5 || e.at.X < c.x1-1 {
			var leader vg.Path
			v.addLine(&leader, e.at.X+4, e.at.Y, x-1.5, e.y)
			v.stroke(leader, 0.35, arrowGrey())
		}
		c.drawMark(v, s, box{x, e.y, x + markWidth, e.y})
		v.ink(black())
		v.textMiddle(c.faces.label, x+markAir, e.y, left, printable(s.Name))
	}
}

// drawMark draws the mark of a series on a line from left to right: its marker, or dashes for a
// bound.
func (c *chart) drawMark(v *canvas, s Series, b box) {
	if s.Bound {
		var dashes vg.Path
		v.addLine(&dashes, b.x0, b.y0, b.x1, b.y1)
		with := s.pen()
		with.dashes = []length{3, 2}
		v.dashed(dashes, with)
		return
	}
	var marker vg.Path
	v.addMarker(&marker, shapeOf(s.Look), vg.Point{X: (b.x0 + b.x1) / 2, Y: b.y0})
	v.fill(marker, s.colour())
}

func (c *chart) drawLegend(v *canvas, y length) {
	for l, line := range c.legend {
		x, middle := c.left, y+length(l)*legendLine+legendLine/2
		for _, s := range line {
			swatch := box{x, middle, x + swatchWidth, middle}
			if !s.Bound {
				var line vg.Path
				v.addLine(&line, swatch.x0, middle, swatch.x1, middle)
				v.stroke(line, s.pen().width, s.pen().paint)
			}
			c.drawMark(v, s, swatch)
			v.ink(black())
			v.textMiddle(c.faces.label, x+swatchWidth+swatchAir, middle, left, printable(s.Name))
			x += c.entryWidth(s) + entryAir
		}
	}
}
