package scenarios

import (
	"fmt"
	"slices"
)

func (v *view) programGroup(p *ProgramPoint, at string) bool {
	g := ProgramGroup{}
	ok := v.fill(at[:len(at)-1], &g)
	given, _, readable := fetch[teams](v, at+"ranks")
	if !readable || p.Topology == nil {
		return false
	}
	switch given.by {
	case "node":
		g.Teams = p.Topology.node()
	case "rail":
		g.Teams = p.Topology.rail()
	case "":
		g.Teams = given.lists
	}
	if (given.by == "node" || given.by == "rail") && g.Teams == nil {
		v.fail(at+"ranks", problem{"the network has no nodes", "topology.nodes makes them; teams of " +
			"any ranks are lists, as [[0, 1], [2, 3]]"})
		return false
	}
	for i, team := range g.Teams {
		if last := slices.Max(team); last >= p.Topology.Ranks {
			v.fail(at+"ranks", problem{fmt.Sprintf("team %d has rank %d; %s is expected", i, last,
				ranksUpTo(p.Topology.Ranks)), ""})
			return false
		}
	}
	if g.Teams == nil {
		g.Teams = [][]int{nil}
	}
	if slices.Contains(p.mesh.Axes, g.Name) {
		v.fail(at+"name", problem{quoted(g.Name) + " is an axis of the mesh, which is a group", ""})
		return false
	}
	p.Groups = append(p.Groups, g)
	return ok
}
