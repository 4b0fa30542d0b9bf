package diagnose_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/diagnose"
	"collsim/unit"
)

func calls(us ...unit.Time) (list []diagnose.Call) {
	for i, t := range us {
		list = append(list, diagnose.Call{Size: 1024 << i, Time: t * unit.Microsecond})
	}
	return list
}

func candidate(name string, us ...unit.Time) diagnose.Candidate {
	for i := range us {
		us[i] *= unit.Microsecond
	}
	return diagnose.Candidate{Cause: diagnose.Cause{Group: name}, Times: us}
}

// TestRank: candidates are ordered by distance, and those that noise hides from each other are one.
func TestRank(t *testing.T) {
	d := diagnose.Rank(calls(100, 200, 410), []diagnose.Candidate{candidate("as is", 100, 100, 100),
		candidate("slow", 100, 200, 400), candidate("also slow", 101, 199, 398),
		candidate("slower", 200, 400, 800), candidate("none", 0, 0, 0)})
	require.True(t, d.Found)
	require.False(t, d.Unchanged)
	require.Len(t, d.Fits, 4)
	require.Len(t, d.Fits[0].Causes, 2)
	require.Equal(t, "slow", d.Fits[0].Causes[0].Group)
	require.Equal(t, 2, d.Fits[0].Worst)
	require.InDelta(t, -0.0244, d.Fits[0].Off, 1e-4)
	require.Equal(t, "as is", d.AsIs.Causes[0].Group)
	require.Equal(t, math.Inf(1), d.Fits[3].Distance)
}

// TestVerdicts: a log far from all has no cause, and one near the scenario needs none.
func TestVerdicts(t *testing.T) {
	far := diagnose.Rank(calls(100, 200), []diagnose.Candidate{candidate("as is", 50, 300),
		candidate("slow", 300, 100)})
	require.False(t, far.Found)
	near := diagnose.Rank(calls(100, 200), []diagnose.Candidate{candidate("as is", 102, 199),
		candidate("slow", 99, 203)})
	require.True(t, near.Found)
	require.True(t, near.Unchanged)
}

// TestNoise: the spread that a log states hides more than 3 %.
func TestNoise(t *testing.T) {
	log := calls(100, 200)
	log[0].Spread, log[1].Spread = 27*unit.Microsecond, 54*unit.Microsecond
	require.InDelta(t, 0.2, diagnose.Rank(log, []diagnose.Candidate{candidate("as is", 1, 1)}).Noise,
		0.001)
}

// TestDistance: a factor at every size is that factor, either way round.
func TestDistance(t *testing.T) {
	a, b := []unit.Time{100, 200}, []unit.Time{110, 220}
	require.InDelta(t, 0.1, diagnose.Distance(a, b), 1e-9)
	require.InDelta(t, 0.1, diagnose.Distance(b, a), 1e-9)
	require.Zero(t, diagnose.Distance(a, a))
	require.InDelta(t, 0.1, diagnose.Distance([]unit.Time{100, 0}, b), 1e-9)
}

// TestSizes: the smallest and the largest are among few.
func TestSizes(t *testing.T) {
	all := []unit.Bytes{1, 2, 3, 4, 5, 6, 7}
	require.Equal(t, []unit.Bytes{1, 4, 7}, diagnose.Sizes(all, 3))
	require.Equal(t, all, diagnose.Sizes(all, 9))
}
