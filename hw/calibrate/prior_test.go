package calibrate

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// twoProtocols predicts times of calls as libraries have them: the larger of a floor and of what a
// call costs by one protocol up to 100 units of data, by another one above.
func twoProtocols(sizes []float64) Predict {
	return func(numbers []int, figures [][]float64) ([]float64, error) {
		times := make([]float64, len(numbers))
		for k, i := range numbers {
			f, n := figures[k], sizes[i]
			t := f[1] + 14*f[2] + n/f[3]
			if n > 100 {
				t = f[4] + n/f[5]
			}
			times[k] = max(f[0], t)
		}
		return times, nil
	}
}

func twoPriors() []Prior {
	return []Prior{{Name: "floor", Value: 20, Spread: 0.5}, {Name: "base", Value: 7, Spread: 0.5},
		{Name: "hop", Value: 1, Spread: 0.5},
		{Name: "slow", Value: 2, Spread: 0.5, IsRate: true, Most: 20},
		{Name: "more", Value: 0, Spread: 30, Added: true},
		{Name: "fast", Value: 5, Spread: 0.5, IsRate: true}, {Name: "unseen", Value: 3, Spread: 0.5}}
}

// TestFitPriors finds figures from times that depend on them, whatever a few other times say, and
// leaves alone what the times do not tell: parts that are only seen together, and what is hidden by
// a floor or not seen at all.
func TestFitPriors(t *testing.T) {
	sizes := []float64{1, 2, 4, 8, 16, 32, 50, 64, 80, 100, 128, 256, 512, 1024, 2048, 4096}
	truth := []float64{28, 9, 1.2, 4, 12, 8, 5}
	predict := twoProtocols(sizes)
	var times []Timed
	for i, n := range sizes {
		took, err := predict([]int{i}, [][]float64{truth})
		require.NoError(t, err)
		on := []int{0, 1, 2, 3}
		if n > 100 {
			on = []int{0, 4, 5}
		}
		times = append(times, Timed{Name: "a call", Time: took[0], On: on})
	}
	times[12].Time *= 3 // somebody else was on the machine
	found, sum, err := FitPriors(twoPriors(), times, predict)
	require.NoError(t, err)
	value := func(j int) float64 { return found[j].Found }
	require.InEpsilon(t, 28, value(0), 0.01)
	require.InEpsilon(t, 9+14*1.2, value(1)+14*value(2), 0.04) // alone they are not told apart
	require.InEpsilon(t, 4, value(3), 0.15)
	require.InDelta(t, 12, value(4), 4)
	require.InEpsilon(t, 8, value(5), 0.03)
	require.Equal(t, 3., value(6))
	require.Zero(t, found[6].Explained)
	require.Greater(t, found[0].Explained, 0.9)
	for _, p := range found {
		require.LessOrEqual(t, p.Low, p.Found)
		require.GreaterOrEqual(t, p.High, p.Found)
	}
	again, sumAgain, err := FitPriors(twoPriors(), times, predict)
	require.NoError(t, err)
	require.Equal(t, found, again)
	require.Equal(t, sum, sumAgain)
}

// TestFitPriorsFloor: below a floor nothing is told of what it hides.
func TestFitPriorsFloor(t *testing.T) {
	sizes := []float64{1, 2, 4}
	var times []Timed
	for range sizes {
		times = append(times, Timed{Time: 60, On: []int{0, 1, 2, 3}})
	}
	priors := twoPriors()
	priors[0].Value = 40
	found, _, err := FitPriors(priors, times, twoProtocols(sizes))
	require.NoError(t, err)
	require.InEpsilon(t, 60, found[0].Found, 0.02)
	require.Less(t, found[2].Explained, 0.1)
}

// TestFitPriorsFails hands on what a prediction fails of.
func TestFitPriorsFails(t *testing.T) {
	broken := errors.New("no simulation")
	_, _, err := FitPriors(twoPriors(), []Timed{{Time: 1, On: []int{0}}},
		func([]int, [][]float64) ([]float64, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
}

// TestPriorAt: figures are within their limits, and cost what they are or 1 over it.
func TestPriorAt(t *testing.T) {
	p := Prior{Value: 2, Spread: 0.5}
	require.InEpsilon(t, 2*math.E, p.at(2), 1e-12)
	require.Equal(t, 4., p.cost(4))
	p = Prior{Value: 2, Spread: 3, Added: true}
	require.Equal(t, 5., p.at(1))
	require.Zero(t, p.at(-1))
	p = Prior{Value: 2, Spread: 1, IsRate: true, Most: 3}
	require.Equal(t, 3., p.at(2))
	require.Equal(t, 0.25, p.cost(4))
}
