package topology

import "fmt"

// Multimem returns the way that a rank's multimem operations over a team take: the switch on which
// all of them hang, and the links to it and from it, up[0] and down[0] the rank's own, up[i+1] and
// down[i+1] those of team[i]. A store goes up once and comes down to everybody in the team: the
// switch must multicast. A load (reduces) has the data of everybody in the team come up and their
// sum down: it must reduce too, as the request is itself multicast. Where several switches do, it
// is the first. Without one, the error says what is missing.
//
// NVLink switches do that since their third generation (NVIDIA, "NVIDIA H100 Tensor Core GPU
// Architecture", 2022: NVLink SHARP; PTX calls the operations multimem.ld_reduce and multimem.st).
func (g *Graph) Multimem(rank int32, team []int32, reduces bool) (up, down []int32, err error) {
	if !g.routes.built {
		g.buildNeighbours()
	}
	why := fmt.Errorf("%s hangs on no switch", g.Nodes()[g.Ranks[rank]].Name)
	found := 0 // how far the best switch got
	for _, l := range g.routes.out.of(g.Ranks[rank]) {
		hub := g.Links()[l].To
		if !g.Nodes()[hub].Switch {
			continue
		}
		reached := 0
		up, down, reached, err = g.spokes(hub, rank, team, reduces)
		if err == nil {
			return up, down, nil
		}
		if reached > found {
			found, why = reached, err
		}
	}
	return nil, nil, fmt.Errorf("topology: %w", why)
}

// spokes returns the links of Multimem by way of a switch, or what it lacks and how many of all
// conditions it met before.
func (g *Graph) spokes(hub, rank int32, team []int32, reduces bool) (
	up, down []int32, met int, err error) {
	for i := range len(team) + 1 {
		r := rank
		if i > 0 {
			r = team[i-1]
		}
		node := g.Ranks[r]
		there, back := g.direct(node, hub), g.direct(hub, node)
		if there < 0 || back < 0 {
			return nil, nil, 1 + i, fmt.Errorf("%s does not hang on %s, as %s does", g.Nodes()[node].Name,
				g.Nodes()[hub].Name, g.Nodes()[g.Ranks[rank]].Name)
		}
		up, down = append(up, there), append(down, back)
	}
	met = 2 + len(team)
	switch n := &g.Nodes()[hub]; {
	case !n.Multicast:
		return nil, nil, met, fmt.Errorf("%s does not declare multicast", n.Name)
	case reduces && !n.Reduce:
		return nil, nil, met + 1, fmt.Errorf("%s does not declare reduce", n.Name)
	}
	return up, down, met, nil
}

// multimem lets certain switches do it.
func (g *Graph) multimem(does func(*Node) bool) {
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		n.Multicast = n.Switch && does(n)
		n.Reduce = n.Multicast
	}
}

// Computes reports whether a switch multicasts or adds.
func (g *Graph) Computes() bool {
	if c, ok := g.formula.(*cluster); ok && !g.isListed {
		return c.parts.node.Computes()
	}
	for i := range g.nodes { // what does is listed
		if n := &g.nodes[i]; n.Multicast || n.Reduce {
			return true
		}
	}
	return false
}
