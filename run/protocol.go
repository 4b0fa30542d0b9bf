package run

import (
	"cmp"
	"fmt"

	"collsim/collective"
	"collsim/device"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// hops holds the parameters of a protocol from which its network is made. A network is made once
// for each.
type hops struct {
	row   device.Protocol
	step  unit.Time // of a GPU, which is part of a hop between nodes
	apart bool
	leave schedule.Leave
}

// env returns where a schedule of a point runs: with the NICs and the latencies of its protocol,
// where it is NCCL's and the device knows them.
func (r *runner) env(p *scenarios.Point, s *schedule.Schedule) sim.Env {
	env := envOf(p, r.network.graph)
	row, ok := protocolOf(p.Device, s.Protocol)
	if leave := s.Protocol.Leave; leave != schedule.LeaveByRoute {
		env.Graph = r.leaving(p, leave)
	}
	if !ok {
		env.Device.Launch += rampOfOurs(p.Device, s)
		return env
	}
	env.Device.Launch, env.Device.GPU.LaunchLatency = row.BaseOf(callBytes(s)), 0
	env.Device.LaneRate = cmp.Or(row.Rate, env.Device.LaneRate)
	if g := r.graphOf(p, hops{row, p.Device.Overhead, s.Protocol.Apart,
		s.Protocol.Leave}); g != nil {
		env.Graph = g
		env.Device.Overhead, env.Device.Own.Latency = 0, 0
		return env
	}
	least, _ := p.Device.LeastHop()
	env.Device.Own.Latency += row.NVLink - least.NVLink
	return env
}

// rampOfOurs returns what calls of our own algorithms take longer for their size on a machine where
// that is known of NCCL's rings by Simple, whose messages are as theirs.
func rampOfOurs(d *device.Device, s *schedule.Schedule) unit.Time {
	row, ok := d.ProtocolOf(schedule.RingShape.String(), schedule.Bare.Protocol())
	if !ok || s.Spec.Kind == 0 || s.Spec.Kind == collective.Custom ||
		s.Protocol != (schedule.Protocol{}) {
		return 0
	}
	return row.BaseOf(callBytes(s)) - row.Base
}

// callBytes returns the size of a schedule's call, of teams that of the largest. The Spec of the
// whole is that of no team.
func callBytes(s *schedule.Schedule) unit.Bytes {
	if len(s.Teams()) == 0 {
		return s.Spec.Bytes()
	}
	largest := unit.Bytes(0)
	for _, team := range s.Teams() {
		largest = max(largest, team.Schedule.Spec.Bytes())
	}
	return largest
}

// protocolOf returns the figures of a protocol, whose hop between nodes may be another's.
func protocolOf(d *device.Device, p schedule.Protocol) (row device.Protocol, ok bool) {
	row, ok = d.ProtocolOf(p.Shape.String(), p.Node.Protocol())
	between, known := d.ProtocolOf(p.Shape.String(), p.Network.Protocol())
	row.Network = between.Network
	return row, ok && known
}

// graphOf returns the network of a point with other latencies, nil where its links have no class.
// It is made once.
func (r *runner) graphOf(p *scenarios.Point, h hops) *topology.Graph {
	if g, known := r.hops[h]; known {
		return g
	}
	g := p.Topology.GraphWith(topology.Hops{NVLink: h.row.NVLink, PCIe: h.row.PCIe,
		Network: h.step + h.row.Network}, h.apart)
	leaveBy(g, h.leave, p.Teams)
	r.hops[h] = g
	return g
}

// leaving returns the network of a point whose messages leave nodes by other NICs. It is made once.
func (r *runner) leaving(p *scenarios.Point, by schedule.Leave) *topology.Graph {
	key := hops{leave: by}
	if g, known := r.hops[key]; known {
		return g
	}
	g := r.network.graph.Clone()
	leaveBy(g, by, p.Teams)
	r.hops[key] = g
	return g
}

// leaveBy has the messages of a network leave nodes so. Where they cannot, no schedule was made:
// see leaves.
func leaveBy(g *topology.Graph, by schedule.Leave, teams [][]int) {
	if g != nil && by != schedule.LeaveByRoute {
		_ = g.SetLeave(topology.Leave(by), teams)
	}
}

// leaves says why messages cannot leave nodes as a schedule's protocol has it; nil where they can.
func leaves(p *scenarios.Point, by schedule.Leave) error {
	if by != schedule.LeaveByOwn {
		return nil
	}
	g, err := p.Topology.Graph()
	if err == nil {
		err = g.SetLeave(topology.Leave(by), p.Teams)
	}
	if err != nil {
		return fmt.Errorf("messages leave by the NIC of the GPU that sends, and there is %s; "+
			"PXN, NCCL_CROSS_NIC=0, or spines between rails (topology.network.oversubscription = 1) would "+
			"give one",
			err.Error())
	}
	return nil
}

// bounded returns the network that bounds are found on, and what a step takes at least there: what
// no message of any protocol beats.
func (r *runner) bounded(p *scenarios.Point) (*topology.Graph, unit.Time) {
	if least, ok := p.Device.LeastHop(); ok {
		least.Base, least.Shape, least.Protocol, least.Source = 0, "", "", ""
		if g := r.graphOf(p, hops{least, p.Device.Overhead, false,
			schedule.LeaveByRoute}); g != nil {
			return g, 0
		}
	}
	return r.asNew, p.Device.Overhead
}

// fresh returns env with a graph of its own, that may be changed.
func (r *runner) fresh(p *scenarios.Point, s *schedule.Schedule) sim.Env {
	env := r.env(p, s)
	env.Graph = env.Graph.Clone()
	return env
}
