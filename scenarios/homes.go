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

// node returns the ranks of each node of a cluster, nil where there are no nodes.
func (t *Topology) node() [][]int {
	return t.grouped(func(h home) int { return h.node })
}

// rail returns the ranks at each place of the nodes: GPU 0 of all, GPU 1 of all, and so on.
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

// InNode returns the number of ranks of the largest node; all ranks, where there are no nodes.
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

// PerNode returns how many of the given ranks each node has, if all nodes that have any have
// equally many and the ranks are numbered node by node; else 0. Nil means all ranks.
func (t *Topology) PerNode(ranks []int) int {
	sizes := t.NodeSizes(ranks)
	if sizes == nil || slices.Min(sizes) != slices.Max(sizes) {
		return 0
	}
	return sizes[0]
}

// NodeSizes returns how many of the given ranks each node has, leaving out nodes without any, if
// the ranks are numbered node by node. It is nil otherwise, and where there is one node. Nil means
// all ranks.
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
