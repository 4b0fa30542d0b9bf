package run_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
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
count = 41_943_040
[check]
data = "normal"
`
	estimated := func(set ...string) (*run.Scenario, *run.Estimate) {
		s, err := run.Load("large.toml", []byte(text), run.LoadOptions{Set: set})
		require.NoError(t, err)
		e, err := s.Estimate(s.Points[0])
		require.NoError(t, err)
		return s, e
	}
	one := func(set ...string) (*run.Result, *run.Estimate) {
		s, e := estimated(set...)
		r, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		return r.Results[0], e
	}
	// 4 · 5·2^23 inputs of 16 ns, and 4 · 6/4 · 5·2^23 moves of 0.6 ns, take 2.84 s; two of them are
	// used.
	r, e := one()
	require.Equal(t, "exact", r.Numbers)
	require.InEpsilon(t, 2/2.835*(5<<23), float64(r.Checked), 0.01)
	require.Zero(t, r.Checked%4, "the same remainder modulo the chunks")
	require.Contains(t, r.Warnings[0], "instead of 41943040: all would take longer than the rest of "+
		"the run (check.full = true checks them)")
	require.InEpsilon(t, 2, e.NumberSeconds, 0.01)
	_, e = estimated("check.full=true")
	require.InEpsilon(t, 2.835, e.NumberSeconds, 0.01)

	every := []string{"collective.count=4_194_304", "check.full=true", "check.data=exact"}
	for _, set := range every[:tier.Of(1, 3)] {
		r, _ := one(set)
		require.EqualValues(t, run.CountOf(r.Point.Spec), r.Checked, set)
		require.Empty(t, r.Warnings, set)
	}
}

// TestSampleOfOutputs: where a walk of all ranks takes long, outputs are sampled if the schedule
// has a group and blocks of one size; else numbers are off.
func TestSampleOfOutputs(t *testing.T) {
	load := func(ranks, count int, algorithm string) *run.Scenario {
		s, err := run.Load("large.toml", fmt.Appendf(nil, "[topology]\npreset = \"switch\"\n"+
			"ranks = %d\nbandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n[collective]\n"+
			"kind = \"all_reduce\"\nalgorithm = %q\ncount = %d\n[check]\nproof = false\n", ranks,
			algorithm, count), run.LoadOptions{})
		require.NoError(t, err)
		return s
	}
	s := load(4096, 1<<20, "ring")
	e, err := s.Estimate(s.Points[0])
	require.NoError(t, err)
	require.Less(t, e.Seconds, 0.5)
	report, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	r := report.Results[0]
	require.Equal(t, "exact", r.Numbers)
	require.Equal(t, 64, r.Sampled)
	require.Contains(t, r.Warnings[0], "numbers checked on 64 output elements, with all that they "+
		"depend on: all would take longer than the rest of the run (check.full = true checks them)")

	s = load(32768, 32769, "ring") // 2·10^9 steps; blocks of two sizes
	e, err = s.Estimate(s.Points[0])
	require.NoError(t, err)
	require.Zero(t, e.NumberSeconds)
}
