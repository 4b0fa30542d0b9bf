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
	c.ink(black())
	for n, line := range p.title {
		c.text(p.faces.title, margin, margin+length(n)*p.faces.title.line()+8, left, line)
	}
	p.drawAxis(c)
	p.drawLabels(c)
	p.drawWaiting(c)
	p.drawMessages(c)
	for n := range p.rows {
		p.drawBars(c, n)
	}
	if len(p.trace.Intervals) == 0 {
		c.ink(captionGrey())
		c.textMiddle(p.faces.label, (p.x0+p.x1)/2, (p.y0+p.y1)/2, centre, "no steps")
	}
	y := p.y1 + axisHeight
	p.drawLegend(c, y)
	y += length(len(p.legend))*legendLine + 3
	c.ink(captionGrey())
	for _, line := range p.notes {
		c.text(p.faces.small, margin, y+p.faces.small.size(), left, line)
		y += p.faces.small.line()
	}
	return c.bytes()
}

// drawAxis draws the time axis below the rows, and faint lines up from its ticks.
func (p *picture) drawAxis(c *canvas) {
	var grid, ticks vg.Path
	for _, t := range p.axis.ticks() {
		c.addLine(&grid, p.x(t), p.y0, p.x(t), p.y1)
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

func (p *picture) drawLabels(c *canvas) {
	for n, r := range p.rows {
		c.ink(black())
		if r.rank != "" {
			c.textMiddle(p.faces.label, margin, p.middle[n], left, r.rank)
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

// drawWaiting greys the time from the end of a lane's step to the start of its next.
func (p *picture) drawWaiting(c *canvas) {
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

func (p *picture) barBox(row int, x0, x1 length) box {
	return box{x0, p.middle[row] - p.bar/2, x1, p.middle[row] + p.bar/2}
}

// drawBars draws the bars of a row kind by kind, narrow ones last: they would be hidden.
func (p *picture) drawBars(c *canvas, row int) {
	var wide, narrow [6]vg.Path
	for _, b := range p.bars[row] {
		if width := b.x1 - b.x0; width > barLeast {
			c.addBox(&wide[b.kind], p.barBox(row, b.x0, b.x1-min(barAir, width/5)))
		} else {
			c.addBox(&narrow[b.kind], p.barBox(row, b.x0, b.x1))
		}
	}
	for _, k := range kinds() {
		c.fill(wide[k], lookOf(k).fill)
	}
	for _, k := range kinds() {
		c.fill(narrow[k], lookOf(k).fill)
	}
	for _, b := range p.bars[row] {
		if b.label != "" {
			c.ink(lookOf(b.kind).ink)
			c.textMiddle(p.faces.small, (b.x0+b.x1-barAir)/2, p.middle[row], centre, b.label)
		}
	}
}
