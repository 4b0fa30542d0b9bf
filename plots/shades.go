package plots

import (
	"image/color"
	"math"
)

// colour returns the colour of a curve.
func (s Series) colour() color.RGBA {
	if !s.shaded {
		return curveColour(s.Look)
	}
	mix := func(light, dark float64) uint8 {
		return uint8(math.Round(light + float64(s.shade*(dark-light))))
	}
	return color.RGBA{mix(0x7F, 0x08), mix(0xBC, 0x30), mix(0xE4, 0x6B), 255} // blues
}

// Shades returns the places of curves on a scale of shades, from 0 to 1 in their order, if they all
// have the same name and differ in their groups alone: colours then distinguish values of a key
// rather than names. It is nil where curves have several names, or there is one.
func Shades(series []Series) []float64 {
	shades, curves, name := make([]float64, len(series)), 0, ""
	for i, s := range series {
		if s.Bound {
			continue
		}
		if curves > 0 && s.Name != name || s.Group == "" {
			return nil
		}
		name = s.Name
		shades[i] = float64(curves)
		curves++
	}
	if curves < 2 {
		return nil
	}
	for i := range shades {
		shades[i] /= float64(curves - 1)
	}
	return shades
}
