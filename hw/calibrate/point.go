package calibrate

import (
	"math"

	"collsim/formats/measured"
	"collsim/unit"
)

// A Point is the time of a collective of a size.
type Point struct {
	Size         unit.Bytes
	Time, Spread unit.Time
}

// PointsOf returns a table's times, in place or out of place, of sizes above 0. If times are
// derived from the printed bandwidth, its rounding counts as spread.
func PointsOf(t *measured.Table, inPlace, derived bool) []Point {
	var points []Point
	for _, r := range t.At(inPlace) {
		if r.Size <= 0 {
			continue
		}
		spread := r.Spread
		if derived && r.BusBW > 0 {
			rounding := float64(r.Time) * r.BusStep / r.BusBW
			spread = max(spread, unit.Time(math.Round(min(rounding, float64(r.Time)))))
		}
		points = append(points, Point{Size: r.Size, Time: r.Time, Spread: spread})
	}
	return points
}
