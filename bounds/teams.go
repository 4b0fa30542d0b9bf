package bounds

import (
	"fmt"

	"collsim/collective"
	"collsim/topology"
)

// A Team is the ranks of a concurrent collective: Ranks[i] of the network is rank i of Spec.
type Team struct {
	Spec  collective.Spec
	Ranks []int
}

// ForTeams returns a lower bound of the time in which several teams, running concurrently, finish
// all their collectives. It is the least time in which the links of some cut carry what all teams
// must send over it. Only Bandwidth, Lower, Cut and Partial are set; bounds of a single team are
// not included. A rank may be in one team at most.
//
// What a team must send over a cut follows from its own collective alone. Different teams send
// different bytes, so the bytes add up. The argument for adding the latency (see cutBound) holds
// for messages of any sender. The cuts are the groups of groupings, all cuts of a small network,
// and, of an all_reduce, the links between all groups together (see groupBounds).
//
// Errors name what is wrong with a collective or with the options.
func ForTeams(teams []Team, g *topology.Graph, o Options) (Bounds, error) {
	if err := o.validate(); err != nil {
		return Bounds{}, err
	}
	var all []nodesOfTeam
	var ranks []int32
	for _, t := range teams {
		if err := t.Spec.Validate(); err != nil {
			return Bounds{}, err
		}
		if t.Spec.Ranks != len(t.Ranks) {
			return Bounds{}, fmt.Errorf("%v on %d ranks, but the team has %d", t.Spec.Kind,
				t.Spec.Ranks, len(t.Ranks))
		}
		c := nodesOfTeam{spec: t.Spec}
		for _, rank := range t.Ranks {
			c.at = append(c.at, g.Ranks[rank])
			ranks = append(ranks, g.Ranks[rank])
		}
		if t.Spec.Ranks > 1 && !t.Spec.Empty() && moves(t.Spec) {
			c.held = heldBy(t.Spec, t.Spec.Ranks)
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return Bounds{}, nil
	}
	s := &search{net: newNetwork(g.Restricted(ranks), len(ranks))}
	s.spec.Ranks = len(ranks)
	if !s.net.connected() { // each team may still be connected
		return Bounds{}, nil
	}
	s.net.measure()
	for _, p := range s.net.groupings() {
		s.teamGroups(all, p)
	}
	if len(s.net.rank) <= teamCutNodes {
		s.teamCuts(all)
	}
	b := s.found
	b.Bandwidth, b.Lower = s.best.time(), plus(s.withLead, o.Overhead)
	return b, nil
}

// teamCutNodes is the number of nodes up to which all cuts of a network are tried.
const teamCutNodes = 12

// nodesOfTeam is a team placed on nodes: rank i is on node at[i].
type nodesOfTeam struct {
	spec collective.Spec
	at   []int32
	held []int64 // bytes of each rank: see search.held
}

// crossing returns the bytes that each group of ranks must send to the other groups, and receive
// from them. of is the group of each rank.
func (c *nodesOfTeam) crossing(groups int, of []int32) (sent, received []int64) {
	sent, received = make([]int64, groups), make([]int64, groups)
	total, size, inside := int64(0), make([]int, groups), make([]int64, groups)
	for r, group := range of {
		size[group]++
		inside[group] = sum(inside[group], c.held[r])
		total = sum(total, c.held[r])
	}
	root := of[c.spec.Root]
	crosses := func(it bool) int64 { // the whole vector, or nothing
		if it {
			return total
		}
		return 0
	}
	for i := range groups {
		if size[i] == 0 || size[i] == len(of) {
			continue
		}
		own, rest, rooted := inside[i], total-inside[i], int32(i) == root
		switch c.spec.Kind {
		case collective.AllReduce:
			sent[i], received[i] = total, total
		case collective.AllGather, collective.AllGatherV:
			sent[i], received[i] = own, rest
		case collective.ReduceScatter, collective.ReduceScatterV:
			sent[i], received[i] = rest, own
		case collective.Broadcast:
			sent[i], received[i] = crosses(rooted), crosses(!rooted)
		case collective.Reduce:
			sent[i], received[i] = crosses(!rooted), crosses(rooted)
		case collective.Scatter:
			if rooted {
				sent[i] = rest
			} else {
				received[i] = own
			}
		case collective.Gather:
			if rooted {
				received[i] = rest
			} else {
				sent[i] = own
			}
		case collective.AllToAll, collective.AllToAllV, collective.SendRecv:
			t := traffic{spec: &c.spec, width: int64(c.spec.Type.Width())}
			return t.between(groups, of)
		}
	}
	return sent, received
}

// teamGroups considers what every group of a partition must send and receive for all teams. For
// all_reduce it also considers what all groups must send together.
func (s *search) teamGroups(teams []nodesOfTeam, g partition) {
	out, in := make([]cutBound, g.groups), make([]cutBound, g.groups)
	for i := range out {
		out[i], in[i] = noLinks(0), noLinks(0)
	}
	together := int64(0)
	local := make([]int32, g.groups) // the number of a group in a team, plus 1
	for t := range teams {
		c := &teams[t]
		var here []int32
		of := make([]int32, len(c.at))
		for r, v := range c.at {
			group := g.of[v]
			if local[group] == 0 {
				here = append(here, group)
				local[group] = int32(len(here))
			}
			of[r] = local[group] - 1
		}
		sent, received := c.crossing(len(here), of)
		for i, group := range here {
			out[group].bytes = sum(out[group].bytes, sent[i])
			in[group].bytes = sum(in[group].bytes, received[i])
			local[group] = 0
		}
		if c.spec.Kind == collective.AllReduce {
			together = sum(together, product(2*int64(len(here)-1), c.held[0]))
		}
	}
	allOut, allIn := noLinks(together), noLinks(together)
	for l := range s.net.rate {
		a, b := g.of[s.net.from[l]], g.of[s.net.to[l]]
		if a == b {
			continue
		}
		rate, lead := s.net.rate[l], s.net.lead[l]
		if a >= 0 {
			out[a], allOut = out[a].over(rate, lead), allOut.over(rate, lead)
		}
		if b >= 0 {
			in[b], allIn = in[b].over(rate, lead), allIn.over(rate, lead)
		}
	}
	for i := range out {
		s.consider(out[i], func() string { return s.describeGroup(g, i, true) })
		s.consider(in[i], func() string { return s.describeGroup(g, i, false) })
	}
	if !s.net.computesBetween(g) {
		s.consider(allOut, func() string { return s.describeGroups(g, "out of") })
		s.consider(allIn, func() string { return s.describeGroups(g, "into") })
	}
}

// teamCuts considers every cut of a small network. The last node is always outside, since both
// directions of a cut are tried.
func (s *search) teamCuts(teams []nodesOfTeam) {
	sides := make([][]int32, len(teams))
	for t := range teams {
		sides[t] = make([]int32, len(teams[t].at))
	}
	for set := uint64(1); set < 1<<(len(s.net.rank)-1); set++ {
		near := func(v int32) bool { return set>>v&1 == 1 }
		var bytes [2]int64
		for t := range teams {
			for r, v := range teams[t].at {
				sides[t][r] = int32(1 - set>>v&1)
			}
			sent, received := teams[t].crossing(2, sides[t])
			bytes[0], bytes[1] = sum(bytes[0], sent[0]), sum(bytes[1], received[0])
		}
		for direction, into := range []bool{false, true} {
			c := s.net.across(near, into, noLinks(bytes[direction]))
			s.consider(c, func() string { return s.describeCut(near, into) })
		}
	}
}
