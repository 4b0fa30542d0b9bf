package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// hop is the latency L of every link, wire its bandwidth B, which every number of flows here
// divides; block is n, which takes each at B.
const (
	hop   = unit.Microsecond
	wire  = 1680 * unit.Rate(unit.MB)
	block = 1680 * 3000
	each  = 3 * unit.Millisecond

	whole = unit.Share(1_000_000) // 100 %
)

// TestAllToAllFluid compares all-to-alls with times worked out by hand. n is the block that goes
// from each rank to each, B the bandwidth of a link, L its latency; ends says when rank 0's
// exchange with another rank is over.
func TestAllToAllFluid(t *testing.T) {
	twoRacks := topology.Params{Preset: "leaf-spine", Ranks: 8, K: 4,
		Oversubscription: 4 * whole, Bandwidth: wire, Latency: hop}
	noLatency := twoRacks
	noLatency.Latency = 0
	small := topology.Params{Preset: "dragonfly", A: 2, P: 1, H: 1, Bandwidth: wire, Latency: hop}
	large := small
	large.P = 2
	for _, c := range []struct {
		name      string
		params    topology.Params
		override  string // links whose bandwidth is this share; "global": of a dragonfly, a quarter
		share     unit.Share
		algorithm string
		want      unit.Time
		ends      map[int]unit.Time
	}{
		// A rank sends 3 blocks in its rack and 4 to the other one: 7 flows on its link up, as many on
		// its link down, and 4·4 = 16 on each leaf's only link up, the tightest: B/16 each. What is
		// left of a rank's link, B − 4·B/16 = 3/4·B, is for 3 flows: B/4 each. They end at 4·n/B, over
		// 2 links; the others go on at B/16 until 16·n/B, over 4 links.
		{"two racks, 4:1", twoRacks, "", 0, "direct", 16*each + 4*hop,
			map[int]unit.Time{1: 4*each + 2*hop, 4: 16*each + 4*hop}},

		// The same with links between leaf and spine that are twice as fast: 2·B/16 = B/8 for what
		// leaves the rack, (B − 4·B/8)/3 = B/6 for what stays.
		{"two racks, 2:1", twoRacks, "leaf* <-> spine*", 2 * whole, "direct",
			8*each + 4*hop,
			map[int]unit.Time{3: 6*each + 2*hop, 7: 8*each + 4*hop}},

		// And with links between them that are four times as fast: 4·B/16 = B/4 for each of 16 flows is
		// more than the B/7 that a rank's own link gives to each of its 7. All take 7·n/B.
		{"two racks, 1:1", twoRacks, "leaf* <-> spine*", 4 * whole, "direct",
			7*each + 4*hop,
			map[int]unit.Time{2: 7*each + 2*hop, 5: 7*each + 4*hop}},

		// Without latency. In round i of pairwise, rank r sends to r+i, alone on its link; of each
		// rack min(i, 8−i) ranks send to the other and share one link: they take so many n/B, and from
		// round 2 to round 6 every rank sends to the other rack or hears from it, so all wait for
		// them. 1 + 2 + 3 + 4 + 3 + 2 + 1 = 16.
		{"two racks, round by round", noLatency, "", 0, "pairwise", 16 * each, nil},

		// 3 groups of 2 routers with a rank each. A rank sends 5 blocks and hears 5. From group to
		// group there are 4 flows on the one global link. From router to router of a group there are
		// 5: the ranks' own, 2 on the way to a global link of the other router, 2 on the way from
		// one. So no link has more than 5 flows, and every flow begins on a link that has 5: B/5 for
		// all. The longest routes are up, local, global, local, down.
		{"dragonfly, a rank a router", small, "", 0, "direct", 5*each + 5*hop,
			map[int]unit.Time{1: 5*each + 3*hop, 3: 5*each + 3*hop}},

		// The same with global links of B/4: B/16 for each of the 4 flows on them. Of 5 flows on a
		// rank's link 4 are of that kind, and B − 4·B/16 = 3/4·B is left for the block to the
		// neighbour: 4/3·n/B.
		{"dragonfly, slow global links", small, "global", 0, "direct",
			16*each + 5*hop,
			map[int]unit.Time{1: 4*each/3 + 3*hop, 3: 16*each + 3*hop}},

		// 3 groups of 2 routers with 2 ranks each. From router to router of a group there are 20 flows:
		// 2·2 of the ranks', 2·4 on the way to a global link of the other router, 4·2 on the way from
		// one. That is the tightest link: B/20 each. A global link carries 4·4 flows. 12 of them also
		// take a link inside a group; what is left, B − 12·B/20, is for the 4 that do not (from rank
		// 0: ranks 6 and 7, on the router to which the global link of its own leads): B/10 each. A
		// rank sends 8 blocks at B/20, 2 at B/10, and the one to the other rank of its router gets
		// the rest: B − 8/20·B − 2/10·B = 4/10·B, for 2.5·n/B.
		{"dragonfly, two ranks a router", large, "", 0, "direct", 20*each + 5*hop,
			map[int]unit.Time{1: 5*each/2 + 2*hop, 2: 20*each + 3*hop,
				6: 10*each + 3*hop, 4: 20*each + 4*hop}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := topology.Build(c.params)
			require.NoError(t, err)
			switch {
			case c.share > 0:
				require.NoError(t, g.Override(c.override, topology.Change{Share: c.share}))
			case c.override != "":
				slowGlobal(t, g)
			}
			a, err := algos.Find(collective.AllToAll, c.algorithm)
			require.NoError(t, err)
			p := len(g.Ranks)
			s, err := a.Build(collective.Spec{Kind: collective.AllToAll, Type: dtype.Uint8, Ranks: p,
				Count: block}, algos.Options{})
			require.NoError(t, err)
			ideal, err := device.Lookup("ideal")
			require.NoError(t, err)
			ran, err := sim.Run(s, sim.Env{Graph: g, Device: ideal}, sim.Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, ran.Time)
			for peer, end := range c.ends {
				require.Equal(t, end, ran.LaneEnd[peer-1], "with rank %d", peer)
			}
		})
	}
}

// slowGlobal makes the links between groups of a dragonfly four times as slow.
func slowGlobal(t *testing.T, g *topology.Graph) {
	t.Helper()
	slow := 0
	for i := range g.Links() {
		from, to := g.Nodes()[g.Links()[i].From], g.Nodes()[g.Links()[i].To]
		group, other := strings.Split(from.Name, "/")[0], strings.Split(to.Name, "/")[0]
		if from.Switch && to.Switch && group != other {
			g.Links()[i].Bandwidth /= 4
			slow++
		}
	}
	require.Equal(t, 6, slow)
}
