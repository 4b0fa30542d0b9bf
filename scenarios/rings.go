package scenarios

import (
	"fmt"
	"slices"
	"sync"

	"collsim/topology"
)

// rings remembers what Topology.Rings has found, by team and channels.
type rings struct {
	sync.Mutex
	known map[string][][]int32
}

// mostRanksOfRings bounds the ranks of a node for which rings are searched.
const mostRanksOfRings = 64

// Rings returns, for each of so many channels, the order in which a ring passes through the ranks
// of a node so that the links between them are used evenly (topology.Graph.Rings), in places of
// the node. Of several nodes they begin and end at all ranks, so that channels use all NICs. Nil
// where the links prefer no order, as on a switch, or where there are no nodes. No ranks are all.
// Slower links and ranks of the scenario make no difference.
func (t *Topology) Rings(ranks []int, channels int) [][]int32 {
	perNode := t.PerNode(ranks)
	if t.Nodes == 1 {
		if perNode = len(ranks); ranks == nil {
			perNode = t.Ranks
		}
	}
	if t.homes == nil || t.params.Node == nil || t.params.Node.Preset == "switch" || channels < 1 ||
		perNode <= 2 || perNode > mostRanksOfRings {
		return nil
	}
	team := make([]int32, perNode)
	for i := range team {
		if team[i] = int32(i); ranks != nil {
			team[i] = int32(ranks[i])
		}
	}
	t.rings.Lock()
	defer t.rings.Unlock()
	key := fmt.Sprint(team, channels)
	found, known := t.rings.known[key]
	if !known {
		g, err := topology.Build(t.params)
		if err != nil { // whoever builds it says so
			return nil
		}
		found = g.Rings(team, channels)
		switch {
		case !slices.ContainsFunc(found, func(ring []int32) bool { return !slices.IsSorted(ring) }):
			found = nil
		case t.Nodes > 1:
			found = begun(found, nicsOf(g, ranks, perNode))
		}
		if t.rings.known == nil {
			t.rings.known = map[string][][]int32{}
		}
		t.rings.known[key] = found
	}
	return found
}

// nicsOf lists the NICs by which the ranks of a node send to those at their places in the next one.
func nicsOf(g *topology.Graph, ranks []int, perNode int) (nics []int) {
	for i := range perNode {
		src, dst := i, perNode+i
		if ranks != nil {
			src, dst = ranks[src], ranks[dst]
		}
		nics = append(nics, g.NICTo(src, dst))
	}
	return nics
}

// begun returns rings that begin and end at such places that all NICs are used evenly: a node is
// entered by the NIC of the rank where a ring begins, and left by that of the one where it ends.
// nics are those of the places. Ring after ring takes the best place, and once more when all have
// one, until nothing is better.
func begun(rings [][]int32, nics []int) [][]int32 {
	in, out := map[int]int{}, map[int]int{} // rings by NIC
	count := func(ring []int32, n int) {
		in[nics[ring[0]]] += n
		out[nics[ring[len(ring)-1]]] += n
	}
	cost := func(ring []int32) int {
		return cube(in[nics[ring[0]]]+1) + cube(out[nics[ring[len(ring)-1]]]+1)
	}
	for pass, isBetter := 0, true; isBetter; pass++ {
		isBetter = false
		for c, ring := range rings {
			if pass > 0 {
				count(ring, -1)
			}
			best, least := ring, cost(ring)
			for i := range ring {
				turned := slices.Concat(ring[i:], ring[:i])
				if now := cost(turned); now < least {
					best, least, isBetter = turned, now, true
				}
			}
			rings[c] = best
			count(best, 1)
		}
	}
	return rings
}

func cube(n int) int { return n * n * n }
