package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

func bandGrey() color.RGBA { return rgb(0xEFEFEF) }

func (s *scatter) draw() ([]byte, error) {
	v := newCanvas(s.format, s.width, s.height)
	v.title(s.faces, s.title)
	v.text(s.faces.label, margin, s.y0-topAir-2, left, "simulated time")
	s.drawBand(v)
	s.drawAxes(v)
	s.drawDiagonal(v)
	for n := range s.series {
		s.drawSpread(v, n)
	}
	for n := range s.series {
		s.drawPoints(v, n)
	}
	s.drawLegend(v)
	v.notes(s.faces, s.foot+5, s.notes)
	return v.bytes()
}

// within returns the point at shares of the square: 0, 0 is its lower left corner.
func (s *scatter) within(across, up float64) vg.Point {
	return vg.Point{
		X: s.x0 + length(across*float64(s.x1-s.x0)),
		Y: s.y1 - length(up*float64(s.y1-s.y0)),
	}
}

func (s *scatter) at(measured, simulated float64) vg.Point {
	return s.within(s.axis.up(measured), s.axis.up(simulated))
}

// drawBand shades the simulated times within the tolerance: on logarithmic axes the strip between
// two parallels to the diagonal.
func (s *scatter) drawBand(v *canvas) {
	if s.band == 0 {
		return
	}
	tolerance := float64(s.band) / 1e6
	above, below := min(1, s.axis.share(1+tolerance)), 1.0 // as shares of the square
	if tolerance < 1 {
		below = min(1, -s.axis.share(1-tolerance))
	}
	var area, edges vg.Path
	for n, corner := range [...]vg.Point{s.within(0, 0), s.within(0, above), s.within(1-above, 1),
		s.within(1, 1), s.within(1, 1-below), s.within(below, 0)} {
		if n == 0 {
			area.Move(v.at(corner.X, corner.Y))
		} else {
			area.Line(v.at(corner.X, corner.Y))
		}
	}
	area.Close()
	v.fill(area, bandGrey())
	for _, edge := range [...][2]vg.Point{{s.within(0, above), s.within(1-above, 1)},
		{s.within(below, 0), s.within(1, 1-below)}} {
		v.addLine(&edges, edge[0].X, edge[0].Y, edge[1].X, edge[1].Y)
	}
	v.dashed(edges, edgePen())
}

func edgePen() pen  { return pen{width: 0.5, paint: arrowGrey(), dashes: []length{3, 2}} }
func equalPen() pen { return pen{width: 0.9, paint: captionGrey()} }

// drawAxes draws both axes, which have the same ticks, and faint lines at their labels.
func (s *scatter) drawAxes(v *canvas) {
	var grid, ticks vg.Path
	under := s.y1 + tickLength + 2 + s.faces.label.size()
	v.ink(black())
	for _, t := range s.axis.ticks() {
		at, long := s.within(t.at, t.at), tickLength
		if t.label == "" {
			long /= 2
		} else {
			v.addLine(&grid, at.X, s.y0, at.X, s.y1)
			v.addLine(&grid, s.x0, at.Y, s.x1, at.Y)
			v.text(s.faces.label, at.X, under, centre, t.label)
			v.textMiddle(s.faces.label, s.x0-tickLength-2, at.Y, right, t.label)
		}
		v.addLine(&ticks, at.X, s.y1, at.X, s.y1+long)
		v.addLine(&ticks, s.x0-long, at.Y, s.x0, at.Y)
	}
	v.stroke(grid, 0.4, gridGrey())
	v.addLine(&ticks, s.x0, s.y0, s.x0, s.y1)
	v.addLine(&ticks, s.x0, s.y1, s.x1, s.y1)
	v.stroke(ticks, 0.5, black())
	v.text(s.faces.label, (s.x0+s.x1)/2, under+s.faces.label.line(), centre, "measured time")
}

// drawDiagonal draws the line of equal times and labels the areas above and below it.
func (s *scatter) drawDiagonal(v *canvas) {
	var line vg.Path
	v.addLine(&line, s.x0, s.y1, s.x1, s.y0)
	v.dashed(line, equalPen())
	const above, below, air = "simulated takes longer", "measured takes longer", 4
	wide, high := s.faces.small.room(above), s.faces.small.size()
	if wide+6*air > s.x1-s.x0 {
		return
	}
	var paper vg.Path // so that no line runs through the words
	v.addBox(&paper, box{s.x0 + air, s.y0 + air, s.x0 + air + wide, s.y0 + air + high})
	wide = s.faces.small.room(below)
	v.addBox(&paper, box{s.x1 - air - wide, s.y1 - air - high, s.x1 - air, s.y1 - air})
	v.fill(paper, white())
	v.ink(captionGrey())
	v.text(s.faces.small, s.x0+air, s.y0+air+length(high*0.8), left, above)
	v.text(s.faces.small, s.x1-air, s.y1-air-length(high*0.2), right, below)
}

// drawSpread draws the bars of a series' points, with caps at their ends.
func (s *scatter) drawSpread(v *canvas, series int) {
	const tip length = 2
	of := s.series[series]
	var bars vg.Path
	for _, p := range of.Points {
		if p.Spread == 0 {
			continue
		}
		low, high := p.ends()
		from, to := s.within(0, s.axis.up(float64(p.Simulated))), s.at(high, float64(p.Simulated))
		if low > 0 && s.axis.up(low) > 0 {
			from.X = s.at(low, float64(p.Simulated)).X
			v.addLine(&bars, from.X, from.Y-tip, from.X, from.Y+tip)
		}
		v.addLine(&bars, from.X, from.Y, to.X, to.Y)
		v.addLine(&bars, to.X, to.Y-tip, to.X, to.Y+tip)
	}
	v.stroke(bars, 0.7, curveColour(of.Look))
}

// drawPoints draws the markers of a series. A thin white line separates them from others that they
// cover.
func (s *scatter) drawPoints(v *canvas, series int) {
	of := s.series[series]
	var markers vg.Path
	for _, p := range of.Points {
		v.addMarker(&markers, shapeOf(of.Look), s.at(float64(p.Measured), float64(p.Simulated)))
	}
	v.stroke(markers, 0.8, white())
	v.fill(markers, curveColour(of.Look))
}

func (s *scatter) drawLegend(v *canvas) {
	half := min(barHeight, s.pitch-2) / 2
	for n, line := range s.legend {
		x, middle := s.legendX, s.legendY+length(n)*s.pitch+s.pitch/2
		for _, k := range line {
			s.drawKey(v, k, box{x, middle - half, x + swatchWidth, middle + half})
			v.ink(black())
			v.textMiddle(s.faces.label, x+swatchWidth+swatchAir, middle, left, k.text)
			x += s.keyWidth(k) + entryAir
		}
	}
}

func (s *scatter) drawKey(v *canvas, k key, b box) {
	x, y := (b.x0+b.x1)/2, (b.y0+b.y1)/2
	var p, edges vg.Path
	switch k.what {
	case keySeries:
		look := s.series[k.series].Look
		v.addMarker(&p, shapeOf(look), vg.Point{X: x, Y: y})
		v.fill(p, curveColour(look))
	case keySpread:
		v.addLine(&p, b.x0+1, y, b.x1-1, y)
		v.addLine(&p, b.x0+1, y-2, b.x0+1, y+2)
		v.addLine(&p, b.x1-1, y-2, b.x1-1, y+2)
		v.stroke(p, 0.7, black())
	case keyEqual:
		rise := min(b.y1-b.y0, b.x1-b.x0) / 2
		v.addLine(&p, x-rise, y+rise, x+rise, y-rise)
		v.dashed(p, equalPen())
	case keyBand:
		v.addBox(&p, b)
		v.fill(p, bandGrey())
		v.addLine(&edges, b.x0, b.y0, b.x1, b.y0)
		v.addLine(&edges, b.x0, b.y1, b.x1, b.y1)
		v.dashed(edges, edgePen())
	}
}
