package run

import (
	"fmt"
	"slices"
	"sync"

	"collsim/algos"
	"collsim/scenarios"
)

// networks remembers, of the latest topology, what algorithms that are made for a network have
// found out about it, by team and device.
type networks struct {
	sync.Mutex
	topology *scenarios.Topology
	known    map[string]*algos.Network
}

// networkOf returns the network of an algorithm that is made for one, as the ranks of a point's
// first team of so many see it; nil for other algorithms.
func networkOf(s *Scenario, p *scenarios.Point, ranks int, found algos.Algorithm) (*algos.Network,
	error) {
	if found.Make == nil {
		return nil, nil
	}
	n := &s.networks
	n.Lock()
	defer n.Unlock()
	if n.topology != p.Topology {
		n.topology, n.known = p.Topology, map[string]*algos.Network{}
	}
	step := p.Device.Overhead + p.Device.Own.Latency
	var team []int
	if at := slices.IndexFunc(p.Teams, func(t []int) bool { return len(t) == ranks }); at >= 0 {
		team = p.Teams[at]
	}
	key := fmt.Sprint(step, p.Device.LaneRate, team)
	if n.known[key] == nil {
		g, err := p.Topology.Graph()
		if err != nil {
			return nil, err
		}
		if err := g.Listable(); err != nil {
			return nil, err
		}
		if team != nil {
			var nodes []int32
			for _, rank := range team {
				nodes = append(nodes, g.Ranks[rank])
			}
			routing := g.Routing
			g = g.Restricted(nodes)
			g.Routing = routing
		}
		n.known[key] = &algos.Network{Graph: g, Step: step, LaneRate: p.Device.LaneRate}
	}
	return n.known[key], nil
}
