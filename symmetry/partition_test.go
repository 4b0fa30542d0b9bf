package symmetry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomGraph joins vertices in pairs, at few places and by few labels, some of them often alike.
func randomGraph(rng *rand.Rand) (g Graph) {
	n, places := 2*(1+rng.IntN(20)), 1+rng.IntN(3)
	to := make([][]int32, n)
	for range places {
		step := 1 + rng.IntN(n)
		order := rng.Perm(n)
		if rng.IntN(2) == 0 {
			slices.Sort(order)
		}
		for v := range n { // arcs of two places are opposite to each other
			to[v] = append(to[v], int32(order[(slices.Index(order, v)+step)%n]),
				int32(order[(slices.Index(order, v)+n-step%n)%n]))
		}
	}
	g.First = []int32{0}
	for v := range n {
		for place, peer := range to[v] {
			g.To, g.Back = append(g.To, peer), append(g.Back, int8(place^1))
			g.Label = append(g.Label, int32(min(rng.IntN(9), 7)/7*v%2))
		}
		g.First = append(g.First, int32(len(g.To)))
	}
	return g
}

// TestRefine: the classes are those of refining all at once, round by round, until no round divides
// any; and edges count what arcs lead where, also after single classes were divided.
func TestRefine(t *testing.T) {
	divided := 0
	for seed := range 2000 {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		g := randomGraph(rng)
		n := len(g.First) - 1
		of, colours := make([]int32, n), Colours[int]{}
		for v := range of {
			of[v], _ = colours.Number(max(rng.IntN(6)-4, 0))
		}
		p := NewPartition(g, of, len(colours))
		if class := p.Of[0]; rng.IntN(3) == 0 && p.Size(class) > 2 {
			fresh := p.Divide(class, func(v int32) bool { return v == 0 })
			require.EqualValues(t, 1, p.Size(fresh))
		}
		want := naive(&g, slices.Clone(p.Of))
		count := int(slices.Max(want)) + 1
		most := n
		if rng.IntN(4) == 0 {
			most = 1 + rng.IntN(n)
		}
		if ok := p.Refine(most); !ok {
			require.Greater(t, count, most)
			continue
		}
		require.LessOrEqual(t, count, most)
		for class, places := range p.Edges {
			for place, edges := range places {
				v := p.Rep(int32(class))
				arc := g.First[v] + int32(place)
				require.Equal(t, []Edge{{p.Of[g.To[arc]], g.Label[arc], p.Size(int32(class))}}, edges)
				require.Equal(t, v, p.Example(int32(class), int32(place), edges[0]))
			}
		}
		p = p.Ordered()
		require.Equal(t, want, p.Of)
		for class := range int32(p.Len()) {
			require.True(t, slices.IsSorted(p.Members(class)))
		}
		if count > len(colours)+1 && count < n {
			divided++
		}
	}
	require.Greater(t, divided, 100)
}

// naive refines classes in rounds.
func naive(g *Graph, of []int32) []int32 {
	for count := 0; ; {
		colours, next := Colours[string]{}, make([]int32, len(of))
		for v := range int32(len(of)) {
			key := fmt.Sprint(of[v])
			for place, peer := range g.Peers(v) {
				key += fmt.Sprint(" ", of[peer], g.Label[g.First[v]+int32(place)])
			}
			next[v], _ = colours.Number(key)
		}
		if len(colours) == count {
			return next
		}
		count, of = len(colours), next
	}
}
