package topology

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
)

// cluster returns Nodes copies of the network Node, joined by Network, whose ranks are the NICs:
// NIC i of node n is its rank n·nics+i. Where Node has Wires, they say what its NICs hang on. Else
// GPU g hangs on NIC ⌊g·nics/GPUs⌋ of its node; where there are more NICs than GPUs, NIC i on GPU
// ⌊i·GPUs/nics⌋. Such a link between GPU and NIC has no latency, and no limit until an Override
// gives it one: a NIC that several share is as narrow as its links.
//
// Links inside the nodes come first, node by node, then those between GPUs and NICs, then the
// network's. Among equally short routes the lowest index wins, so what must change rails does so
// inside the sending node.
func (p *Params) cluster() (*Graph, error) {
	takes := []string{"nodes", "node", "network", "ranks", "order", "routing"}
	if err := p.only("a cluster", takes, nil); err != nil {
		return nil, err
	}
	if p.Nodes == 0 {
		p.Nodes = 1
	}
	if p.Nodes < 1 || p.Nodes > MaxRanks {
		return nil, badParam("nodes", p.Nodes, "1 to %d are expected", MaxRanks)
	}
	if p.Node == nil {
		return nil, &ParamError{"node", "", "the network inside a node is expected"}
	}
	if p.Network == nil && p.Nodes > 1 {
		return nil, &ParamError{"network", "", "the network between the nodes is expected"}
	}
	node, attached, nics, err := p.insideNode()
	if err != nil {
		return nil, inside("node", err)
	}
	if links := node.NumLinks(); links > MaxLinks && p.Network != nil { // routes are searched
		return nil, badParam("node.ranks", len(node.Ranks),
			"a %s of as many has %d links; the limit is %d", node.Preset, links, MaxLinks)
	}
	if node.Connected() != nil {
		return nil, &ParamError{"node.preset", strconv.Quote(p.Node.Preset),
			"a network in which all ranks reach each other is expected"}
	}
	n := len(node.Ranks)
	switch {
	case n*p.Nodes > MaxRanks:
		return nil, badParam("nodes", p.Nodes, "at most %d ranks are expected, not %d in each node",
			MaxRanks, n)
	case p.Ranks != 0 && p.Ranks != n*p.Nodes:
		return nil, badParam("ranks", p.Ranks, "nodes = %d of %d ranks have %d",
			p.Nodes, n, n*p.Nodes)
	}
	if p.Network == nil {
		node.isNode()
		return node, nil
	}
	network, err := p.Network.between(p.Nodes, n, nics)
	if err != nil {
		return nil, inside("network", err)
	}
	if nics == 0 {
		attached = paired(int32(n), int32(len(network.Ranks)/p.Nodes))
	}
	return p.around(node, attached, network)
}

// insideNode returns the network inside a node, and, where it has Wires, its links to NICs and how
// many of these the wires name.
func (p *Params) insideNode() (node *Graph, attached []attachment, nics int, err error) {
	if p.Network == nil || p.Node.Preset != byWires {
		node, err = p.Node.flat()
		return node, nil, 0, err
	}
	node, attached, nics, err = p.Node.wired()
	if err == nil && nics == 0 {
		err = &ParamError{"wires", "", "a wire to a NIC, nic0, is expected"}
	}
	return node, attached, nics, err
}

// around is the cluster of these nodes and the network of their NICs.
func (p *Params) around(node *Graph, attached []attachment, network *Graph) (*Graph, error) {
	most := int64(MaxLinks)
	hub, ok := network.formula.(*star)
	ok = ok && !network.isListed && p.Nodes > 1
	if ok {
		most = MaxNumbered
	}
	links := int64(p.Nodes)*int64(node.NumLinks()+2*len(attached)) + int64(network.NumLinks())
	if links > most {
		return nil, badParam("nodes", p.Nodes, "at most %d links are expected, not %d", most, links)
	}
	g := &Graph{Preset: "cluster", parts: newParts(p.Nodes, node, attached, network)}
	g.Ranks = make([]int32, p.Nodes*len(node.Ranks))
	for i := range g.Ranks {
		g.Ranks[i] = int32(i)
	}
	if ok {
		g.formula = newCluster(g.parts, hub)
	} else {
		g.compose()
	}
	return g, nil
}

// isNode gives a network the names of a cluster's only node. It is simulated as it is elsewhere.
func (g *Graph) isNode() {
	g.place = "node0/"
	for v := range g.nodes {
		g.nodes[v].Name = g.place + g.nodes[v].Name
	}
	for i := range g.links {
		l := &g.links[i]
		l.Name = g.nodes[l.From].Name + "->" + g.nodes[l.To].Name
	}
}

// inside names the table that an error about a parameter is in.
func inside(table string, err error) error {
	var e *ParamError
	if errors.As(err, &e) {
		return &ParamError{table + "." + e.Key, e.Value, e.Text}
	}
	return err
}

// between returns the network of the NICs of so many nodes of so many GPUs. wired is how many NICs
// the wires of a node name, 0 where it has none.
func (p Params) between(nodes, gpus, wired int) (*Graph, error) {
	if p.Preset == byWires {
		return nil, &ParamError{"preset", strconv.Quote(p.Preset), "wires are inside nodes only"}
	}
	nics := cmp.Or(p.NICs, wired, gpus)
	if wired != 0 && nics != wired {
		return nil, badParam("nics", nics, "the wires of a node have %d", wired)
	}
	if nics < 1 || nics*nodes > MaxRanks {
		return nil, badParam("nics", nics, "1 to %d in each of %d nodes are expected",
			MaxRanks/nodes, nodes)
	}
	if p.Ranks != 0 && p.Ranks != nics*nodes {
		return nil, badParam("ranks", p.Ranks, "%d nodes with %d NICs have %d", nodes, nics,
			nics*nodes)
	}
	given := p.Ranks
	p.Ranks = nics * nodes
	if p.Preset == "rails" {
		if p.K != 0 && p.K != nics {
			return nil, badParam("k", p.K, "there are %d rails, one a NIC", nics)
		}
		p.K = nics
	}
	g, err := p.flat("nics")
	var e *ParamError
	if errors.As(err, &e) && e.Key == "ranks" && given == 0 { // the user did not write it
		return nil, badParam("nics", nics, "in %d nodes there are %d: %s", nodes, p.Ranks, e.Text)
	}
	return g, err
}

// newParts are so many nodes, each with the same links to its NICs, and the network of these.
func newParts(nodes int, node *Graph, attached []attachment, network *Graph) *parts {
	p := &parts{node: node, network: network, attached: attached,
		nodes: int32(nodes), gpus: int32(len(node.Ranks)),
		switches: int32(node.NumNodes() - len(node.Ranks)),
		nics:     int32(len(network.Ranks) / nodes), end: -1}
	p.fabric = p.nodes * (p.gpus + p.switches)
	return p
}

// compose lists the nodes and the network as one; it keeps both, without their names.
func (g *Graph) compose() {
	p := g.parts
	node, network := p.node, p.network
	node.list()
	network.list()
	for i := range p.nodes * p.gpus {
		g.addNode(fmt.Sprint("node", i/p.gpus, "/", node.nodes[i%p.gpus].Name), false)
	}
	for i := range p.nodes * p.switches {
		v := node.nodes[p.gpus+i%p.switches]
		v.Name = fmt.Sprint("node", i/p.switches, "/", v.Name)
		g.nodes = append(g.nodes, v)
	}
	for i, v := range network.nodes {
		if i < len(network.Ranks) {
			v.Name = "node" + strconv.Itoa(i/int(p.nics)) + "/nic" + strconv.Itoa(i%int(p.nics))
		}
		v.Switch = true
		g.nodes = append(g.nodes, v)
	}
	g.links = make([]Link, 0, int(p.nodes)*(len(node.links)+2*len(p.attached))+
		len(network.links))
	for i := range p.nodes {
		g.copyLinks(node, func(v int32) int32 { return p.at(i, v) })
	}
	g.attach(p)
	g.copyLinks(network, func(v int32) int32 { return p.fabric + v })
	for _, part := range []*Graph{node, network} {
		clear(part.nodes) // Names only; what is left is their number
		for i := range part.links {
			part.links[i].Name = ""
		}
	}
	g.numbered()
}

// attach appends the links from the nodes to their NICs, then those back.
func (g *Graph) attach(p *parts) {
	for _, isUp := range []bool{true, false} {
		for i := range p.nodes {
			for _, a := range p.attached {
				from, to := p.at(i, a.at), p.fabric+i*p.nics+a.nic
				if !isUp {
					from, to = to, from
				}
				g.addLink(from, to, a.bandwidth, a.latency)
				g.links[len(g.links)-1].extra = a.length - 1
			}
		}
	}
}

// copyLinks appends the links of from, whose nodes are called at(v) here.
func (g *Graph) copyLinks(from *Graph, at func(int32) int32) {
	for i := range from.links {
		l := &from.links[i]
		g.addLink(at(l.From), at(l.To), l.Bandwidth, l.Latency)
		g.links[len(g.links)-1].extra = l.extra
	}
}
