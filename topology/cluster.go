package topology

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// cluster returns Nodes copies of the network Node, connected by Network, whose ranks are the NICs:
// NIC i of node n is its rank n·nics+i. If Node has Wires, these attach its NICs. Otherwise GPU g
// is attached to NIC ⌊g·nics/GPUs⌋ of its node or, with more NICs than GPUs, NIC i to GPU
// ⌊i·GPUs/nics⌋. Such a link between GPU and NIC has no latency, and no limit until an Override
// sets one: a NIC that several GPUs share is as narrow as its links.
//
// Links inside the nodes come first, node by node, then those between GPUs and NICs, then the
// network's. Among equally short routes the lowest index wins, so traffic that must change rails
// does so inside the sending node.
func (p *Params) cluster() (*Graph, error) {
	takes := []string{"nodes", "node", "node.ranks", "network", "ranks", "absent", "order", "routing"}
	if err := p.only("a cluster", takes, nil); err != nil {
		return nil, err
	}
	if err := p.countNodes(); err != nil {
		return nil, err
	}
	full, nics, err := p.kindOf(slices.Max(append(p.Sizes, 0)))
	if err != nil {
		return nil, inside("node", err)
	}
	// its routes are searched
	if links := full.node.NumLinks(); links > MaxLinks && p.Network != nil {
		return nil, badParam("node.ranks", int(full.gpus),
			"a %s of as many has %d links; the limit is %d", full.node.Preset, links, MaxLinks)
	}
	if full.node.Connected() != nil {
		return nil, &ParamError{"node.preset", strconv.Quote(p.Node.Preset),
			"a network in which all ranks reach each other is expected"}
	}
	n, total := int(full.gpus), p.total(int(full.gpus))
	switch {
	case total > MaxRanks:
		return nil, badParam("nodes", p.Nodes, "at most %d ranks are expected, not %d in each node",
			MaxRanks, n)
	case p.Ranks != 0 && p.Ranks != total && p.Sizes != nil:
		return nil, badParam("ranks", p.Ranks, "nodes of %v ranks have %d", p.Sizes, total)
	case p.Ranks != 0 && p.Ranks != total:
		return nil, badParam("ranks", p.Ranks, "nodes = %d of %d ranks have %d", p.Nodes, n, total)
	}
	network := &Graph{}
	if p.Network != nil {
		if network, err = p.Network.between(p.Nodes, n, nics); err != nil {
			return nil, inside("network", err)
		}
	}
	if nics == 0 {
		full.attached = paired(full.gpus, int32(len(network.Ranks)/p.Nodes))
		p.slowAttached(full.attached)
	}
	parts := newParts(p.Nodes, full, network)
	if p.Sizes != nil || len(p.Absent) > 0 {
		if err := p.unevenly(parts); err != nil {
			return nil, err
		}
	}
	if p.Network == nil {
		parts.of(0).node.isNode()
		return parts.of(0).node, nil
	}
	return clusterOf(parts)
}

// countNodes sets Nodes to their number, and Sizes to nil if all are equal.
func (p *Params) countNodes() error {
	if p.Node == nil {
		return &ParamError{"node", "", "the network inside a node is expected"}
	}
	node := *p.Node
	p.Node = &node
	if p.Sizes != nil {
		list := fmt.Sprint(p.Sizes)
		switch {
		case len(p.Sizes) == 0 || slices.Min(p.Sizes) < 1 || slices.Max(p.Sizes) > MaxRanks:
			return &ParamError{"node.ranks", list, "1 rank or more in each node are expected"}
		case node.Ranks != 0:
			return &ParamError{"node.ranks", list, "a number or a list is expected, not both"}
		case p.Nodes != 0 && p.Nodes != len(p.Sizes):
			return &ParamError{"node.ranks", list, fmt.Sprintf("nodes = %d: the ranks of as many "+
				"nodes are expected, not of %d", p.Nodes, len(p.Sizes))}
		}
		p.Nodes = len(p.Sizes)
		if slices.Min(p.Sizes) == slices.Max(p.Sizes) {
			node.Ranks, p.Sizes = p.Sizes[0], nil
		}
	}
	p.Nodes = cmp.Or(p.Nodes, 1)
	switch {
	case p.Nodes < 1 || p.Nodes > MaxRanks:
		return badParam("nodes", p.Nodes, "1 to %d are expected", MaxRanks)
	case p.Network == nil && p.Nodes > 1:
		return &ParamError{"network", "", "the network between the nodes is expected"}
	}
	return nil
}

// total returns the number of all GPUs; each is that of a node if all are equal.
func (p *Params) total(each int) (n int) {
	if p.Sizes == nil {
		return p.Nodes * each
	}
	for _, size := range p.Sizes {
		n = min(n+size, 2*MaxRanks)
	}
	return n
}

// kindOf returns the network inside a node of so many ranks, 0 for those of Node. If it has Wires,
// nics is the number of NICs that they name.
func (p *Params) kindOf(ranks int) (k kind, nics int, err error) {
	inside := *p.Node
	inside.Ranks = cmp.Or(ranks, inside.Ranks)
	if p.Network == nil || inside.Preset != byWires {
		node, err := inside.flat()
		if err != nil {
			return kind{}, 0, err
		}
		return newKind(node, nil), 0, nil
	}
	node, attached, nics, err := inside.wired()
	switch {
	case err != nil:
		return kind{}, 0, err
	case nics == 0:
		return kind{}, 0, &ParamError{"wires", "", "a wire to a NIC, nic0, is expected"}
	}
	p.slowAttached(attached)
	return newKind(node, attached), nics, nil
}

// slowAttached adds the latency Network.Attach to links between GPUs and NICs.
func (p *Params) slowAttached(attached []attachment) {
	for i := range attached {
		if p.Network != nil {
			attached[i].latency += p.Network.Attach
		}
	}
}

// clusterOf returns the cluster of these parts.
func clusterOf(parts *parts) (*Graph, error) {
	most := int64(MaxLinks)
	hub, ok := parts.network.formula.(*star)
	ok = ok && !parts.network.isListed && parts.nodes > 1 && parts.uneven == nil
	if ok {
		most = MaxNumbered
	}
	links := int64(parts.network.NumLinks())
	for node := range parts.nodes {
		k := parts.of(node)
		links += int64(k.node.NumLinks() + 2*len(k.attached))
	}
	if links > most {
		return nil, badParam("nodes", int(parts.nodes), "at most %d links are expected, not %d", most,
			links)
	}
	g := &Graph{Preset: "cluster", parts: parts, Ranks: make([]int32, parts.ranks)}
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

// isNode gives a network the names of a cluster's only node. It is simulated like any other.
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

// inside prefixes the key of a parameter error with a table.
func inside(table string, err error) error {
	var e *ParamError
	if errors.As(err, &e) {
		return &ParamError{table + "." + e.Key, e.Value, e.Text}
	}
	return err
}

// between returns the network of the NICs of so many nodes with so many GPUs. wired is the number
// of NICs that the wires of a node name, 0 if it has none.
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
	g, err := p.flat("nics", "attach")
	var e *ParamError
	if errors.As(err, &e) && e.Key == "ranks" && given == 0 { // the user did not write it
		return nil, badParam("nics", nics, "in %d nodes there are %d: %s", nodes, p.Ranks, e.Text)
	}
	return g, err
}

// newParts returns the parts of a cluster of equal nodes, and the network of their NICs.
func newParts(nodes int, each kind, network *Graph) *parts {
	p := &parts{kind: each, network: network, nodes: int32(nodes),
		nics: int32(len(network.Ranks) / nodes), end: -1}
	p.ranks = p.nodes * p.gpus
	p.fabric = p.ranks + p.nodes*p.switches
	return p
}

// compose lists the nodes and the network as one graph; it keeps both, without their names.
func (g *Graph) compose() {
	p := g.parts
	network := p.network
	network.list()
	switches, links := 0, len(network.links)
	for i := range p.nodes {
		k := p.of(i)
		k.node.list()
		for v := range k.gpus {
			g.addNode(nodeName(int(i), k.node.nodes[v].Name), false)
		}
		switches += int(k.switches)
		links += len(k.node.links) + 2*len(k.attached)
	}
	g.nodes, g.links = slices.Grow(g.nodes, switches+len(network.nodes)), make([]Link, 0, links)
	for i := range p.nodes {
		k := p.of(i)
		for _, v := range k.node.nodes[k.gpus:] {
			v.Name = nodeName(int(i), v.Name)
			g.nodes = append(g.nodes, v)
		}
	}
	for i, v := range network.nodes {
		if i < len(network.Ranks) {
			place, _ := numberedName(v.Name, "gpu")
			v.Name = nodeName(place/int(p.nics), "nic"+strconv.Itoa(place%int(p.nics)))
		}
		v.Switch = true
		g.nodes = append(g.nodes, v)
	}
	for i := range p.nodes {
		g.copyLinks(p.of(i).node, func(v int32) int32 { return p.at(i, v) })
	}
	g.attach(p)
	g.copyLinks(network, func(v int32) int32 { return p.fabric + v })
	for i := range p.nodes {
		p.of(i).node.forgetNames()
	}
	network.forgetNames()
	g.numbered()
}

// nodeName returns the name in a cluster of something in a node.
func nodeName(node int, name string) string { return "node" + strconv.Itoa(node) + "/" + name }

// forgetNames drops the names of nodes and keeps their number.
func (g *Graph) forgetNames() {
	if len(g.nodes) == 0 || g.nodes[0].Name == "" {
		return
	}
	clear(g.nodes)
	for i := range g.links {
		g.links[i].Name = ""
	}
}

// attach appends the links from the nodes to their NICs, then those back.
func (g *Graph) attach(p *parts) {
	for _, isUp := range []bool{true, false} {
		for i := range p.nodes {
			for _, a := range p.of(i).attached {
				from, to := p.at(i, a.at), p.fabric+p.nic(i, a.nic)
				if !isUp {
					from, to = to, from
				}
				g.addLink(from, to, a.bandwidth, a.latency)
				g.links[len(g.links)-1].extra = a.length - 1
			}
		}
	}
}

// copyLinks appends the links of from; at maps its nodes to those of g.
func (g *Graph) copyLinks(from *Graph, at func(int32) int32) {
	for i := range from.links {
		l := &from.links[i]
		g.addLink(at(l.From), at(l.To), l.Bandwidth, l.Latency)
		g.links[len(g.links)-1].extra = l.extra
	}
}
