package run

import (
	"collsim/bounds"
	"collsim/collective"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// maxTeamLinks bounds the links that are looked at for the bounds of teams, one team after the
// other: of very many teams the first ones speak for all, as each of them holds all by itself.
const maxTeamLinks = 1 << 20

// bound finds what no schedule of as many lanes beats. Points of one network share it where they do
// not differ in what it depends on. Of teams it is what the slowest cannot beat even if it had the
// network for itself, or what all need together for the links that they share.
func (r *runner) bound(m *made, result *Result) error {
	p := result.Point
	if m.whole.Spec.Kind == collective.Custom {
		result.Unbounded = true
		return nil
	}
	lanes := map[int]int{} // by the number of ranks
	for _, member := range m.members {
		if p.Device.ReduceRate > 0 && member.schedule.Spec.Kind.Reduces() { // else they bound nothing
			lanes[member.schedule.Spec.Ranks] = lanesOf(member.schedule)
		}
	}
	g, step := r.bounded(p)
	views := []*topology.Graph{g}
	if p.Teams != nil {
		views = viewsOf(g, p.Teams)
	}
	for i, view := range views {
		ranks := len(view.Ranks)
		b, err := r.boundOf(boundKey{team: i, on: g, options: boundOptions(p, step, lanes[ranks])},
			view, times(p.TeamSpec(ranks), result.passes()))
		if err != nil {
			return p.Refuse("collective", err.Error(), "")
		}
		if i == 0 || b.Lower > result.Bounds.Lower {
			result.Bounds = b
		}
	}
	if p.Teams != nil {
		if err := r.boundTogether(result, g, boundOptions(p, step, 0)); err != nil {
			return p.Refuse("collective", err.Error(), "")
		}
	}
	return nil
}

// boundKey holds what a bound depends on, of one network and its teams.
type boundKey struct {
	team    int
	on      *topology.Graph // with the latencies of the device's protocols
	spec    collective.Key
	options bounds.Options
}

// boundOf returns the bounds on the time of a team's collective, and remembers them by key.
func (r *runner) boundOf(key boundKey, view *topology.Graph, spec collective.Spec) (bounds.Bounds,
	error) {
	key.spec = spec.Key()
	if b, known := r.bounds[key]; known {
		return b, nil
	}
	b, err := bounds.For(spec, view, key.options)
	if err == nil {
		r.bounds[key] = b
	}
	return b, err
}

// boundTogether raises the bounds of one team to those of all, where these are higher.
func (r *runner) boundTogether(result *Result, g *topology.Graph, o bounds.Options) error {
	p, b := result.Point, &result.Bounds
	var teams []bounds.Team
	for _, ranks := range p.Teams {
		teams = append(teams, bounds.Team{Ranks: ranks,
			Spec: times(p.TeamSpec(len(ranks)), result.passes())})
	}
	all, err := bounds.ForTeams(teams, g, o)
	if err != nil {
		return err
	}
	if all.Bandwidth > b.Bandwidth {
		b.Bandwidth, b.Cut = all.Bandwidth, all.Cut
	}
	b.Lower = max(b.Lower, all.Lower)
	return nil
}

// times returns a collective that moves n times as many elements. Its bound holds for n
// executions of spec in a row, since these may overlap.
func times(spec collective.Spec, n int) collective.Spec {
	if n == 1 {
		return spec
	}
	spec.Count *= int64(n)
	splits := spec.Splits
	spec.Splits = nil
	for _, row := range splits {
		more := make([]int64, len(row))
		for i, length := range row {
			more[i] = length * int64(n)
		}
		spec.Splits = append(spec.Splits, more)
	}
	return spec
}

// lanesOf returns the largest number of lanes of a rank.
func lanesOf(s *schedule.Schedule) (lanes int) {
	if s.HasRoles() {
		for role := range s.Roles() {
			lanes = max(lanes, s.ProgramOfRole(role).Lanes())
		}
		return lanes
	}
	for rank := range s.RepresentativeRanks() {
		lanes = max(lanes, s.Program(rank).Lanes())
	}
	return lanes
}

// boundOptions returns what is known of ranks whose steps take so long at least. Of a rank that is
// faster than its device nothing is known.
func boundOptions(p *scenarios.Point, step unit.Time, lanes int) bounds.Options {
	for _, factor := range p.Topology.Slowdowns {
		if factor < 1 {
			return bounds.Options{}
		}
	}
	return bounds.Options{Overhead: step, ReduceRate: p.Device.ReduceRate, Lanes: lanes}
}

// viewsOf returns the network as the ranks of each team see it.
func viewsOf(g *topology.Graph, teams [][]int) (list []*topology.Graph) {
	links := 0
	for _, team := range teams {
		if links += g.NumLinks(); links > maxTeamLinks && list != nil {
			break
		}
		var ranks []int32
		for _, rank := range team {
			ranks = append(ranks, g.Ranks[rank])
		}
		list = append(list, g.Restricted(ranks))
	}
	return list
}

// BoundReached returns the share of the possible bandwidth that a result reaches: the lower bound
// on PerCall over PerCall. ok is false where there is no time or no bound.
func (r *Result) BoundReached() (share float64, ok bool) {
	if r.PerCall() == 0 || r.Unbounded {
		return 0, false
	}
	return float64(r.boundPerCall()) / float64(r.PerCall()), true
}

// boundPerCall returns a lower bound on PerCall. Calls of a loop overlap, so latencies do not
// bound them, but their bytes go through the same links.
func (r *Result) boundPerCall() unit.Time {
	if r.Calls != nil {
		return r.Bounds.Bandwidth
	}
	return r.Bounds.Lower
}

// BoundBusBW returns the bus bandwidth in GB/s that no schedule exceeds. ok is false where the
// lower bound on the time is 0.
func (r *Result) BoundBusBW() (gbps float64, ok bool) {
	return busBW(r.Point.Spec, r.boundPerCall())
}
