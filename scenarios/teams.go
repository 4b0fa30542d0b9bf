package scenarios

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// teams reads who does the collective together, and sets the number of ranks of Spec.
func (v *view) teams(p *Point, at string) bool {
	n := p.Topology.Ranks
	p.Spec.Ranks = n
	given, _, ok := fetch[teams](v, at+"teams")
	switch given.by {
	case "node":
		p.Teams = p.Topology.node()
	case "rail":
		p.Teams = p.Topology.rail()
	case "":
		p.Teams = given.lists
	}
	if given.by != "" && given.by != "all" && p.Teams == nil {
		v.fail(at+"teams", problem{"the network has no nodes", `topology.nodes makes them; teams of ` +
			`any ranks are lists, as [[0, 1], [2, 3]]`})
		return false
	}
	for i, team := range p.Teams {
		if last := slices.Max(team); last >= n {
			v.fail(at+"teams", problem{fmt.Sprintf("team %d has rank %d; %s is expected", i, last,
				ranksUpTo(n)), ""})
			return false
		}
	}
	if len(p.Teams) == 1 && len(p.Teams[0]) == n && slices.IsSorted(p.Teams[0]) {
		p.Teams = nil // of all ranks in their order
	}
	if p.Teams == nil {
		return ok
	}
	p.Spec.Ranks = len(slices.MaxFunc(p.Teams, func(a, b []int) int { return len(a) - len(b) }))
	if least, most := p.smallest(), p.Spec.Ranks; p.Spec.Kind.Splits() && least != most {
		v.fail(at+"teams", problem{fmt.Sprintf("teams have %d to %d ranks; one matrix of splits fits "+
			"teams of one size", least, most), ""})
		return false
	}
	return ok
}

// TeamSpec returns Spec for a team of so many ranks. Where the scenario gives bytes, the count
// follows from them.
func (p *Point) TeamSpec(ranks int) collective.Spec {
	s := p.Spec
	if p.Forward != nil && p.Forward.Gradient == FullGradient {
		return p.Forward.backwardSpec(ranks)
	}
	if p.Tensor != nil && ranks != s.Ranks {
		if s, err := p.Tensor.Spec(ranks); err == nil {
			return s
		}
	}
	s.Ranks = ranks
	if p.ByBytes {
		s = s.WithBytes(p.Asked)
	}
	return s
}

// specs lists the collectives of all teams, one for each size of team, in the order of the teams.
func (p *Point) specs() []collective.Spec {
	if p.Teams == nil {
		return []collective.Spec{p.Spec}
	}
	var list []collective.Spec
	seen := map[int]bool{}
	for _, team := range p.Teams {
		if n := len(team); !seen[n] {
			seen[n] = true
			list = append(list, p.TeamSpec(n))
		}
	}
	return list
}

// smallest returns the number of ranks of the smallest team.
func (p *Point) smallest() int {
	n := p.Spec.Ranks
	for _, team := range p.Teams {
		n = min(n, len(team))
	}
	return n
}

// largest returns Spec for the largest team.
func (p *Point) largest() collective.Spec {
	s := p.Spec
	for _, team := range p.Teams {
		s.Ranks = max(s.Ranks, len(team))
	}
	return s
}
