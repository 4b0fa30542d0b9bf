package topology

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMixIsSplitmix64 compares with the first outputs of the published generator at seed 0: it
// mixes multiples of the golden gamma, and mix adds the first of them itself.
func TestMixIsSplitmix64(t *testing.T) {
	const gamma = 0x9e3779b97f4a7c15
	want := []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f}
	state := uint64(0)
	for _, w := range want {
		require.Equal(t, w, mix(state))
		state += gamma
	}
}

// loads counts the routes of all pairs over the links whose names have both parts.
func loads(g *Graph, from, to string) map[string]int {
	count := map[string]int{}
	for _, l := range g.Links() {
		if a, b, _ := strings.Cut(l.Name, "->"); strings.Contains(a, from) && strings.Contains(b, to) {
			count[l.Name] = 0
		}
	}
	for s := range g.Ranks {
		for d := range g.Ranks {
			for _, l := range g.Route(s, d, nil) {
				if _, ok := count[g.Links()[l].Name]; ok {
					count[g.Links()[l].Name]++
				}
			}
		}
	}
	return count
}

// TestECMPIsBalanced: on a full fat-tree of 8-port switches, with a flow between all pairs, an edge
// switch has 4 · 124 flows up over 4 links, an aggregation switch about 16 · 112 / 4 over 4. Were
// both choices made by the same hash, an aggregation switch would use one of its links alone.
func TestECMPIsBalanced(t *testing.T) {
	g, err := Build(Params{Preset: "fat-tree", K: 8, Bandwidth: rate, Routing: ECMP})
	require.NoError(t, err)
	for _, tt := range []struct {
		from, to string
		mean     int
		within   int // of the mean: less than five standard deviations
	}{
		{"edge", "agg", 4 * 124 / 4, 44},
		{"agg", "core", 16 * 112 / 16, 48},
		{"core", "agg", 16 * 112 / 16, 48},
		{"agg", "edge", 4 * 124 / 4, 44},
	} {
		count := loads(g, tt.from, tt.to)
		require.Len(t, count, 128)
		sum := 0
		for name, n := range count {
			require.InDelta(t, tt.mean, n, float64(tt.within), name)
			sum += n
		}
		require.Equal(t, 128*tt.mean, sum)
	}
	g.Routing = Shortest // and without it the first take all
	count := loads(g, "agg", "core")
	require.Equal(t, 16*112, count["pod3/agg0->core0"])
	require.Zero(t, count["pod3/agg1->core4"])
}

// TestECMPChangesNothingWithoutAChoice: one path, one route.
func TestECMPChangesNothingWithoutAChoice(t *testing.T) {
	for _, p := range []Params{
		{Preset: "switch", Ranks: 6}, {Preset: "tree", Ranks: 9, K: 3}, {Preset: "mesh", Shape: []int{7}},
		{Preset: "dragonfly", A: 4, P: 1, H: 1},
	} {
		p.Bandwidth = rate
		plain, err := Build(p)
		require.NoError(t, err)
		p.Routing = ECMP
		g, err := Build(p)
		require.NoError(t, err)
		for s := range g.Ranks {
			for d := range g.Ranks {
				require.Equal(t, plain.Route(s, d, nil), g.Route(s, d, nil))
			}
		}
	}
}

// TestECMPDoesNotDependOnHistory: a route is the same whatever was asked before.
func TestECMPDoesNotDependOnHistory(t *testing.T) {
	p := Params{Preset: "leaf-spine", Ranks: 24, K: 6, Bandwidth: rate, Routing: ECMP}
	g, err := Build(p)
	require.NoError(t, err)
	for s := range 24 {
		for d := range 24 {
			fresh, err := Build(p)
			require.NoError(t, err)
			require.Equal(t, fresh.Route(s, d, nil), g.Route(s, d, nil))
		}
	}
}
