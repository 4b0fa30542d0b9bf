package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"collsim/unit"
)

// Series is a curve: Y[n] at the size X[n].
type Series struct {
	Name string
	// Group names what curves have in common, such as their network. Where there are facets, each
	// has the curves of a group under that heading, and their names are explained once. Elsewhere
	// the group is a part of the name. A bound with a group bounds the curves of that group.
	Group string
	X     []unit.Bytes // at least 1 B each, ascending
	Y     []float64    // as many, finite, at least 0

	// Low and High are the ends of a vertical line at each size, where Y stands for several values.
	// Both are as long as X, or empty.
	Low, High []float64

	// Look decides colour and marker. It is the series' place in an order that is the same for all
	// figures, such as that of all algorithms. So "ring" looks alike everywhere. Where curves of
	// several groups share an area, later ones of the same look get another marker.
	Look int
	// Bound marks a limit that no curve exceeds: a dashed line without markers; Look is not used.
	Bound bool

	faint  bool    // drawn in grey behind others
	shaded bool    // its colour is a shade, not that of its look
	shade  float64 // from 0, the lightest, to 1
}

// CurveOptions select how curves are drawn. The zero value is the default.
type CurveOptions struct {
	Title   string // above the curves; none if empty
	Caption string // below all: how to get this picture again (scenario, seed, version)
	YName   string // name and unit of Y; "": "busbw (GB/s)"
	YLog    bool   // Y is drawn on a logarithmic axis; it must be more than 0 then
	XName   string // what X counts, if not bytes: labels are plain numbers then; "": sizes in bytes
	Format  Format // of the file
	Figure  Figure // decides the size

	// XNames, if not nil, are the labels of X = 1, 2, …, evenly spaced, for things without a size.
	XNames  []string
	WidthMM float64 // if not 0: of the picture in mm, 60 to 1000, instead of the figure's
}

// labelledCurves is the most curves with names at their ends; more have a legend.
const labelledCurves = 6

// Curves draws series over a logarithmic axis of sizes (x) and a linear one from 0 (y). Each has a
// colour and a marker shape; a bound is a dashed line. Up to six curves are named at their right
// ends, more of them in a legend below.
//
// More than eight curves, or curves of equal colour and marker, are divided among facets with the
// same axes. Each facet shows the curves of the others in grey behind its own. Facets follow
// groups, if that makes at least one with at most eight curves each. Bounds of several groups are
// drawn in facets only.
//
// It returns an error if there is no series, or if one breaks the rules of its type. It also does
// if there are more than 120, or more than a slide has room for, or if an option is out of range.
func Curves(series []Series, o CurveOptions) (file []byte, err error) {
	f, err := newFrame(o.Format, o.Figure, o.WidthMM)
	if err != nil {
		return nil, err
	}
	if len(series) == 0 {
		return nil, errors.New("no series: at least one curve is expected")
	}
	for _, s := range series {
		err := s.check()
		least := s.Y
		if len(s.Low) > 0 {
			least = s.Low
		}
		at := slices.IndexFunc(least, func(y float64) bool { return y <= 0 })
		if o.YLog && err == nil && at >= 0 {
			err = fmt.Errorf("value %v at %v: more than 0 is expected on a logarithmic axis", least[at],
				s.X[at])
		}
		if err != nil {
			return nil, fmt.Errorf("series %q: %w", s.Name, err)
		}
		if names := len(o.XNames); o.XNames != nil && int64(s.X[len(s.X)-1]) > int64(names) {
			return nil, fmt.Errorf("series %q: x = %d: at most %d, the number of names, is expected",
				s.Name, s.X[len(s.X)-1], names)
		}
	}
	if o.YName == "" {
		o.YName = "busbw (GB/s)"
	}
	c := newChart(series, o, f)
	if err := c.split(); err != nil {
		return nil, err
	}
	if c.facets == nil {
		c.layOut()
	}
	return c.draw()
}

func (s Series) check() error {
	if len(s.X) != len(s.Y) || len(s.X) == 0 {
		return fmt.Errorf("%d sizes and %d values: as many of each, at least one, are expected",
			len(s.X), len(s.Y))
	}
	if len(s.Low) != len(s.High) || len(s.Low) != len(s.X) && len(s.Low) != 0 {
		return fmt.Errorf("%d low and %d high values of %d: as many of each, or none, are expected",
			len(s.Low), len(s.High), len(s.X))
	}
	if s.Look < 0 {
		return fmt.Errorf("look = %d: at least 0 is expected", s.Look)
	}
	for n, x := range s.X {
		if x < 1 {
			return fmt.Errorf("size %d B: at least 1 B is expected", x)
		}
		if n > 0 && s.X[n-1] >= x {
			return fmt.Errorf("size %d B follows %d B: ascending sizes are expected", x, s.X[n-1])
		}
		if y := s.Y[n]; !(y >= 0 && y <= math.MaxFloat32) {
			return fmt.Errorf("value %v at %v: a finite number of at least 0 is expected", y, x)
		}
		if len(s.Low) > 0 && !(0 <= s.Low[n] && s.Low[n] <= s.Y[n] && s.Y[n] <= s.High[n] &&
			s.High[n] <= math.MaxFloat32) {
			return fmt.Errorf("value %v at %v does not lie from %v to %v", s.Y[n], x, s.Low[n], s.High[n])
		}
	}
	return nil
}

// chart is a picture of curves and the layout of its parts.
type chart struct {
	frame
	faces  typefaces
	series []Series
	title  []string
	yName  string
	xName  string
	yLog   bool
	notes  []string
	ends   []end // names at the right ends, none with a legend
	legend [][]Series
	x      sizeAxis // of sizes
	y      valueAxis

	x0, x1, y0, y1 length // the area of the curves
	left           length // of the legend
	legendY        length // its top
	foot           length // top of the caption

	facets []*facet // if any, they have the areas, and the legends unless they share one
}

func newChart(series []Series, o CurveOptions, f frame) *chart {
	c := &chart{frame: f, faces: newTypefaces(f.format), series: series, left: margin}
	text := c.width - 2*margin
	c.title = c.faces.title.wrap(printable(o.Title), text)
	c.notes = c.faces.small.wrap(printable(o.Caption), text)
	c.yName, c.yLog = printable(o.YName), o.YLog
	if c.xName = "size"; o.XName != "" {
		c.xName = printable(o.XName)
	}
	c.x.plain, c.x.names = o.XName != "", o.XNames
	return c
}

// Sizes of a chart, in points.
const (
	areaShape         = 0.5 // height of the curves' area as a share of its width
	areaLeast  length = 120
	sizeApart  length = 46 // least distance between the middles of two labels of sizes
	valueApart length = 17
	markWidth  length = 8
	markAir    length = 11 // from the left of a mark to its name
	endAir     length = 7  // between a curve's end and the mark of its name
	topAir     length = 6  // above the highest value
)

// layOut computes the area of the curves: the room that titles, axes, names, legend and caption
// leave.
func (c *chart) layOut() {
	above := margin + length(len(c.title))*c.faces.title.line() + c.faces.label.line() + topAir
	c.x1 = c.width - margin - 12 // half a label of the x axis
	if names := c.namesWidth(); names > 0 {
		c.x1 = c.width - margin - names - endAir
	} else {
		c.legend = wrapLegend(c.series, c.width-2*margin, c.entryWidth)
	}
	below := 2*c.faces.label.line() + tickLength + 5 + length(len(c.legend))*legendLine + margin - 3
	if len(c.notes) > 0 {
		below += 5 + length(len(c.notes))*c.faces.small.line()
	}
	tall := max(areaLeast, length(areaShape)*(c.x1-margin-20))
	if c.height > 0 {
		tall = max(areaLeast/2, c.height-above-below)
	}
	c.x0 = margin + c.measure(tall) + tickLength + 3
	c.x = newSizeAxis(c.series, c.x, max(1, int((c.x1-c.x0)/sizeApart)))
	c.y0, c.y1 = above, above+tall
	c.legendY = c.y1 + tickLength + 5 + 2*c.faces.label.line()
	c.foot = c.legendY + length(len(c.legend))*legendLine
	c.height = max(c.height, c.y1+below)
	c.placeEnds()
}

// measure chooses the axis of values for an area of a height, and returns the width of its labels.
func (c *chart) measure(tall length) (labels length) {
	lowest, highest := math.MaxFloat64, 0.0
	for _, s := range c.series {
		lowest, highest = min(lowest, slices.Min(s.Y)), max(highest, slices.Max(s.Y))
		if len(s.Low) > 0 {
			lowest, highest = min(lowest, slices.Min(s.Low)), max(highest, slices.Max(s.High))
		}
	}
	c.y = newValueAxis(highest, max(2, int(tall/valueApart)))
	if c.yLog {
		c.y = newLogAxis(lowest, highest)
	}
	for _, v := range c.y.ticks() {
		labels = max(labels, c.faces.label.room(c.y.label(v)))
	}
	return labels
}

func (c *chart) at(x unit.Bytes, y float64) vg.Point {
	across := c.x.across(x)
	up := c.y.up(y)
	return vg.Point{
		X: c.x0 + length(across*float64(c.x1-c.x0)),
		Y: c.y1 - length(up*float64(c.y1-c.y0)),
	}
}
