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
	known map[string][][]int32 `digest:"-"` // it fills while points are carried out
}

// mostRanksOfRings bounds the ranks of a node for which rings are searched.
const mostRanksOfRings = 64

// Rings returns, for each of so many channels, the order in which a ring passes through the ranks
// of a node so that the links between them are used evenly (topology.Graph.Rings), in places of
// the node. Of several nodes they begin and end at all ranks, so that channels use all NICs. Nil
// where the links prefer no order, as on a switch, or where there are no nodes. No ranks are all.
// Slower links and ranks of the scenario make no difference.
func (t *Topology) Rings(ranks []int, channels int) [][]int32 {
	n := len(ranks)
	if ranks == nil {
		n = t.Ranks
	}
	perNode := t.PerNode(ranks)
	if t.Nodes == 1 {
		perNode = n
	}
	if t.homes == nil || t.params.Node == nil || t.params.Node.OneSwitch() || channels < 1 ||
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
		if err != nil { // building it reports the error
			return nil
		}
		found = g.Rings(team, channels)
		switch {
		case !slices.ContainsFunc(found, func(ring []int32) bool { return !slices.IsSorted(ring) }):
			found = nil
		case n > perNode:
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

// begun returns rings that begin and end at such places that all NICs are used evenly, if that can
// be, by the first rings alone, too: a node is entered by the NIC of the rank where a ring begins,
// and left by that of the one where it ends. nics are those of the places.
func begun(rings [][]int32, nics []int) [][]int32 {
	different := len(slices.Compact(slices.Sorted(slices.Values(nics))))
	for more := 0; ; more++ {
		u := &nicUse{rings: rings, nics: nics, different: different, more: more, in: map[int]int{},
			out: map[int]int{}}
		if u.place(nil) {
			return u.begun
		}
	}
}

// nicUse counts how many rings enter and leave a node by each NIC.
type nicUse struct {
	rings           [][]int32
	nics            []int // of the places
	different, more int   // NICs, and how many rings one may have more than its part
	in, out         map[int]int
	tries           int
	begun           [][]int32
}

// maxPlacings bounds how many places are tried before one more ring a NIC is allowed.
const maxPlacings = 100_000

// place finds a beginning for each ring after those that have one.
func (u *nicUse) place(begun [][]int32) bool {
	if len(begun) == len(u.rings) {
		u.begun = begun
		return true
	}
	ring := u.rings[len(begun)]
	most := len(begun)/u.different + 1 + u.more
	for i := range ring {
		turned := slices.Concat(ring[i:], ring[:i])
		in, out := u.nics[turned[0]], u.nics[turned[len(turned)-1]]
		if u.tries++; u.tries > maxPlacings {
			return false
		}
		if u.in[in] == most || u.out[out] == most {
			continue
		}
		u.in[in]++
		u.out[out]++
		if u.place(append(slices.Clip(begun), turned)) {
			return true
		}
		u.in[in]--
		u.out[out]--
	}
	return false
}
