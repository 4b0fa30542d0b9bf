package topology

import "fmt"

// Leave selects the NIC by which a message between nodes leaves. It enters by the NIC nearest to
// the destination, except with ByRoute.
type Leave uint8

const (
	// ByRoute takes the shortest route, whatever NICs and GPUs are on it.
	ByRoute Leave = iota
	// ByOwn takes the NIC nearest to the source.
	ByOwn
	// ByRail takes the NIC of the source's node with the number of the one by which the message
	// enters, on the shortest path to it.
	ByRail
	// ByNeighbour takes that NIC through a GPU that is nearest to it, unless the source itself is.
	// The source must reach that GPU over no other GPU; otherwise it takes its own NIC. ByFirst
	// goes through the first of these GPUs even if the source is another one of them. Both are
	// NCCL's PXN.
	ByNeighbour
	ByFirst
)

// leaving holds the rule by which messages leave the nodes of a cluster. It never changes.
type leaving struct {
	by   Leave
	near []int32 // by GPU of a node: the nearest link to a NIC
	team []int32 // by rank; nil: one team of all
	at   []int32 // by GPU of the cluster: its rank; nil without teams
}

// SetLeave sets the rule by which messages between the nodes of a cluster leave, from now on.
// Messages of a team pass only through GPUs of their own team; no teams stand for one of all ranks.
// It has no effect on a network without nodes, or whose nodes differ. Its error names NICs without
// a route between them.
func (g *Graph) SetLeave(by Leave, teams [][]int) error {
	p := g.parts
	if g.leaving = nil; p == nil || p.uneven != nil || p.nodes < 2 || by == ByRoute {
		return nil
	}
	l := &leaving{by: by, near: make([]int32, p.gpus)}
	for gpu := range p.gpus {
		best := int32(-1)
		for i := range p.attached {
			a := &p.attached[i]
			if d := p.inside(gpu, a.at) + a.length; best < 0 || d < best {
				best, l.near[gpu] = d, int32(i)
			}
		}
	}
	if teams != nil {
		l.team, l.at = make([]int32, p.ranks), make([]int32, p.ranks)
		for rank, v := range g.Ranks {
			l.at[v], l.team[rank] = int32(rank), -1
		}
		for i, ranks := range teams {
			for _, rank := range ranks {
				l.team[rank] = int32(i)
			}
		}
	}
	if by == ByOwn {
		for from := range p.gpus {
			for to := range p.gpus {
				a, b := p.attached[l.near[from]].nic, p.attached[l.near[to]].nic
				if a != b && p.network.length(p.nic(0, a), p.nic(1, b)) < 0 {
					return fmt.Errorf("no route from node0/nic%d to node1/nic%d", a, b)
				}
			}
		}
	}
	g.leaving = l
	return nil
}

// inside returns the length of the path from a GPU of a node to one of its GPUs or switches.
func (p *parts) inside(gpu, to int32) int32 {
	if gpu == to {
		return 0
	}
	return p.node.length(gpu, to)
}

// leave appends the links from a rank to one of another node, if a rule for leaving applies.
func (g *Graph) leave(src, dst int, buf []int32) (route []int32, ok bool) {
	p, l := g.parts, g.leaving
	from, gpu := p.place(g.Ranks[src])
	to, end := p.place(g.Ranks[dst])
	if from == to {
		return buf, false
	}
	enter := l.near[end]
	out := l.near[gpu]
	switch rail := p.attached[enter].nic; l.by {
	case ByRail:
		out = l.nearestOf(p, gpu, rail)
	case ByNeighbour, ByFirst:
		if l.by == ByNeighbour && p.attached[out].nic == rail || !l.has(src, p.at(from, end)) {
			break
		}
		if via := g.via(src, rail); via >= 0 {
			buf = g.within(from, gpu, via, buf)
			gpu, out = via, l.near[via]
		}
	}
	a, b := &p.attached[out], &p.attached[enter]
	count := int32(len(p.attached))
	links := int32(p.node.NumLinks())
	buf = append(g.within(from, gpu, a.at, buf), p.nodes*links+from*count+out)
	first := len(buf)
	buf = g.between(p.nic(from, a.nic), p.nic(to, b.nic), seedOf(src, dst), buf)
	for i := range buf[first:] {
		buf[first+i] += p.nodes * (links + 2*count)
	}
	buf = append(buf, p.nodes*(links+count)+to*count+enter)
	return g.within(to, b.at, end, buf), true
}

// between appends the links of the network from one NIC to another, for a pair of ranks with a
// hash.
func (g *Graph) between(from, to int32, seed uint64, buf []int32) []int32 {
	n := g.parts.network
	n.Routing = g.Routing
	s, ok := n.formula.(spreader)
	switch {
	case g.Routing == Shortest || from == to || n.formula != nil && !ok:
		return n.Route(int(from), int(to), buf)
	case ok:
		return s.spread(from, to, seed, buf)
	}
	if !n.routes.built {
		n.buildNeighbours()
	}
	buf, _ = n.walk(from, to, seed, buf)
	return buf
}

// has reports whether a GPU of the cluster belongs to a rank's team.
func (l *leaving) has(rank int, gpu int32) bool {
	return l.team == nil || l.team[l.at[gpu]] == l.team[rank]
}

// nearestOf returns the link to a NIC that is nearest to a GPU.
func (l *leaving) nearestOf(p *parts, gpu, nic int32) (link int32) {
	best := int32(-1)
	for i := range p.attached {
		a := &p.attached[i]
		if d := p.inside(gpu, a.at) + a.length; a.nic == nic && (best < 0 || d < best) {
			best, link = d, int32(i)
		}
	}
	return link
}

// via returns the GPU of a rank's node through which a message leaves by a NIC, −1 for none. It is
// the first of the rank's team whose nearest NIC that is, and which the rank reaches directly. PXN
// writes into its memory over NVLink, and no GPU between them relays.
func (g *Graph) via(src int, nic int32) int32 {
	p, l := g.parts, g.leaving
	node, gpu := p.place(g.Ranks[src])
	for other := range p.gpus {
		if p.attached[l.near[other]].nic != nic || !l.has(src, p.at(node, other)) {
			continue
		}
		if other == gpu || g.isDirect(gpu, other) {
			return other
		}
	}
	return -1
}

// isDirect reports whether the path between two GPUs of a node passes no other GPU.
func (g *Graph) isDirect(from, to int32) bool {
	node := g.parts.node
	for _, i := range node.Route(int(from), int(to), nil) {
		if v := node.Link(i).To; v != to && v < g.parts.gpus {
			return false
		}
	}
	return true
}

// within appends the links from one GPU or switch of a node to another.
func (g *Graph) within(node, from, to int32, buf []int32) []int32 {
	n, first := g.parts.node, len(buf)
	switch {
	case from == to:
		return buf
	case max(from, to) < g.parts.gpus:
		buf = n.Route(int(from), int(to), buf)
	default:
		if !n.routes.built {
			n.buildNeighbours()
		}
		buf, _ = n.walk(from, to, 0, buf)
	}
	links := int32(n.NumLinks())
	for i := range buf[first:] {
		buf[first+i] += node * links
	}
	return buf
}
