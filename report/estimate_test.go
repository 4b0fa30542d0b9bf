package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
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
		steps, messages, tried, last := int64(0), int64(0), 0, (*scenarios.Point)(nil)
		for _, p := range s.Points {
			e, err := s.Estimate(p)
			require.NoError(t, err)
			r, err := s.RunPoint(p, run.RunOptions{})
			if e.Skipped != "" {
				require.ErrorContains(t, err, e.Skipped)
				continue
			}
			require.NoError(t, err)
			found, err := algos.Find(kind, p.Algorithm.Name)
			require.NoError(t, err)
			if e.Algorithms == 1 { // else they are those of all that it is tried with
				require.Equal(t, r.Steps, e.Steps, p.ID)
				require.Equal(t, r.Messages, e.Messages, p.ID)
			}
			require.LessOrEqual(t, r.Steps, e.Steps, p.ID)
			require.LessOrEqual(t, r.Messages, e.Messages, p.ID)
			require.Equal(t, 1+len(found.Variants(p.Spec, algos.Options{})), e.Algorithms)
			require.Positive(t, e.Seconds)
			steps, messages, last = steps+e.Steps, messages+e.Messages, p
			tried += e.Algorithms
		}
		fastest := *last
		fastest.Algorithm = scenarios.Algorithm{Name: "fastest", Channels: 1, Slices: 1}
		e, err := s.Estimate(&fastest)
		require.NoError(t, err)
		require.Equal(t, []int64{steps, messages, int64(tried)},
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

// TestEstimateWords: a time is printed in order of magnitude, a size rounded up.
func TestEstimateWords(t *testing.T) {
	for seconds, want := range map[float64]string{0: "< 1 s", 0.29: "< 1 s", 0.3: "1 s", 2.9: "1 s",
		3: "10 s", 42: "100 s", 1e6: "1000000 s"} {
		require.Equal(t, want, about(seconds), seconds)
	}
	for size, want := range map[unit.Bytes]string{0: "0 B", 1023: "1023 B", 2<<20 + 1: "2.1 MiB",
		3 << 29: "1.5 GiB", 156 << 30: "156 GiB", 50<<20 + 1: "51 MiB"} {
		require.Equal(t, want, roughly(size))
	}
}
