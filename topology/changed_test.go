package topology

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestChanged: a network that follows a formula, and of which links have been changed, is the list
// of its links in which the same were changed: links, routes of both kinds, samples and changes. It
// is not listed for that.
func TestChanged(t *testing.T) {
	all := numbered(t)
	for _, p := range fromLists() {
		if p.Ranks <= 64 {
			g, err := Build(p)
			require.NoError(t, err)
			all[fmt.Sprintf("%+v", p)] = g
		}
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rng, changes := rand.New(rand.NewSource(1)), 0
	for _, name := range names {
		g := all[name]
		if g.NumLinks() == 0 {
			continue
		}
		listed := g.Clone()
		listed.Links()
		for range 1 + rng.Intn(4) {
			c := randomChange(rng)
			pattern := g.LinkName(int32(rng.Intn(g.NumLinks())))
			require.NoError(t, g.Override(pattern, c), name)
			require.NoError(t, listed.Override(pattern, c), name)
		}
		g = g.Clone()
		require.False(t, g.IsListed(), name)
		require.Equal(t, listed.Changes(), g.Changes(), name)
		changes += len(g.Changes())
		requireListed(t, listed, g, name)
		requireSamples(t, listed, g, name)
		if len(g.Changes()) > 0 {
			require.False(t, g.Alike() ||
				g.Moves(Translation{Size: int32(len(g.Ranks)), Weight: 1}), name)
		}
		if len(g.Ranks) <= 16 {
			requireRoutes(t, searched(listed), g, Shortest, name)
		}
		require.False(t, g.IsListed(), name)
		require.Equal(t, listed.Links(), g.Links(), name)
		require.Equal(t, listed.Changes(), g.Changes(), name)
	}
	require.Greater(t, changes, 300)
}

func randomChange(rng *rand.Rand) (c Change) {
	switch rng.Intn(3) {
	case 0:
		c.Share = unit.Share(1 + rng.Intn(3_000_000))
	case 1:
		c.Bandwidth = unit.Rate(1 + rng.Intn(1e9))
	}
	if c == (Change{}) || rng.Intn(3) == 0 {
		latency := unit.Time(rng.Intn(1e7))
		c.Latency = &latency
	}
	return c
}

// requireSamples: the samples of a network have the figures of every link that comes after them.
func requireSamples(t *testing.T, listed, g *Graph, name string) {
	t.Helper()
	type figures struct {
		bandwidth unit.Rate
		latency   unit.Time
	}
	samples, seen := g.Samples(), map[figures]bool{}
	require.True(t, slices.IsSorted(samples), name)
	for i, l := range listed.Links() {
		f := figures{l.Bandwidth, l.Latency}
		if len(samples) > 0 && samples[0] == int32(i) {
			samples = samples[1:]
			seen[f] = true
		}
		require.True(t, seen[f], "%s %d", name, i)
	}
	require.Empty(t, samples, name)
}

// TestChangedHashedRoutes: a change moves no route that is chosen by a hash, either.
func TestChangedHashedRoutes(t *testing.T) {
	for _, p := range fromLists() {
		if p.Ranks > 16 || p.Ranks < 2 {
			continue
		}
		was, err := Build(p)
		require.NoError(t, err)
		now := was.Clone()
		require.NoError(t, now.Override(now.LinkName(0), Change{Bandwidth: 1}))
		require.NoError(t, now.Override("gpu1->*", Change{Share: 2_000_000}))
		requireRoutes(t, searched(was), now, ECMP, fmt.Sprintf("%+v", p))
		require.False(t, now.IsListed())
	}
}

// TestChangesAddUp: a share is one of what a link has by now; what is as it was is not changed any
// more; and where too many are changed, all are listed.
func TestChangesAddUp(t *testing.T) {
	g, err := plain("switch", 100, 1000, unit.Microsecond)
	require.NoError(t, err)
	half := Change{Share: 500_000}
	require.NoError(t, g.Override("gpu7->switch", half))
	require.NoError(t, g.Override("gpu3->switch", half))
	require.NoError(t, g.Override("gpu7 <-> switch", half))
	require.Equal(t, []int32{3, 7, 107}, g.Changes())
	require.EqualValues(t, 250, g.Link(7).Bandwidth)
	require.EqualValues(t, 500, g.Link(107).Bandwidth)
	require.NoError(t, g.Override("gpu7->switch", Change{Share: 4_000_000}))
	require.Equal(t, []int32{3, 107}, g.Changes())
	require.NoError(t, g.Clone().Override("*", Change{Bandwidth: 1}))
	require.Equal(t, []int32{3, 107}, g.Changes())
	require.ErrorContains(t, g.Override("*", Change{Share: 1001}), "the bandwidth of gpu3->switch")
	require.False(t, g.IsListed())
	require.NoError(t, g.Override("gpu*->switch", half))
	require.True(t, g.IsListed())
	require.EqualValues(t, 250, g.Link(3).Bandwidth)
	require.Len(t, g.Changes(), 101)
}

// TestMatchesByEnds: links are found by the names of their ends as they are by their own.
func TestMatchesByEnds(t *testing.T) {
	patterns := []string{"*", "gpu*", "*h", "gpu1->*", "*->gpu1", "*1->*", "* -> *1*", "gpu0<->*",
		"*<->*", "g*0*->*s*", "*->*->*", "->", "*node1/*->*", "*>*", "*-*", "gpu1 <-> gpu2", "*0->*h<->x"}
	found := 0
	for name, g := range numbered(t) {
		for _, pattern := range patterns {
			there, back := directions(pattern)
			var want []int32
			for i := range int32(g.NumLinks()) {
				if n := g.LinkName(i); matches(there, n) || back != "" && matches(back, n) {
					want = append(want, i)
				}
			}
			require.Equal(t, want, g.named(there, back), "%s %s", name, pattern)
			found += len(want)
		}
		require.False(t, g.IsListed())
	}
	require.Greater(t, found, 1000)
}
