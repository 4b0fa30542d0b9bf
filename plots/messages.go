package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"collsim/trace"
)

// Arrows that are too close hide each other and the bars. These are the least distances, in points,
// where arrows cross from row to row: on average, and to the next one of the same direction.
const (
	arrowsApart length = 7
	arrowsClose length = 2.5
)

// makeMessages collects the messages to draw. If those of one timeline would not be readable it
// draws none in any, so that timelines can be compared. It returns the number of messages that are
// therefore not drawn.
func (p *picture) makeMessages() (hidden int) {
	readable := true
	for _, panel := range p.panels {
		panel.messages = panel.visibleMessages()
		hidden += len(panel.messages)
		readable = readable && panel.readable()
	}
	if readable {
		return 0
	}
	for _, panel := range p.panels {
		panel.messages = nil
	}
	return hidden
}

// visibleMessages returns the messages whose two ends are both in the picture.
func (p *panel) visibleMessages() []trace.Message {
	rowOf := p.rowOf()
	var visible []trace.Message
	if slices.ContainsFunc(p.rows, func(r row) bool {
		return r.alike != nil || r.lanes != nil
	}) {
		return nil // those of one are not those of all that it stands for
	}
	for _, m := range p.trace.Messages {
		if rowOf[m.From] >= 0 && rowOf[m.To] >= 0 && m.From != m.To {
			visible = append(visible, m)
		}
	}
	return visible
}

// rowOf returns the row of each track, −1 for one that is left out.
func (p *panel) rowOf() []int {
	rowOf := slices.Repeat([]int{-1}, len(p.trace.Tracks))
	for n, r := range p.rows {
		rowOf[r.track] = n
	}
	return rowOf
}

// readable reports whether messages can be drawn as arrows: few of them on average, and at most one
// in ten close to the next. A message counts in every gap between rows that it crosses.
func (p *panel) readable() bool {
	if len(p.messages) == 0 {
		return true
	}
	rowOf := p.rowOf()
	crossings := 0
	for _, m := range p.messages {
		crossings += max(rowOf[m.To]-rowOf[m.From], rowOf[m.From]-rowOf[m.To])
	}
	gaps := length(len(p.rows) - 1)
	if length(crossings)*arrowsApart > gaps*(p.x1-p.x0) {
		return false
	}
	down := make([][]length, len(p.rows)) // x of the arrows through the gap below each row
	up := make([][]length, len(p.rows))
	for _, m := range p.messages {
		first, last, through := rowOf[m.From], rowOf[m.To], down
		x, slope := p.x(m.Sent), p.x(m.Arrived)-p.x(m.Sent)
		if first > last {
			first, last, through = last, first, up
			x, slope = p.x(m.Arrived), -slope
		}
		slope /= length(last - first)
		for row := first; row < last; row++ {
			through[row] = append(through[row], x+length((float64(row-first)+0.5)*float64(slope)))
		}
	}
	tight := 0
	for _, xs := range slices.Concat(down, up) {
		slices.Sort(xs)
		for n := 1; n < len(xs); n++ {
			if xs[n]-xs[n-1] < arrowsClose {
				tight++
			}
		}
	}
	return tight*10 <= crossings
}

// drawMessages draws an arrow for each message, from the sender's row at the time it was sent to
// the receiver's at the time it arrived.
func (p *panel) drawMessages(c *canvas) {
	rowOf := p.rowOf()
	var lines, heads vg.Path
	for _, m := range p.messages {
		from, to := p.middle[rowOf[m.From]], p.middle[rowOf[m.To]]
		down := length(math.Copysign(1, float64(to-from)))
		from += down * p.bar / 2
		to -= down * p.bar / 2
		c.addArrow(&lines, &heads,
			vg.Point{X: p.x(m.Sent), Y: from}, vg.Point{X: p.x(m.Arrived), Y: to})
	}
	c.stroke(lines, 0.45, arrowGrey())
	c.fill(heads, arrowGrey())
}

// addArrow adds an arrow to the path of lines and the path of heads.
func (c *canvas) addArrow(lines, heads *vg.Path, from, to vg.Point) {
	const long, wide = 3.2, 1.1
	dx, dy := float64(to.X-from.X), float64(to.Y-from.Y)
	far := hypot(dx, dy)
	if far == 0 {
		return
	}
	baseX, baseY := to.X-length(long/far*dx), to.Y-length(long/far*dy)
	sideX, sideY := length(wide/far*dy), length(wide/far*dx)
	c.addLine(lines, from.X, from.Y, baseX, baseY)
	heads.Move(c.at(to.X, to.Y))
	heads.Line(c.at(baseX-sideX, baseY+sideY))
	heads.Line(c.at(baseX+sideX, baseY-sideY))
	heads.Close()
}
