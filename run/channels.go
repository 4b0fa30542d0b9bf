package run

import (
	"fmt"
	"slices"
	"sync"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// demand holds the share of a rank's links that one channel of an algorithm asks for.
type demand struct {
	// rate is a sum over the links that leave a rank towards the algorithm's peers. Each link
	// counts with the bottleneck rate of the fastest route over it.
	rate unit.Rate
	// lanes of a channel send at once.
	lanes int
}

// channelsFor returns how many channels fill the links of a demand, where each lane moves
// device.LaneRate at most: ⌈rate / (lane rate · lanes)⌉, rounded up to a multiple, and at most
// device.Channels and a quarter of the SMs. It is 1 on a device whose lanes have no limit.
func channelsFor(d *device.Device, w demand, multiple int) int {
	most := max(d.Channels, 1)
	if d.GPU.SMs > 0 {
		most = min(most, max(d.GPU.SMs/4, 1))
	}
	if d.LaneRate <= 0 || d.LaneRate >= unit.Unlimited || w.rate <= 0 {
		return 1
	}
	lanes := unit.Rate(max(w.lanes, 1))
	n := most
	if w.rate < unit.Unlimited && d.LaneRate < unit.Unlimited/lanes {
		each := d.LaneRate * lanes
		n = int(min((w.rate+each-1)/each, unit.Rate(most)))
	}
	if multiple > 1 && n%multiple != 0 {
		n += multiple - n%multiple
	}
	return min(n, most)
}

// channels remembers how many channels algorithms have where nobody has said it: of a topology, a
// device's figures, and an algorithm on a team.
type channels struct {
	sync.Mutex
	topology *scenarios.Topology // the latest
	graph    *topology.Graph     // of it
	known    map[channelKey]int
}

// channelKey holds all that a number of channels depends on. It refers to the topology and so
// keeps it in memory: no other topology can have its address.
type channelKey struct {
	topology *scenarios.Topology
	rest     string // figures of the device, the kind, the algorithm and the team
}

// fewSteps bounds how many steps of a rank, and someRanks how many ranks, are looked at for an
// algorithm's peers.
const (
	fewSteps  = 4096
	someRanks = 16
)

// wires is the number of channels that are examined where each has an order of ranks, and thus
// peers, of its own. It exceeds the number of wires from a GPU to others of its node.
const wires = 16

// withChannels returns an algorithm with a number of channels: where a point gives none, as many as
// the links to its peers need (channelsFor).
func (s *Scenario) withChannels(p *scenarios.Point, a scenarios.Algorithm) scenarios.Algorithm {
	if a.Channels > 0 || a.FromFile() {
		return a
	}
	found, err := find(p.Spec.Kind, a.Name)
	if err == nil {
		found, err = found.Bound(p.Spec.Ranks, options(a))
	}
	if err != nil || found.Own() { // it has its own, if any
		return a
	}
	a.Channels = 1
	d := p.Device
	if d.LaneRate >= unit.Unlimited || d.Channels <= 1 {
		return a
	}
	var team []int
	if p.Teams != nil {
		team = p.Teams[0]
	}
	c := &s.channels
	c.Lock()
	defer c.Unlock()
	o := options(a)
	o.Params = slices.DeleteFunc(slices.Clone(o.Params), func(q algos.Param) bool {
		return q.Name == "segment" // the usual one stands for all
	})
	key := channelKey{p.Topology, fmt.Sprint(d.LaneRate, d.Channels, d.GPU.SMs, p.Spec.Kind,
		a.Name, o, team)}
	if n, ok := c.known[key]; ok {
		a.Channels = n
		return a
	}
	if c.topology != p.Topology {
		g, err := p.Topology.Graph()
		if err != nil { // building the schedule reports it
			return a
		}
		c.topology, c.graph = p.Topology, g
	}
	spec := largeSpec(p, len(team))
	if rings := ringsOn(p, found, wires); rings != nil {
		o.Channels, o.Rings = wires, rings
	}
	bound := fmt.Sprintf("%#v", a.Params)
	if built, err := s.kept.build(found, bound, spec, o); err == nil {
		multiple := 1
		if n := inNode(p); n > 0 && found.Turned() {
			multiple = min(n, c.graph.NICs())
		}
		w := demandOf(built, c.graph, team)
		w.lanes = (w.lanes + max(o.Channels, 1) - 1) / max(o.Channels, 1)
		a.Channels = channelsFor(d, w, multiple)
	}
	if c.known == nil {
		c.known = map[channelKey]int{}
	}
	c.known[key] = a.Channels
	return a
}

// shortBytes bounds the bytes of a channel, in vectors for which fewer channels may be faster: a
// step of that many bytes takes about as long as its overhead.
const shortBytes = 64 * unit.KiB

// fewerChannels adds, for "fastest", algorithms of a short vector with one channel and with half of
// those that they have: these first, so that of equally fast ones the fewest channels are taken.
func (s *Scenario) fewerChannels(p *scenarios.Point, list []scenarios.Algorithm) (
	all []scenarios.Algorithm) {
	for _, a := range list {
		n := s.withChannels(p, a).Channels
		if a.Channels == 0 && n > 1 && p.Spec.Bytes() <= unit.Bytes(n)*shortBytes {
			for _, fewer := range slices.Compact([]int{1, (n + 1) / 2, n}) {
				one := a
				one.Channels = fewer
				all = append(all, one)
			}
			continue
		}
		all = append(all, a)
	}
	return all
}

// largeSpec returns a point's collective on its first team, of so many elements that what follows
// from their number is as of a long vector.
func largeSpec(p *scenarios.Point, ranks int) collective.Spec {
	spec := p.Spec
	if ranks > 0 {
		spec = p.TeamSpec(ranks)
	}
	if !spec.Kind.Splits() && spec.Kind != collective.Barrier {
		spec.Count = 1 << 24
	}
	return spec
}

// demandOf looks at what ranks send in a schedule of one channel; place i of a team is rank
// team[i], or i if there is none. The rank that asks for most channels decides.
func demandOf(s *schedule.Schedule, g *topology.Graph, team []int) (most demand) {
	ranks := min(s.Spec.Ranks, someRanks)
	if s.Group != nil {
		ranks = 1
	}
	for rank := range ranks {
		d := demandOfRank(s, g, team, rank)
		if most.lanes == 0 || d.lanes > 0 &&
			d.rate/unit.Rate(d.lanes) > most.rate/unit.Rate(most.lanes) {
			most = d
		}
	}
	return most
}

// demandOfRank returns the demand of one rank: of the rounds in which it sends most messages, the
// one in which fewest lanes do says how many send at once.
func demandOfRank(s *schedule.Schedule, g *topology.Graph, team []int, rank int) demand {
	at := func(place int32) int {
		if team == nil {
			return int(place)
		}
		return team[place]
	}
	type sending struct{ messages, lanes, last int }
	var rounds []sending
	out := map[int32]unit.Rate{} // by the first link
	var order []int32            // of out
	var route []int32
	p, step, left := s.Program(rank), schedule.Step{}, fewSteps
	for lane := range p.Lanes() {
		for c := p.Walk(lane); !c.Done() && left > 0; c.Next(1) {
			left--
			p.Load(&c, &step)
			for _, peer := range peersOf(&step) {
				route = g.Route(at(int32(rank)), at(peer), route[:0])
				if len(route) == 0 {
					continue
				}
				rate := unit.Unlimited
				for _, link := range route {
					rate = min(rate, g.Link(link).Bandwidth)
				}
				if _, seen := out[route[0]]; !seen {
					order = append(order, route[0])
				}
				out[route[0]] = max(out[route[0]], rate)
				for len(rounds) <= int(step.Round) {
					rounds = append(rounds, sending{last: -1})
				}
				r := &rounds[step.Round]
				if r.messages++; r.last != lane {
					r.lanes, r.last = r.lanes+1, lane
				}
			}
		}
	}
	var d demand
	for _, link := range order {
		d.rate = min(d.rate+min(out[link], unit.Unlimited-d.rate), unit.Unlimited)
	}
	busiest := 0
	for _, r := range rounds {
		if r.messages > busiest || r.messages == busiest && r.lanes < d.lanes {
			busiest, d.lanes = r.messages, r.lanes
		}
	}
	return d
}

// peersOf lists the ranks that a step sends to or reads from.
func peersOf(step *schedule.Step) (peers []int32) {
	for i := range step.Send {
		if d := &step.Send[i]; d.Team == nil {
			peers = append(peers, d.Peer.Rank)
		}
	}
	for i := range step.From {
		if f := &step.From[i]; f.Kind == schedule.Get && f.Team == nil {
			peers = append(peers, f.Peer.Rank)
		}
	}
	return peers
}
