package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/scenarios"
)

// variants returns an algorithm as it is, and then with each value of a parameter that is worth
// comparing and that the point does not give.
func variants(p *scenarios.Point, a scenarios.Algorithm) []scenarios.Algorithm {
	list := []scenarios.Algorithm{settled(p, a)}
	found, err := find(p.Spec.Kind, a.Name)
	if err != nil {
		return list
	}
	for _, v := range found.Variants(p.Spec, inNodes(p, a)) {
		list = append(list, settled(p, with(a, v.Name, v.Value)))
	}
	return list
}

// with returns an algorithm with a parameter set to a value.
func with(a scenarios.Algorithm, name, value string) scenarios.Algorithm {
	a.Params = slices.DeleteFunc(slices.Clone(a.Params), func(p scenarios.Param) bool {
		return p.Name == name
	})
	a.Params = append(a.Params, scenarios.Param{Name: name, Value: value})
	return a
}

// settled returns an algorithm with those parameters written out that follow from the nodes of
// the network.
func settled(p *scenarios.Point, a scenarios.Algorithm) scenarios.Algorithm {
	found, err := find(p.Spec.Kind, a.Name)
	if err != nil { // a file, or it is refused later
		return a
	}
	o, there := options(a), inNodes(p, a)
	for _, param := range found.Params {
		if now := found.Param(param.Name, there); now != found.Param(param.Name, o) {
			a = with(a, param.Name, now)
		}
	}
	return a
}

// optionsOn returns an algorithm's modifiers with what the network of a point says: how many ranks
// a node has, in which orders channels pass through them, and whether its switch multicasts.
func optionsOn(p *scenarios.Point, a scenarios.Algorithm, found algos.Algorithm) algos.Options {
	o := inNodes(p, a)
	o.Rings = ringsOn(p, found, max(o.Channels, 1))
	asSwitch := func(q algos.Param) bool { return q.Value == algos.AsSwitch }
	if slices.ContainsFunc(found.Params, asSwitch) {
		o.NoMulticast = !multicasts(p)
	}
	asNetwork := func(q algos.Param) bool { return q.Value == algos.AsNetwork }
	if slices.ContainsFunc(found.Params, asNetwork) {
		o.NoAggregation = !aggregates(p)
	}
	if ofNCCL(found.Name) {
		o.Environment, o.Version, o.Tuner = ncclEnvironment(p), p.Version, p.Tuner
		f, ok := ncclNodes(p, cmp.Or(o.PerNode, ranksOf(p)))
		switch {
		case !ok && p.Graph != "":
			f = nccl.Machines()[0].Facts
			fallthrough
		case ok:
			o.Machine = strings.TrimSpace(f.String() + " " + p.Graph)
		}
	}
	return o
}

// multicasts reports whether the switches of every team's nodes multicast and reduce.
func multicasts(p *scenarios.Point) bool { return everyTeam(p, p.Topology.Multicasts) }

// multimemOn returns why the ranks of a point cannot do what an algorithm needs a switch for.
func multimemOn(p *scenarios.Point, spec collective.Spec, found algos.Algorithm) error {
	if !found.Multimem || spec.Ranks == 1 || spec.Empty() {
		return nil
	}
	var err error
	everyTeam(p, func(ranks []int, _ int) bool {
		err = scenarios.Multimem(p.Topology, ranks)
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("multimem needs a switch that does it: %w", err)
	}
	return nil
}

// aggregates reports whether the switches between every team's nodes multicast and reduce.
func aggregates(p *scenarios.Point) bool { return everyTeam(p, p.Topology.Aggregates) }

// everyTeam reports whether something is so of the ranks of every team, nil of all.
func everyTeam(p *scenarios.Point, is func(ranks []int, perNode int) bool) bool {
	teams := p.Teams
	if teams == nil {
		teams = [][]int{nil}
	}
	for _, ranks := range teams {
		if !is(ranks, perNode(p)) {
			return false
		}
	}
	return true
}

// NCCL finds as many rings as half of its channels, and has each twice: of 24 in a node, and of 16
// over several (algos/nccl, Machines).
const (
	ringsOfNode  = 12
	ringsOfNodes = 8
)

// ringsOn returns the orders of the ranks of a node that so many channels of an algorithm have, nil
// where they have none of their own. Those of the first team are all teams'.
func ringsOn(p *scenarios.Point, found algos.Algorithm, channels int) [][]int32 {
	switch {
	case found.Ordered && perNode(p) > 0:
		channels = ringsOfNodes
	case found.Ordered:
		channels = ringsOfNode
	case !found.Turned():
		return nil
	}
	var team []int
	if p.Teams != nil {
		team = p.Teams[0]
	}
	return p.Topology.Rings(team, channels)
}

// inNodes returns the options of an algorithm at a point, with the nodes or the torus that its
// ranks fill.
func inNodes(p *scenarios.Point, a scenarios.Algorithm) algos.Options {
	o := options(a)
	if o.PerNode = perNode(p); o.PerNode == 0 {
		o.Nodes = unevenNodes(p)
	}
	if ofNCCL(a.Name) && o.PerNode == 0 && alone(p) {
		o.PerNode = 1
	}
	if p.Teams == nil {
		o.Shape = p.Topology.Torus()
	}
	return o
}

// alone reports whether every rank of a collective has a node for itself, in every team.
func alone(p *scenarios.Point) bool {
	teams := p.Teams
	if teams == nil {
		teams = [][]int{nil}
	}
	return !slices.ContainsFunc(teams, func(team []int) bool { return p.Topology.PerNode(team) != 1 })
}

// ranksOf returns how many ranks the largest team of a point has.
func ranksOf(p *scenarios.Point) int {
	n := 0
	for _, ranks := range p.Teams {
		n = max(n, len(ranks))
	}
	return cmp.Or(n, p.Topology.Ranks)
}

// unevenNodes returns the number of a collective's ranks on each node, where these numbers
// differ. It is nil where they are equal, where there is one node, and where teams differ in
// them.
func unevenNodes(p *scenarios.Point) []int {
	teams := p.Teams
	if teams == nil {
		teams = [][]int{nil}
	}
	sizes := p.Topology.NodeSizes(teams[0])
	for _, ranks := range teams[1:] {
		if !slices.Equal(p.Topology.NodeSizes(ranks), sizes) {
			return nil
		}
	}
	if len(sizes) < 2 || slices.Min(sizes) == slices.Max(sizes) {
		return nil
	}
	return sizes
}

// inNode returns the largest number of a collective's ranks on a node, where ranks fill several;
// else 0.
func inNode(p *scenarios.Point) int {
	return max(perNode(p), slices.Max(append(unevenNodes(p), 0)))
}

// perNode returns the number of a collective's ranks on each node, where there are several nodes
// of several ranks, all equal and the same in every team. Else it is 0.
func perNode(p *scenarios.Point) int {
	teams := p.Teams
	if teams == nil {
		teams = [][]int{nil}
	}
	size := p.Topology.PerNode(teams[0])
	for _, ranks := range teams {
		n := len(ranks)
		if ranks == nil {
			n = p.Topology.Ranks
		}
		if p.Topology.PerNode(ranks) != size || size == n {
			return 0
		}
	}
	if size == 1 {
		return 0
	}
	return size
}
