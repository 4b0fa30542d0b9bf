package system

import (
	"fmt"

	"collsim/unit"
)

// Kind is the kind of a node of a system.
type Kind int

// The kinds of nodes. PCI is a PCIe switch or bridge, CPU a NUMA domain of a host.
const (
	GPU Kind = iota
	NIC
	PCI
	NVSwitch
	CPU
)

// LinkKind is the kind of a link of a system.
type LinkKind int

// The kinds of links. NVLink is also AMD's xGMI. Peer connects two PCIe switches outside of their
// tree, Socket two processors.
const (
	NVLink LinkKind = iota
	C2C
	PCIe
	Peer
	Socket
)

// Node is a part of a system. Name is its name in the file: "mlx5_0", a bus id, a NUMA domain. Rate
// is that of a NIC's port, Latency that of its network, as the plugin reports it to NCCL. Host
// numbers the hosts of a rack that has a single file.
type Node struct {
	Kind    Kind
	Name    string
	Rate    unit.Rate
	Latency unit.Time
	Host    int
	// Dissolved marks a PCI node that only groups the GPUs near a NIC. A machine with wires has a
	// wire from each of them to the NIC instead. It also marks a GPU whose own PCIe link is not a
	// wire.
	Dissolved bool
}

// Link connects two nodes by Count parallel links, usable in both directions at once. Of a PCIe
// link A is below B. Rate is that of all of them together, in each direction.
type Link struct {
	A, B  int
	Kind  LinkKind
	Count int
	Rate  unit.Rate
}

// System is one node of a cluster. GPUs and NICs list nodes, in the order in which a machine
// numbers them.
type System struct {
	Nodes      []Node
	Links      []Link
	GPUs, NICs []int
	// IsAMD says that links between GPUs are xGMI.
	IsAMD bool
}

// Limits of a System.
const (
	MaxGPUs = 256
	MaxNICs = 512
	MaxCPUs = 128
)

// Add adds a node and returns its index. A GPU or NIC becomes the last of its kind.
func (s *System) Add(n Node) int {
	s.Nodes = append(s.Nodes, n)
	at := len(s.Nodes) - 1
	switch n.Kind {
	case GPU:
		s.GPUs = append(s.GPUs, at)
	case NIC:
		s.NICs = append(s.NICs, at)
	}
	return at
}

// JoinCPUs connects all processors of a host with each other, as NCCL does; if isJoined is not nil,
// only pairs for which it is true. The rate of a link is the lower of its two ends'.
func (s *System) JoinCPUs(rate func(cpu int) unit.Rate, isJoined func(a, b int) bool) {
	for b := range s.Nodes {
		for a := range b {
			if s.Nodes[a].Kind == CPU && s.Nodes[b].Kind == CPU &&
				s.Nodes[a].Host == s.Nodes[b].Host && (isJoined == nil || isJoined(a, b)) {
				s.Links = append(s.Links, Link{a, b, Socket, 1, min(rate(a), rate(b))})
			}
		}
	}
}

// Check reports a system that exceeds a limit or has no GPU.
func (s *System) Check() error {
	cpus := 0
	for i := range s.Nodes {
		if s.Nodes[i].Kind == CPU {
			cpus++
		}
	}
	for _, of := range []struct {
		has, most int
		what      string
	}{{len(s.GPUs), MaxGPUs, "GPUs"}, {len(s.NICs), MaxNICs, "NICs"}, {cpus, MaxCPUs, "processors"}} {
		if of.has > of.most {
			return fmt.Errorf("has %d %s; the limit is %d", of.has, of.what, of.most)
		}
	}
	if len(s.GPUs) == 0 {
		return fmt.Errorf("names no GPU")
	}
	return nil
}

// parents returns, for each node, its parent in the tree of PCIe and the link to it; −1 if there is
// none.
func (s *System) parents() (up []int, link []int) {
	up, link = make([]int, len(s.Nodes)), make([]int, len(s.Nodes))
	for i := range up {
		up[i], link[i] = -1, -1
	}
	for i, l := range s.Links {
		if l.Kind == PCIe && up[l.A] < 0 {
			up[l.A], link[l.A] = l.B, i
		}
	}
	return up, link
}
