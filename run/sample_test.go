package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestSample: a check whose elements would take longer than the rest of the run, and two seconds,
// is made on a smaller count, the same on every machine, and says so; check.full checks all.
func TestSample(t *testing.T) {
	const text = `[topology]
preset = "switch"
ranks = 4
bandwidth = "12.5 GB/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = "ring"
op = "max" # soon compared
count = 20_971_520
[check]
data = "normal"
`
	one := func(set ...string) (*run.Result, *run.Estimate) {
		s, err := run.Load("large.toml", []byte(text), run.LoadOptions{Set: set})
		require.NoError(t, err)
		e, err := s.Estimate(s.Points[0])
		require.NoError(t, err)
		r, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		return r.Results[0], e
	}
	// 4 · 5·2^22 inputs of 28 ns, and 4 · 6/4 · 5·2^22 moves of 1 ns, take 2.47 s; two of them are
	// used.
	r, e := one()
	require.Equal(t, "exact", r.Numbers)
	require.InEpsilon(t, 2/2.475*(5<<22), float64(r.Checked), 0.01)
	require.Zero(t, r.Checked%4, "the same remainder modulo the chunks")
	require.Contains(t, r.Warnings[0], "instead of 20971520: all would take longer than the rest of "+
		"the run (check.full = true checks them)")
	require.InEpsilon(t, 2, e.NumberSeconds, 0.01)

	for _, set := range []string{"check.full=true", "check.data=exact", "collective.count=4_194_304"} {
		r, _ := one(set)
		require.EqualValues(t, run.CountOf(r.Point.Spec), r.Checked, set)
		require.Empty(t, r.Warnings, set)
	}
}
