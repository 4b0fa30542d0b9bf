package topology

import (
	"fmt"
	"slices"
	"strconv"
)

// assign places the ranks as order, or else the list of places, states.
func (g *Graph) assign(order string, places []int) error {
	if order != "" && places != nil {
		return &ParamError{"order", strconv.Quote(order), "a name or a list is expected, not both"}
	}
	switch {
	case places != nil:
		return g.assignTo(places)
	case order == "round-robin":
		if g.parts != nil {
			g.parts.inTurn(g.Ranks)
		}
	case order != "" && order != "block":
		return &ParamError{"order", fmt.Sprintf("%.40q", order),
			"block, round-robin or a list of places is expected"}
	}
	return nil
}

// assignTo places rank r at place places[r].
func (g *Graph) assignTo(places []int) error {
	n := len(g.Ranks)
	bad := func(format string, args ...any) error {
		return &ParamError{"order", fmt.Sprint(places), fmt.Sprintf(format, args...)}
	}
	if len(places) != n {
		return bad("%d places are expected, one a rank, not %d", n, len(places))
	}
	taken := make([]bool, n)
	for r, place := range places {
		switch {
		case place < 0 || place >= n:
			return bad("places from 0 to %d are expected; rank %d has %d", n-1, r, place)
		case taken[place]:
			return bad("rank %d has place %d, which is taken", r, place)
		}
		taken[place] = true
		g.Ranks[r] = int32(place)
	}
	return nil
}

// inTurn places ranks on the nodes in turn, skipping full ones.
func (p *parts) inTurn(ranks []int32) {
	r := 0
	for v := int32(0); r < len(ranks); v++ {
		for node := range p.nodes {
			if v < p.of(node).gpus {
				ranks[r] = p.at(node, v)
				r++
			}
		}
	}
}

// Home returns the cluster node of a rank, and its place there: "node2/gpu3" is place 3 of node 2.
// Without nodes all ranks are in node 0.
func (g *Graph) Home(rank int) (node, place int) {
	v := g.Ranks[rank]
	if g.parts == nil {
		return 0, int(v)
	}
	at, local := g.parts.place(v)
	if places := g.parts.of(at).places; places != nil {
		local = places[local]
	}
	return int(at), int(local)
}

// NICs returns the number of NICs of a cluster node, 0 without nodes or with a single one.
func (g *Graph) NICs() int {
	if g.parts == nil {
		return 0
	}
	return int(g.parts.nics)
}

// Teams divides the ranks into teams, each in ascending order. "all" is one team, and "rail" has a
// team for each place inside a node. "node" has one for each node of a cluster; without nodes, one
// of all ranks. Teams are in the order of their first places.
func (g *Graph) Teams(by string) ([][]int32, error) {
	var team func(rank int) int
	switch by {
	case "all":
		team = func(int) int { return 0 }
	case "node":
		team = func(rank int) int { node, _ := g.Home(rank); return node }
	case "rail":
		team = func(rank int) int { _, place := g.Home(rank); return place }
	default:
		return nil, &ParamError{"teams", fmt.Sprintf("%.40q", by), "all, node or rail is expected"}
	}
	var teams [][]int32
	for r := range g.Ranks {
		t := team(r)
		for len(teams) <= t {
			teams = append(teams, nil)
		}
		teams[t] = append(teams[t], int32(r))
	}
	return slices.DeleteFunc(teams, func(team []int32) bool { return team == nil }), nil
}
