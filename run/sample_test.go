package run

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

const large = `[topology]
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

// sampledShare is the share of the elements that is checked of large: its 4 · 5·2^23 random inputs
// count as 16 elements each, and 4 · 6/4 · 5·2^23 are moved, of which 2^31 are made and moved.
const sampledShare = float64(1<<31) / (4*(5<<23)*16 + 6*(5<<23))

// TestSample: a check of more elements than are made and moved at most is on a smaller count, the
// same on every machine, and says so; check.full checks all. In the short tier a hundredth of that
// is checked.
func TestSample(t *testing.T) {
	load := func(set ...string) *Scenario {
		s, err := Load("large.toml", []byte(large), LoadOptions{Set: set})
		require.NoError(t, err)
		return s
	}
	s := load()
	r := &Result{}
	if tier.Long {
		report, err := s.Run(context.Background(), RunOptions{})
		require.NoError(t, err)
		r = report.Results[0]
		require.InEpsilon(t, sampledShare*(5<<23), float64(r.Checked), 0.01)
	} else {
		r = checkedLess(t, s, 100)
	}
	require.Equal(t, "exact", r.Numbers)
	require.Zero(t, r.Checked%4, "the same remainder modulo the chunks")
	require.Contains(t, r.Warnings[0], "instead of 41943040: all would take long "+
		"(check.full = true checks them)")
	every := []string{"collective.count=" + tier.Of("1_048_576", "4_194_304"), "check.full=true",
		"check.data=exact"}
	for _, set := range every[:tier.Of(1, 3)] {
		report, err := load(set).Run(context.Background(), RunOptions{})
		require.NoError(t, err)
		r := report.Results[0]
		require.EqualValues(t, CountOf(r.Point.Spec), r.Checked, set)
		require.Empty(t, r.Warnings, set)
	}
}

// checkedLess is what a run says of numbers that are checked on a sample which is so many times
// smaller than it would be.
func checkedLess(t *testing.T, s *Scenario, times int64) *Result {
	p := s.Points[0]
	m, err := s.make(p, p.Algorithm)
	require.NoError(t, err)
	some := amountOf(m.whole, p, workOf(m.whole))
	require.InEpsilon(t, sampledShare*(5<<23), float64(some.count), 0.01)
	r := &runner{s: s, numbers: func(f func()) { f() }}
	require.NoError(t, r.enter(p))
	report, err := r.check(m.whole, m, p, amount{count: some.count / times}, nil)
	require.NoError(t, err)
	require.InDelta(t, some.count/times, report.Checked, 4)
	result := &Result{Point: p, Numbers: string(report.Numbers), Checked: report.Checked,
		sampled: true}
	result.warn(&r.network)
	return result
}

// TestSampleOfOutputs: where a walk of all ranks takes long, outputs are sampled if the schedule
// has a group and blocks of one size; else numbers are off.
func TestSampleOfOutputs(t *testing.T) {
	load := func(ranks, count int, algorithm string) *Scenario {
		s, err := Load("large.toml", fmt.Appendf(nil, "[topology]\npreset = \"switch\"\n"+
			"ranks = %d\nbandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n[collective]\n"+
			"kind = \"all_reduce\"\nalgorithm = %q\ncount = %d\n[check]\nproof = false\n", ranks,
			algorithm, count), LoadOptions{})
		require.NoError(t, err)
		return s
	}
	s := load(4096, 1<<20, "ring")
	report, err := s.Run(context.Background(), RunOptions{})
	require.NoError(t, err)
	r := report.Results[0]
	require.Equal(t, "exact", r.Numbers)
	require.Equal(t, 64, r.Sampled)
	require.Contains(t, r.Warnings[0], "numbers checked on 64 output elements, with all that they "+
		"depend on: all would take long (check.full = true checks them)")

	s = load(32768, 32769, "ring") // 2·10^9 steps; blocks of two sizes
	p := s.Points[0]
	m, err := s.make(p, p.Algorithm)
	require.NoError(t, err)
	require.Contains(t, amountOf(m.whole, p, workOf(m.whole)).none, "blocks are not of one size")
	p.Check.Full = true
	all := amountOf(m.whole, p, workOf(m.whole))
	require.Equal(t, amount{operations: all.operations}, all)
	require.Greater(t, all.operations, 1e12)
}
