package scenarios

import (
	"slices"

	"collsim/topology"
)

// home is a rank's node in a cluster, and its place there.
type home struct{ node, place int }

// teams keeps who is with whom in a cluster.
func (t *Topology) teams(g *topology.Graph) {
	if t.Preset != inNodes {
		return
	}
	t.homes = make([]home, len(g.Ranks))
	for rank := range t.homes {
		t.homes[rank].node, t.homes[rank].place = g.Home(rank)
	}
}

// node is the ranks of each node of a cluster, nil where there are no nodes.
func (t *Topology) node() [][]int {
	return t.grouped(func(h home) int { return h.node })
}

// rail is the ranks at each place of its nodes.
func (t *Topology) rail() [][]int {
	return t.grouped(func(h home) int { return h.place })
}

func (t *Topology) grouped(by func(home) int) (teams [][]int) {
	for rank, h := range t.homes {
		for len(teams) <= by(h) {
			teams = append(teams, nil)
		}
		teams[by(h)] = append(teams[by(h)], rank)
	}
	return slices.DeleteFunc(teams, func(team []int) bool { return team == nil }) // all absent
}

// InNode is how many ranks the node has that has most; all, where there are no nodes.
func (t *Topology) InNode() int {
	if t.homes == nil {
		return t.Ranks
	}
	most := 0
	for _, team := range t.node() {
		most = max(most, len(team))
	}
	return most
}

// PerNode is how many of these ranks a node has, where all that have some have as many and they
// come one node after the other; 0 elsewhere. No ranks are all ranks.
func (t *Topology) PerNode(ranks []int) int {
	sizes := t.NodeSizes(ranks)
	if sizes == nil || slices.Min(sizes) != slices.Max(sizes) {
		return 0
	}
	return sizes[0]
}

// NodeSizes is how many of these ranks each node has that has some, where they come one node after
// the other; nil elsewhere, and where there is one node. No ranks are all ranks.
func (t *Topology) NodeSizes(ranks []int) (sizes []int) {
	if t.homes == nil || t.Nodes == 1 {
		return nil
	}
	n := len(ranks)
	if ranks == nil {
		n = t.Ranks
	}
	seen, before := make([]bool, t.Nodes), -1
	for rank := range n {
		if ranks != nil {
			rank = ranks[rank]
		}
		node := t.homes[rank].node
		if node != before {
			if seen[node] {
				return nil
			}
			seen[node], before = true, node
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1]++
	}
	return sizes
}
