package run

import (
	"collsim/sim"
	"collsim/unit"
)

// LinkUse holds the traffic of a link during a run.
type LinkUse struct {
	Name, From, To string // "gpu0->switch" goes from gpu0 to switch
	Bytes          unit.Bytes
	Busy           unit.Time // at its full bandwidth
}

// uses lists all links by index, those that carried nothing among them.
func (n *network) uses(ran *sim.Result) []LinkUse {
	list := make([]LinkUse, len(n.graph.Links()))
	for i, l := range n.graph.Links() {
		list[i] = LinkUse{Name: l.Name, From: n.graph.Nodes()[l.From].Name,
			To: n.graph.Nodes()[l.To].Name, Bytes: ran.LinkLoad[i], Busy: ran.LinkBusy[i]}
	}
	return list
}

// devices names the node of every rank.
func (n *network) devices() []string {
	names := make([]string, len(n.graph.Ranks))
	for rank, node := range n.graph.Ranks {
		names[rank] = n.graph.Node(node).Name
	}
	return names
}
