package topology

import (
	"strings"

	"collsim/unit"
)

// Hops are latencies of whole routes, in place of those of links.
type Hops struct {
	// NVLink and PCIe are the latencies from a GPU to another one of its node, by their connection.
	NVLink, PCIe unit.Time
	// Network adds to every route between nodes: half where it leaves a node and half where it
	// enters one.
	Network unit.Time
}

// WithHops returns the same network with latencies of links such that routes take the times of h.
// ok is false unless the node is a switch, a full mesh, or has wires. A network without nodes is
// one node or, if apart, a network of nodes with one GPU each.
//
// A wire between two GPUs takes the whole hop. One from a GPU to a switch takes half of it, over
// NVLink if it is an NVSwitch. One between switches takes none. Wires of NICs keep their latency.
func (p Params) WithHops(h Hops, apart bool) (Params, bool) {
	if p.Node == nil && apart {
		preset := Lookup(p.Preset)
		if preset.IsUniform() {
			p.Latency += h.Network / unit.Time(preset.Links)
		}
		return p, preset.IsUniform()
	}
	if p.Node == nil {
		return p.asNode(h)
	}
	node, ok := p.Node.asNode(h)
	p.Node = &node
	if p.Network != nil {
		network := *p.Network
		network.Attach += h.Network / 2
		p.Network = &network
	}
	return p, ok
}

// asNode applies h to the network of a node.
func (p Params) asNode(h Hops) (Params, bool) {
	preset := Lookup(p.Preset)
	switch {
	case preset.IsUniform():
		p.Latency = h.NVLink / unit.Time(preset.Links)
	case p.Preset == byWires:
		wires := make([]Wire, len(p.Wires))
		for i, w := range p.Wires {
			w.Latency = h.ofWire(&w)
			wires[i] = w
		}
		p.Wires = wires
	default:
		return p, false
	}
	return p, true
}

// ofWire returns the latency of a wire in a node.
func (h *Hops) ofWire(w *Wire) unit.Time {
	isGPU := func(name string) bool { return strings.HasPrefix(name, "gpu") }
	of := func(prefix string) bool {
		return strings.HasPrefix(w.From, prefix) || strings.HasPrefix(w.To, prefix)
	}
	switch {
	case of("nic"):
		return w.Latency
	case isGPU(w.From) && isGPU(w.To):
		return h.NVLink
	case !of("gpu"):
		return 0
	case of("nvswitch"):
		return h.NVLink / 2
	}
	return h.PCIe / 2
}
