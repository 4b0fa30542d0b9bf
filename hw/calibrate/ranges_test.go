package calibrate

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestRangesAreFound: three protocols, as a library that takes the fastest would change them.
func TestRangesAreFound(t *testing.T) {
	curve, err := closedForm(collective.AllReduce, "ring", 8)
	require.NoError(t, err)
	protocols := []struct {
		alpha unit.Time
		rate  unit.Rate
	}{{unit.Microsecond, 5 * unit.Rate(unit.GB)}, {3 * unit.Microsecond, 60 * unit.Rate(unit.GB)},
		{9 * unit.Microsecond, 200 * unit.Rate(unit.GB)}}
	random := rand.New(rand.NewPCG(3, 0))
	var points []Point
	last := []unit.Bytes{0, 0, 0} // that each protocol is the fastest for
	for n := 32 * unit.Byte; n <= unit.GiB; n *= 2 {
		best, which := unit.Forever, 0
		for i, p := range protocols {
			if time, err := curve(n, p.alpha, p.rate); err == nil && time < best {
				best, which = time, i
			}
		}
		last[which] = n
		points = append(points, Point{Size: n,
			Time: unit.Time(math.Round(float64(best) * (1 + 0.01*random.NormFloat64())))})
	}
	r, err := FitRanges([]Series{{Points: points, Curve: curve, Message: same}}, Options{})
	require.NoError(t, err)
	require.Len(t, r.Ranges, 3)
	for i, one := range r.Ranges {
		require.InDelta(t, math.Log2(float64(last[i])), math.Log2(float64(one.To)), 1.01)
		// The interval of a figure that is known holds the truth; latency always is.
		alpha, beta := one.Fit.Estimates[0], one.Fit.Estimates[1]
		require.True(t, alpha.Known)
		require.InEpsilon(t, float64(protocols[i].alpha), alpha.Value, 0.03)
		if beta.Known {
			require.InEpsilon(t, 1e12/float64(protocols[i].rate), beta.Value, 0.06)
		}
	}
	require.True(t, r.Ranges[2].Fit.Estimates[1].Known)
	require.Less(t, r.HeldOut.Median, 0.015)
	require.Less(t, r.HeldOut.P90, 0.05)
	require.Greater(t, r.HeldOut.Points, 4)
}

// TestNoBreakWhereThereIsNone: noise alone is a reason for a range in at most one case of ten.
func TestNoBreakWhereThereIsNone(t *testing.T) {
	broken := 0
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		var points []Point
		for n := 32 * unit.Byte; n <= unit.GiB; n *= 2 {
			time, _ := hockney(n, 5*unit.Microsecond, 10*unit.Rate(unit.GB))
			points = append(points, Point{Size: n,
				Time: unit.Time(math.Round(float64(time) * (1 + 0.03*random.NormFloat64())))})
		}
		r, err := FitRanges([]Series{{Points: points, Curve: hockney, Message: same}}, Options{})
		require.NoError(t, err)
		if len(r.Ranges) > 1 {
			broken++
		}
	}
	require.LessOrEqual(t, broken, 5)
}

// TestSimulatedCurve fits what a simulation gives: recursive doubling on a switch, whose links it
// shares with nobody.
func TestSimulatedCurve(t *testing.T) {
	a, err := algos.Find(collective.AllReduce, "recursive-doubling")
	require.NoError(t, err)
	curve := func(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
		s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
			Type: dtype.Uint8, Ranks: 8, Count: int64(size)}, algos.Options{})
		if err != nil {
			return 0, err
		}
		g, err := topology.Switch(8, rate, alpha/2)
		if err != nil {
			return 0, err
		}
		r, err := sim.Run(s, sim.Env{Graph: g, Device: device.Ideal()}, sim.Options{})
		if err != nil {
			return 0, err
		}
		return r.Time, nil
	}
	var points []Point
	for n := 64 * unit.Byte; n <= 16*unit.MiB; n *= 4 {
		time, err := curve(n, 4*unit.Microsecond, 25*unit.Rate(unit.GB))
		require.NoError(t, err)
		points = append(points, Point{Size: n, Time: time})
	}
	r, err := FitRanges([]Series{{Points: points, Curve: curve, Message: same}}, Options{})
	require.NoError(t, err)
	require.Len(t, r.Ranges, 1)
	require.InEpsilon(t, 4e6, r.Ranges[0].Fit.Estimates[0].Value, 1e-4)
	require.InEpsilon(t, 40, r.Ranges[0].Fit.Estimates[1].Value, 1e-4)
	require.Less(t, r.HeldOut.P90, 1e-4)
}

func TestFitRangesErrors(t *testing.T) {
	_, err := FitRanges(nil, Options{})
	require.EqualError(t, err, "no points")
	_, err = FitRanges([]Series{{Points: []Point{{Size: 8, Time: 0}}, Curve: hockney}}, Options{})
	require.EqualError(t, err, "8 B in 0 s, spread 0 s: a size and a time above 0 are "+
		"expected, and a spread of at least 0")
	_, err = FitRanges([]Series{{Points: []Point{{Size: 8, Time: 5}},
		Curve: func(unit.Bytes, unit.Time, unit.Rate) (unit.Time, error) {
			return 0, errors.New("no way")
		}}}, Options{})
	require.ErrorContains(t, err, "the curve at 8 B")
	require.ErrorContains(t, err, "no way")
}

// hockney returns the time of one message: α + n·β (Hockney, Parallel Computing 20(3), 1994). Any
// collective may be compared with it.
func hockney(size unit.Bytes, alpha unit.Time, rate unit.Rate) (unit.Time, error) {
	return alpha + size.Over(rate), nil
}
