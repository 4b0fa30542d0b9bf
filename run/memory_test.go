package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats"
	"collsim/unit"
)

const exchange = `[topology]
preset = "switch"
ranks = 16
bandwidth = "1 GB/s"
latency = "1 us"
[collective]
kind = "all_to_all"
algorithm = "direct"
bytes = "16 KiB"
[check]
numbers = false
`

// TestMemory: direct all_to_all of 16 ranks has 16 · 15 lanes and connections at
// 2500 + 850 + 2 · 20 B; pairwise has 16 lanes.
func TestMemory(t *testing.T) {
	load := func(free unit.Bytes, algorithm string) *Scenario {
		s, err := Load("s.toml", []byte(exchange), LoadOptions{Free: Memory{free, "this machine"},
			Set: []string{"collective.algorithm=" + algorithm}})
		require.NoError(t, err)
		return s
	}
	const refused = "its simulation takes up to 795 KiB of memory: this machine has 200 KiB left"
	const short = 200 * unit.KiB
	_, err := load(short, "direct").Run(context.Background(), RunOptions{})
	require.ErrorContains(t, err, refused)
	require.ErrorContains(t, err, "topology.ranks")
	_, err = load(short, "direct").Explain(load(short, "direct").Points[0], RunOptions{})
	require.ErrorContains(t, err, "its simulation takes up to 939 KiB of memory", "with its log")
	_, err = load(short, "direct").Validate(context.Background(), ValidateOptions{})
	require.ErrorContains(t, err, refused)
	_, err = load(5*unit.KiB, "direct").Verify(0) // of one rank for all
	require.ErrorContains(t, err, "its proof takes up to 30 KiB of memory: this machine has 5 KiB")
	ring := load(20*unit.KiB, "direct")
	_, _, err = ring.Export("msccl", formats.WriteOptions{})
	require.ErrorContains(t, err, "its export takes up to 727 KiB of memory: this machine has 20 KiB")
	whole := load(0, "direct")
	m, err := whole.make(whole.Points[0], whole.Points[0].Algorithm)
	require.NoError(t, err)
	require.NoError(t, ProofFits(m.whole, Memory{unit.GiB, "x"}))
	require.ErrorContains(t, ProofFits(m.whole, Memory{unit.KiB, "x"}),
		"its proof takes up to 30 KiB")

	for _, free := range []unit.Bytes{0, 900 * unit.KiB, unit.GiB} {
		r, err := load(free, "direct").Run(context.Background(), RunOptions{})
		require.NoError(t, err)
		require.Len(t, r.Results, 1)
	}

	all, err := load(short, "all").Run(context.Background(), RunOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, all.Results)
	var why []string
	for _, s := range all.Skipped {
		if s.Point.Algorithm.Name == "direct" {
			why = append(why, s.Why)
		}
	}
	require.Equal(t, []string{refused}, why)

	fastest, err := load(short, "fastest").Run(context.Background(), RunOptions{})
	require.NoError(t, err)
	require.NotEqual(t, "direct", fastest.Results[0].Algorithm.Name)
	require.Contains(t, fastest.Results[0].Candidates[1].Why, refused)
}
