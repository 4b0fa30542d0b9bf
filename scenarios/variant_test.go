package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestVariantsStandBesideTheScenario: links and ranks of a variant follow those of the scenario,
// and are no other variant's; nor is what it sets.
func TestVariantsStandBesideTheScenario(t *testing.T) {
	s, err := load("s.toml", []byte(someCollective+`
[topology]
preset = "switch"
ranks = 4
bandwidth = "100 GB/s"
latency = "1 us"
[[topology.rank]]
match = "0"
start = "1 us"
[[variant]]
name = "late"
[[variant.rank]]
match = "0"
start = "2 us"
[[variant]]
name = "slow"
set = { "topology.bandwidth" = "50 GB/s" }
[[variant.link]]
match = "gpu1->switch"
bandwidth = "50 %"
[[variant]]
name = "as it is"
`), testOptions())
	require.NoError(t, err)
	require.Len(t, s.Points, 3)
	late, slow, plain := s.Points[0].Topology, s.Points[1].Topology, s.Points[2].Topology
	require.Equal(t, []unit.Time{2 * unit.Microsecond, 0, 0, 0}, late.Starts)
	require.Equal(t, []unit.Time{unit.Microsecond, 0, 0, 0}, slow.Starts)
	require.Equal(t, []unit.Time{unit.Microsecond, 0, 0, 0}, plain.Starts)
	require.Equal(t, 100*unit.GB, unit.Bytes(late.Bandwidth))
	require.Equal(t, 50*unit.GB, unit.Bytes(slow.Bandwidth))
	require.Len(t, slow.changes, 1)
	require.Empty(t, late.changes)
	require.Empty(t, plain.changes)
	require.Equal(t, "slow", s.Points[1].Variant())
}

// TestZipf: sizes add up, block k of the order has 1/k of the first, and the order is the seed's.
func TestZipf(t *testing.T) {
	// weights 1, 1/2, 1/3, 1/4 of 25/12: 1200·12/25 = 576, 288, 192, 144; 1/3 is a little less in
	// units of 2^-30, and what it loses goes to the first
	require.ElementsMatch(t, []int64{577, 288, 191, 144}, zipf(4, 1200, 1, 7))
	require.Equal(t, zipf(4, 1200, 1, 7), zipf(4, 1200, 1, 7))
	require.Equal(t, []int64{3, 3, 3}, zipf(3, 9, 0, 1))
	require.Equal(t, []int64{0, 0, 0}, zipf(3, 0, 1.2, 1))
	orders := map[int64]bool{} // which block is the largest
	for seed := range uint64(32) {
		sizes, sum := zipf(5, 1_000_003, 1.2, seed), int64(0)
		largest := 0
		for i, n := range sizes {
			sum += n
			if n > sizes[largest] {
				largest = i
			}
		}
		require.Equal(t, int64(1_000_003), sum)
		orders[int64(largest)] = true
	}
	require.Len(t, orders, 5)
	require.Equal(t, maxCount, zipf(2, maxCount, maxZipf, 3)[0]+zipf(2, maxCount, maxZipf, 3)[1])
}

// TestVariantsOfAMachineFile: the names of variants are read where a file says what the machine is.
func TestVariantsOfAMachineFile(t *testing.T) {
	require.NotPanics(t, func() {
		_, _ = Read("s.toml", []byte("topology.file = \"host.xml\"\ncollective.kind = \"all_reduce\"\n"+
			"collective.bytes = 8\n[[variant]]\nname = \"a\"\n[variant.set]\nsim.seed = 1\n"), Options{})
	})
}
