package plots

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"
)

// entry is a part of the legend: a swatch and its meaning.
type entry struct {
	swatch swatch
	paint  int
	text   string
}

type swatch uint8

const (
	swatchKind swatch = iota
	swatchWaiting
	swatchArrow
	swatchEnd
	swatchPath
	swatchLow
	swatchLevel
	swatchNone
)

const (
	legendLine  length = 14
	swatchWidth length = 14
	swatchAir   length = 3  // to its text
	entryAir    length = 12 // to the next entry
)

func (p *picture) entries() []entry {
	var e []entry
	for _, k := range kinds() {
		if p.seen.kinds[k] {
			e = append(e, entry{swatchKind, int(k), lookOf(k).name})
		}
	}
	e = append(e, p.opEntries()...)
	if p.seen.low {
		e = append(e, entry{swatch: swatchLow, text: "barrier"})
	}
	if p.seen.levels {
		e = append(e, entry{swatch: swatchLevel, text: "share at work"})
	}
	if p.seen.waiting {
		e = append(e, entry{swatch: swatchWaiting, text: "waiting"})
	}
	if slices.ContainsFunc(p.panels, func(p *panel) bool { return len(p.messages) > 0 }) {
		e = append(e, entry{swatch: swatchArrow, text: "message"})
	}
	if slices.ContainsFunc(p.panels, func(p *panel) bool { return len(p.stretches) > 0 }) {
		e = append(e, entry{swatch: swatchPath, text: "critical path"})
	}
	if len(p.panels) > 1 {
		e = append(e, entry{swatch: swatchEnd, text: "end of a timeline"})
	}
	if numbers := p.seen.numbers(); numbers != "" {
		e = append(e, entry{swatch: swatchNone, text: numbers})
	}
	return e
}

// legendOps is the most operations that a legend explains; the bars have the names of others.
const legendOps = 24

// opEntries makes the entries of the operations that are visible.
func (p *picture) opEntries() (e []entry) {
	more := 0
	passes := map[string]bool{}
	for n, one := range p.ops {
		switch {
		case !p.seen.ops[n]:
		case one.turn != nil && !passes[one.turn.Pass]:
			passes[one.turn.Pass] = true
			e = append(e, entry{swatchKind, kindCount + n,
				one.turn.Pass + " (the number is the microbatch)"})
		case one.turn != nil:
		case len(e) == legendOps:
			more++
		default:
			e = append(e, entry{swatchKind, kindCount + n, printable(one.name)})
		}
	}
	if more > 0 {
		e = append(e, entry{swatch: swatchNone, text: fmt.Sprintf("and %d more", more)})
	}
	return e
}

func (p *picture) entryWidth(e entry) length {
	w := p.faces.label.room(e.text)
	if e.swatch != swatchNone {
		w += swatchWidth + swatchAir
	}
	return w
}

// wrapLegend breaks a legend into lines of at most a width. of returns the width of an entry,
// without the space to the next one.
func wrapLegend[E any](entries []E, width length, of func(E) length) [][]E {
	var lines [][]E
	var used length
	for _, e := range entries {
		w := of(e) + entryAir
		if n := len(lines) - 1; n >= 0 && used+w-entryAir <= width {
			lines[n] = append(lines[n], e)
			used += w
		} else {
			lines = append(lines, []E{e})
			used = w
		}
	}
	return lines
}

// drawLegend draws the legend below the axis, where it hides no bar.
func (p *picture) drawLegend(c *canvas, y length) {
	for n, line := range p.legend {
		x, middle := margin, y+length(n)*legendLine+legendLine/2
		for _, e := range line {
			textX := x
			if e.swatch != swatchNone {
				y0, y1 := middle-barHeight/2, middle+barHeight/2
				p.drawSwatch(c, e, box{x, y0, x + swatchWidth, y1})
				textX += swatchWidth + swatchAir
			}
			c.ink(black())
			c.textMiddle(p.faces.label, textX, middle, left, e.text)
			x += p.entryWidth(e) + entryAir
		}
	}
}

func (p *picture) drawSwatch(c *canvas, e entry, b box) {
	middle := (b.y0 + b.y1) / 2
	var area, head vg.Path
	switch e.swatch {
	case swatchKind:
		look := lookAs(e.paint, p.ops)
		c.addBox(&area, b)
		c.fill(area, look.fill)
		c.ink(look.ink)
		c.textMiddle(p.faces.small, (b.x0+b.x1)/2, middle, centre, look.letter)
	case swatchWaiting:
		c.addBox(&area, b)
		c.fill(area, waitingGrey())
	case swatchLow:
		c.addBox(&area, box{b.x0, middle - barHeight/4, b.x1, middle + barHeight/4})
		c.fill(area, levelGrey())
	case swatchLevel:
		c.addBox(&area, b)
		c.fill(area, roomGrey())
		area = nil
		c.addBox(&area, box{b.x0, middle, b.x1, b.y1})
		c.fill(area, levelGrey())
	case swatchEnd:
		c.addLine(&area, (b.x0+b.x1)/2, b.y0, (b.x0+b.x1)/2, b.y1)
		c.dashed(area, endPen())
	case swatchPath:
		c.addLine(&area, b.x0, middle, b.x1, middle)
		c.dashed(area, pathPen())
	case swatchArrow:
		c.addArrow(&area, &head, vg.Point{X: b.x0, Y: middle - 3}, vg.Point{X: b.x1, Y: middle + 3})
		c.stroke(area, 0.45, arrowGrey())
		c.fill(head, arrowGrey())
	}
}
