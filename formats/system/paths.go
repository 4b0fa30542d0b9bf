package system

import (
	"cmp"

	"collsim/unit"
)

// PathType is the type of the path between two nodes of a system, best first, as NCCL names and
// orders them (src/include/graph.h of NCCL 2.30.7).
type PathType int

// The path types of NCCL, without those between hosts. LOC is the same GPU, and NVB goes through
// another GPU. PIX goes through one PCIe switch, PXB through several, P2C over C2C and then PCIe.
// PHB goes through a processor, SYS between two processors. DIS is no path.
const (
	LOC PathType = iota
	NVL
	NVB
	C2CPath
	PIX
	PXB
	P2C
	PXN
	PHB
	SYS
	NET
	DIS
)

// String returns NCCL's name.
func (t PathType) String() string {
	return [...]string{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET",
		"DIS"}[t]
}

// Path is the path between two nodes: its type, the rate of its slowest link (for a NIC, its port
// included), and its number of links.
type Path struct {
	Type PathType
	Rate unit.Rate
	Hops int
}

// atHome is the rate inside a GPU (src/graph/topo.h, LOC_BW), and between PCIe switches that are
// peers.
const atHome = 5000 * rateUnit

// rateUnit is 1 GB/s.
const rateUnit = unit.Rate(unit.GB)

// maxP2P is the farthest type of path over which GPUs access each other directly; others go through
// the processor of the receiver (src/graph/paths.cc, ncclTopoCheckP2p).
const maxP2P = PXB

// Paths holds the paths from each GPU to each GPU, and to each NIC, by index.
type Paths struct{ GPU, NIC [][]Path }

// Paths computes the paths between GPUs, and from GPUs to NICs, by the rules of NCCL
// (src/graph/paths.cc). It assumes that all GPUs, and every NIC, can access a GPU's memory. It does
// not reach a NIC through another GPU (PXN).
func (s *System) Paths() *Paths {
	links := s.adjacent()
	toGPU := make([][]Path, len(s.Nodes)) // from a node to all others; of GPUs and processors
	cpus := make([]int, len(s.GPUs))
	for v := range s.Nodes {
		if k := s.Nodes[v].Kind; k == GPU || k == CPU {
			toGPU[v] = s.from(v, links)
		}
	}
	p := &Paths{make([][]Path, len(s.GPUs)), make([][]Path, len(s.GPUs))}
	for g, v := range s.GPUs {
		cpus[g] = s.localCPU(toGPU[v])
	}
	for g, v := range s.GPUs {
		for h, w := range s.GPUs {
			path := toGPU[v][w]
			if c := cpus[h]; path.Type > maxP2P && path.Type < NET && c >= 0 {
				path = through(toGPU[v][c], toGPU[c][w])
			}
			p.GPU[g] = append(p.GPU[g], path)
		}
	}
	toNIC := make([][]Path, len(s.NICs))
	for n, v := range s.NICs {
		toNIC[n] = s.from(v, links)
	}
	for g, v := range s.GPUs {
		for n := range s.NICs {
			p.NIC[g] = append(p.NIC[g], toNIC[n][v])
		}
		c := cpus[g]
		if c < 0 {
			continue
		}
		for _, n := range best(p.NIC[g]) {
			if through(toGPU[v][c], toNIC[n][c]).Type == P2C {
				p.NIC[g][n].Type = min(P2C, p.NIC[g][n].Type)
			}
		}
	}
	return p
}

// best lists the nearest nodes: by rate, then by type (src/graph/topo.cc, ncclTopoGetLocal).
func best(paths []Path) (at []int) {
	top := Path{Type: DIS}
	for i, w := range paths {
		if w.Type == DIS {
			continue
		}
		if w.Rate > top.Rate || w.Rate == top.Rate && w.Type < top.Type {
			top, at = w, nil
		}
		if w.Rate == top.Rate && w.Type == top.Type {
			at = append(at, i)
		}
	}
	return at
}

// localCPU returns the processor that a GPU is nearest to, −1 if there is none.
func (s *System) localCPU(paths []Path) int {
	local := -1
	for v := range s.Nodes {
		if s.Nodes[v].Kind != CPU || paths[v].Type == DIS {
			continue
		}
		if local < 0 || nearer(paths[v], paths[local]) {
			local = v
		}
	}
	return local
}

// nearer reports whether path a to a processor is better than b.
func nearer(a, b Path) bool {
	return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Type, b.Type),
		cmp.Compare(a.Hops, b.Hops)) < 0
}

// through concatenates two paths.
func through(a, b Path) Path {
	t := max(a.Type, b.Type)
	if t == PHB && min(a.Type, b.Type) == C2CPath {
		t = P2C
	}
	return Path{t, min(a.Rate, b.Rate), a.Hops + b.Hops}
}

// end is a link seen from one of its nodes.
type end struct {
	link, to int
}

// adjacent lists the links of each node.
func (s *System) adjacent() [][]end {
	all := make([][]end, len(s.Nodes))
	for i, l := range s.Links {
		all[l.A] = append(all[l.A], end{i, l.B})
		all[l.B] = append(all[l.B], end{i, l.A})
	}
	return all
}

// from searches the best paths from a node to all others, round by round, one link longer in each.
func (s *System) from(base int, links [][]end) []Path {
	paths := make([]Path, len(s.Nodes))
	for v := range paths {
		paths[v].Type = DIS
	}
	paths[base] = Path{LOC, atHome, 0}
	if s.Nodes[base].Kind == NIC {
		paths[base].Rate = s.Nodes[base].Rate
	}
	isNext := make([]bool, len(s.Nodes))
	for now := []int{base}; len(now) > 0; {
		var next []int
		for _, v := range now {
			for _, e := range links[v] {
				path, ok := s.step(base, v, e, paths[v])
				if !ok || !better(path, paths[e.to]) {
					continue
				}
				paths[e.to] = path
				if !isNext[e.to] {
					isNext[e.to] = true
					next = append(next, e.to)
				}
			}
		}
		for _, v := range next {
			isNext[v] = false
		}
		now = next
	}
	return paths
}

// better reports whether a path has a better type, or is faster, or shorter.
func better(path, old Path) bool {
	return path.Type < old.Type || path.Type == old.Type &&
		(path.Rate > old.Rate || path.Rate == old.Rate && path.Hops < old.Hops)
}

// step extends a path from base to v by one link. A GPU forwards to another over NVLink alone, and
// only if it is next to base.
func (s *System) step(base, v int, e end, path Path) (Path, bool) {
	l, at, to := s.Links[e.link], s.Nodes[v].Kind, s.Nodes[e.to].Kind
	if v != base && (at == NIC || at == GPU && (l.Kind != NVLink || to != GPU || path.Hops > 1)) {
		return Path{}, false
	}
	t := [...]PathType{NVLink: NVL, C2C: C2CPath, PCIe: PIX, Peer: LOC, Socket: SYS}[l.Kind]
	switch {
	case at == PCI && to == PCI:
		t = PXB
	case l.Kind == PCIe && (at == CPU || to == CPU):
		t = PHB
	case at == GPU && path.Type == NVL && t == NVL && path.Hops == 1:
		t = NVB
	}
	rate := min(path.Rate, l.Rate)
	if to == NIC {
		rate = min(rate, s.Nodes[e.to].Rate)
	}
	return Path{max(path.Type, t), rate, path.Hops + 1}, true
}
