package page

import (
	"math"

	"collsim/plots"
)

// curvesData has the curves of a chart for the script.
type curvesData struct {
	X      string       `json:"x"`     // what the axis has
	Plain  bool         `json:"plain"` // x counts no bytes
	Names  []string     `json:"names,omitempty"`
	Y      string       `json:"y"`
	Series []seriesData `json:"series"`
}

type seriesData struct {
	Name  string    `json:"name"`
	Group string    `json:"group,omitempty"`
	Look  int       `json:"look"`
	Bound bool      `json:"bound,omitempty"`
	Shade *float64  `json:"shade,omitempty"` // in place of the look's colour
	X     []int64   `json:"x"`
	Y     []float64 `json:"y"`
}

func (c *Curves) data() *curvesData {
	d := &curvesData{X: c.Options.XName, Plain: c.Options.XName != "", Names: c.Options.XNames,
		Y: c.Options.YName}
	if d.X == "" {
		d.X = "size"
	}
	if d.Y == "" {
		d.Y = "busbw (GB/s)"
	}
	shades := plots.Shades(c.Series)
	for n, s := range c.Series {
		one := seriesData{Name: s.Name, Group: s.Group, Look: s.Look, Bound: s.Bound}
		if shades != nil && !s.Bound {
			one.Shade = &shades[n]
		}
		for i, x := range s.X {
			one.X, one.Y = append(one.X, int64(x)), append(one.Y, digits(s.Y[i]))
		}
		d.Series = append(d.Series, one)
	}
	return d
}

// digits rounds a figure to six digits, which is more than a screen shows.
func digits(y float64) float64 {
	if y == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(y))))
	return math.Round(y*scale) / scale
}
