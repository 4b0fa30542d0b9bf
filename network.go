package collsim

import (
	"fmt"
	"regexp"
	"strings"

	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// network is a topology and what a message meets in it between two ranks: an α–β model where all
// routes are alike, and the range of each figure where they are not.
type network struct {
	graph   *topology.Graph
	links   [2]int       // of a route, least and most; 0 with one rank
	latency [2]unit.Time // the sum over a route
	rate    [2]unit.Rate // of a route's slowest link
	sampled bool         // the ranges come from some of the routes
}

// maxPairs is how many routes are looked at; beyond, a part stands for all.
const maxPairs = 1 << 16

func newNetwork(g *topology.Graph) network {
	n := network{graph: g}
	ranks := len(g.Ranks)
	if ranks*(ranks-1) <= maxPairs {
		for src := range ranks {
			for dst := range ranks {
				n.add(src, dst)
			}
		}
		return n
	}
	n.sampled = true
	for i := range ranks { // every rank's way out and way in, and its neighbours
		n.add(0, i)
		n.add(i, 0)
		n.add(i, (i+1)%ranks)
	}
	return n
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
	shape := "a " + strings.ReplaceAll(n.graph.Preset, "-", " ")
	if n.graph.Preset == "links" {
		shape = plural(len(n.graph.Links), "link") + " by hand"
	}
	links := between(n.links[0], n.links[1], " to ") + " links"
	if n.links[1] == 1 {
		links = "1 link"
	}
	if n.sampled && n.links[0] != n.links[1] {
		links = "about " + links
	}
	return fmt.Sprintf("%d ranks on %s: %s a message, %s + n / %s", len(n.graph.Ranks), shape, links,
		between(n.latency[0], n.latency[1], "…"), between(n.rate[0], n.rate[1], "…"))
}

// between is a range, or its one value. A unit that both ends have is written once.
func between[T comparable](from, to T, dash string) string {
	low, high := fmt.Sprint(from), fmt.Sprint(to)
	if low == high {
		return low
	}
	if _, unit, ok := strings.Cut(high, " "); ok {
		low = strings.TrimSuffix(low, " "+unit)
	}
	return low + dash + high
}

// Limit is the link that was busy for the longest time.
type Limit struct {
	Name string    // the first such link, by index; empty if nothing went over any
	Like int       // how many links of its kind (gpu*->switch) were busy as long, itself included
	Busy unit.Time // how long
	Load unit.Bytes
}

// digits are what differs between the names of links of a kind.
var digits = regexp.MustCompile(`[0-9]+`)

// limit finds the busiest link of a run.
func (n *network) limit(ran *sim.Result) (l Limit) {
	var kind string
	for i, busy := range ran.LinkBusy {
		if busy > l.Busy {
			l = Limit{Name: n.graph.Links[i].Name, Busy: busy, Load: ran.LinkLoad[i]}
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
