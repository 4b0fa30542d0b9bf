package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/unit"
)

// pod is 2 nodes of 4 GPUs on a switch, with one NIC a node and a switch between those.
const pod = `[topology]
nodes = 2
[topology.node]
preset = "switch"
ranks = 4
bandwidth = "4 GB/s"
latency = "1 us"
[topology.network]
preset = "switch"
nics = 1
bandwidth = "1 GB/s"
latency = "2 us"
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "1 MB"
`

// TestTeams: every team does the collective on its own, all at once; they share the network.
func TestTeams(t *testing.T) {
	const byte1 = unit.Nanosecond // of a link of 1 GB/s
	for _, c := range []struct {
		teams       string
		ranks, n    int
		time        unit.Time
		closedForm  any
		steps, sent int64
	}{
		// In a node: 2·3 rounds of 2·1 us and 250 000 B at 4 GB/s. 8 ranks send 6 chunks each.
		{`"node"`, 4, 2, 6 * (2*unit.Microsecond + 250_000*byte1/4), 6 * (2e6 + 62.5e6),
			8 * 7, 8 * 6 * 250_000},
		// Across: GPU i of either node; 2·1 rounds of 500 000 B over 2·2 us, with 4 teams on each
		// NIC's links: 4·500 000 B at 1 GB/s. No published formula knows of the others.
		{`"rail"`, 2, 4, 2 * (4*unit.Microsecond + 4*500_000*byte1), nil,
			8 * 3, 8 * 2 * 500_000},
		// Unequal: the largest team's figures, wherever it stands. Its largest chunk, of 83 334
		// float32, goes 2·2 times
		// over 2 us at 4 GB/s. The 2 ranks are done sooner: 2·1 times 125 us.
		{`[[0, 1, 2], [5, 4]]`, 3, 2, 4 * (2*unit.Microsecond + 83_334*byte1), nil,
			3*5 + 2*3, 4*1_000_000 + 2*1_000_000},
		{`[[5, 4], [0, 1, 2]]`, 3, 2, 4 * (2*unit.Microsecond + 83_334*byte1), nil,
			3*5 + 2*3, 4*1_000_000 + 2*1_000_000},
	} {
		t.Run(c.teams, func(t *testing.T) {
			r := runAll(t, load(t, "s.toml", pod, "collective.teams="+c.teams))
			m := decoded(t, r)["results"].([]any)[0].(map[string]any)
			got := r.Results[0]
			require.EqualValues(t, c.ranks, m["ranks"])
			require.EqualValues(t, c.n, m["teams"])
			require.Equal(t, c.closedForm, m["closed_form_ps"])
			require.Equal(t, c.steps, got.Steps)
			require.Equal(t, unit.Bytes(c.sent), got.BytesSent)
			require.Equal(t, run.Proved, got.Proof)
			require.Equal(t, "exact", got.Numbers)
			require.EqualValues(t, 250_000, got.Checked)
			busbw, _ := got.BusBW()
			require.InEpsilon(t, 1e6*2*float64(c.ranks-1)/float64(c.ranks)/
				(float64(got.Time)*1e-12)/1e9, busbw, 1e-12, "of one team")
			require.Equal(t, c.time, got.Time)
		})
	}
}

// TestTeamsBesideEachOther: teams that share no link take as long as one of them alone, and one
// team of all ranks is no team.
func TestTeamsBesideEachOther(t *testing.T) {
	for _, algorithm := range []string{"ring", "two-shot", "recursive-doubling"} {
		set := "collective.algorithm=" + algorithm
		two := runAll(t, load(t, "s.toml", small, set, "topology.ranks=8",
			"collective.teams=[[0, 2, 4, 6], [1, 3, 5, 7]]")).Results[0]
		one := runAll(t, load(t, "s.toml", small, set)).Results[0]
		require.Equal(t, one.Time, two.Time)
		require.Equal(t, 2*one.Messages, two.Messages)
		require.Equal(t, one.Rounds, two.Rounds)
		require.Equal(t, 2*one.LinkBytes, two.LinkBytes)
		all := runAll(t, load(t, "s.toml", small, set, "collective.teams=[[0, 1, 2, 3]]")).Results[0]
		alone, err := encode(Columns().result(one))
		require.NoError(t, err)
		together, err := encode(Columns().result(all))
		require.NoError(t, err)
		require.JSONEq(t, string(alone), string(together))
	}
}

// TestTeamsBound: four teams of 2 share the NICs' links of 1 GB/s, so 4 · 1 MB must cross them over
// 4 us at least; each alone would need a quarter. They take that, and 4 us of a second round.
func TestTeamsBound(t *testing.T) {
	r := runAll(t, load(t, "s.toml", pod, `collective.teams="rail"`)).Results[0]
	require.Equal(t, 4*unit.Millisecond, r.Bounds.Bandwidth)
	require.Equal(t, 4*unit.Millisecond+4*unit.Microsecond, r.Bounds.Lower)
	require.Equal(t, r.Bounds.Lower+4*unit.Microsecond, r.Time)
}

// TestTeamsText: the table says who is with whom, and what a message meets inside a team.
func TestTeamsText(t *testing.T) {
	for teams, want := range map[string]string{
		`"node"`: "8 ranks on 2 nodes, 2 teams of 4: 2 links a message, 2.00 us + n / 4 GB/s",
		`"rail"`: "8 ranks on 2 nodes, 4 teams of 2: 4 links a message, 4.00 us + n / 1 GB/s",
		`[[0, 1, 2], [4, 5]]`: "8 ranks on 2 nodes, 2 teams of 2 to 3: 2 links a message, " +
			"2.00 us + n / 4 GB/s",
		`[[3]]`: "8 ranks on 2 nodes, 1 team of 1: nothing goes over a link",
	} {
		s := load(t, "s.toml", pod, "collective.teams="+teams)
		require.Equal(t, want, runAll(t, s).Results[0].Network)
	}
}
