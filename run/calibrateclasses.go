package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/hw/calibrate"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// Limits of what is looked at and measured.
const (
	fewRanks = 128 // so many have all pairs looked at; of more, those at distances 1, 2, 4, …
	maxWays  = 3   // of a table
)

// way holds the properties of a route on which the time of a message depends. Routes with equal
// ways are measured as one class.
type way struct {
	table   string    // of the scenario, that the figures of its wires stand in
	wires   int       // with a latency of that table
	through int       // all links
	rate    unit.Rate // of the narrowest
}

// name returns a short name: "4 wires", or "node" and "network" in a cluster.
func (w way) name() string {
	switch w.table {
	case "topology.node":
		return "node"
	case "topology.network":
		return "network"
	}
	if w.wires == 1 {
		return "1 wire"
	}
	return fmt.Sprintf("%d wires", w.wires)
}

// linkClasses sorts the pairs of ranks by the way that their messages go, and takes of each way
// pairs that have neither a rank nor a link in common: whatever one of them gets, the others cannot
// be in its way. rates are those of the narrowest link of each, left is how many further ways there
// are.
func linkClasses(s *Scenario, p *scenarios.Point, g *topology.Graph) (classes []calibrate.Class,
	rates []unit.Rate, left int) {
	c := classifier{scenario: s, point: p, graph: g, node: make([]int, len(g.Ranks)),
		found: map[way]*sorted{}}
	if p.Topology.Preset == "cluster" {
		teams, err := g.Teams("node")
		if err != nil {
			panic(err) // every network has teams of nodes
		}
		for i, team := range teams {
			for _, rank := range team {
				c.node[rank] = i
			}
		}
	}
	n := len(g.Ranks)
	for src := range n {
		for d := 1; src+d < n; d = c.further(d) {
			c.add(src, src+d)
		}
	}
	return c.classes()
}

// classifier sorts pairs.
type classifier struct {
	scenario *Scenario
	point    *scenarios.Point
	graph    *topology.Graph
	node     []int // of each rank; all 0 where there are none
	found    map[way]*sorted
	ways     []way // the keys of found, as they were met
}

// sorted are the pairs of a way that are to be measured.
type sorted struct {
	pairs [][2]int
	ranks map[int]bool
	links map[int32]bool
}

// further returns the distance between ranks that is looked at after d: the next one, or twice as
// far where there are many ranks.
func (c *classifier) further(d int) int {
	if len(c.graph.Ranks) <= fewRanks {
		return d + 1
	}
	return 2 * d
}

// add takes a pair, if it is in nobody's way.
func (c *classifier) add(src, dst int) {
	there := c.graph.Route(src, dst, nil)
	back := c.graph.Route(dst, src, nil)
	w := c.wayOf(src, dst, there)
	if w.wires == 0 {
		return
	}
	s := c.found[w]
	if s == nil {
		s = &sorted{ranks: map[int]bool{}, links: map[int32]bool{}}
		c.found[w] = s
		c.ways = append(c.ways, w)
	}
	taken := s.ranks[src] || s.ranks[dst]
	for _, k := range slices.Concat(there, back) {
		taken = taken || s.links[k]
	}
	if taken {
		return
	}
	for _, k := range slices.Concat(there, back) {
		s.links[k] = true
	}
	s.ranks[src], s.ranks[dst] = true, true
	s.pairs = append(s.pairs, [2]int{src, dst})
}

// wayOf describes a route. Of one between nodes, the wires are those of the network between them.
func (c *classifier) wayOf(src, dst int, route []int32) way {
	w := way{table: "topology", through: len(route), rate: unit.Unlimited, wires: len(route)}
	for _, k := range route {
		w.rate = min(w.rate, c.graph.Links()[k].Bandwidth)
	}
	if c.point.Topology.Preset != "cluster" {
		return w
	}
	if c.node[src] == c.node[dst] {
		if w.table = "topology.node"; c.scenario.Given(c.point, "topology.preset") {
			w.table = "topology"
		}
		return w
	}
	w.table, w.wires = "topology.network", 0
	for _, k := range route {
		l := &c.graph.Links()[k]
		if c.outside(l.From) && c.outside(l.To) {
			w.wires++
		}
	}
	return w
}

// outside reports whether a node of a cluster is a NIC or a switch of the network between nodes: a
// link between GPU and NIC costs nothing, and what comes before it is inside a node.
func (c *classifier) outside(node int32) bool {
	name := c.graph.Nodes()[node].Name
	return !strings.Contains(name, "/") || strings.Contains(name, "/nic")
}

// classes returns a class for each way with its rate, by table, and in a table from the shortest
// and widest on. left counts the ways that are not measured, as their table has too many.
func (c *classifier) classes() (list []calibrate.Class, rates []unit.Rate, left int) {
	slices.SortStableFunc(c.ways, func(a, b way) int {
		tables := []string{"topology", "topology.node", "topology.network"}
		return cmp.Or(cmp.Compare(slices.Index(tables, a.table), slices.Index(tables, b.table)),
			cmp.Compare(a.through, b.through), cmp.Compare(b.rate, a.rate))
	})
	named, tables := map[string]way{}, map[string]int{}
	for _, w := range c.ways {
		if tables[w.table]++; tables[w.table] > maxWays {
			left++
			continue
		}
		name := w.name()
		if first, taken := named[name]; taken && first.rate != w.rate {
			name = fmt.Sprintf("%s at %v", name, w.rate)
		}
		if _, taken := named[name]; taken {
			name = fmt.Sprintf("%s over %d links", name, w.through)
		}
		named[name] = w
		list = append(list, c.class(w, name))
		rates = append(rates, w.rate)
	}
	return list, rates, left
}

// class says how a scenario has the figures of a way.
func (c *classifier) class(w way, name string) calibrate.Class {
	class := calibrate.Class{Name: name, Pairs: c.found[w].pairs, Table: w.table, Wires: w.wires,
		Preset: calibrate.AsIs}
	p := c.point
	lab := p.Hardware.Network == scenarios.Lab
	switch preset := p.Topology.Preset; {
	case lab:
		class.Shaped = w.rate
	case preset == "switch", preset == "full-mesh", preset == "ring":
		class.Preset = preset
	}
	if p.Topology.Preset == "links" {
		class.Own = !c.scenario.Given(p, "topology.latency") ||
			!lab && !c.scenario.Given(p, "topology.bandwidth")
	}
	return class
}
