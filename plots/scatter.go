package plots

import (
	"errors"
	"fmt"

	"collsim/unit"
)

// ScatterPoint is the measured and the simulated time of one run.
type ScatterPoint struct {
	Measured, Simulated unit.Time // more than 0

	// Spread is the spread of the measurement's repetitions: the length of a horizontal bar,
	// centred on the point. 0: none.
	Spread unit.Time
}

// ScatterSeries holds the points of one colour and marker, such as those of an algorithm.
type ScatterSeries struct {
	Name   string
	Points []ScatterPoint // at least one
	Look   int            // decides colour and marker, as that of a Series
}

// ScatterOptions select how a scatter plot is drawn. The zero value is the default.
type ScatterOptions struct {
	Title   string  // above the points; none if empty
	Caption string  // below all: how to get this picture again (scenario, seed, version)
	Format  Format  // of the file
	Figure  Figure  // decides the size
	WidthMM float64 // if not 0: of the picture in mm, 60 to 1000, instead of the figure's

	// Tolerance, if not 0, is the largest accepted error of a simulated time: a band along the
	// diagonal.
	Tolerance unit.Share
}

// Scatter draws simulated times (y) over measured ones (x). Both axes are logarithmic and have the
// same range. So the diagonal, which is drawn, has equal times, and an error of so many percent has
// the same distance from it everywhere. Each series has a colour and a marker shape. A legend
// stands beside the points, or below them where there is more room.
//
// It returns an error if there is no series, if one breaks the rules of its type, or if an option
// is out of range. A time of 0 has no place on a logarithmic axis.
func Scatter(series []ScatterSeries, o ScatterOptions) (file []byte, err error) {
	f, err := newFrame(o.Format, o.Figure, o.WidthMM)
	if err != nil {
		return nil, err
	}
	if o.Tolerance < 0 {
		return nil, fmt.Errorf("tolerance = -%v: at least 0 %% is expected", -o.Tolerance)
	}
	if len(series) == 0 {
		return nil, errors.New("no series: at least one point is expected")
	}
	for _, s := range series {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("series %q: %w", s.Name, err)
		}
	}
	s := newScatter(series, o, f)
	s.layOut()
	return s.draw()
}

func (s ScatterSeries) check() error {
	if len(s.Points) == 0 {
		return errors.New("no points: at least one is expected")
	}
	if s.Look < 0 {
		return fmt.Errorf("look = %d: at least 0 is expected", s.Look)
	}
	for n, p := range s.Points {
		if p.Measured <= 0 || p.Simulated <= 0 {
			return fmt.Errorf("point %d: measured %v, simulated %v: more than 0 is expected on a "+
				"logarithmic axis", n, p.Measured, p.Simulated)
		}
		if p.Spread < 0 {
			return fmt.Errorf("point %d: spread %v: at least 0 is expected", n, p.Spread)
		}
	}
	return nil
}

// ends returns the ends of the bar of a point's spread, in picoseconds. The lower one may be below
// 0.
func (p ScatterPoint) ends() (low, high float64) {
	half := float64(p.Spread) / 2
	return float64(p.Measured) - half, float64(p.Measured) + half
}

// scatter is a scatter plot and the layout of its parts.
type scatter struct {
	frame
	faces  typefaces
	series []ScatterSeries
	band   unit.Share
	title  []string
	notes  []string
	axis   timeAxis // across and up

	key    []key   // all of the legend
	legend [][]key // its lines
	beside bool    // right of the points, not below them

	x0, x1, y0, y1          length // the square of the points
	legendX, legendY, pitch length // top left of the legend; distance of its lines
	foot                    length // top of the notes
}

// key is an entry of the legend: that of a series, or another.
type key struct {
	what   keyKind
	series int
	text   string
}

type keyKind uint8

const (
	keySeries keyKind = iota
	keySpread
	keyEqual
	keyBand
)

func newScatter(series []ScatterSeries, o ScatterOptions, f frame) *scatter {
	s := &scatter{frame: f, faces: newTypefaces(f.format), series: series, band: o.Tolerance}
	text := s.width - 2*margin
	s.title = s.faces.title.wrap(printable(o.Title), text)
	s.notes = s.faces.small.wrap(printable(o.Caption), text)
	first := float64(series[0].Points[0].Measured)
	least, largest, spread := first, first, false
	for n, of := range series {
		s.key = append(s.key, key{keySeries, n, printable(of.Name)})
		for _, p := range of.Points {
			// A bar that reaches down to almost 0 must not stretch the axis: it is cut off.
			low, high := p.ends()
			low = max(low, float64(p.Measured)/2)
			least = min(least, low, float64(p.Simulated))
			largest = max(largest, high, float64(p.Simulated))
			spread = spread || p.Spread > 0
		}
	}
	if spread {
		s.key = append(s.key, key{what: keySpread, text: "spread of the measured time"})
	}
	s.key = append(s.key, key{what: keyEqual, text: "equal"})
	if s.band > 0 {
		s.key = append(s.key, key{what: keyBand, text: fmt.Sprintf("within ± %v", s.band)})
	}
	s.axis = newTimeAxis(least, largest)
	return s
}

// Sizes of a scatter plot, in points.
const (
	squareMost  length = 320 // a page needs no larger one
	squareLeast length = 60
	besideAir   length = 16 // between the points and a legend beside them
)

// layOut computes the square of the points: the room that titles, axis labels, legend and caption
// leave. The legend stands beside the square if that leaves about as much room and it is not too
// long. A picture of given height grows for a legend that is too long.
func (s *scatter) layOut() {
	label := s.axis.labelWidth(s.faces.label)
	s.x0 = margin + label + tickLength + 3
	s.y0 = margin + length(len(s.title))*s.faces.title.line() + s.faces.label.line() + topAir
	axis, under := 2*s.faces.label.line()+tickLength+5, margin-3
	if len(s.notes) > 0 {
		under += 5 + length(len(s.notes))*s.faces.small.line()
	}
	widest := length(0)
	var column [][]key
	for _, k := range s.key {
		column = append(column, []key{k})
		widest = max(widest, s.keyWidth(k))
	}
	lines := wrapLegend(s.key, s.width-2*margin, s.keyWidth)
	below := s.square(label/2+2, axis+length(len(lines))*legendLine+under)
	beside := s.square(besideAir+widest, axis+under)
	least := s.faces.label.line()
	s.pitch = max(least, min(legendLine, (beside+axis)/length(len(column))))
	fits := length(len(column))*s.pitch <= beside+axis+0.01
	if s.beside = beside >= below*3/4 && (fits || s.height > 0); s.beside {
		s.legend, s.legendX, s.legendY = column, s.x0+max(beside, squareLeast)+besideAir, s.y0
		below = beside
	}
	side := max(below, squareLeast)
	s.x1, s.y1 = s.x0+side, s.y0+side
	if !s.beside {
		s.legend, s.pitch, s.legendX, s.legendY = lines, legendLine, margin, s.y1+axis
	}
	s.foot = max(s.y1+axis, s.legendY+length(len(s.legend))*s.pitch)
	s.height = max(s.height, s.foot+under)
	s.axis.label(side, label)
}

// square returns the side of the square that leaves so much room right of it and below it.
func (s *scatter) square(rightOf, under length) length {
	side := min(squareMost, s.width-margin-s.x0-rightOf)
	if s.height > 0 {
		side = min(s.width-margin-s.x0-rightOf, s.height-s.y0-under)
	}
	return side
}

func (s *scatter) keyWidth(k key) length {
	return swatchWidth + swatchAir + s.faces.label.room(k.text)
}
