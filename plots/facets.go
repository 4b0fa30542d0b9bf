package plots

import (
	"fmt"
	"slices"
)

// Of many curves each facet has some, in their colours; the others are behind them in grey, so that
// one sees where these stand among all. The axes are those of all curves.
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
	behind []Series // of the others, in grey
}

// facets shares out curves in their order. None has a colour and marker that another one beside it
// has: that would repeat what tells them apart.
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
			return nil, bounds // they need no facets
		}
	}
	return groups, bounds
}

// split lays a chart out in facets if it has more curves, or other ones, than one area can tell
// apart. It returns an error if there are more than facets have room for.
func (c *chart) split() error {
	groups, bounds := facets(c.series)
	if groups == nil {
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
	for n, group := range groups {
		f := &facet{chart: *c}
		f.series = slices.Concat(group, bounds)
		for other, g := range groups {
			if other != n {
				f.behind = append(f.behind, g...)
			}
		}
		f.left = margin + length(n%columns)*(wide+facetAir)
		f.legend = wrapLegend(f.series, wide, c.entryWidth)
		c.facets = append(c.facets, f)
	}
	return c.placeFacets(columns, wide)
}

// placeFacets places facets row by row, whose legends decide how far apart the rows are.
func (c *chart) placeFacets(columns int, wide length) error {
	y := margin + length(len(c.title))*c.faces.title.line() + c.faces.label.line() + topAir
	notes := margin - 3
	if len(c.notes) > 0 {
		notes += 5 + length(len(c.notes))*c.faces.small.line()
	}
	var legends []int // lines of the longest legend of each row
	below := length(0)
	for from := 0; from < len(c.facets); from += columns {
		most := 0
		for _, f := range c.facets[from:min(from+columns, len(c.facets))] {
			most = max(most, len(f.legend))
		}
		legends = append(legends, most)
		below += axisHeight + length(most)*legendLine
	}
	rows := length(len(legends))
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
		f.x0 = f.left + labels + tickLength + 3
		f.x1 = f.left + wide - 12
		f.y0, f.y1 = y, y+tall
		f.y = c.y
		f.x = newSizeAxis(c.series, c.x, max(1, int((f.x1-f.x0)/sizeApart)))
		if n%columns == columns-1 || n == len(c.facets)-1 {
			y += tall + axisHeight + length(legends[n/columns])*legendLine + facetAir
		}
	}
	c.foot = y - facetAir
	c.height = max(c.height, c.foot+notes)
	return nil
}

// draw draws a facet: the others' curves, its own, and which these are.
func (f *facet) draw(v *canvas) {
	f.drawAxes(v)
	for _, s := range f.behind {
		s.faint = true
		f.drawLine(v, s)
	}
	f.drawCurves(v)
	f.drawLegend(v, f.y1+axisHeight)
}
