package run

import (
	"fmt"
	"strings"

	"collsim/algos"
	"collsim/internal/prose"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// network is a topology and what a message meets in it between two ranks: an α–β model where all
// routes are alike, and the range of each figure where they are not.
type network struct {
	graph   *topology.Graph
	nodes   int          // of a cluster
	machine string       // that these are; empty: it has no name
	teams   [][]int      // nil: one of all ranks
	links   [2]int       // of a route, least and most; 0 with one rank
	latency [2]unit.Time // the sum over a route
	rate    [2]unit.Rate // of a route's slowest link
	route   []int32      // the latest that was looked at
	sampled bool         // the ranges come from some of the routes
	wires   algos.Wires  // see meets; PerConnection: nobody has looked
}

// maxPairs bounds the routes that are examined; beyond it, a sample stands for all.
const maxPairs = 1 << 16

// newNetwork looks at the routes between ranks of a team; no teams are one of all ranks.
func newNetwork(g *topology.Graph, teams [][]int) network {
	n := network{graph: g, teams: teams}
	if nearest, farthest, ok := g.Extremes(); ok && teams == nil {
		n.add(0, nearest)
		n.add(0, farthest)
		return n
	}
	if teams == nil && g.Alike() {
		if few, _, ok := g.Miniature(); ok { // it has a pair of each kind
			n.graph = few
		}
		for dst := range n.graph.Ranks {
			n.add(0, dst)
		}
		n.graph = g
		return n
	}
	n.sampled = n.pairs() > maxPairs
	for _, team := range n.allTeams() {
		n.look(team)
	}
	return n
}

// allTeams returns the teams; without any, one of all ranks.
func (n *network) allTeams() [][]int {
	if n.teams != nil {
		return n.teams
	}
	all := make([]int, len(n.graph.Ranks))
	for rank := range all {
		all[rank] = rank
	}
	return [][]int{all}
}

// pairs returns the number of routes inside teams: one for each ordered pair of ranks.
func (n *network) pairs() (pairs int) {
	for _, team := range n.allTeams() {
		pairs += len(team) * (len(team) - 1)
	}
	return pairs
}

// look adds the routes of a team.
func (n *network) look(team []int) {
	for i, src := range team {
		if n.sampled { // every rank's way out and way in, and its neighbours
			n.add(team[0], src)
			n.add(src, team[0])
			n.add(src, team[(i+1)%len(team)])
			continue
		}
		for _, dst := range team {
			n.add(src, dst)
		}
	}
}

// add widens the ranges by a route.
func (n *network) add(src, dst int) {
	if src == dst {
		return
	}
	n.route = n.graph.Route(src, dst, n.route[:0])
	route, latency, rate := n.route, unit.Time(0), unit.Unlimited
	for _, i := range route {
		l := n.graph.Link(i)
		latency += l.Latency
		rate = min(rate, l.Bandwidth)
	}
	if n.links[1] == 0 {
		n.links, n.latency = [2]int{len(route), len(route)}, [2]unit.Time{latency, latency}
		n.rate = [2]unit.Rate{rate, rate}
		return
	}
	n.links = [2]int{min(n.links[0], len(route)), max(n.links[1], len(route))}
	n.latency = [2]unit.Time{min(n.latency[0], latency), max(n.latency[1], latency)}
	n.rate = [2]unit.Rate{min(n.rate[0], rate), max(n.rate[1], rate)}
}

// uniform reports whether all routes cost the same: α = latency[0], 1/β = rate[0].
func (n *network) uniform() bool {
	return n.latency[0] == n.latency[1] && n.rate[0] == n.rate[1]
}

// String describes the network as the scenario was understood: "2 links a message, 1.00 us + n /
// 12.5 GB/s".
func (n *network) String() string {
	if len(n.graph.Ranks) == 1 {
		return "1 rank: nothing goes over a link"
	}
	text := fmt.Sprintf("%d ranks on %s", len(n.graph.Ranks), n.shape())
	if n.teams != nil {
		text += ", " + n.teamText()
	}
	if n.links[1] == 0 {
		return text + ": nothing goes over a link"
	}
	links := prose.Between(n.links[0], n.links[1], " to ") + " links"
	if n.links[1] == 1 {
		links = "1 link"
	}
	if n.sampled && n.links[0] != n.links[1] {
		links = "about " + links
	}
	return fmt.Sprintf("%s: %s a message, %s + n / %s", text, links,
		prose.Between(n.latency[0], n.latency[1], "…"), prose.Between(n.rate[0], n.rate[1], "…"))
}

// shape names the network by its preset: "2 nodes of dgx-h100", "a leaf-spine network".
func (n *network) shape() string {
	switch preset := n.graph.Preset; preset {
	case "cluster":
		text := prose.Plural(n.nodes, "node")
		if n.machine != "" {
			text += " of " + n.machine
		}
		return text
	case "links":
		return prose.Plural(n.graph.NumLinks(), "link") + " by hand"
	case "leaf-spine":
		return "a leaf-spine network"
	default:
		return "a " + strings.ReplaceAll(preset, "-", " ")
	}
}

// equalTeams reports whether all teams have as many ranks.
func (n *network) equalTeams() bool {
	for _, team := range n.teams {
		if len(team) != len(n.teams[0]) {
			return false
		}
	}
	return true
}

// teamText counts the teams: "4 teams of 2".
func (n *network) teamText() string {
	least, most := len(n.teams[0]), len(n.teams[0])
	for _, team := range n.teams {
		least, most = min(least, len(team)), max(most, len(team))
	}
	return prose.Plural(len(n.teams), "team") + " of " + prose.Between(least, most, " to ")
}

// Limit is the link that was busy for the longest time.
type Limit struct {
	Name string    // the first such link, by index; empty if nothing went over any
	Like int       // how many links of its kind (gpu*->switch) were busy as long, itself included
	Busy unit.Time // how long
	Load unit.Bytes
	Rate unit.Rate // its bandwidth, at which it is busy
}

// kindName returns a link's name with * for each of its numbers: names of links of one kind
// differ only in their numbers.
func kindName(name string) string {
	kind := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c < '0' || c > '9':
			kind = append(kind, c)
		case i == 0 || name[i-1] < '0' || name[i-1] > '9':
			kind = append(kind, '*')
		}
	}
	return string(kind)
}

// limit finds the busiest link of a run.
func (n *network) limit(ran *sim.Result) (l Limit) {
	if ran.Folded != nil && !n.graph.IsListed() {
		return n.limitFolded(ran.Folded)
	}
	ran.Unfold()
	most := -1
	for i, busy := range ran.LinkBusy {
		if busy > l.Busy {
			most, l.Busy = i, busy
		}
	}
	if most < 0 {
		return l
	}
	l.Name, l.Load = n.graph.LinkName(int32(most)), ran.LinkLoad[most]
	l.Rate = n.graph.Link(int32(most)).Bandwidth
	kind := kindName(l.Name)
	for i, busy := range ran.LinkBusy {
		if busy == l.Busy && kindName(n.graph.LinkName(int32(i))) == kind {
			l.Like++
		}
	}
	return l
}

// limitFolded finds it among links that were used alike, which are of one kind.
func (n *network) limitFolded(f *sim.Folded) (l Limit) {
	first := int32(-1)
	for _, o := range f.Orbits {
		if o.Busy > l.Busy || o.Busy == l.Busy && o.Busy > 0 && o.First < first {
			first, l.Busy, l.Load = o.First, o.Busy, o.Load
		}
	}
	if first < 0 {
		return l
	}
	l.Name, l.Rate = n.graph.LinkName(first), n.graph.Link(first).Bandwidth
	kind := kindName(l.Name)
	for _, o := range f.Orbits {
		if o.Busy == l.Busy && kindName(n.graph.LinkName(o.First)) == kind {
			l.Like += o.Links
		}
	}
	return l
}
