package scenarios

import (
	"fmt"

	"collsim/collective"
	"collsim/topology"
)

// NewPoint returns a collective on a network, with everything else as in a scenario that says no
// more: the device "ideal", the algorithm that is fastest in simulation, proof and numbers. The
// caller may change it before it is run.
func NewPoint(spec collective.Spec, network *Topology) *Point {
	p := &Point{Spec: spec, Asked: spec.Bytes(), Topology: network,
		Algorithm: Algorithm{Name: fastest, Slices: 1}}
	silent().machine(p)
	return p
}

// silent returns the view of a scenario that says nothing: all keys have their defaults.
func silent() *view {
	d := &Document{schema: newSchema(), root: &node{shape: table}}
	return &view{d: d, used: map[string]bool{}}
}

// NewTopology returns a network of a preset of package topology. Its error names the parameter that
// makes it impossible.
func NewTopology(p topology.Params) (*Topology, error) {
	t := &Topology{Preset: p.Preset, Nodes: max(p.Nodes, len(p.Sizes), 1), Bandwidth: p.Bandwidth,
		Latency: p.Latency, params: p}
	if p.Node != nil {
		t.Preset = inNodes
	}
	g, _, err := t.build()
	if err != nil {
		return nil, err
	}
	t.Ranks = len(g.Ranks)
	t.teams(g)
	return t, nil
}

// TopologyOf returns a network made by the caller, with a name for JSON and CSV. Its error reports
// ranks that do not reach each other.
func TopologyOf(name string, g *topology.Graph) (*Topology, error) {
	if err := g.Connected(); err != nil {
		return nil, err
	}
	t := &Topology{Preset: name, Nodes: 1, Ranks: len(g.Ranks), own: g.Clone()}
	mixed := false
	for i, l := range g.Links() {
		switch {
		case i == 0:
			t.Bandwidth, t.Latency = l.Bandwidth, l.Latency
		case l.Bandwidth != t.Bandwidth || l.Latency != t.Latency:
			mixed = true
		}
	}
	if mixed {
		t.Bandwidth, t.Latency = 0, 0
	}
	return t, nil
}

// Of makes a scenario of points, which are given the IDs that they would have in a file. It refuses
// what fits together in none: a collective on another number of ranks than its network has.
func Of(name string, points ...*Point) (*Scenario, error) {
	s := &Scenario{Name: name, Points: points}
	for i, p := range points {
		p.Number = i
		p.ID = fmt.Sprintf("%v/%v/%d", p.Spec.Kind, p.Algorithm, int64(p.Spec.Bytes()))
	}
	identify(points)
	for _, p := range points {
		if err := p.Spec.Validate(); err != nil {
			return nil, p.Refuse("collective", err.Error(), "")
		}
		if ranks := p.Topology.Ranks; p.Teams == nil && p.Spec.Ranks != ranks {
			return nil, p.Refuse("topology.ranks", fmt.Sprintf("the network has %d, the collective %d",
				ranks, p.Spec.Ranks), "")
		}
	}
	s.Notes = notes(points)
	return s, nil
}
