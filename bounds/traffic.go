package bounds

import (
	"math"
	"slices"

	"collsim/collective"
)

// traffic is a collective that only moves data: so many bytes from each rank to each other.
type traffic struct {
	spec  *collective.Spec
	width int64
}

// bytes returns the bytes that go from one rank to another; 0 from a rank to itself.
func (t traffic) bytes(from, to int) int64 {
	n := t.spec.Ranks
	switch {
	case from == to || t.spec.Kind == collective.SendRecv && to != (from+1)%n:
		return 0
	case t.spec.Kind == collective.AllToAllV:
		return t.spec.Splits[from][to] * t.width
	}
	return t.spec.Count * t.width
}

// between returns the bytes that each group of ranks sends to the other groups, and receives from
// them. of is the group of each rank.
func (t traffic) between(groups int, of []int32) (sent, received []int64) {
	sent, received = make([]int64, groups), make([]int64, groups)
	add := func(from, to int, elements int64) {
		if a, b := of[from], of[to]; a != b {
			sent[a] = sum(sent[a], elements*t.width)
			received[b] = sum(received[b], elements*t.width)
		}
	}
	n := t.spec.Ranks
	switch t.spec.Kind {
	case collective.AllToAll: // by the sizes of the groups
		for _, g := range of {
			sent[g]++
		}
		for g, size := range sent {
			sent[g] = product(size*(int64(n)-size), t.spec.Count*t.width)
		}
		return sent, sent
	case collective.SendRecv:
		for from := range n {
			add(from, (from+1)%n, t.spec.Count)
		}
	case collective.AllToAllV:
		for from, row := range t.spec.Splits {
			for to, elements := range row {
				add(from, to, elements)
			}
		}
	}
	return sent, received
}

// trafficBounds derives bounds from the traffic that must cross cuts of the network, and from the
// total load of all links. It begins with cuts around single ranks and around a few kinds of
// groups. If the bounds may still be short of the optimum, it tries all cuts of a small network. In
// a large network it tries the minimum cuts around blocks and halves of the ranks instead.
func (s *search) trafficBounds() {
	t := traffic{spec: &s.spec, width: int64(s.spec.Type.Width())}
	for _, g := range s.net.groupings() {
		s.groupCuts(t, g)
	}
	switch {
	case s.volume(t):
	case len(s.net.rank) <= s.limits.nodes && s.net.allRates() < math.MaxInt64-1:
		s.allCuts(t)
	default:
		s.bisections(t)
	}
}

// volume considers that every byte crosses at least the links of a path with the fewest links. All
// links together must carry that. It reports whether the bounds so far are the optimum. They are if
// sending each pair's bytes along one such path loads no link more.
func (s *search) volume(t traffic) (optimum bool) {
	tree := s.net.newTree()
	load := make([]int64, len(s.net.rate))
	carried := int64(0)
	for from := range s.spec.Ranks {
		if tree.work > s.limits.work {
			s.found.Partial = true
			break
		}
		carried = sum(carried, tree.grow(from, t))
		tree.load(load)
	}
	all := noLinks(carried)
	for l := range s.net.rate {
		all = all.over(s.net.rate[l], s.net.lead[l])
	}
	s.consider(all, func() string { return "all links together" })
	for l := range load {
		one := cutBound{bytes: load[l], rate: s.net.rate[l]}
		if one.time() > s.best.time() {
			return false
		}
	}
	return !s.found.Partial
}

// A tree has paths with the fewest links from one rank to those that it sends to.
type tree struct {
	net   *network
	seen  []int32 // by node: number of the last tree that it was in
	trees int32
	by    []int32 // by node: link of the tree that leads to it
	bytes []int64 // by node: bytes that the rank there receives; then, in load, its subtree
	order []int32 // nodes by distance
	work  int64
}

// newTree returns memory for the trees of a network's ranks.
func (n *network) newTree() *tree {
	nodes := len(n.rank)
	return &tree{net: n, seen: make([]int32, nodes), by: make([]int32, nodes),
		bytes: make([]int64, nodes)}
}

// grow makes the tree of a rank. It returns the sum of bytes times links over all that the rank
// sends.
func (t *tree) grow(from int, traffic traffic) (carried int64) {
	wanted := 0
	first, end := partners(traffic.spec, from, len(t.net.ranks))
	for to := first; to < end; to++ {
		if traffic.bytes(from, to) > 0 {
			wanted++
		}
	}
	t.trees++
	root := t.net.ranks[from]
	t.seen[root], t.by[root], t.bytes[root] = t.trees, -1, 0
	t.order = append(t.order[:0], root)
	depth, near := int64(0), 0 // distance of nodes from index near on
	for i := 0; i < len(t.order) && wanted > 0; i++ {
		if i == near {
			depth, near = depth+1, len(t.order)
		}
		for _, l := range t.net.out.of(t.order[i]) {
			t.work++
			v := t.net.to[l]
			if t.seen[v] == t.trees {
				continue
			}
			t.seen[v], t.by[v], t.bytes[v] = t.trees, l, 0
			t.order = append(t.order, v)
			if r := t.net.rank[v]; r >= 0 {
				t.bytes[v] = traffic.bytes(from, int(r))
			}
			if t.bytes[v] > 0 {
				wanted--
				carried = sum(carried, product(depth, t.bytes[v]))
			}
		}
	}
	t.work += int64(end - first)
	return carried
}

// load adds what every link of the tree carries.
func (t *tree) load(load []int64) {
	for _, v := range slices.Backward(t.order[1:]) {
		l := t.by[v]
		load[l] = sum(load[l], t.bytes[v])
		before := t.net.from[l]
		t.bytes[before] = sum(t.bytes[before], t.bytes[v])
	}
}
