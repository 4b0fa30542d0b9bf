package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
	"collsim/sim"
	"collsim/unit"
)

// explained is the explanation of a scenario's only point.
func explained(t *testing.T, s *run.Scenario) *run.Explanation {
	t.Helper()
	require.Len(t, s.Points, 1)
	e, err := s.Explain(s.Points[0], run.RunOptions{})
	require.NoError(t, err)
	return e
}

// Smaller returns what makes an example take less time without another kind of result: schedules
// that are made for a network have fewer tiles.
func Smaller(name string) []string {
	if name == "synth" {
		return []string{"collective.bytes=64KiB"}
	}
	return nil
}

// TestSharesSumUp: of every point of every example the shares are the whole time, to the
// picosecond, and no bound lies above it.
func TestSharesSumUp(t *testing.T) {
	for _, name := range scenarios.Examples() {
		s := load(t, "example:"+name, "", Smaller(name)...)
		for _, p := range s.Points[:min(len(s.Points), tier.Of(4, 12))] {
			e, err := s.Explain(p, run.RunOptions{})
			require.NoError(t, err)
			if e == nil {
				require.True(t, p.Algorithm.Every)
				continue
			}
			sum, tenths := unit.Time(0), 0
			for i, share := range e.Shares {
				require.Positive(t, share.Time)
				require.True(t, i == 0 || share.Time <= e.Shares[i-1].Time, "the largest first")
				sum += share.Time
			}
			require.Equal(t, e.Result.Time, sum, p.ID)
			for _, n := range tenthsOf(e.Shares, sum) {
				tenths += n
			}
			require.Equal(t, 1000, tenths, "and in print")
			require.LessOrEqual(t, e.Result.Bounds.Lower, e.Result.Time, p.ID)
			require.GreaterOrEqual(t, e.Result.Bounds.Lower,
				max(e.Result.Bounds.Latency, e.Result.Bounds.Bandwidth, e.Result.Bounds.Reduction))
		}
	}
}

// TestExplainRing: 6 rounds of a ring of 4, of 2·1 us and 256 KB at 1 GB/s, 3 additions at 2 GB/s,
// and what 7 steps cost before their first byte.
func TestExplainRing(t *testing.T) {
	const us = unit.Microsecond
	e := explained(t, load(t, "s.toml", small, "collective.bytes=1024 KB",
		"device.reduce_rate=2 GB/s", "device.overhead=3 us"))
	type line struct {
		what sim.What
		link string
		like int
		time unit.Time
	}
	var got []line
	for _, s := range e.Shares {
		got = append(got, line{s.What, s.Link, s.Like, s.Time})
	}
	require.Equal(t, []line{
		{sim.Transfer, "gpu0->switch", 8, 6 * 256 * us},
		{sim.Reduction, "", 0, 3 * 128 * us},
		{sim.Overhead, "", 0, 7 * 3 * us},
		{sim.Latency, "gpu0->switch", 8, 6 * 2 * us},
	}, got)
	require.Equal(t, 6*256*us, e.Shares[0].Busy)
	require.Equal(t, "gpu0->switch", e.Unlimited.Changed.Link)
	require.Equal(t, (3*128+7*3+6*2)*us, e.Unlimited.Time)
	require.Equal(t, sim.Reduction, e.Unlimited.Then.What)
	require.Equal(t, (6*256+3*128+7*3)*us, e.NoLatency.Time)
	require.Equal(t, sim.Transfer, e.NoLatency.Then.What)
	// 2·3/4·1024 KB at 1 GB/s; 2 us and a start; 3/4·1024 KB of additions on 4 ranks, at 2 GB/s.
	require.Equal(t, 1536*us, e.Result.Bounds.Bandwidth)
	require.Equal(t, 5*us, e.Result.Bounds.Latency)
	require.Equal(t, 384*us, e.Result.Bounds.Reduction)
	require.Equal(t, (1536+5)*us, e.Result.Bounds.Lower)
}

// TestExplainDevice: where the device limits, it is the device that is made infinitely fast.
func TestExplainDevice(t *testing.T) {
	for _, c := range []struct {
		set  string
		what sim.What
		name string
		left unit.Time
	}{
		// 6 rounds of 2 us and 256 B at 1 GB/s are left where links limit next.
		{"device.overhead=1 ms", sim.Overhead, "if device.overhead were zero", 13_536_000},
		{"device.reduce_rate=1 MB/s", sim.Reduction, "if device.reduce_rate were unlimited",
			13_536_000},
		{"device.launch=20 ms", sim.Launch, "if device.launch were zero", 13_536_000},
		{"device.lane_rate=1 MB/s", sim.Transfer, "if device.lane_rate were unlimited", 13_536_000},
	} {
		t.Run(c.set, func(t *testing.T) {
			e := explained(t, load(t, "s.toml", small, c.set))
			require.Equal(t, c.what, e.Shares[0].What)
			require.Empty(t, e.Shares[0].Link)
			require.Equal(t, c.name, whatIfName(e.Unlimited))
			require.Equal(t, c.left, e.Unlimited.Time)
		})
	}
}

// TestExplainLinkKinds: a slower wire is of a kind of its own, both ways. Each of 4 ranks sends 3
// blocks of 2 MiB and 1 us of latency at 25 GB/s, but for one at 12.5 GB/s.
func TestExplainLinkKinds(t *testing.T) {
	s := load(t, "example:slow-link", "")
	e, err := s.Explain(s.Points[0], run.RunOptions{})
	require.NoError(t, err)
	const blocks = unit.Bytes(3 * 2 * unit.MiB)
	at := func(rate unit.Rate) float64 { return float64(blocks.Over(rate) + unit.Microsecond) }
	const each = 3 // fluid: each completion is rounded up
	require.InDelta(t, at(12_500_000_000), float64(e.Result.Time), each)
	require.Equal(t, "gpu3->switch", e.Unlimited.Changed.Link)
	require.Equal(t, 2, e.Unlimited.Changed.Like)
	require.InDelta(t, at(25_000_000_000), float64(e.Unlimited.Time), each)
}

// TestExplainNoTime: what takes no time, and what comes to no end, has no shares.
func TestExplainNoTime(t *testing.T) {
	e := explained(t, load(t, "s.toml", small, "topology.ranks=1"))
	require.Empty(t, e.Shares)
	require.Nil(t, e.Unlimited)
	require.Nil(t, e.NoLatency)
	require.Contains(t, ExplanationText(e), "0.00 us")

	e = explained(t, load(t, "s.toml", small, "sim.slots=1"))
	require.False(t, e.Result.Good())
	require.Contains(t, ExplanationText(e),
		"all_reduce ring, 1 KiB: comes to no end\n  stall: rank 0")
	text, err := ExplainJSON(load(t, "s.toml", small), []*run.Explanation{e}, nil)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(text, &m))
	only := m["explanations"].([]any)[0].(map[string]any)
	require.Nil(t, only["time_ps"])
	require.Len(t, only["violations"], 1)
}

// TestExplainManyShares: the smallest shares are one line.
func TestExplainManyShares(t *testing.T) {
	e := &run.Explanation{Result: &run.Result{Time: 1200}}
	for range 12 {
		e.Shares = append(e.Shares, run.Share{What: sim.Overhead, Time: 100})
	}
	var b strings.Builder
	pathLines(e, &b)
	require.Equal(t, 1+maxShares, strings.Count(b.String(), "\n"))
	require.Contains(t, b.String(), "  5 more ")
}

// TestTeamBounds: of teams, the bound is that of the slowest one alone, or of all together. Across
// the nodes of pod, 2 ranks exchange 1 MB over 2 links of 2 us and 1 GB/s, and 4 teams four times
// as much over the same; what stays within a node is no matter there.
func TestTeamBounds(t *testing.T) {
	for teams, want := range map[string][2]unit.Time{
		`"rail"`:                {4000 * unit.Microsecond, 4 * unit.Microsecond},
		`[[0, 4], [1, 2], [3]]`: {1000 * unit.Microsecond, 4 * unit.Microsecond},
	} {
		r := runAll(t, load(t, "s.toml", pod, "collective.teams="+teams)).Results[0]
		require.Equal(t, want, [2]unit.Time{r.Bounds.Bandwidth, r.Bounds.Latency}, teams)
		require.LessOrEqual(t, r.Bounds.Lower, r.Time)
	}
}

// TestShownNumbers: what is not quite all is not called 100 %, and shares are rounded up where the
// most is lost.
func TestShownNumbers(t *testing.T) {
	for share, want := range map[float64]string{1: "100.0", 0.99999: "99.9", 0.9994: "99.9",
		0.99: "99.0", 0.0004: "0.0"} {
		require.Equal(t, want, percent(share))
	}
	require.Equal(t, []int{334, 333, 333}, tenthsOf([]run.Share{{Time: 1}, {Time: 1}, {Time: 1}}, 3))
	require.Equal(t, []int{998, 1, 1},
		tenthsOf([]run.Share{{Time: 9981}, {Time: 8}, {Time: 11}}, 10_000))
	require.Equal(t, "the same", difference(5, 5))
	require.Equal(t, "time is 20.0 % more", difference(6, 5))
	require.Equal(t, "time is 20.0 % less", difference(4, 5))
	require.Equal(t, "0.01 us more", difference(10_000, 0))
}

// TestWrap: lines have 80 columns, what follows begins below, and numbers stay with their units.
func TestWrap(t *testing.T) {
	var b strings.Builder
	wrap(&b, "  start  ", strings.Repeat("1234567 ", 8)+"x 99.9 % of it")
	require.Equal(t, "  start  "+strings.Repeat("1234567 ", 8)+"x\n         99.9 % of it\n",
		b.String())
	b.Reset()
	figure(&b, "  "+strings.Repeat("word ", 10), 2_500_000, "note")
	require.Equal(t, "  word word word word word word word word word word\n"+
		strings.Repeat(" ", figureWidth+1)+"      2.50 us  note\n", b.String())
}

// TestExplainAhead: a schedule whose messages are asked for and whose senders wait for buffers is
// explained by both, the shares sum up, and what if nobody asked is told.
func TestExplainAhead(t *testing.T) {
	s := load(t, "s.toml", small, "collective.bytes=1024 KB", "device.send_buffer=64 KB",
		"device.eager_limit=1 KB", "device.receives_ahead=1", "collective.kind=scatter",
		"collective.algorithm=flat")
	e := explained(t, s)
	sum, seen := unit.Time(0), map[sim.What]unit.Time{}
	for _, share := range e.Shares {
		sum += share.Time
		seen[share.What] += share.Time
	}
	require.Equal(t, e.Result.Time, sum)
	require.Positive(t, seen[sim.Rendezvous])
	require.Positive(t, seen[sim.SendBuffer])
	text := ExplanationText(e)
	require.Contains(t, text, "rendezvous")
	require.Contains(t, text, "device.eager_limit")
	require.Contains(t, text, "send-buffer")
	require.Contains(t, text, "send_buffer 64 KB, eager_limit 1 KB, receives_ahead 1")
}
