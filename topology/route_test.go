package topology

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// rule is the documented rule, word for word and slowly: of all shortest paths take, hop by hop
// from the source, the link of the lowest index, or with ECMP that of the largest hash. It returns
// nil where there is no path.
func rule(g *Graph, src, dst int) []int32 {
	const never = 1 << 40
	from, to := g.Ranks[src], g.Ranks[dst]
	left := make([]int, len(g.Nodes())) // the length of the way to the end: Bellman and Ford's
	for v := range left {
		left[v] = never
	}
	left[to] = 0
	for changed := true; changed; {
		changed = false
		for _, l := range g.Links() {
			if d := left[l.To] + 1 + int(l.extra); d < left[l.From] {
				left[l.From] = d
				changed = true
			}
		}
	}
	if left[from] >= never {
		return nil
	}
	route := []int32{}
	for from != to {
		best := -1
		for i, l := range g.Links() {
			if l.From != from || left[l.To]+1+int(l.extra) != left[from] {
				continue
			}
			hash := func(link int) uint64 { return mix(mix(uint64(src)<<32+uint64(dst)) + uint64(link)) }
			if best < 0 || g.Routing == ECMP && hash(i) > hash(best) {
				best = i
			}
		}
		route = append(route, int32(best))
		from = g.Links()[best].To
	}
	return route
}

// randomGraph has every possible link between its nodes with a probability of percent.
func randomGraph(seed int64, ranks, switches, percent int) *Graph {
	rng := rand.New(rand.NewSource(seed))
	name := func(v int) string {
		if v < ranks {
			return rankName(v)
		}
		return fmt.Sprintf("s%d", v-ranks)
	}
	var list []Wire
	for from := range ranks + switches {
		for to := range ranks + switches {
			if from != to && rng.Intn(100) < percent {
				list = append(list, Wire{From: name(from), To: name(to), Bandwidth: rate})
			}
		}
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	g, err := Links(ranks, list)
	if err != nil {
		panic(err)
	}
	return g
}

// equalsRule compares every route of g, asked for in the given order, with the rule, and Connected
// with the existence of all routes.
func equalsRule(g *Graph) error {
	connected := true
	want := map[[2]int][]int32{}
	for s := range g.Ranks {
		for d := range g.Ranks {
			want[[2]int{s, d}] = rule(g, s, d)
			connected = connected && want[[2]int{s, d}] != nil
		}
	}
	if err := g.Connected(); (err == nil) != connected {
		return fmt.Errorf("connected is %v, Connected says %v", connected, err)
	}
	n := len(g.Ranks)
	for i := range 4 * n * n { // often enough for tables to be made
		s, d := i/n%n, i%n
		w := want[[2]int{s, d}]
		if w == nil {
			continue // Route would panic, see below
		}
		// A prefix stands for what the caller has in the buffer already.
		got := g.Route(s, d, []int32{-7})
		if !slices.Equal(got[1:], w) || got[0] != -7 {
			return fmt.Errorf("%d to %d: %v, want %v", s, d, got[1:], w)
		}
	}
	return nil
}

func TestRoutesFollowTheRule(t *testing.T) {
	params := gopter.DefaultTestParametersWithSeed(5)
	params.MinSuccessfulTests = 150
	p := gopter.NewProperties(params)
	p.Property("random graphs", prop.ForAll(
		func(seed int64, ranks, switches, percent int) (bool, error) {
			g := randomGraph(seed, ranks, switches, percent)
			rng := rand.New(rand.NewSource(seed))
			g.Routing = Routing(rng.Intn(2))
			for i := range g.Links() { // some links count more
				g.Links()[i].extra = []int32{0, aGlobal, anAttachment}[rng.Intn(3)]
			}
			err := equalsRule(g)
			return err == nil, err
		}, gen.Int64(), gen.IntRange(1, 5), gen.IntRange(0, 4), gen.IntRange(5, 80)))
	p.Property("presets", prop.ForAll(
		func(preset, ranks int) (bool, error) {
			g, err := plain(presets()[preset], ranks, rate, hop)
			if err == nil {
				err = equalsRule(g)
			}
			return err == nil, err
		}, gen.IntRange(0, len(presets())-1), gen.IntRange(1, 9)))
	p.Property("built", prop.ForAll(
		func(i int, ecmp bool) (bool, error) {
			params := builds()[i]
			if ecmp {
				params.Routing = ECMP
			}
			g, err := Build(params)
			if err == nil {
				err = equalsRule(g)
			}
			if err != nil {
				err = fmt.Errorf("%+v: %w", params, err)
			}
			return err == nil, err
		}, gen.IntRange(0, len(builds())-1), gen.Bool()))
	p.TestingRun(t)
}

// searched is a network that is listed, and forgets its formula: its routes are searched for.
func searched(g *Graph) *Graph {
	c := g.Clone()
	c.list()
	c.formula = nil
	return c
}

// TestTablesAreMadeWhenTheyPay: a few routes leave no table, many to one destination leave one.
func TestTablesAreMadeWhenTheyPay(t *testing.T) {
	g, err := Build(Params{Preset: "fat-tree", K: 8, Bandwidth: rate})
	require.NoError(t, err)
	g = searched(g)
	for s := range 3 {
		g.Route(s, 127, nil)
	}
	require.Zero(t, g.routes.held)
	before := g.Route(5, 127, nil)
	for s := range 64 {
		g.Route(s, 127, nil)
	}
	require.Equal(t, 2, g.routes.held, "distances, and the links that routes take")
	require.Equal(t, before, g.Route(5, 127, nil))
}

// TestRoutingMayChange: the links that routes have taken are kept for pairs that all take the same,
// and only for these.
func TestRoutingMayChange(t *testing.T) {
	params := Params{Preset: "fat-tree", K: 8, Bandwidth: rate}
	g, err := Build(params)
	require.NoError(t, err)
	g = searched(g)
	for _, routing := range []Routing{Shortest, ECMP, Shortest} {
		g.Routing = routing
		params.Routing = routing
		fresh, err := Build(params)
		require.NoError(t, err)
		fresh = searched(fresh)
		fresh.buildNeighbours()
		fresh.routes.room = 0
		for s := range 128 {
			require.Equal(t, fresh.Route(s, 126, nil), g.Route(s, 126, nil))
		}
	}
	require.Equal(t, 2, g.routes.held)
}

// TestTooLittleRoomForTables: without room for a table a general network searches every time, and a
// cluster, which cannot do without, keeps forgetting. Routes are the same.
func TestTooLittleRoomForTables(t *testing.T) {
	for _, p := range builds() {
		free, err := Build(p)
		require.NoError(t, err)
		tight, err := Build(p)
		require.NoError(t, err)
		tight = searched(tight)
		tight.buildNeighbours()
		tight.routes.room = 0
		if tight.parts != nil {
			tight.parts.node.buildNeighbours()
			tight.parts.network.buildNeighbours()
			tight.parts.node.routes.room = 1
			tight.parts.network.routes.room = 1
		}
		for i := range 400 {
			s, d := i%7%len(free.Ranks), i%11%len(free.Ranks)
			require.Equal(t, free.Route(s, d, nil), tight.Route(s, d, nil))
		}
		require.Zero(t, tight.routes.held)
		if tight.parts != nil {
			require.LessOrEqual(t, tight.parts.node.routes.held, 1)
			require.LessOrEqual(t, tight.parts.network.routes.held, 1)
		}
	}
}

// TestManyNodesOnASwitch: of many links of a switch only those are looked at that may lie on the
// way.
func TestManyNodesOnASwitch(t *testing.T) {
	node := Params{Preset: "switch", Ranks: 3, Bandwidth: rate}
	for _, network := range []Params{{Preset: "rails"}, {Preset: "switch"}, {Preset: "tree", K: 30},
		{Preset: "full-mesh", NICs: 1}, {Preset: "leaf-spine", K: 20, NICs: 2},
		{Preset: "switch", NICs: 6}} {
		network.Bandwidth = rate
		for _, routing := range []Routing{Shortest, ECMP} {
			g, err := Build(Params{Nodes: 20, Node: &node, Network: &network, Routing: routing})
			require.NoError(t, err)
			general := searched(g)
			general.parts = nil
			for s := range g.Ranks {
				for d := range g.Ranks {
					require.Equal(t, general.Route(s, d, nil), g.Route(s, d, nil), network.Preset)
				}
			}
		}
	}
}

// TestClusterRoutesAreTheGeneralOnes: what parts know equals what a search of the whole finds.
func TestClusterRoutesAreTheGeneralOnes(t *testing.T) {
	node := Params{Preset: "fat-tree", Ranks: 9, Bandwidth: rate}
	for _, network := range []Params{
		{Preset: "rails"}, {Preset: "rails", NICs: 4}, {Preset: "fat-tree"}, {Preset: "dragonfly"},
		{Preset: "torus", Shape: []int{6, 9}}, {Preset: "leaf-spine", NICs: 1}, {Preset: "ring"},
	} {
		network.Bandwidth = rate
		g, err := Build(Params{Nodes: 6, Node: &node, Network: &network, Routing: ECMP})
		require.NoError(t, err)
		general := searched(g)
		general.parts = nil
		for s := range g.Ranks {
			for d := range g.Ranks {
				require.Equal(t, general.Route(s, d, nil), g.Route(s, d, nil), network.Preset)
			}
		}
	}
}

func TestRoutePanicsWhereThereIsNoWay(t *testing.T) {
	wire := func(from, to string) Wire { return Wire{From: from, To: to, Bandwidth: rate} }
	tests := []struct {
		name  string
		wires []Wire
	}{
		{"no links", nil},
		{"one way only", []Wire{wire("gpu1", "gpu0")}},
		{"a circle from the source", []Wire{wire("gpu0", "a"), wire("a", "b"), wire("b", "a")}},
		{"a circle to the destination", []Wire{wire("a", "gpu1"), wire("a", "b"), wire("b", "a")}},
		{"two islands", []Wire{
			{From: "gpu0", To: "a", Bandwidth: rate, Both: true},
			{From: "gpu0", To: "b", Bandwidth: rate, Both: true},
			{From: "gpu1", To: "c", Bandwidth: rate, Both: true},
			{From: "gpu1", To: "d", Bandwidth: rate, Both: true},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := Links(2, tt.wires)
			require.NoError(t, err)
			require.EqualError(t, g.Connected(), "no route from gpu0 to gpu1")
			require.PanicsWithValue(t,
				"no route from gpu0 to gpu1: Connected was not asked",
				func() { g.Route(0, 1, nil) })
		})
	}
}

func TestConnectedOfNoRanks(t *testing.T) {
	require.EqualError(t, (&Graph{}).Connected(), "a network without ranks")
}

// TestPortsAndRoutesAreAlikeForAllRanks: turning a preset by one rank maps links to links, ports to
// ports and routes to routes, so results there do not depend on who is rank 0.
func TestPortsAndRoutesAreAlikeForAllRanks(t *testing.T) {
	const n = 6
	for _, preset := range []string{"full-mesh", "ring"} {
		g, err := plain(preset, n, rate, hop)
		require.NoError(t, err)
		turned := make([]int32, len(g.Links())) // the link that each becomes
		for i, l := range g.Links() {
			found, err := g.MatchLinks(rankName(int(l.From+1)%n) + "->" + rankName(int(l.To+1)%n))
			require.NoError(t, err)
			require.Len(t, found, 1)
			turned[i] = found[0]
			require.Equal(t, l.Port, g.Links()[found[0]].Port, l.Name)
		}
		for s := range n {
			for d := range n {
				want := g.Route(s, d, nil)
				for i := range want {
					want[i] = turned[want[i]]
				}
				require.Equal(t, want, g.Route((s+1)%n, (d+1)%n, nil))
			}
		}
	}
}

// TestThousandRanksNeedNoTables: neighbours and ranks behind one switch are routed without a table
// per destination, so 1,024 ranks take memory for each link, not for each pair.
func TestThousandRanksNeedNoTables(t *testing.T) {
	const n = 1024
	for _, preset := range []string{"switch", "full-mesh"} {
		g, err := plain(preset, n, rate, hop)
		require.NoError(t, err)
		require.NoError(t, g.Connected())
		hops := 0
		buf := make([]int32, 0, 4)
		for s := range n {
			for d := range n {
				hops += len(g.Route(s, d, buf[:0]))
			}
		}
		want := n * (n - 1)
		if preset == "switch" {
			want *= 2
		}
		require.Equal(t, want, hops)
		require.Zero(t, g.routes.held)
	}
}

func TestRouteDoesNotAllocateTwice(t *testing.T) {
	for _, preset := range presets() {
		g, err := plain(preset, 9, rate, hop)
		require.NoError(t, err)
		buf := g.Route(0, 4, make([]int32, 0, 16))
		require.Zero(t, testing.AllocsPerRun(100, func() { buf = g.Route(0, 4, buf[:0]) }))
		require.NotEmpty(t, buf)
	}
	for _, p := range builds() {
		p.Routing = ECMP
		g, err := Build(p)
		require.NoError(t, err)
		last := len(g.Ranks) - 1
		buf := g.Route(0, last, make([]int32, 0, 64))
		require.Zero(t, testing.AllocsPerRun(100, func() { buf = g.Route(0, last, buf[:0]) }))
	}
}
