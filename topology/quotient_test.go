package topology

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCrowd: the nodes that a crowd has, and those that it stands for, are all nodes; and each link
// of the whole network is one of the crowd's between those that stand for its ends, as fast and as
// long, or one within.
func TestCrowd(t *testing.T) {
	all := numbered(t)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rng, crowds, changes := rand.New(rand.NewSource(1)), 0, 0
	for _, name := range names {
		for range 4 {
			g := all[name].Clone()
			for range rng.Intn(5) {
				if n := g.NumLinks(); n > 0 {
					require.NoError(t, g.Override(g.LinkName(int32(rng.Intn(n))), randomChange(rng)))
				}
			}
			rank := rng.Intn(len(g.Ranks))
			c, ok := g.Quotient(rank)
			if !ok {
				continue
			}
			crowds, changes = crowds+1, changes+len(g.Changes())
			require.False(t, g.IsListed() || c.IsListed(), name)
			requireQuotient(t, g, c, rank, name)
		}
	}
	require.Greater(t, crowds, 50)
	require.Greater(t, changes, 50)
}

func requireQuotient(t *testing.T, g *Graph, c *Quotient, rank int, name string) {
	t.Helper()
	stood := map[int32]int64{}
	for v := range int32(g.NumNodes()) {
		stood[c.Representative(v)]++
		require.Equal(t, int(v) < len(g.Ranks), int(c.Representative(v)) < len(c.Ranks), name)
	}
	nodes := int64(0)
	for v := range int32(c.NumNodes()) {
		require.Equal(t, c.Multiplicity(v), stood[v], "%s %d", name, v)
		require.Equal(t, v, c.Representative(c.Original(v)), name)
		nodes += stood[v]
	}
	require.EqualValues(t, g.NumNodes(), nodes, name)
	require.Equal(t, g.Ranks[rank], c.Original(c.Representative(g.Ranks[rank])), name)
	byEnds, times, within := map[[2]int32]Link{}, map[[2]int32]int64{}, int64(0)
	for i := range int32(c.NumLinks()) {
		l := c.Link(i)
		byEnds[[2]int32{l.From, l.To}] = l
	}
	for i := range int32(g.NumLinks()) {
		l := g.Link(i)
		ends := [2]int32{c.Representative(l.From), c.Representative(l.To)}
		times[ends]++
		like, isThere := byEnds[ends]
		if !isThere {
			require.Equal(t, ends[0], ends[1], name)
			within, like = within+1, c.Like
		}
		require.Equal(t, like.Bandwidth, l.Bandwidth, "%s %d", name, i)
		require.Equal(t, like.Latency, l.Latency, "%s %d", name, i)
	}
	require.Equal(t, c.Within, within, name)
	for ends := range byEnds {
		require.Equal(t, max(c.Multiplicity(ends[0]), c.Multiplicity(ends[1])), times[ends], name)
	}
}
