package chakra

import (
	"fmt"
	"slices"

	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/schedule"
)

// orderKey decides between calls of a rank that no dependency orders.
type orderKey uint8

const (
	noKey  orderKey = iota // nothing does
	byID                   // the id of their nodes
	byTime                 // when they began, and then their ids
)

// keyOf returns the key with a name: "id", "time" or, for none, "". A file without times refuses
// "time".
func (t *trace) keyOf(name string) (orderKey, error) {
	switch name {
	case "":
		return noKey, nil
	case "id":
		return byID, nil
	case "time":
		for rank := range t.nodes {
			if t.form == "chakra" && !slices.ContainsFunc(t.nodes[rank], func(n node) bool {
				return n.start > 0
			}) {
				return noKey, &foreign.Error{File: t.files[rank].Name, Text: "order time: no node has a " +
					"start_time_micros; order id is possible"}
			}
		}
		return byTime, nil
	}
	return noKey, fmt.Errorf("order %q: id or time is expected", name)
}

// order sorts the collectives of each rank into the order of its requests. Two that no dependency
// orders are taken in the order of the trace's key, which makes the one depend on the other. If it
// has none they are reported: ranks could request them in different orders, and wait for each other
// forever.
func (t *trace) order(g *team) {
	for member, rank := range g.ranks {
		if len(g.ops[member]) < 2 {
			continue
		}
		sorted, a, b, ok := t.ranks[rank].InOrder(g.ops[member])
		if g.ops[member] = sorted; ok {
			continue
		}
		if t.orderBy != noKey {
			t.serialise(int(rank), sorted)
			continue
		}
		t.defects = append(t.defects, opgraph.Defect{Rank: int(rank), Op: int(b), Kind: schedule.Race,
			Text: fmt.Sprintf("nothing orders the collectives %v and %v, so that ranks could ask for "+
				"them in different orders (order = \"id\" or \"time\" says in which)",
				&t.nodes[rank][a], &t.nodes[rank][b])})
	}
}

// serialise sorts calls of a rank by a topological order of its nodes, which of several that are
// ready takes the first by the trace's key, and adds each as a dependency of the next.
func (t *trace) serialise(rank int, ops []int32) {
	place := t.turns(rank)
	slices.SortFunc(ops, func(a, b int32) int { return place[a] - place[b] })
	var edges []opgraph.Edge
	for i := 1; i < len(ops); i++ {
		edges = append(edges, opgraph.Edge{Op: ops[i], On: ops[i-1]})
	}
	r := &t.ranks[rank]
	r.Edges = slices.Insert(r.Edges, t.deps[rank], edges...)
	t.deps[rank] += len(edges)
}

// turns returns the place of each node of a rank in that order. Nodes in a circle of dependencies,
// or behind one, have the last place; the circle is reported elsewhere.
func (t *trace) turns(rank int) []int {
	nodes := t.nodes[rank]
	after := make([][]int32, len(nodes))
	for _, e := range t.ranks[rank].Edges[:t.deps[rank]] {
		after[e.Op] = append(after[e.Op], e.On)
	}
	place := slices.Repeat([]int{len(nodes)}, len(nodes))
	for at, i := range inTurns(after, func(a, b int) bool {
		if x, y := nodes[a].start, nodes[b].start; t.orderBy == byTime && x != y {
			return x < y
		}
		return a < b // nodes are sorted by their ids
	}) {
		place[i] = at
	}
	return place
}
