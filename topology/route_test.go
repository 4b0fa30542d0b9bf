package topology

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// rule is the documented rule, word for word and slowly: of all shortest paths take, hop by hop
// from the source, the link of the lowest index. It returns nil where there is no path.
func rule(g *Graph, from, to int32) []int32 {
	distance := func(from int32) int { // Bellman-Ford over links of length 1
		d := make([]int, len(g.Nodes))
		for v := range d {
			d[v] = len(g.Nodes)
		}
		d[from] = 0
		for range g.Nodes {
			for _, l := range g.Links {
				d[l.To] = min(d[l.To], d[l.From]+1)
			}
		}
		return d[to]
	}
	route := []int32{}
	for from != to {
		left := distance(from)
		if left == len(g.Nodes) {
			return nil
		}
		for i, l := range g.Links {
			if l.From == from && distance(l.To) == left-1 {
				route = append(route, int32(i))
				from = l.To
				break
			}
		}
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
	for s, from := range g.Ranks {
		for d, to := range g.Ranks {
			want[[2]int{s, d}] = rule(g, from, to)
			connected = connected && want[[2]int{s, d}] != nil
		}
	}
	if err := g.Connected(); (err == nil) != connected {
		return fmt.Errorf("connected is %v, Connected says %v", connected, err)
	}
	for s := range g.Ranks {
		for d := range g.Ranks {
			w := want[[2]int{s, d}]
			if w == nil {
				continue // Route would panic, see below
			}
			// A prefix stands for what the caller has in the buffer already.
			got := g.Route(s, d, []int32{-7})
			if fmt.Sprint(got) != fmt.Sprint(append([]int32{-7}, w...)) {
				return fmt.Errorf("%d to %d: %v, want %v", s, d, got[1:], w)
			}
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
			err := equalsRule(randomGraph(seed, ranks, switches, percent))
			return err == nil, err
		}, gen.Int64(), gen.IntRange(1, 5), gen.IntRange(0, 4), gen.IntRange(5, 80)))
	p.Property("presets", prop.ForAll(
		func(preset, ranks int) (bool, error) {
			g, err := New(Presets()[preset], ranks, rate, hop)
			if err == nil {
				err = equalsRule(g)
			}
			return err == nil, err
		}, gen.IntRange(0, len(Presets())-1), gen.IntRange(1, 9)))
	p.TestingRun(t)
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
			require.EqualError(t, g.Connected(), "topology: no route from gpu0 to gpu1")
			require.PanicsWithValue(t,
				"topology: no route from gpu0 to gpu1: Connected was not asked",
				func() { g.Route(0, 1, nil) })
		})
	}
}

func TestConnectedOfNoRanks(t *testing.T) {
	require.EqualError(t, (&Graph{}).Connected(), "topology: a network without ranks")
}

// TestPortsAndRoutesAreAlikeForAllRanks: turning a preset by one rank maps links to links, ports to
// ports and routes to routes, so results there do not depend on who is rank 0.
func TestPortsAndRoutesAreAlikeForAllRanks(t *testing.T) {
	const n = 6
	for _, preset := range []string{"full-mesh", "ring"} {
		g, err := New(preset, n, rate, hop)
		require.NoError(t, err)
		turned := make([]int32, len(g.Links)) // the link that each becomes
		for i, l := range g.Links {
			found, err := g.MatchLinks(rankName(int(l.From+1)%n) + "->" + rankName(int(l.To+1)%n))
			require.NoError(t, err)
			require.Len(t, found, 1)
			turned[i] = found[0]
			require.Equal(t, l.Port, g.Links[found[0]].Port, l.Name)
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
		g, err := New(preset, n, rate, hop)
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
		for _, table := range g.routes.next {
			require.Nil(t, table)
		}
	}
}

func TestRouteDoesNotAllocateTwice(t *testing.T) {
	for _, preset := range Presets() {
		g, err := New(preset, 9, rate, hop)
		require.NoError(t, err)
		buf := g.Route(0, 4, make([]int32, 0, 16))
		require.Zero(t, testing.AllocsPerRun(100, func() { buf = g.Route(0, 4, buf[:0]) }))
		require.NotEmpty(t, buf)
	}
}
