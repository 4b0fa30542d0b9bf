package plots

import (
	"fmt"
	"math"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/unit"
)

func TestTimeAxis(t *testing.T) {
	const us, ms, s = float64(unit.Microsecond), float64(unit.Millisecond), float64(unit.Second)
	cases := []struct {
		least, largest float64
		long           length
		want           []string
	}{
		{9 * us, 1100 * us, 320, []string{"10 us", "20 us", "50 us", "100 us", "200 us", "500 us",
			"1 ms"}},
		{9 * us, 1100 * us, 180, []string{"10 us", "30 us", "100 us", "300 us", "1 ms"}},
		{9 * us, 1100 * us, 100, []string{"10 us", "100 us", "1 ms"}},
		{3 * ms, 3 * ms, 180, []string{"1 ms", "2 ms", "5 ms", "10 ms"}}, // a decade, at least
		{ms, 1000 * s, 180, []string{"10 ms", "1 s", "100 s"}},
		{1, 1e18, 100, []string{"1 ps", "10 us", "100 s"}},
		{1, 1, 180, []string{"1 ps", "2 ps"}},
	}
	for _, c := range cases {
		a := newTimeAxis(c.least, c.largest)
		a.label(c.long, 27)
		var got []string
		for _, tick := range a.ticks() {
			if tick.label != "" {
				got = append(got, tick.label)
			}
		}
		require.Equal(t, c.want, got, "%v to %v on %v", c.least, c.largest, c.long)
	}
}

// Whatever the times and the length: they are on the axis, ticks are in their order, and labels far
// enough apart.
func TestTimeAxisHoldsItsTimes(t *testing.T) {
	p := gopter.DefaultTestParametersWithSeed(4)
	p.MinSuccessfulTests = 500
	properties := gopter.NewProperties(p)
	faces := newTypefaces(PNG)
	properties.Property("labels fit", prop.ForAll(
		func(from, decades, long float64) (bool, error) {
			least := math.Pow(10, from)
			largest := least * math.Pow(10, decades)
			a := newTimeAxis(least, largest)
			a.label(length(long), a.labelWidth(faces.label))
			if a.up(least) < 0 || a.up(largest) > 1 || a.up(least) > a.up(largest) {
				return false, fmt.Errorf("%v to %v", a.up(least), a.up(largest))
			}
			before, end := -1.0, length(math.Inf(-1))
			for _, tick := range a.ticks() {
				if tick.at <= before || tick.at > 1 {
					return false, fmt.Errorf("%v follows %v", tick.at, before)
				}
				if before = tick.at; tick.label == "" {
					continue
				}
				middle, half := length(tick.at*long), faces.label.Width(tick.label)/2
				if middle-half < end+2 {
					return false, fmt.Errorf("%q begins at %v, before %v", tick.label, middle-half, end)
				}
				end = middle + half
			}
			return true, nil
		},
		gen.Float64Range(0, 15), gen.Float64Range(0, 4), gen.Float64Range(60, 900)))
	properties.TestingRun(t)
}

// TestEqualTimesAreOnTheDiagonal: in a square, and points within the tolerance in the band.
func TestEqualTimesAreOnTheDiagonal(t *testing.T) {
	series := []ScatterSeries{{Points: []ScatterPoint{
		{Measured: 3 * unit.Millisecond, Simulated: 4 * unit.Millisecond},
		{Measured: 300 * unit.Millisecond, Simulated: unit.Second, Spread: unit.Millisecond}}}}
	for g := Page; g <= Slide; g++ {
		f, err := newFrame(SVG, g, 0)
		require.NoError(t, err)
		s := newScatter(series, ScatterOptions{Tolerance: 120_000}, f)
		s.layOut()
		require.InDelta(t, float64(s.x1-s.x0), float64(s.y1-s.y0), 1e-9)
		require.Greater(t, s.x1-s.x0, length(150))
		require.LessOrEqual(t, s.x1, s.width-margin)
		for _, time := range []float64{5e9, 1e10, 7e11} {
			at := s.at(time, time)
			require.InDelta(t, float64(at.X-s.x0), float64(s.y1-at.Y), 1e-9)
			// 12 % more is as far above the diagonal everywhere.
			more := s.at(time, 1.12*time)
			above := s.axis.share(1.12) * float64(s.y1-s.y0)
			require.InDelta(t, above, float64(at.Y-more.Y), 1e-9)
		}
		for _, p := range series[0].Points {
			at := s.at(float64(p.Measured), float64(p.Simulated))
			require.True(t, at.X > s.x0 && at.X < s.x1 && at.Y > s.y0 && at.Y < s.y1)
		}
	}
}
