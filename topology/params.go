package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/unit"
)

// Params are the parameters of Build. A zero field is not given. A parameter that a preset does not
// take must not be given: Catalogue lists them.
type Params struct {
	Preset string
	Ranks  int   // 0: as many as the other parameters allow
	Shape  []int // mesh, torus: the size of each dimension
	K      int   // tree: children of a switch; fat-tree: ports; leaf-spine: ranks of a leaf; rails
	// The dragonfly's, in the letters of its paper: A routers in a group, P ranks and H global
	// links on a router.
	A, P, H int
	// Oversubscription is the ratio of links down to links up of a switch with ranks, in
	// millionths; 0 is 1: as many up as down. Links up are fewer, not slower.
	Oversubscription unit.Share
	Bandwidth        unit.Rate // of each link, each direction
	Latency          unit.Time // of each link
	// Multimem makes every switch multicast and reduce (Node.Multicast, Node.Reduce). Presets
	// without switches do not take it.
	Multimem bool
	// Wires describe a network that is not a preset: Preset is then "links". They are as in Links,
	// with two differences. There may be fewer Ranks than the wires name: the first ones. And
	// "nic0", … are the NICs of a node, without a gap; their wires, to GPUs or switches, are left
	// out if there is no network between nodes. With Multimem only switches named nvswitch…
	// multicast and reduce.
	Wires []Wire

	// A cluster has Node and Network in place of a preset: a network inside each of Nodes nodes (0
	// is 1), and one between their NICs. NICs is a parameter of Network: the number of a node; 0 is
	// one a GPU.
	Nodes         int
	Node, Network *Params
	NICs          int
	// Attach, of Network, is the latency of each link between a GPU and its NIC, in addition to
	// that of wires.
	Attach unit.Time
	// Sizes are the ranks of each node, in place of Node.Ranks, if nodes differ.
	Sizes []int
	// Absent names missing GPUs and NICs of a cluster, with * for any letters: "node1/gpu3",
	// "node*/nic0". Ranks are numbered over the GPUs that are present. GPUs near an absent NIC use
	// the nearest other one. Ranks and Sizes include absent GPUs.
	Absent []string

	// Order is the placement of the ranks: "block" (or "") fills node after node, "round-robin"
	// gives every node one in turn. If neither, rank r is at place Places[r]; places are numbered
	// in the order of "block".
	Order   string
	Places  []int
	Routing Routing
}

// ParamError names a parameter that makes a network impossible.
type ParamError struct {
	Key   string // "ranks", "shape", "order"; "node.k", "network.nics" inside a cluster
	Value string // as a user would write it, empty if there is none
	Text  string // what was expected
}

// Error returns one line that names the parameter, its value and what was expected.
func (e *ParamError) Error() string {
	if e.Value == "" {
		return e.Key + ": " + e.Text
	}
	return fmt.Sprintf("%s = %.60s: %s", e.Key, e.Value, e.Text)
}

// badParam returns the error about a whole number.
func badParam(key string, value int, format string, args ...any) error {
	return &ParamError{key, strconv.Itoa(value), fmt.Sprintf(format, args...)}
}

// Build returns the network that p describes: a preset, or a cluster of nodes. Nodes are named as
// in the presets; in a cluster, "node2/gpu3", "node2/switch", "node2/nic5". A wrong parameter is a
// *ParamError. It does not check that all ranks reach each other; Connected does.
func Build(p Params) (*Graph, error) {
	var g *Graph
	var err error
	if p.Nodes != 0 || p.Node != nil || p.Network != nil {
		g, err = p.cluster()
	} else {
		g, err = p.flat("order", "routing")
	}
	if err != nil {
		return nil, err
	}
	if p.Routing > ECMP {
		return nil, badParam("routing", int(p.Routing), "shortest (0) or ecmp (1) is expected")
	}
	if g.Routing = p.Routing; g.Routing != Shortest {
		if err := g.Listable(); err != nil {
			return nil, badParam("routing", int(p.Routing), "%v", err)
		}
	}
	if err := g.assign(p.Order, p.Places); err != nil {
		return nil, err
	}
	return g, nil
}

// only refuses given parameters that are neither in takes nor in also.
func (p *Params) only(what string, takes, also []string) error {
	for _, g := range p.given() {
		if !slices.Contains(takes, g.Key) && !slices.Contains(also, g.Key) {
			g.Text = what + " takes " + strings.Join(takes, ", ")
			return &g
		}
	}
	return nil
}

// given returns the keys and values of the parameters that are not zero.
func (p *Params) given() []ParamError {
	var all []ParamError
	add := func(key, value string, set bool) {
		if set {
			all = append(all, ParamError{Key: key, Value: value})
		}
	}
	number := func(key string, v int) { add(key, strconv.Itoa(v), v != 0) }
	add("preset", strconv.Quote(p.Preset), p.Preset != "")
	number("ranks", p.Ranks)
	add("shape", fmt.Sprint(p.Shape), len(p.Shape) > 0)
	number("k", p.K)
	number("a", p.A)
	number("p", p.P)
	number("h", p.H)
	add("oversubscription", factor(p.Oversubscription), p.Oversubscription != 0)
	add("bandwidth", p.Bandwidth.String(), p.Bandwidth != 0)
	add("latency", p.Latency.String(), p.Latency != 0)
	number("nodes", p.Nodes)
	add("node", "", p.Node != nil)
	add("node.ranks", fmt.Sprint(p.Sizes), p.Sizes != nil)
	add("absent", fmt.Sprintf("%q", p.Absent), len(p.Absent) > 0)
	add("network", "", p.Network != nil)
	number("nics", p.NICs)
	add("attach", p.Attach.String(), p.Attach != 0)
	add("order", strconv.Quote(p.Order), p.Order != "")
	add("order", fmt.Sprint(p.Places), p.Places != nil)
	add("routing", p.Routing.String(), p.Routing != Shortest)
	add("multimem", "true", p.Multimem)
	add("wires", fmt.Sprint(len(p.Wires)), len(p.Wires) > 0)
	return all
}

// factor formats a share as a factor.
func factor(s unit.Share) string { return strconv.FormatFloat(float64(s)/1e6, 'f', -1, 64) }

// upLinks returns the number of links up from a switch with so many links down, or an error if
// there is none.
func upLinks(down int, oversubscription unit.Share) (int, error) {
	const one = 1_000_000
	o := int64(oversubscription)
	switch {
	case o == 0:
		return down, nil
	case o < one:
		return 0, &ParamError{"oversubscription", factor(oversubscription),
			"1 or more links down for each link up are expected"}
	case int64(down)*one%o != 0:
		return 0, &ParamError{"oversubscription", factor(oversubscription),
			fmt.Sprintf("a divisor of the %d links down is expected, so that links up are whole", down)}
	}
	return int(int64(down) * one / o), nil
}
