package calibrate

import (
	"fmt"
	"math"

	"collsim/unit"
)

// A Curve returns the time of a collective of a size by its algorithm, if every message has this
// latency and every wire this rate. It is a closed form or a simulation. It must be homogeneous:
// twice the latency and half the rate take twice the time.
type Curve func(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error)

// A Wire is a latency in picoseconds and a time per byte in picoseconds.
type Wire struct{ Alpha, Beta float64 }

// Bounds of a wire that the time model accepts.
const (
	maxAlpha = float64(1000 * unit.Second)
	minBeta  = 1e-4 // 10⁴ TB/s
	maxBeta  = 1e12 // 1 B/s
)

// clamp moves a wire into the bounds.
func (w Wire) clamp() Wire {
	return Wire{Alpha: min(max(w.Alpha, 0), maxAlpha), Beta: min(max(w.Beta, minBeta), maxBeta)}
}

// parts returns the number of latencies and of bytes in a curve's time near a wire: its partial
// derivatives. By Euler's theorem on homogeneous functions, latencies·α + bytes·β is the time
// there.
//
// Beta is at least 1/1000 of α/size. Otherwise the curve's rounding up to picoseconds would count
// as bytes.
func (c Curve) parts(size unit.Bytes, at Wire) ([]float64, error) {
	at = at.clamp()
	alpha := unit.Time(math.Round(at.Alpha))
	at.Beta = max(at.Beta, float64(alpha)/1000/float64(size))
	rate := unit.Rate(max(1, math.Round(1e12/at.Beta)))
	more := max(alpha/64, unit.Nanosecond)
	here, err := c.at(size, alpha, rate)
	if err != nil {
		return nil, err
	}
	there, err := c.at(size, alpha+more, rate)
	if err != nil {
		return nil, err
	}
	latencies := max(0, float64(there-here)/float64(more))
	bytes := (float64(here) - float64(latencies*float64(alpha))) * float64(rate) / 1e12
	return []float64{latencies, max(0, bytes)}, nil
}

// at evaluates the curve, and rejects values that are no time.
func (c Curve) at(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
	t, err := c(size, alpha, rate)
	if err == nil && (t < 0 || t >= unit.Forever) {
		err = fmt.Errorf("%v", t)
	}
	if err != nil {
		return 0, fmt.Errorf("the curve at %v, for a latency of %v and %v: %w", size, alpha,
			rate, err)
	}
	return t, nil
}
