package scenarios

import (
	"fmt"
	"strings"
)

// nodeRanks is the key with the number of ranks of every node, or of each.
const nodeRanks = "topology.node.ranks"

// counts returns a number, or a list of them, at a key; neither where it is not given. ok is false
// where it could not be read, which has been reported.
func (v *view) counts(at string) (each int, list []int, ok bool) {
	it, given := v.item(at)
	switch n := it.value.(type) {
	case int64:
		return int(n), nil, true
	case []int:
		return 0, n, true
	}
	return 0, nil, !given
}

// fits compares the ranks of nodes of a named machine with its GPUs: sizes, or else so many in all.
func (v *view) fits(nodes, total int, sizes []int) bool {
	m := v.byName().of
	if m == nil {
		return true
	}
	for node, ranks := range sizes {
		if ranks > m.GPUs {
			v.fail(nodeRanks, problem{text: fmt.Sprintf("node %d has %d ranks; %s has %d GPUs", node,
				ranks, m.Name, m.GPUs)})
			return false
		}
	}
	each, _, _ := v.counts(nodeRanks)
	if _, own := v.given(nodeRanks); own || total == 0 || nodes == 0 || total == nodes*each {
		return true
	}
	v.unequal(fmt.Sprintf("nodes = %d of %d ranks have %d", nodes, each, nodes*each), nodes, total,
		m.GPUs)
	return false
}

// unequal reports that so many ranks are not as many in each node, and how they may be spread over
// nodes of at most so many.
func (v *view) unequal(text string, nodes, ranks, most int) {
	if (nodes-1)*most >= ranks { // the last node would have none
		most = (ranks + nodes - 1) / nodes
	}
	const fewNodes = 16
	last := ranks - (nodes-1)*most
	if nodes > fewNodes || last < 1 || last > most {
		v.fail("topology.ranks", problem{text, "nodes that differ: node.ranks is a list"})
		return
	}
	v.fail("topology.ranks", problem{text, fmt.Sprintf("nodes that differ: node.ranks = [%s%d]",
		strings.Repeat(fmt.Sprint(most, ", "), nodes-1), last)})
}
