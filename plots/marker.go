package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// lookCount is the number of colours and of marker shapes.
const lookCount = 8

// curveColour returns the colour of a look: Okabe and Ito's without their yellow, which does not
// show on white, and with a grey.
func curveColour(look int) color.RGBA {
	return rgb([lookCount]uint32{0x0072B2, 0xE69F00, 0x009E73, 0xD55E00, 0x56B4E9, 0xCC79A7,
		0x000000, 0x999999}[look%lookCount])
}

// shapeOf returns the marker shape of a look. The second eight looks have the same colours with
// other shapes, so that 64 looks differ.
func shapeOf(look int) int { return (look + look/lookCount) % lookCount }

// addMarker adds a marker of about 5 pt around a point to the path: disc, square, triangle,
// diamond, triangle upside down, cross, saltire, star.
func (c *canvas) addMarker(p *vg.Path, shape int, at vg.Point) {
	polygon := func(radius float64, corners int, turned float64) {
		c.addPolygon(p, at, corners, func(n int) (float64, float64) {
			return radius, turned + 2*math.Pi*float64(n)/float64(corners)
		})
	}
	switch shape {
	case 0:
		polygon(2.4, 24, 0)
	case 1:
		polygon(3.0, 4, math.Pi/4)
	case 2:
		polygon(3.3, 3, -math.Pi/2)
	case 3:
		polygon(3.2, 4, 0)
	case 4:
		polygon(3.3, 3, math.Pi/2)
	case 5:
		c.addCross(p, at, 0)
	case 6:
		c.addCross(p, at, math.Pi/4)
	default:
		c.addPolygon(p, at, 10, func(n int) (float64, float64) {
			return [...]float64{3.6, 1.5}[n%2], math.Pi * (float64(n)/5 - 0.5)
		})
	}
}

// addCross adds a plus sign with thick arms, turned by an angle.
func (c *canvas) addCross(p *vg.Path, at vg.Point, turned float64) {
	const long, thick = 3.1, 0.85
	c.addPolygon(p, at, 12, func(n int) (float64, float64) {
		arm := float64(n/3) * math.Pi / 2
		switch n % 3 {
		case 0:
			return hypot(long, thick), turned + arm - settled(math.Atan2(thick, long))
		case 1:
			return hypot(long, thick), turned + arm + settled(math.Atan2(thick, long))
		}
		return hypot(thick, thick), turned + arm + math.Pi/4
	})
}

// addPolygon adds a polygon to the path. Each corner is given by its distance from a point and its
// angle, clockwise from the right.
func (c *canvas) addPolygon(p *vg.Path, at vg.Point, corners int,
	corner func(n int) (radius, angle float64)) {
	for n := range corners {
		radius, angle := corner(n)
		x := at.X + length(radius*cosine(angle))
		y := at.Y + length(radius*sine(angle))
		if n == 0 {
			p.Move(c.at(x, y))
		} else {
			p.Line(c.at(x, y))
		}
	}
	p.Close()
}
