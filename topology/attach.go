package topology

import (
	"fmt"
	"slices"
	"strings"

	"collsim/unit"
)

// anAttachment is the extra length of a link between a GPU and its NIC. A route that enters a
// network between nodes must leave it again. So this is larger than any path without such a link:
// routes inside a node stay there, and routes between nodes cross the network once.
const anAttachment = 2 * MaxRanks

// byWires is the Preset of a network that Params.Wires describe.
const byWires = "links"

// attachment is a pair of links, one in each direction, between a node and one of its NICs.
type attachment struct {
	at        int32 // the node's end: a GPU or a switch of its network
	nic       int32
	length    int32 // of a route over it, anAttachment included
	bandwidth unit.Rate
	latency   unit.Time
}

// paired returns the links between GPUs and NICs, with NICs shared evenly among GPUs or GPUs among
// NICs.
func paired(gpus, nics int32) []attachment {
	if nics == 0 {
		return nil
	}
	all := make([]attachment, max(gpus, nics))
	for i := range all {
		at, nic := int64(i)*int64(gpus)/int64(len(all)), int64(i)*int64(nics)/int64(len(all))
		all[i] = attachment{int32(at), int32(nic), 1 + anAttachment, unit.Unlimited, 0}
	}
	return all
}

// isPaired reports whether each GPU has a NIC of its own, with equal links.
func (p *parts) isPaired() bool {
	return p.node.formula != nil && p.nics == p.gpus && len(p.attached) == int(p.gpus)
}

// wired returns the network that Wires describe, of its first Ranks GPUs and without NICs; the
// links to NICs; and the number of NICs that the wires name. also is as in flat.
func (p *Params) wired(also ...string) (node *Graph, attached []attachment, nics int, err error) {
	if err := p.only(byWires, []string{"ranks", "wires", "multimem"},
		append(also, "preset")); err != nil {
		return nil, nil, 0, err
	}
	g, err := Links(0, p.Wires)
	if err != nil {
		return nil, nil, 0, err
	}
	ends, nics, err := nicEnds(p.Wires)
	if err != nil {
		return nil, nil, 0, err
	}
	if p.Ranks < 0 || p.Ranks > len(g.Ranks) {
		return nil, nil, 0, badParam("ranks", p.Ranks, "the wires have %d", len(g.Ranks))
	}
	isGone := make([]bool, len(g.nodes))
	for v := range g.nodes {
		nic, _ := numberedName(g.nodes[v].Name, "nic")
		isGone[v] = nic >= 0 || p.Ranks > 0 && v >= p.Ranks && v < len(g.Ranks)
	}
	node, at := g.without(isGone)
	nodes := make(map[string]int32, len(g.nodes))
	for v, n := range g.nodes {
		nodes[n.Name] = int32(v)
	}
	isThere := make([]bool, nics)
	for i, w := range p.Wires {
		nic, end := ends[i][1], nodes[w.From]
		if nic < 0 {
			nic, end = ends[i][0], nodes[w.To]
		}
		if nic < 0 {
			continue
		}
		if isThere[nic] = true; at[end] >= 0 {
			attached = append(attached, attachment{at[end], int32(nic),
				int32(max(w.Length, 1)) + anAttachment, w.Bandwidth, w.Latency})
		}
	}
	if missing := slices.Index(isThere, false); missing >= 0 {
		return nil, nil, 0, &ParamError{"wires", "", fmt.Sprintf("there is a wire to nic%d and none to "+
			"nic%d; NICs are nic0, nic1, … without a gap", nics-1, missing)}
	}
	if p.Multimem {
		node.multimem(func(n *Node) bool { return strings.HasPrefix(n.Name, "nvswitch") })
	}
	return node, attached, nics, nil
}

// nicEnds returns the NICs at the two ends of each wire, −1 for other ends, and their number.
func nicEnds(wires []Wire) (ends [][2]int, nics int, err error) {
	ends = make([][2]int, len(wires))
	for i, w := range wires {
		for e, end := range [2]struct{ key, name string }{{"from", w.From}, {"to", w.To}} {
			nic, why := numberedName(end.name, "nic")
			if why != "" {
				return nil, 0, &WireError{i, end.key, end.name, why}
			}
			ends[i][e], nics = nic, max(nics, nic+1)
		}
		switch nic := max(ends[i][0], ends[i][1]); {
		case nic >= 0 && min(ends[i][0], ends[i][1]) >= 0:
			return nil, 0, &WireError{i, "to", w.To, "a GPU or a switch is expected, not a NIC"}
		case nic >= 0 && !w.Both:
			return nil, 0, &WireError{i, "to", w.To, "the way back is expected, too"}
		}
	}
	return ends, nics, nil
}

// without returns the network less some of its nodes and all their links, and the number of each
// node in it, −1 for none.
func (g *Graph) without(isGone []bool) (less *Graph, at []int32) {
	g.list()
	less, at = &Graph{Preset: g.Preset, Routing: g.Routing}, make([]int32, len(g.nodes))
	for v := range g.nodes {
		if at[v] = -1; !isGone[v] {
			at[v] = int32(len(less.nodes))
			less.nodes = append(less.nodes, g.nodes[v])
		}
	}
	for _, v := range g.Ranks {
		if at[v] >= 0 {
			less.Ranks = append(less.Ranks, at[v])
		}
	}
	for _, l := range g.links {
		if l.From, l.To = at[l.From], at[l.To]; l.From >= 0 && l.To >= 0 {
			less.links = append(less.links, l)
		}
	}
	return less.numbered(), at
}
