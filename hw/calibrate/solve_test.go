package calibrate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// line is samples of 1000 + 2·n at n = 1, 2, 4, …, times what noise says.
func line(points int, noise func(i int) float64) []Sample {
	var all []Sample
	for i := range points {
		n := math.Exp2(float64(i))
		all = append(all, Sample{Time: (1000 + 2*n) * noise(i), Parts: []float64{1, n}})
	}
	return all
}

func exactly(int) float64 { return 1 }

func TestSolveFindsALine(t *testing.T) {
	f, err := Solve([]string{"α", "β"}, line(20, exactly), Options{})
	require.NoError(t, err)
	require.InEpsilon(t, 1000, f.Estimates[0].Value, 1e-9)
	require.InEpsilon(t, 2, f.Estimates[1].Value, 1e-9)
	require.Equal(t, 16, f.Trained.Points)
	require.Equal(t, 4, f.HeldOut.Points)
	require.Less(t, f.HeldOut.P90, 1e-9)
	held := ""
	for _, r := range f.Residuals {
		held += map[bool]string{true: "*", false: "."}[r.HeldOut]
	}
	require.Equal(t, "....*....*..*....*..", held)
}

// TestOutliersDoNotMoveIt: one point in five ten times too slow moves least squares of relative
// errors by percents, and this not at all.
func TestOutliersDoNotMoveIt(t *testing.T) {
	samples := line(20, func(i int) float64 {
		if i%5 == 1 {
			return 10
		}
		return 1
	})
	f, err := Solve([]string{"α", "β"}, samples, Options{HoldOut: -1})
	require.NoError(t, err)
	require.InEpsilon(t, 1000, f.Estimates[0].Value, 1e-6)
	require.InEpsilon(t, 2, f.Estimates[1].Value, 1e-6)
	require.Zero(t, f.HeldOut.Points)
	require.InDelta(t, -0.9, f.Residuals[1].Error, 1e-6)

	var r regression
	u := make([]float64, len(samples))
	for i := range samples {
		r.add(&samples[i], 1)
		u[i] = 1
	}
	require.Greater(t, math.Abs(r.squares(u)[0]-1000), 10.0)
}

// TestWhatTheDataCannotFix is told, and not made up.
func TestWhatTheDataCannotFix(t *testing.T) {
	noisy := func(seed uint64, by float64) func(int) float64 {
		random := rand.New(rand.NewPCG(seed, 0))
		return func(int) float64 { return 1 + by*random.NormFloat64() }
	}
	with := func(samples []Sample, part func(Sample) float64) []Sample {
		for i := range samples {
			samples[i].Parts = append(samples[i].Parts, part(samples[i]))
		}
		return samples
	}
	tests := []struct {
		name    string
		samples []Sample
		known   []bool
		why     []string
	}{
		{"all is well", line(20, noisy(1, 0.01)), []bool{true, true}, []string{"", ""}},
		{"small messages only", line(4, noisy(2, 0.01)), []bool{true, false},
			[]string{"", "the data only bound it"}},
		{"two that are always together",
			with(line(20, noisy(3, 0.01)), func(s Sample) float64 { return 3 * s.Parts[0] }),
			[]bool{false, true, false},
			[]string{"it cannot be told from γ", "", "it cannot be told from α"}},
		{"one that never is", with(line(20, noisy(4, 0.01)), func(Sample) float64 { return 0 }),
			[]bool{true, true, false}, []string{"", "", "no point depends on it"}},
		{"one that is 0", with(line(20, noisy(5, 0.01)), func(s Sample) float64 {
			return math.Sqrt(s.Parts[1])
		}), []bool{true, true, false}, []string{"", "", "the data only bound it"}},
		{"no more points than parameters", line(2, exactly), []bool{false, false},
			[]string{"2 points cannot determine 2 parameters", "2 points cannot determine 2 parameters"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Solve([]string{"α", "β", "γ"}[:len(tt.known)], tt.samples, Options{HoldOut: -1})
			require.NoError(t, err)
			for i, e := range f.Estimates {
				require.Equal(t, tt.known[i], e.Known, "%+v", e)
				require.Equal(t, tt.why[i], e.Why, e.Name)
				require.LessOrEqual(t, e.Low, e.Value)
				require.GreaterOrEqual(t, e.High, e.Value)
			}
			require.Less(t, f.Trained.P90, 0.03) // what is not known still predicts
		})
	}
}

// TestIntervalsCover: the truth lies in 95 % of the intervals, of normal errors and of 500 samples
// each; between 92 and 98 % are what chance leaves.
func TestIntervalsCover(t *testing.T) {
	covered := 0
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 7))
		f, err := Solve([]string{"α", "β"}, line(24, func(int) float64 {
			return 1 + 0.03*random.NormFloat64()
		}), Options{HoldOut: -1})
		require.NoError(t, err)
		if e := f.Estimates[0]; e.Low <= 1000 && 1000 <= e.High {
			covered++
		}
	}
	require.Greater(t, covered, 455)
	require.Less(t, covered, 491)
}

func TestSpreadWeighs(t *testing.T) {
	samples := line(20, exactly)
	for i := range samples {
		if i < 8 && i%2 == 0 { // the half of those that say what α is
			samples[i].Time *= 1.3
			samples[i].Spread = samples[i].Time
		}
	}
	f, err := Solve([]string{"α", "β"}, samples, Options{HoldOut: -1})
	require.NoError(t, err)
	require.InEpsilon(t, 1000, f.Estimates[0].Value, 0.01)
}

func TestSolveErrors(t *testing.T) {
	tests := []struct {
		samples []Sample
		want    string
	}{
		{nil, "no samples"},
		{[]Sample{{Name: "x", Parts: []float64{1}}},
			"sample 1 (x): time 0: a time above 0 is expected"},
		{[]Sample{{Name: "x", Time: math.NaN(), Parts: []float64{1}}},
			"sample 1 (x): time NaN: a time above 0 is expected"},
		{[]Sample{{Name: "x", Time: 1, Spread: -1, Parts: []float64{1}}},
			"sample 1 (x): spread -1: at least 0 is expected"},
		{[]Sample{{Name: "x", Time: 1}}, "sample 1 (x) has 0 parts: 1 are expected"},
		{[]Sample{{Name: "x", Time: 1, Parts: []float64{-2}}},
			"sample 1 (x): -2 of α: at least 0 is expected"},
	}
	for _, tt := range tests {
		_, err := Solve([]string{"α"}, tt.samples, Options{})
		require.EqualError(t, err, tt.want)
	}
}

// TestLaws: with all times k times as long, all figures are; and the order of the samples does not
// matter but for rounding.
func TestLaws(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests = 50
	laws := gopter.NewProperties(parameters)
	fit := func(samples []Sample) []Estimate {
		f, err := Solve([]string{"α", "β"}, samples, Options{HoldOut: -1})
		require.NoError(t, err)
		return f.Estimates
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }
	laws.Property("scale", prop.ForAll(func(seed uint64, k float64) bool {
		random := rand.New(rand.NewPCG(seed, 1))
		samples := line(16, func(int) float64 { return 1 + 0.2*random.Float64() })
		before := fit(samples)
		for i := range samples {
			samples[i].Time *= k
		}
		after := fit(samples)
		return near(after[0].Value, k*before[0].Value) && near(after[1].Value, k*before[1].Value)
	}, gen.UInt64(), gen.Float64Range(1e-3, 1e9)))
	laws.Property("order", prop.ForAll(func(seed uint64) bool {
		random := rand.New(rand.NewPCG(seed, 2))
		samples := line(16, func(int) float64 { return 1 + 0.2*random.Float64() })
		before := fit(samples)
		random.Shuffle(len(samples), func(i, j int) {
			samples[i], samples[j] = samples[j], samples[i]
		})
		after := fit(samples)
		return near(after[0].Value, before[0].Value) && near(after[1].Value, before[1].Value)
	}, gen.UInt64()))
	laws.TestingRun(t)
}
