package calibrate

import (
	"math"
	"slices"

	"collsim/formats/measured"
	"collsim/unit"
)

// A Point is the time of a collective of a size.
type Point struct {
	Size         unit.Bytes
	Time, Spread unit.Time
}

// mostAlone bounds the times of a size that are points by themselves.
const mostAlone = 2

// PointsOf returns a table's times, in place or out of place, of sizes above 0. A size measured in
// more runs is one point, their median, and spreads as they do. If times are derived from the
// printed bandwidth, its rounding counts as spread.
func PointsOf(t *measured.Table, inPlace, derived bool) []Point {
	rows := t.At(inPlace)
	type call struct {
		size unit.Bytes
		root int
	}
	runs := map[call][]unit.Time{}
	for _, r := range rows {
		if of := (call{r.Size, r.Root}); r.Run > 0 {
			runs[of] = append(runs[of], r.Time)
		}
	}
	var points []Point
	for _, r := range rows {
		if r.Size <= 0 {
			continue
		}
		spread := r.Spread
		if derived && r.BusBW > 0 {
			rounding := float64(r.Time) * r.BusStep / r.BusBW
			spread = max(spread, unit.Time(math.Round(min(rounding, float64(r.Time)))))
		}
		if all := runs[call{r.Size, r.Root}]; len(all) > mostAlone {
			if r.Run > 1 {
				continue
			}
			slices.Sort(all)
			n := len(all)
			r.Time, spread = all[n/2], max(spread, all[3*n/4]-all[n/4])
		}
		points = append(points, Point{Size: r.Size, Time: r.Time, Spread: spread})
	}
	return points
}
