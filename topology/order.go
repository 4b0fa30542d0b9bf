package topology

import (
	"fmt"
	"strconv"
)

// seat puts the ranks where order, or else the list of places, says.
func (g *Graph) seat(order string, places []int) error {
	n := len(g.Ranks)
	if order != "" && places != nil {
		return &ParamError{"order", strconv.Quote(order), "a name or a list is expected, not both"}
	}
	switch {
	case places != nil:
		return g.seatAt(places)
	case order == "round-robin":
		nodes := 1
		if g.parts != nil {
			nodes = int(g.parts.nodes)
		}
		for r := range n {
			g.Ranks[r] = int32(r%nodes*(n/nodes) + r/nodes)
		}
	case order != "" && order != "block":
		return &ParamError{"order", fmt.Sprintf("%.40q", order),
			"block, round-robin or a list of places is expected"}
	}
	return nil
}

// seatAt puts rank r on place places[r].
func (g *Graph) seatAt(places []int) error {
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

// PerNode is how many ranks a node of a cluster has, all where there are no nodes: rank r is in
// node Ranks[r] / PerNode.
func (g *Graph) PerNode() int {
	if g.parts != nil {
		return int(g.parts.gpus)
	}
	return len(g.Ranks)
}

// NICs returns how many NICs a node of a cluster has, 0 where there are no nodes or one alone.
func (g *Graph) NICs() int {
	if g.parts == nil {
		return 0
	}
	return int(g.parts.nics)
}

// Teams returns the ranks in teams, each in rising order: "all" in one, "node" a team for each node
// of a cluster (all ranks, where there are no nodes), "rail" a team for each place inside a node,
// so that "rail" and "node" cross. Teams are in the order of their first places.
func (g *Graph) Teams(by string) ([][]int32, error) {
	size := int32(g.PerNode())
	var team func(place int32) int32
	switch by {
	case "all":
		team = func(int32) int32 { return 0 }
	case "node":
		team = func(place int32) int32 { return place / size }
	case "rail":
		team = func(place int32) int32 { return place % size }
	default:
		return nil, &ParamError{"teams", fmt.Sprintf("%.40q", by), "all, node or rail is expected"}
	}
	var teams [][]int32
	for r, place := range g.Ranks {
		t := int(team(place))
		for len(teams) <= t {
			teams = append(teams, nil)
		}
		teams[t] = append(teams[t], int32(r))
	}
	return teams, nil
}
