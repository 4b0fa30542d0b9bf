package scenarios

import "collsim/topology"

// GraphWith builds the network with links of such latencies that routes take as long as hops say
// (topology.Params.WithHops), but for links that [[topology.link]] gives a latency of their own. It
// returns nil where links have no class: of a network that is given by hand, or by a preset that is
// no node.
func (t *Topology) GraphWith(h topology.Hops, apart bool) *topology.Graph {
	if t.own != nil || t.Preset == byHand {
		return nil
	}
	params, ok := t.params.WithHops(h, apart)
	if !ok {
		return nil
	}
	other := Topology{Preset: t.Preset, params: params, changes: t.changes}
	g, err := other.Graph()
	if err != nil { // it is no network with any latencies
		return nil
	}
	return g
}
