package plots

import (
	"gonum.org/v1/plot/vg"
)

const (
	axisHeight length = 27 // ticks, their labels, and some air
	tickLength length = 3
	barAir     length = 0.5 // between two bars that touch in time
)

func (p *picture) draw() ([]byte, error) {
	c := newCanvas(p.format, p.width, p.height)
	c.title(p.faces, p.title)
	p.drawAxis(c)
	for _, panel := range p.panels {
		panel.draw(c)
	}
	y := p.y1 + axisHeight
	p.drawLegend(c, y)
	c.notes(p.faces, y+length(len(p.legend))*legendLine+3, p.notes)
	return c.bytes()
}

// draw draws a timeline without the axis and the legend, which all timelines share.
func (p *panel) draw(c *canvas) {
	p.drawHeading(c)
	p.drawLabels(c)
	p.drawLevels(c)
	p.drawWaiting(c)
	p.drawEnds(c)
	p.drawMessages(c)
	for n := range p.rows {
		p.drawBars(c, n)
	}
	p.drawPath(c)
	if len(p.trace.Intervals) == 0 {
		c.ink(captionGrey())
		c.textMiddle(p.faces.label, (p.x0+p.x1)/2, (p.y0+p.y1)/2, centre, "no steps")
	}
}

func (p *panel) drawHeading(c *canvas) {
	c.ink(black())
	below := length(len(p.heading)-1)*p.faces.heading.line() + headingAir
	for n, line := range p.heading {
		y := p.y0 - below + length(n)*p.faces.heading.line()
		c.text(p.faces.heading, margin, y, left, line)
	}
}

// drawEnds draws a dashed line where time is left out, and one where each other timeline ends. So a
// reader sees how far this one is by then. Bars and their labels are above the lines.
func (p *panel) drawEnds(c *canvas) {
	var ends vg.Path
	for _, cut := range p.of.cuts {
		x := p.x(cut)
		c.addLine(&ends, x, p.y0, x, p.y1)
	}
	for _, other := range p.panels {
		if len(p.panels) > 1 {
			x := p.x(other.trace.End)
			c.addLine(&ends, x, p.y0, x, p.y1)
		}
	}
	c.dashed(ends, endPen())
}

func endPen() pen { return pen{width: 0.7, paint: black(), dashes: []length{3, 2}} }

// drawAxis draws the time axis below all rows, and faint lines from its ticks behind them.
func (p *picture) drawAxis(c *canvas) {
	var grid, ticks vg.Path
	for _, t := range p.axis.ticks() {
		for _, panel := range p.panels {
			c.addLine(&grid, p.x(t), panel.y0, p.x(t), panel.y1)
		}
		c.addLine(&ticks, p.x(t), p.y1, p.x(t), p.y1+tickLength)
	}
	c.stroke(grid, 0.4, gridGrey())
	c.addLine(&ticks, p.x0, p.y1, p.x1, p.y1)
	c.stroke(ticks, 0.5, black())
	c.ink(black())
	y := p.y1 + tickLength + 2 + p.faces.label.size()
	for _, t := range p.axis.ticks() {
		c.text(p.faces.label, p.x(t), y, centre, p.axis.label(t))
	}
	c.text(p.faces.label, p.x0-timeAir, y, right, "time ("+p.axis.scale.name+")")
}

func (p *panel) drawLabels(c *canvas) {
	p.drawNodes(c)
	for n, r := range p.rows {
		c.ink(black())
		if r.rank != "" {
			c.textMiddle(p.faces.label, p.rankX, p.middle[n], left, r.rank)
		}
		if r.lane != "" {
			c.ink(captionGrey())
			c.textMiddle(p.faces.small, p.laneX, p.middle[n], left, printable(r.lane))
		}
		if r.gap {
			var dots vg.Path
			x, y := margin+8, p.middle[n]-p.pitch/2-omitGap/2
			for _, dy := range [...]length{-3, 0, 3} {
				c.addBox(&dots, box{x - 0.6, y + dy - 0.6, x + 0.6, y + dy + 0.6})
			}
			c.fill(dots, captionGrey())
		}
	}
}

// drawNodes names the nodes of a cluster left of their ranks, beside a line along these.
func (p *panel) drawNodes(c *canvas) {
	var lines vg.Path
	for n, r := range p.rows {
		if r.node == "" {
			continue
		}
		last := n
		for last+1 < len(p.rows) && p.rows[last+1].inner {
			last++
		}
		c.ink(black())
		c.textMiddle(p.faces.label, margin, p.middle[n], left, r.node)
		x := p.rankX - labelAir/2
		c.addLine(&lines, x, p.middle[n]-p.bar/2, x, p.middle[last]+p.bar/2)
	}
	c.stroke(lines, 0.7, captionGrey())
}

// drawWaiting fills the time from the end of a lane's step to the start of its next with grey.
func (p *panel) drawWaiting(c *canvas) {
	var grey vg.Path
	for n, r := range p.rows {
		for _, i := range p.trace.On(r.track) {
			if x0, x1 := p.x(i.Ready), p.x(i.Start); x1-x0 >= barLeast {
				c.addBox(&grey, p.barBox(n, x0, x1))
			}
		}
	}
	c.fill(grey, waitingGrey())
}

func (p *panel) barBox(row int, x0, x1 length) box {
	return box{x0, p.middle[row] - p.bar/2, x1, p.middle[row] + p.bar/2}
}

// drawLevels draws the busy share before the whole.
func (p *panel) drawLevels(c *canvas) {
	var room, used vg.Path
	for n, r := range p.rows {
		if p.of.content(r.track) != ofLevels {
			continue
		}
		c.addBox(&room, p.barBox(n, p.x0, p.x(p.trace.End)))
		for _, l := range p.levels[n] {
			b := p.barBox(n, l.x0, l.x1)
			b.y0 = b.y1 - length(l.share)*(b.y1-b.y0)
			c.addBox(&used, b)
		}
	}
	c.fill(room, roomGrey())
	c.fill(used, levelGrey())
}

// drawBars draws the bars of a row by their looks. Narrow ones come last, since others would hide
// them.
func (p *panel) drawBars(c *canvas, row int) {
	looks := kindCount + len(p.ops)
	wide, narrow := make([]vg.Path, looks), make([]vg.Path, looks)
	for _, b := range p.bars[row] {
		width := b.x1 - b.x0
		area, to := p.barBox(row, b.x0, b.x1), &narrow[b.paint]
		if width > barLeast {
			area.x1, to = b.x1-min(barAir, width/5), &wide[b.paint]
		}
		if b.low {
			quarter := (area.y1 - area.y0) / 4
			area.y0, area.y1 = area.y0+quarter, area.y1-quarter
		}
		c.addBox(to, area)
		c.hint(area, b.hint)
	}
	for k := range wide {
		c.fill(wide[k], lookAs(k, p.ops).fill)
	}
	for k := range narrow {
		c.fill(narrow[k], lookAs(k, p.ops).fill)
	}
	for _, b := range p.bars[row] {
		if b.label != "" {
			c.ink(lookAs(b.paint, p.ops).ink)
			c.textMiddle(p.faces.small, (b.x0+b.x1-barAir)/2, p.middle[row], centre, b.label)
		}
	}
}
