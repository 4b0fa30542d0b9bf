package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/prose"
	"collsim/topology"
	"collsim/unit"
)

// TestNetworkText: what is printed of a network is what a message meets in it.
func TestNetworkText(t *testing.T) {
	for _, c := range []struct {
		preset string
		ranks  int
		want   string
	}{
		{"switch", 8, "8 ranks on a switch: 2 links a message, 2.00 us + n / 1 GB/s"},
		{"full-mesh", 2, "2 ranks on a full mesh: 1 link a message, 1.00 us + n / 1 GB/s"},
		{"ring", 5, "5 ranks on a ring: 1 to 2 links a message, 1.00…2.00 us + n / 1 GB/s"},
		{"ring", 1, "1 rank: nothing goes over a link"},
		{"switch", 300, "300 ranks on a switch: 2 links a message, 2.00 us + n / 1 GB/s"},
		{"ring", 300, "300 ranks on a ring: 1 to 150 links a message, " +
			"1.00…150 us + n / 1 GB/s"},
	} {
		g, err := topology.New(c.preset, c.ranks, unit.Rate(unit.GB), unit.Microsecond)
		require.NoError(t, err)
		n := newNetwork(g, nil)
		require.Equal(t, c.want, n.String())
	}
	require.Equal(t, "500 ns…1.50 us", prose.Between(500*unit.Nanosecond, 1500*unit.Nanosecond, "…"))
}
