package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// Teams are parts without tensors that work concurrently on the input, output and scratch of their
// ranks. No rank is in two teams, and nothing orders teams. The whole's Spec is that of the first
// team, except for the number of ranks and the root. Teams share only the network, so Verify proves
// them one by one.

// Teams returns the teams of a schedule; nil if it has none.
func (s *Schedule) Teams() []Part { return s.teams }

// placement is a rank's part, −1 for none, and its rank in the part.
type placement struct{ part, place int }

// areTeams reports whether parts without tensors form teams.
func areTeams(parts []Part) bool {
	on := map[int]bool{}
	for i := range parts {
		p, first := &parts[i], parts[0].Schedule
		of := p.Schedule
		switch {
		case of == nil || of.parts != nil || of.teams != nil || len(of.Tensors) > 0,
			p.Stream != 0 || p.Launch != nil || p.After != nil,
			slices.ContainsFunc(p.Memory, func(at Place) bool { return at.Tensor != 0 }),
			of.Slots != first.Slots || of.Slices != first.Slices || of.Spec.Kind != first.Spec.Kind,
			of.Spec.Type != first.Spec.Type || of.Spec.Op != first.Spec.Op,
			p.Ranks == nil && len(parts) > 1:
			return false
		}
		for _, rank := range p.Ranks {
			if on[rank] {
				return false
			}
			on[rank] = true
		}
	}
	return len(parts) > 0
}

// startTeams decides whether the parts to come are teams rather than parts on tensors.
func (c *composer) startTeams(parts []Part) {
	if len(c.s.Tensors) > 0 || !areTeams(parts) {
		return
	}
	ranks, first := c.s.Spec.Ranks, parts[0].Schedule
	c.s.Spec, c.s.Slots, c.s.Slices = first.Spec, first.Slots, first.Slices
	if !slices.ContainsFunc(parts, func(p Part) bool {
		return p.Schedule.Protocol != first.Protocol
	}) {
		c.s.Protocol = first.Protocol
	}
	c.s.Spec.Ranks, c.s.Spec.Root = ranks, 0
	c.s.parts, c.s.teams, c.s.member = nil, []Part{}, make([]placement, ranks)
	for rank := range c.s.member {
		c.s.member[rank].part = -1
	}
}

// addTeam adds a part as a team of ranks of its own.
func (c *composer) addTeam(p Part) error {
	for place, rank := range p.Ranks {
		if rank < 0 || rank >= len(c.s.member) {
			return fmt.Errorf("rank %d is none of the %d", rank, len(c.s.member))
		}
		c.s.member[rank] = placement{part: len(c.s.teams), place: place}
	}
	c.s.teams = append(c.s.teams, p)
	return nil
}

// teamsRule returns what parts without tensors need, to complete an error; empty if there are
// tensors.
func (c *composer) teamsRule() string {
	if len(c.s.Tensors) > 0 {
		return ""
	}
	return "; parts that lie in none are of one kind, type and operator, slots and slices, each on " +
		"ranks of its own, and on no stream"
}

// at returns the schedule that a rank runs, and the rank's number in it.
func (s *Schedule) at(rank int) (*Schedule, int) {
	if s.teams == nil {
		return s, rank
	}
	seat := s.member[rank]
	if seat.part < 0 {
		return &Schedule{}, 0
	}
	return s.teams[seat.part].Schedule, seat.place
}

// SpecOf returns the collective that a rank takes part in: its team's, if there are teams.
func (s *Schedule) SpecOf(rank int) *collective.Spec {
	t, _ := s.at(rank)
	return &t.Spec
}

// teamProgram returns a rank's program in a schedule of teams.
func (s *Schedule) teamProgram(rank int) *Program {
	seat := s.member[rank]
	if seat.part < 0 {
		return &Program{schedule: s, code: &code{}, rank: int32(rank)}
	}
	own := &s.teams[seat.part]
	p := own.Schedule.Program(seat.place)
	p.team = own.Ranks
	return p
}
