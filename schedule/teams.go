package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
)

// Team is a set of ranks that do a schedule of their own, and only among themselves.
type Team struct {
	Ranks    []int // Ranks[i] plays rank i of Schedule
	Schedule *Schedule
}

// Beside is the schedule of several teams at once, on a number of ranks; who is in no team does
// nothing. Its Spec is that of the first team, but for the number of ranks. Teams share the network
// and nothing else, so Verify proves them one by one. All must have the same slots and slices, and
// the same kind and type of data.
func Beside(ranks int, teams ...Team) (*Schedule, error) {
	if len(teams) == 0 {
		return nil, fmt.Errorf("schedule: no team")
	}
	first := teams[0].Schedule
	s := &Schedule{Name: first.Name, Spec: first.Spec, Slots: first.Slots, Slices: first.Slices,
		teams: teams, member: make([]seat, ranks)}
	s.Spec.Ranks, s.Spec.Root = ranks, 0
	for rank := range s.member {
		s.member[rank].team = -1
	}
	for i, t := range teams {
		spec := t.Schedule.Spec
		switch {
		case len(t.Ranks) != spec.Ranks:
			return nil, fmt.Errorf("schedule: team %d has %d ranks, its schedule %d", i, len(t.Ranks),
				spec.Ranks)
		case t.Schedule.teams != nil:
			return nil, fmt.Errorf("schedule: team %d is made of teams", i)
		case t.Schedule.Slots != s.Slots || t.Schedule.Slices != s.Slices ||
			spec.Kind != s.Spec.Kind || spec.Type != s.Spec.Type || spec.Op != s.Spec.Op:
			return nil, fmt.Errorf("schedule: team %d does another collective, or has other slots or "+
				"slices, than team 0", i)
		}
		for place, rank := range t.Ranks {
			if rank < 0 || rank >= ranks || s.member[rank].team >= 0 {
				return nil, fmt.Errorf("schedule: rank %d of team %d is in another team, or none of "+
					"the ranks 0…%d", rank, i, ranks-1)
			}
			s.member[rank] = seat{team: i, place: place}
		}
	}
	return s, nil
}

// seat is a rank's team, −1 for none, and its rank in there.
type seat struct{ team, place int }

// at is the schedule that a rank plays, and which rank it plays in it.
func (s *Schedule) at(rank int) (*Schedule, int) {
	if s.teams == nil {
		return s, rank
	}
	seat := s.member[rank]
	if seat.team < 0 {
		return &Schedule{}, 0
	}
	return s.teams[seat.team].Schedule, seat.place
}

// SpecOf is the collective that a rank takes part in: of teams, its team's.
func (s *Schedule) SpecOf(rank int) *collective.Spec {
	t, _ := s.at(rank)
	return &t.Spec
}

// teamProgram is what a rank of a team runs.
func (s *Schedule) teamProgram(rank int) *Program {
	seat := s.member[rank]
	if seat.team < 0 {
		return &Program{schedule: s, code: &code{}, rank: int32(rank)}
	}
	t := s.teams[seat.team]
	p := t.Schedule.Program(seat.place)
	p.team = t.Ranks
	return p
}

// verifyTeams proves every schedule that a team plays, once.
func verifyTeams(s *Schedule, o VerifyOptions) (*Proof, []*Violation) {
	all := Proof{KeepsRankOrder: true, SameTree: true}
	proofs := map[*Schedule]*Proof{}
	for _, t := range s.teams {
		p := proofs[t.Schedule]
		if p == nil {
			var found []*Violation
			if p, found = Verify(t.Schedule, o); p == nil {
				for _, v := range found {
					v.Rank = t.Ranks[v.Rank]
				}
				return nil, found
			}
			proofs[t.Schedule] = p
		}
		all.Rounds, all.MinSlots = max(all.Rounds, p.Rounds), max(all.MinSlots, p.MinSlots)
		all.Steps, all.Messages = all.Steps+p.Steps, all.Messages+p.Messages
		all.BytesSent = sumUp(all.BytesSent, p.BytesSent)
		for _, f := range p.Flows {
			if f.From >= 0 {
				f.From = t.Ranks[f.From]
			}
			if f.To >= 0 {
				f.To = t.Ranks[f.To]
			}
			all.Flows = append(all.Flows, f)
		}
		all.InFlight = max(all.InFlight, p.InFlight)
		all.KeepsRankOrder = all.KeepsRankOrder && p.KeepsRankOrder
		all.SameTree = all.SameTree && p.SameTree
		all.Iterations = max(all.Iterations, p.Iterations)
	}
	sortFlows(all.Flows)
	return &all, nil
}

// equalTeams is Equal of schedules of teams: the same ranks play equal schedules, in the same
// places.
func equalTeams(a, b *Schedule) bool {
	return len(a.member) == len(b.member) && slices.EqualFunc(a.teams, b.teams, func(x, y Team) bool {
		return slices.Equal(x.Ranks, y.Ranks) && Equal(x.Schedule, y.Schedule)
	})
}

// teamsText prints the schedules that teams play, each once, below who plays them.
func (s *Schedule) teamsText() string {
	text, printed := "", []*Schedule{}
	for i, t := range s.teams {
		if slices.Contains(printed, t.Schedule) {
			continue
		}
		printed = append(printed, t.Schedule)
		for _, u := range s.teams[i:] {
			if u.Schedule == t.Schedule {
				text += fmt.Sprintf("# ranks %s\n", words(u.Ranks))
			}
		}
		text += t.Schedule.String()
	}
	return text
}
