package chakra

import (
	"container/heap"
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
	place := t.topological(rank)
	slices.SortFunc(ops, func(a, b int32) int { return int(place[a] - place[b]) })
	var edges []opgraph.Edge
	for i := 1; i < len(ops); i++ {
		edges = append(edges, opgraph.Edge{Op: ops[i], On: ops[i-1]})
	}
	r := &t.ranks[rank]
	r.Edges = slices.Insert(r.Edges, t.deps[rank], edges...)
	t.deps[rank] += len(edges)
}

// topological returns the place of each node of a rank in that order. Nodes in a circle of
// dependencies, or behind one, have the last place; the circle is reported elsewhere.
func (t *trace) topological(rank int) []int32 {
	nodes := t.nodes[rank]
	then := make([][]int32, len(nodes))
	waits := make([]int32, len(nodes))
	for _, e := range t.ranks[rank].Edges[:t.deps[rank]] {
		then[e.On] = append(then[e.On], e.Op)
		waits[e.Op]++
	}
	ready := &readyNodes{nodes: nodes, byTime: t.orderBy == byTime}
	for i := range nodes {
		if waits[i] == 0 {
			heap.Push(ready, int32(i))
		}
	}
	place := slices.Repeat([]int32{int32(len(nodes))}, len(nodes))
	for at := int32(0); ready.Len() > 0; at++ {
		i := heap.Pop(ready).(int32)
		place[i] = at
		for _, next := range then[i] {
			if waits[next]--; waits[next] == 0 {
				heap.Push(ready, next)
			}
		}
	}
	return place
}

// readyNodes is a heap of nodes, which are numbered by their ids.
type readyNodes struct {
	nodes  []node
	byTime bool
	list   []int32
}

func (h *readyNodes) Len() int { return len(h.list) }
func (h *readyNodes) Less(i, j int) bool {
	a, b := h.list[i], h.list[j]
	if x, y := h.nodes[a].start, h.nodes[b].start; h.byTime && x != y {
		return x < y
	}
	return a < b
}
func (h *readyNodes) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *readyNodes) Push(x any)    { h.list = append(h.list, x.(int32)) }
func (h *readyNodes) Pop() any {
	last := len(h.list) - 1
	x := h.list[last]
	h.list = h.list[:last]
	return x
}
