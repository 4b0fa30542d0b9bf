package run

import (
	"fmt"
	"regexp"
	"strings"

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
	teams   [][]int      // nil: one of all ranks
	links   [2]int       // of a route, least and most; 0 with one rank
	latency [2]unit.Time // the sum over a route
	rate    [2]unit.Rate // of a route's slowest link
	sampled bool         // the ranges come from some of the routes
}

// maxPairs is how many routes are looked at; beyond, a part stands for all.
const maxPairs = 1 << 16

// newNetwork looks at the routes between ranks of a team; no teams are one of all ranks.
func newNetwork(g *topology.Graph, teams [][]int) network {
	n := network{graph: g, teams: teams}
	if teams == nil {
		all := make([]int, len(g.Ranks))
		for rank := range all {
			all[rank] = rank
		}
		teams = [][]int{all}
	}
	pairs := 0
	for _, team := range teams {
		pairs += len(team) * (len(team) - 1)
	}
	n.sampled = pairs > maxPairs
	for _, team := range teams {
		n.look(team)
	}
	return n
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
	route := n.graph.Route(src, dst, nil)
	latency, rate := unit.Time(0), unit.Unlimited
	for _, l := range route {
		latency += n.graph.Links[l].Latency
		rate = min(rate, n.graph.Links[l].Bandwidth)
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

// String is what a scenario's network was understood as: "2 links a message, 1.00 us + n /
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

// shape is what the network was made as.
func (n *network) shape() string {
	switch preset := n.graph.Preset; preset {
	case "cluster":
		return prose.Plural(n.nodes, "node")
	case "links":
		return prose.Plural(len(n.graph.Links), "link") + " by hand"
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

// digits are what differs between the names of links of a kind.
var digits = regexp.MustCompile(`[0-9]+`)

// limit finds the busiest link of a run.
func (n *network) limit(ran *sim.Result) (l Limit) {
	var kind string
	for i, busy := range ran.LinkBusy {
		if busy > l.Busy {
			l = Limit{Name: n.graph.Links[i].Name, Busy: busy, Load: ran.LinkLoad[i],
				Rate: n.graph.Links[i].Bandwidth}
			kind = digits.ReplaceAllString(l.Name, "*")
		}
	}
	for i, busy := range ran.LinkBusy {
		if busy == l.Busy && digits.ReplaceAllString(n.graph.Links[i].Name, "*") == kind {
			l.Like++
		}
	}
	return l
}
