package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/internal/nearest"
	"collsim/topology"
	"collsim/unit"
)

// stepOfGPU is the part of a hop between nodes that is the device's own step: device.overhead.
const stepOfGPU = unit.Microsecond

// Machine is a named machine.
type Machine struct {
	Name, About string

	Device string // of every GPU: a name of package device
	GPUs   int    // of a node
	// connection of the GPUs: "switch", "full-mesh" (a link between each pair) or "wires"
	Joined string
	// Wires lists the links of a node whose Joined is "wires", those to NICs included; else nil.
	Wires []Wire
	// Rate is the rate that a GPU achieves to all others together, in each direction; Latency is
	// that of a link.
	Rate    unit.Rate
	Latency unit.Time
	// Multicast says that the switch multicasts and reduces (NVLink SHARP).
	Multicast bool

	NICs    int
	NICRate unit.Rate // of one, by its data sheet
	// Shares are the achieved shares of NICRate, by the least number of nodes.
	Shares []Share
	Near   string // the NICs near each GPU, in words
	CPUs   string // in words

	Fabric string    // network between nodes, in words: "infiniband", "efa"
	Joins  string    // its preset in package topology: "rails", "switch"
	Hop    unit.Time // time from a NIC to another, including a step of the sending GPU
	// Library is the collective library of the GPUs' maker: "nccl", "rccl".
	Library string
	// PluginLatency is the latency that the network's plugin reports to NCCL
	// (ncclNetProperties.latency). NCCL chooses by it; the time of a message is Hop.
	PluginLatency unit.Time
	Env           string // variables that its operator sets for the library, in words
	Tuner         string // the plugin that replaces NCCL's own model; empty: none

	Figures []Figure // all of these as text, in the order of Names
}

// Share is the achieved share of a NIC's rate on so many nodes, and on more.
type Share struct {
	Nodes int
	Of    unit.Share
}

// Figure is one figure of a machine, as in its file.
type Figure struct {
	Name   string
	Is     string
	Sheet  string // the data sheet's value, where Is is an achieved one
	Source string // a document, a table and the derivation, or "assumed" and the reason
	// Of is the machine that it is taken from; empty for its own.
	Of string
}

// NICReached returns the rate that a NIC achieves with so many nodes.
func (m *Machine) NICReached(nodes int) unit.Rate {
	share := m.Shares[0].Of
	for _, s := range m.Shares {
		if s.Nodes <= nodes {
			share = s.Of
		}
	}
	return m.NICRate.Times(share)
}

// Link returns the rate of a link in a node: of a GPU to the switch, or of a pair; with wires, the
// sum over those of the GPU that has most.
func (m *Machine) Link() unit.Rate {
	switch m.Joined {
	case "full-mesh":
		return m.Rate / unit.Rate(max(m.GPUs-1, 1))
	case byWires:
		return m.wired()
	}
	return m.Rate
}

// Node returns the parameters of package topology for the network in a node, with its first gpus
// GPUs.
func (m *Machine) Node(gpus int) topology.Params {
	if m.Joined == byWires {
		return topology.Params{Preset: "links", Ranks: gpus, Wires: m.links(gpus)}
	}
	return topology.Params{Preset: m.Joined, Ranks: gpus, Bandwidth: m.Link(), Latency: m.Latency,
		Multimem: m.Multicast}
}

// NICsOf returns the number of NICs of the first gpus GPUs of a node.
func (m *Machine) NICsOf(gpus int) int {
	if m.Joined == byWires {
		return len(m.nics(gpus))
	}
	return (m.NICs*gpus + m.GPUs - 1) / m.GPUs
}

// PluginLatencyKey is the scenario key of PluginLatency.
const PluginLatencyKey = "topology.network.plugin_latency"

// Key is a key of a scenario, and its value as TOML.
type Key struct{ Path, Value string }

// Keys returns the scenario keys that the machine's name stands for, with so many nodes: the
// network in a node, that between nodes if there are several, and the device.
func (m *Machine) Keys(nodes int) []Key {
	quoted := func(s fmt.Stringer) string { return strconv.Quote(s.String()) }
	keys := []Key{{"topology.node.ranks", strconv.Itoa(m.GPUs)},
		{"device.preset", strconv.Quote(m.Device)}}
	if m.Joined != byWires {
		keys = append(keys, Key{"topology.node.preset", strconv.Quote(m.Joined)},
			Key{"topology.node.bandwidth", quoted(m.Link())},
			Key{"topology.node.latency", quoted(m.Latency)})
	}
	if m.Multicast {
		keys = append(keys, Key{"topology.node.multimem", "true"})
	}
	if nodes > 1 {
		keys = append(keys, Key{"topology.network.preset", strconv.Quote(m.Joins)},
			Key{"topology.network.nics", strconv.Itoa(m.NICs)},
			Key{"topology.network.bandwidth", quoted(m.NICReached(nodes))},
			Key{"topology.network.latency", quoted(m.LinkLatency(m.Joins))})
		if m.PluginLatency > 0 {
			keys = append(keys, Key{PluginLatencyKey, quoted(m.PluginLatency)})
		}
	}
	for _, k := range fitted() {
		if f := m.Figure(k.name); f != nil && k.key != "" {
			keys = append(keys, Key{k.key, strconv.Quote(f.Is)})
		}
	}
	return keys
}

// Figure returns a figure by name, nil if the machine has none with that name.
func (m *Machine) Figure(name string) *Figure {
	i := slices.IndexFunc(m.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Figures[i]
}

// LinkLatency returns the latency of each link of a network of such a preset between nodes, so that
// its longest routes take the machine's hop. Where routes cross four links (NIC, leaf, spine and
// back), each has a fourth.
func (m *Machine) LinkLatency(preset string) unit.Time {
	links := unit.Time(max(topology.Lookup(preset).Links, 2))
	return max(m.Hop-stepOfGPU, 0) / links
}

// Sketch describes a node on a line: "8 × h100-sxm ═ switch 367 GB/s, 8 NICs × 47.5 GB/s ═ rails".
func (m *Machine) Sketch() string {
	node := fmt.Sprintf("%d × %s ═ %s %v", m.GPUs, m.Device, m.Joined, m.Link())
	if m.Wires != nil {
		node = fmt.Sprintf("%d × %s ═ %s, %v a GPU", m.GPUs, m.Device, m.bundles(), m.Link())
	}
	nics := "NICs"
	if m.NICs == 1 {
		nics = "NIC"
	}
	return fmt.Sprintf("%s, %d %s × %v ─ %s (%s)", node, m.NICs, nics, m.NICReached(2), m.Fabric,
		m.Joins)
}

// Find returns the machine with a name, or an error that lists the nearest names.
func Find(name string) (*Machine, error) {
	if m := known()[name]; m != nil {
		return m(), nil
	}
	names := Names()
	if near := nearest.To(name, names, 3); len(near) > 0 {
		names = near
	}
	return nil, fmt.Errorf("%.40q: no machine of that name; nearest: %s", name,
		strings.Join(names, ", "))
}

// Names lists the machines that Find knows.
func Names() []string { return slices.Clone(names()) }
