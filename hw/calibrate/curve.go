package calibrate

import (
	"fmt"
	"math"

	"collsim/unit"
)

// Curve is how long a collective of a size takes, by its algorithm, where every message has this
// latency and every wire this rate: an algorithm's closed form, or a simulation. Times must scale:
// twice the latency and half the rate take twice the time.
type Curve func(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error)

// Wire is a latency in picoseconds and a time per byte, in picoseconds too.
type Wire struct{ Alpha, Beta float64 }

// limits keep wires within what the time model takes.
const (
	maxAlpha = float64(1000 * unit.Second)
	minBeta  = 1e-4 // 10⁴ TB/s
	maxBeta  = 1e12 // 1 B/s
)

func (w Wire) clamp() Wire {
	return Wire{Alpha: min(max(w.Alpha, 0), maxAlpha), Beta: min(max(w.Beta, minBeta), maxBeta)}
}

// parts are how many latencies and bytes a curve has at a size, near a wire: its derivatives. By
// Euler's theorem on homogeneous functions, latencies·α + bytes·β is then what it has there.
//
// A byte is never so fast that all of them would take less than a thousandth of the time, where the
// picoseconds that curves round up by would count for bytes.
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

// at is the curve, or why it has no value.
func (c Curve) at(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
	t, err := c(size, alpha, rate)
	if err == nil && (t < 0 || t >= unit.Forever) {
		err = fmt.Errorf("%v", t)
	}
	if err != nil {
		return 0, fmt.Errorf("calibrate: the curve at %v, for a latency of %v and %v: %w", size, alpha,
			rate, err)
	}
	return t, nil
}

// Hockney is the curve of one message, which any collective may be held against: α + n·β (Hockney,
// Parallel Computing 20(3), 1994).
func Hockney(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
	return alpha + size.Over(rate), nil
}
