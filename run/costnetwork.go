package run

import (
	"collsim/bounds"
	"collsim/collective"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/topology"
)

// linksOf is how many links a network has that can be made.
func linksOf(p *scenarios.Point) int {
	g, err := p.Topology.Graph()
	if err != nil {
		return 0
	}
	return g.NumLinks()
}

// digits is how many a rank is translated in.
func digits(s *schedule.Schedule) float64 { return float64(len(s.Group)) }

// wayTimeOf is what it takes to find a way, in nanoseconds.
func wayTimeOf(p *scenarios.Point, w work) float64 {
	if isCluster(p) {
		return clusterWayTime
	}
	return wayTime * min(w.hops, waysFound)
}

// isCluster reports whether a network is of nodes with a network between them.
func isCluster(p *scenarios.Point) bool {
	g, err := p.Topology.Graph()
	return err == nil && g.Preset == "cluster"
}

// lookTime is what it takes to say what a network is, in seconds, whose ranks are not alike.
func lookTime(p *scenarios.Point, w work) float64 {
	n, each := float64(p.Topology.Ranks), pairWayTime*w.hops
	if g, err := p.Topology.Graph(); err != nil || g.Alike() && p.Teams == nil {
		return 0
	}
	if isCluster(p) {
		each = clusterWayTime
	}
	if n*n > maxPairs {
		return 1e-9 * float64(3*n*each)
	}
	return 1e-9 * float64(n*n*each)
}

// onceFor is what bounds and a look at the network take, in seconds, whatever the algorithm. What
// has no elements has no bound.
func onceFor(s *schedule.Schedule, p *scenarios.Point, w work) float64 {
	if s.Spec.Empty() {
		return 0
	}
	t := lookTime(p, w)
	if g, err := p.Topology.Graph(); err == nil {
		t += boundTime(s, g)
	}
	return t
}

// boundTime is what bounds take, in seconds, that search a network; those that look at all pairs of
// ranks, or at the ways of each rank, as no switch is in the middle and ranks have no direct links
// to all others, or as nodes have a network between them; of one rank, where it stands for all,
// which is much on a ring alone, for what comes from all.
func boundTime(s *schedule.Schedule, g *topology.Graph) float64 {
	if !bounds.Searches(g) && s.Spec.Kind != collective.SendRecv {
		return 0
	}
	n, links := float64(s.Spec.Ranks), float64(g.NumLinks())
	pairs, looks := min(n*n, bounds.MaxWork), min(float64(n*(links+n)), bounds.MaxWork)
	hasSwitches, isStar := g.NumNodes() > len(g.Ranks), g.NumNodes() == len(g.Ranks)+1
	isRing := g.Alike() && !hasSwitches && links <= 2*n
	look, pair := 0.0, float64(boundPairTime)
	switch {
	case g.Preset == "cluster":
		look = boundNodeTime
	case !g.Alike() && (!hasSwitches && links < n*(n-1) || g.Preset == "dragonfly"):
		look = boundLinkTime
	}
	if isStar || isRing {
		pair = boundStarTime
	}
	t := float64(boundListTime * links)
	switch s.Spec.Kind {
	case collective.AllToAll:
		t += float64(pair * pairs)
	case collective.SendRecv: // the next rank may be any of those of one switch
		if look = 0; isStar {
			t += float64(pair * pairs)
		}
	case collective.AllGather, collective.ReduceScatter, collective.Gather, collective.Scatter:
		if isRing {
			t += float64(boundFlowTime * looks)
		}
	}
	if !s.Spec.Kind.Rooted() {
		t += float64(look * looks)
	}
	return 1e-9 * t
}
