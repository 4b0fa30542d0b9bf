package plots

import (
	"fmt"
	"slices"
)

// Each facet shows some of the curves in their colours and the others in grey behind them. So a
// reader sees where these stand among all. All facets have the same axes.
const (
	facetMost          = 8   // curves in a picture without facets
	facetCurves        = 5   // curves in a facet
	curvesMost         = 120 // in a picture
	facetShape         = 0.5 // height of a facet's area as a share of its width
	facetLeast  length = 48  // height of a facet's area, on a slide
	facetAir    length = 14  // between facets
	facetsWide  length = 300 // a picture so wide has two columns of them
)

// facet is a part of a chart with a few of its curves.
type facet struct {
	chart
	heading []string // of its group; none if it has none
	behind  []Series // of the others, in grey
}

// facets divides curves among facets, in their order. No two curves of a facet have the same colour
// and marker, since a reader could not distinguish them.
func facets(series []Series) (groups [][]Series, bounds []Series) {
	type look struct{ colour, shape int }
	taken := map[look]bool{}
	curves := 0
	for _, s := range series {
		if s.Bound {
			bounds = append(bounds, s)
			continue
		}
		curves++
		l := look{s.Look % lookCount, shapeOf(s.Look)}
		if n := len(groups); n == 0 || taken[l] || len(groups[n-1]) == facetCurves {
			groups = append(groups, nil)
			clear(taken)
		}
		taken[l] = true
		groups[len(groups)-1] = append(groups[len(groups)-1], s)
	}
	if curves <= facetMost {
		all := map[look]bool{}
		for _, g := range groups {
			for _, s := range g {
				all[look{s.Look % lookCount, shapeOf(s.Look)}] = true
			}
		}
		if len(all) == curves {
			return nil, bounds // one area is enough
		}
	}
	return groups, bounds
}

// split divides a chart into facets if one area cannot show its curves distinctly. It returns an
// error if there are more facets than there is room for.
func (c *chart) split() error {
	parts := grouped(c.series)
	if parts == nil {
		c.ungroup()
		groups, bounds := facets(c.series)
		for _, g := range groups {
			parts = append(parts, group{series: g, bounds: bounds})
		}
	}
	if parts == nil {
		return nil
	}
	if len(c.series) > curvesMost {
		return fmt.Errorf("%d curves: at most %d can be told apart: fewer, or more pictures, are "+
			"expected", len(c.series), curvesMost)
	}
	columns := 1
	if c.width >= facetsWide {
		columns = 2
	}
	wide := (c.width - 2*margin - length(columns-1)*facetAir) / length(columns)
	for n, part := range parts {
		f := &facet{chart: *c, heading: c.faces.heading.wrap(printable(part.heading), wide)}
		f.series = slices.Concat(part.series, part.bounds)
		for other, p := range parts {
			if other != n {
				f.behind = append(f.behind, p.series...)
			}
		}
		f.left = margin + length(n%columns)*(wide+facetAir)
		if part.heading == "" {
			f.legend = wrapLegend(f.series, wide, c.entryWidth)
		}
		c.facets = append(c.facets, f)
	}
	if parts[0].heading != "" {
		c.legend = wrapLegend(explained(parts), c.width-2*margin, c.entryWidth)
	}
	return c.placeFacets(columns, wide)
}

// around is the room of a row of facets above its areas, for headings, and below them, for legends.
type around struct{ above, below length }

// rowsOf returns the rows of facets, with so many facets each.
func (c *chart) rowsOf(columns int) (rows []around) {
	for n, f := range c.facets {
		if n%columns == 0 {
			rows = append(rows, around{})
		}
		row := &rows[len(rows)-1]
		if lines := len(f.heading); lines > 0 {
			row.above = max(row.above, length(lines)*c.faces.heading.line()+headingAir)
		}
		row.below = max(row.below, axisHeight+length(len(f.legend))*legendLine)
	}
	return rows
}

// placeFacets places facets row by row. Headings and legends decide the distance of the rows.
func (c *chart) placeFacets(columns int, wide length) error {
	y := margin + length(len(c.title))*c.faces.title.line() + c.faces.label.line() + topAir
	notes := margin - 3 + length(len(c.legend))*legendLine
	if len(c.notes) > 0 {
		notes += 5 + length(len(c.notes))*c.faces.small.line()
	}
	around := c.rowsOf(columns)
	below := length(0)
	for _, row := range around {
		below += row.above + row.below
	}
	rows := length(len(around))
	tall := length(facetShape) * wide
	if c.height > 0 {
		tall = (c.height-y-notes-below)/rows - facetAir
	}
	if tall < facetLeast {
		return fmt.Errorf("%d curves have no room on a picture of this height: fewer, or a page, are "+
			"expected", len(c.series))
	}
	labels := c.measure(tall)
	for n, f := range c.facets {
		row := around[n/columns]
		f.x0 = f.left + labels + tickLength + 3
		f.x1 = f.left + wide - 12
		f.y0, f.y1 = y+row.above, y+row.above+tall
		f.y = c.y
		f.x = newSizeAxis(c.series, c.x, max(1, int((f.x1-f.x0)/sizeApart)))
		if n%columns == columns-1 || n == len(c.facets)-1 {
			y += row.above + tall + row.below + facetAir
		}
	}
	c.legendY = y - facetAir
	c.foot = c.legendY + length(len(c.legend))*legendLine
	c.height = max(c.height, c.legendY+notes)
	return nil
}

// draw draws a facet: the others' curves, its own, and its legend.
func (f *facet) draw(v *canvas) {
	f.drawAxes(v)
	v.ink(black())
	for n, line := range f.heading {
		y := f.y0 - topAir - length(len(f.heading)-1-n)*f.faces.heading.line()
		v.text(f.faces.heading, f.left, y, left, line)
	}
	for _, s := range f.behind {
		s.faint = true
		f.drawLine(v, s)
	}
	f.drawCurves(v)
	f.drawLegend(v, f.y1+axisHeight)
}
