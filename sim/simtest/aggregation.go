package simtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/topology"
	"collsim/unit"
)

// Aggregation draws a random tree of switches that multicast and reduce, with ranks anywhere below
// them, some behind a NIC, which does neither. Every link has its own figures in either direction.
func Aggregation(t testing.TB, rng *rand.Rand, ranks int) *topology.Graph {
	t.Helper()
	rates := []unit.Rate{GBs, 2 * GBs, GBs / 2, GBs / 4}
	times := []unit.Time{0, 100 * unit.Nanosecond, 250 * unit.Nanosecond, unit.Microsecond}
	var wires []topology.Wire
	join := func(a, b string) {
		for _, ends := range [][2]string{{a, b}, {b, a}} {
			wires = append(wires, topology.Wire{From: ends[0], To: ends[1],
				Bandwidth: rates[rng.IntN(len(rates))], Latency: times[rng.IntN(len(times))]})
		}
	}
	switches := 1 + rng.IntN(6)
	for i := 1; i < switches; i++ {
		join(fmt.Sprint("switch", i), fmt.Sprint("switch", rng.IntN(i)))
	}
	for rank := range ranks {
		gpu, at := fmt.Sprint("gpu", rank), fmt.Sprint("switch", rng.IntN(switches))
		if rng.IntN(3) == 0 {
			nic := fmt.Sprint("plain", rank)
			join(gpu, nic)
			gpu = nic
		}
		join(gpu, at)
	}
	g, err := topology.Links(0, wires)
	require.NoError(t, err)
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		n.Multicast = len(n.Name) > 6 && n.Name[:6] == "switch"
		n.Reduce = n.Multicast
	}
	return g
}
