package synth

import (
	"math/big"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/bounds"
	"collsim/collective"
	"collsim/internal/tier"
	"collsim/unit"
)

// apart numbers all nodes differently.
func apart(n *network) []int32 {
	list := make([]int32, n.nodes)
	for v := range list {
		list[v] = int32(v)
	}
	return list
}

// TestSharesAreBest: on random networks the shares are possible, by all cuts, which are tried one
// by one, and no others are better, by the dual of the linear program, whose rows are taken apart
// here. Taking ranks and links that look alike as such loses nothing.
func TestSharesAreBest(t *testing.T) {
	alike := 0
	property := func(seed int64) bool {
		n := newNetwork(randomGraph(t, rand.New(rand.NewSource(seed))))
		all := newSharing(n, apart(n), false)
		s, err := all.solve()
		require.NoError(t, err)
		requirePossible(t, s, n)
		requireBest(t, all)
		tied, err := n.shares()
		require.NoError(t, err)
		requirePossible(t, tied, n)
		require.Zero(t, s.total.Cmp(tied.total), "%v and %v", s.total, tied.total)
		if newSharing(n, n.nodeColours(), n.isReversible()).variables < all.variables {
			alike++
		}
		return true
	}
	parameters := gopter.DefaultTestParametersWithSeed(7)
	parameters.MinSuccessfulTests = tier.Of(30, 1000)
	properties := gopter.NewProperties(parameters)
	properties.Property("possible and best", prop.ForAll(property, gen.Int64()))
	properties.TestingRun(t)
	require.Positive(t, alike)
}

// requirePossible checks that shares use no link twice, and that every set of nodes that some rank
// is outside of lets out what its ranks are the roots of, down and, turned round, up. Rates of
// links are rounded down to a byte a second.
func requirePossible(t *testing.T, s *shares, n *network) {
	up := s.up.reversed() // links in the order of n's
	for l := range n.links {
		require.LessOrEqual(t, s.down.links[l].rate+up.links[l].rate, n.links[l].rate)
	}
	sum := new(big.Rat)
	for _, x := range s.of {
		require.GreaterOrEqual(t, x.Sign(), 0)
		sum.Add(sum, x)
	}
	require.Zero(t, sum.Cmp(s.total))
	for _, way := range []*network{s.down, s.up} {
		for set := 1; set < 1<<n.nodes; set++ {
			if set&(1<<n.ranks-1) == 1<<n.ranks-1 {
				continue
			}
			roots, out := new(big.Rat), int64(len(n.links)) // what was rounded off
			for rank, x := range s.of {
				if set>>rank&1 == 1 {
					roots.Add(roots, x)
				}
			}
			for _, l := range way.links {
				if set>>l.from&1 == 1 && set>>l.to&1 == 0 {
					out += int64(l.rate)
				}
			}
			require.LessOrEqual(t, roots.Cmp(big.NewRat(out, 1)), 0, "%b: %v from %v", set, roots, out)
		}
	}
}

// requireBest checks that the rows of a solved program, each times what its slack costs, add up to
// the objective at least, and their bounds to its value; so it cannot be more (weak duality). A row
// of a set says what it should: its bound is 0.
func requireBest(t *testing.T, p *sharing) {
	price := make([]*big.Rat, 1+len(p.rows))
	for j, v := range p.program.free {
		require.GreaterOrEqual(t, p.program.cost[j].Sign(), 0)
		if v >= p.variables {
			price[v-p.variables] = p.program.cost[j]
		}
	}
	require.True(t, price[0] == nil || price[0].Sign() == 0, "the limit decides")
	sum, bound := make([]*big.Rat, p.variables), new(big.Rat)
	for v := range sum {
		sum[v] = new(big.Rat)
	}
	for key, at := range p.rows {
		y := price[1+at]
		if y == nil {
			continue
		}
		numbers := strings.Fields(key)
		for v, text := range numbers {
			c, err := strconv.ParseInt(text, 36, 64)
			require.NoError(t, err)
			if v < p.variables {
				addTimes(sum[v], y, big.NewRat(c, 1))
			} else {
				addTimes(bound, y, big.NewRat(c, 1))
			}
		}
	}
	for v, s := range sum {
		require.GreaterOrEqual(t, s.Sign(), 0)
		if v < p.n.ranks { // a variable for each rank comes first
			require.GreaterOrEqual(t, s.Cmp(big.NewRat(1, 1)), 0)
		}
	}
	require.Zero(t, bound.Cmp(p.program.value))
}

// TestSharesReachBound: on the networks of ForestColl's optima, the shares are as fast as no
// all_reduce can beat, whatever it does (package bounds).
func TestSharesReachBound(t *testing.T) {
	for name, wires := range published() {
		g := graph(t, wires)
		s, err := newNetwork(g).shares()
		require.NoError(t, err)
		spec := specOf(collective.AllReduce, len(g.Ranks), 1<<28)
		b, err := bounds.For(spec, g, bounds.Options{})
		require.NoError(t, err)
		total, _ := s.total.Float64()
		share := total * float64(b.Bandwidth) / float64(unit.Second) / float64(spec.Count*4)
		require.InDelta(t, 1, share, 1e-6, name)
	}
}

// TestSharesOfALine: on a line of links both ways, the rank in the middle adds up all, at the rate
// of a link: twice what equal shares do.
func TestSharesOfALine(t *testing.T) {
	n := newNetwork(graph(t, grid(1, 5, false)))
	s, err := n.shares()
	require.NoError(t, err)
	require.Zero(t, s.total.Cmp(big.NewRat(int64(unit.GB), 1)), s.total)
	require.Equal(t, demand{0, 0, 3, 0, 0}, s.rounded(3))
}

// TestUnevenForests: on random networks, trees up and down by shares together load no link beyond
// its rate, and are faster than what they are to beat.
func TestUnevenForests(t *testing.T) {
	found, near, networks := 0, 0, tier.Of(100, 1000)
	for seed := range int64(networks) {
		n := newNetwork(randomGraph(t, rand.New(rand.NewSource(seed))))
		s, err := n.shares()
		require.NoError(t, err)
		const trees = 64
		list, err := s.forests(choice{1, scale{units: 1}}, trees) // anything is faster
		require.NoError(t, err)
		for _, f := range list {
			up, down := loads(t, s.up, f[0]), loads(t, s.down, f[1])
			for l := range n.links { // those of the way up are in the same order, turned round
				require.LessOrEqual(t, up[l]+down[l], n.links[l].rate)
			}
			require.Equal(t, f[0].Of, f[1].Of)
			found++
		}
		if len(list) == 0 { // no way up, or down, has the links of any route
			continue
		}
		f := list[len(list)-1]
		total, _ := s.total.Float64()
		reached := float64(min(f[0].Each, f[1].Each)) * float64(f[1].Total) / total
		require.LessOrEqual(t, reached, 1+1e-9)
		if reached > 0.9 {
			near++
		}
	}
	require.Greater(t, found, near)
	t.Logf("%d of %d within a tenth", near, networks)
	require.Greater(t, near, networks*8/10)
}
