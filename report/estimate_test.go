package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/run"
	"collsim/scenarios"
)

// TestEstimateCounts: what is counted beforehand is what is done, for every algorithm, and of all
// that may turn out the fastest.
func TestEstimateCounts(t *testing.T) {
	for _, kind := range collective.Kinds() {
		if kind.Splits() || len(algos.ForKind(kind)) == 0 {
			continue
		}
		set := []string{"collective.kind=" + kind.String(), "collective.algorithm=all",
			"topology.ranks=6"}
		text := small
		if kind == collective.Barrier {
			text = text[:len(text)-len("bytes = \"1 KiB\"\n")]
		}
		s := load(t, "s.toml", text, set...)
		steps, messages, last := int64(0), int64(0), (*scenarios.Point)(nil)
		for _, p := range s.Points {
			e, err := s.Estimate(p)
			require.NoError(t, err)
			r, err := s.RunPoint(p, run.RunOptions{})
			require.NoError(t, err)
			require.Equal(t, r.Steps, e.Steps, p.ID)
			require.Equal(t, r.Messages, e.Messages, p.ID)
			require.Equal(t, 1, e.Algorithms)
			require.Positive(t, e.Seconds)
			steps, messages, last = steps+e.Steps, messages+e.Messages, p
		}
		fastest := *last
		fastest.Algorithm = scenarios.Algorithm{Name: "fastest", Channels: 1, Slices: 1}
		e, err := s.Estimate(&fastest)
		require.NoError(t, err)
		require.Equal(t, []int64{steps, messages, int64(len(s.Points))},
			[]int64{e.Steps, e.Messages, int64(e.Algorithms)})
	}
}

// TestEstimateTeams: all teams count.
func TestEstimateTeams(t *testing.T) {
	s := load(t, "s.toml", pod, "collective.teams=[[0, 1, 2], [5, 4]]")
	e, err := s.Estimate(s.Points[0])
	require.NoError(t, err)
	r := runAll(t, s).Results[0]
	require.Equal(t, r.Steps, e.Steps)
	require.Equal(t, r.Messages, e.Messages)
}

// TestEstimateOfPrograms: what is said of programs alone is said where there is one.
func TestEstimateOfPrograms(t *testing.T) {
	const word = "# of programs, time and memory are known to a factor of three only\n"
	const loose = "# of programs without numbers, time and memory are known to a factor of five only\n"
	s := load(t, "s.toml", small)
	require.NotContains(t, EstimateText(s, []*run.Estimate{{Point: s.Points[0]}}), word)
	require.Contains(t, EstimateText(s, []*run.Estimate{{Point: s.Points[0]},
		{Point: s.Points[0], Parts: 2, Within: run.RoughlyKnown}}), word)
	require.Contains(t, EstimateText(s, []*run.Estimate{{Point: s.Points[0], Parts: 2,
		Within: run.HardlyForeseen}, {Point: s.Points[0], Parts: 2, Within: run.RoughlyKnown}}), loose)
}

// TestEstimateKnown: a time that is not known well has a mark, if it is printed at all.
func TestEstimateKnown(t *testing.T) {
	s := load(t, "s.toml", small)
	text := func(within, seconds float64) string {
		return EstimateText(s, []*run.Estimate{{Point: s.Points[0], Within: within, Seconds: seconds}})
	}
	require.Regexp(t, `(?m)^ +0 +0 +~ 2\.0 s `, text(run.RoughlyKnown, 2))
	require.Contains(t, text(run.RoughlyKnown, 2), "# ~ is known to a factor of three only\n")
	five := text(run.HardlyForeseen, 2)
	require.Contains(t, five, "~~ 2.0 s")
	require.Contains(t, five, "# ~~ is known to a factor of five only\n")
	require.NotContains(t, five, "programs")
	require.NotContains(t, text(run.RoughlyKnown, 0.01), "~")
	require.NotContains(t, text(run.WellKnown, 2), "~")
	held := EstimateText(s, []*run.Estimate{{Point: s.Points[0], Memory: 5 << 30,
		MemoryWithin: run.RoughlyKnown}})
	require.Contains(t, held, " ~ 5.0 GiB  ")
	require.Contains(t, held, "# ~ is known to a factor of three only\n")
}

// TestEstimateWords: figures that are not known well are not printed as if they were.
func TestEstimateWords(t *testing.T) {
	for seconds, want := range map[float64]string{0: "< 0.1 s", 0.25: "0.2 s", 42: "42 s",
		5400: "1.5 h", 1e6: "12 days"} {
		require.Equal(t, want, about(seconds))
	}
	require.Equal(t, "1 MiB", roughly(0))
	require.Equal(t, "3 MiB", roughly(2<<20+1))
	require.Equal(t, "1.5 GiB", roughly(3<<29))
	require.Equal(t, "156 GiB", roughly(156<<30))
	require.Empty(t, LongRun([]*run.Estimate{{Seconds: 2, NumberSeconds: 2}, {Seconds: 3}}))
	require.Equal(t, "about 8.0 s on one core, 75 % of it to check numbers: check.numbers = false "+
		"does without", LongRun([]*run.Estimate{{Seconds: 6, NumberSeconds: 6}, {Seconds: 2}}))
	require.Equal(t, "about 6.0 s on one core", LongRun([]*run.Estimate{{Seconds: 6}}))
}
