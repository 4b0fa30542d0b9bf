package bounds

import (
	"slices"

	"collsim/collective"
	"collsim/unit"
)

// paths finds shortest paths by latency (Dijkstra 1959) from some nodes to all or, backward, from
// all to them.
type paths struct {
	net  *network
	view view
	dist []unit.Time // Forever where no path is known yet
	seen []int32     // nodes with a known path
	heap []visit     // a binary heap by time
	work int64
}

// A visit is a node with the latency of a path to it.
type visit struct {
	at   unit.Time
	node int32
}

// newPaths returns a search along the links or, backward, against them.
func (n *network) newPaths(backward bool) *paths {
	return &paths{net: n, view: n.view(backward), heap: make([]visit, 0, len(n.rank)),
		dist: slices.Repeat([]unit.Time{unit.Forever}, len(n.rank))}
}

// run fills in dist. If need is not nil, it ends when no node is open any more.
func (p *paths) run(from []int32, need *need) {
	for _, v := range p.seen {
		p.dist[v] = unit.Forever
	}
	p.heap, p.seen = p.heap[:0], append(p.seen[:0], from...)
	for _, v := range from {
		p.dist[v] = 0
		p.push(visit{0, v})
	}
	for len(p.heap) > 0 && (need == nil || need.open > 0) {
		x := p.pop()
		if x.at > p.dist[x.node] {
			continue // a shorter way was found meanwhile
		}
		if need != nil {
			need.arrived(x)
		}
		for _, l := range p.view.ahead.of(x.node) {
			next := visit{plus(x.at, p.net.latency[l]), p.view.head[l]}
			if before := p.dist[next.node]; next.at < before {
				if before == unit.Forever {
					p.seen = append(p.seen, next.node)
				}
				p.dist[next.node] = next.at
				p.push(next)
				if need != nil {
					need.within(next)
				}
			}
		}
		p.work += int64(len(p.view.ahead.of(x.node)))
	}
}

// push adds a visit to the heap.
func (p *paths) push(x visit) {
	p.heap = append(p.heap, x)
	i := len(p.heap) - 1
	for i > 0 && p.heap[(i-1)/2].at > x.at {
		p.heap[i] = p.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	p.heap[i] = x
}

// pop takes the earliest visit off the heap.
func (p *paths) pop() visit {
	first := p.heap[0]
	last := len(p.heap) - 1
	x := p.heap[last]
	p.heap = p.heap[:last]
	i := 0
	for {
		child := 2*i + 1
		if child+1 < last && p.heap[child+1].at < p.heap[child].at {
			child++
		}
		if child >= last || p.heap[child].at >= x.at {
			break
		}
		p.heap[i] = p.heap[child]
		i = child
	}
	if last > 0 {
		p.heap[i] = x
	}
	return first
}

// need finds the farthest of the wanted nodes. A node is open until it is known to be no farther
// than the farthest so far. Once that is large, most nodes close at first sight. So all pairs of a
// full mesh take no longer than visiting its links.
type need struct {
	farthest unit.Time
	wanted   []bool // by node: it is open
	open     int
}

// arrived closes a node, given its shortest path.
func (n *need) arrived(x visit) {
	if n.wanted[x.node] {
		n.farthest = max(n.farthest, x.at)
	}
	n.within(x)
}

// within closes a node if some path to it is no longer than the farthest so far.
func (n *need) within(x visit) {
	if n.wanted[x.node] && x.at <= n.farthest {
		n.wanted[x.node] = false
		n.open--
	}
}

// latency finds the longest shortest path between two ranks where the second needs data of the
// first.
func (s *search) latency() {
	n := len(s.net.ranks)
	switch s.spec.Kind {
	case collective.Broadcast, collective.Scatter:
		s.farthest([]int{s.spec.Root}, false)
	case collective.Reduce, collective.Gather:
		s.farthest([]int{s.spec.Root}, true)
	default:
		ranks := others(n, -1)
		if s.isUniform() {
			ranks = ranks[:1]
		}
		s.farthest(ranks, false)
	}
}

// farthest considers the pairs of each given rank with all others. Backward, the given ranks are
// the receivers.
func (s *search) farthest(ranks []int, backward bool) {
	net := s.net
	paths := net.newPaths(backward)
	need := need{wanted: make([]bool, len(net.rank))}
	middle := net.newMiddle(len(ranks))
	for _, r := range ranks {
		if middle.within(net.ranks[r], need.farthest) {
			continue
		}
		if paths.work > s.limits.work {
			s.found.Partial = true
			break
		}
		need.open = 0 // none is wanted any more
		first, end := partners(&s.spec, r, len(net.ranks))
		for other := first; other < end; other++ {
			from, to := r, other
			if backward {
				from, to = other, r
			}
			if from != to && needs(&s.spec, from, to) {
				need.wanted[net.ranks[other]] = true
				need.open++
			}
		}
		paths.work += int64(end - first)
		paths.run(net.ranks[r:r+1], &need)
	}
	s.found.Latency = need.farthest
}

// A middle is a switch through which all ranks can reach each other. It bounds distances from
// above: it need not be on shortest paths.
type middle struct {
	to   []unit.Time // by node: distance to the switch
	from unit.Time   // distance from it to the farthest rank
}

// newMiddle chooses the better of two switches. One has the most links. The other is halfway
// between two distant ranks, such as the root of a tree. Without a switch, or for a single rank,
// the middle is empty.
func (n *network) newMiddle(ranks int) (m middle) {
	if ranks <= 1 {
		return middle{}
	}
	best, most := int32(-1), 0
	for v := range n.rank {
		if links := len(n.out.of(int32(v))); n.rank[v] < 0 && links > most {
			best, most = int32(v), links
		}
	}
	if best < 0 {
		return middle{}
	}
	m = n.middleAt(best)
	_, one := n.distancesFrom(n.ranks[0])
	a, other := n.distancesFrom(one)
	b, _ := n.distancesFrom(other)
	between := best
	for v := range n.rank {
		if n.rank[v] < 0 && max(a[v], b[v]) < max(a[between], b[between]) {
			between = int32(v)
		}
	}
	if x := n.middleAt(between); x.from < m.from {
		return x
	}
	return m
}

// middleAt returns the middle at a switch.
func (n *network) middleAt(v int32) middle {
	to, from := n.newPaths(true), n.newPaths(false)
	to.run([]int32{v}, nil)
	from.run([]int32{v}, nil)
	m := middle{to: to.dist}
	for _, rank := range n.ranks {
		m.from = max(m.from, from.dist[rank])
	}
	return m
}

// distancesFrom returns the distances from a node to all nodes, and the node of the farthest rank.
func (n *network) distancesFrom(v int32) (dist []unit.Time, far int32) {
	p := n.newPaths(false)
	p.run([]int32{v}, nil)
	far = v
	for _, rank := range n.ranks {
		if p.dist[rank] > p.dist[far] {
			far = rank
		}
	}
	return p.dist, far
}

// within reports whether every rank is within time t of this node, going through the middle.
func (m *middle) within(v int32, t unit.Time) bool {
	return m.to != nil && plus(m.to[v], m.from) <= t
}

// partners returns a range of ranks that contains all that need data of a rank. For send_recv it is
// the next rank alone.
func partners(spec *collective.Spec, rank, ranks int) (first, end int) {
	if spec.Kind == collective.SendRecv {
		next := (rank + 1) % ranks
		return next, next + 1
	}
	return 0, ranks
}

// needs reports whether rank to needs data of rank from, another rank. For kinds with a root, one
// of the two must be the root. In a barrier every rank needs to hear from every other.
func needs(spec *collective.Spec, from, to int) bool {
	switch spec.Kind {
	case collective.AllToAllV:
		return spec.Splits[from][to] > 0
	case collective.AllGatherV:
		return spec.Splits[0][from] > 0
	case collective.ReduceScatterV:
		return spec.Splits[0][to] > 0
	case collective.SendRecv:
		return to == (from+1)%spec.Ranks
	}
	return true
}

// moves reports whether any data has to go from one rank to another.
func moves(spec collective.Spec) bool {
	if spec.Kind != collective.AllToAllV {
		return true // not empty, on two ranks or more
	}
	for r, row := range spec.Splits {
		for t, n := range row {
			if r != t && n > 0 {
				return true
			}
		}
	}
	return false
}
