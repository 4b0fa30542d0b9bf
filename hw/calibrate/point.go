package calibrate

import (
	"math"

	"collsim/formats/nccllog"
	"collsim/unit"
)

// Point is the time of a collective of a size.
type Point struct {
	Size         unit.Bytes
	Time, Spread unit.Time
}

// PointsOf are a table's times in place or out of it, where it has them and a size above 0. Derived
// says that times were worked out from the printed bandwidth: then its rounding is a spread.
func PointsOf(t *nccllog.Table, inPlace, derived bool) []Point {
	var points []Point
	for _, r := range t.Rows {
		timing := r.Out
		if inPlace {
			timing = r.In
		}
		if timing.Time <= 0 || r.Size <= 0 {
			continue
		}
		spread := timing.Spread
		if derived && timing.BusBW > 0 {
			rounding := float64(timing.Time) * timing.Step / timing.BusBW
			spread = max(spread, unit.Time(math.Round(min(rounding, float64(timing.Time)))))
		}
		points = append(points, Point{Size: r.Size, Time: timing.Time, Spread: spread})
	}
	return points
}
