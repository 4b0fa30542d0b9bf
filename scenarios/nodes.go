package scenarios

import (
	"collsim/machine"
	"collsim/topology"
	"collsim/unit"
)

// Nodes describes the nodes of a network as the scenario gives them.
type Nodes struct {
	Machine *machine.Machine // that the scenario names, nil elsewhere
	Inside  topology.Params  // the network in a node, or all of it where there are no nodes
	Between *topology.Params // the network between nodes, nil where there is one
	// PluginLatency is the latency that the plugin of that network reports to NCCL.
	PluginLatency unit.Time
}

// NodeFacts returns what a library could see of the network's nodes.
func (t *Topology) NodeFacts() Nodes {
	n := Nodes{Machine: t.machine, Inside: t.params}
	if t.params.Node != nil {
		n.Inside = *t.params.Node
	}
	if t.homes != nil && t.Nodes > 1 {
		n.Between, n.PluginLatency = t.params.Network, t.pluginLatency
	}
	return n
}
