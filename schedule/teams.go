package schedule

import (
	"fmt"
	"slices"
	"strings"

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
	s := newBeside(ranks, teams[0].Schedule)
	for _, t := range teams {
		if err := s.join(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// newBeside is the schedule of teams of which none has joined yet, and of which the first does
// this.
func newBeside(ranks int, first *Schedule) *Schedule {
	s := &Schedule{Name: first.Name, Spec: first.Spec, Slots: first.Slots, Slices: first.Slices,
		teams: []Team{}, member: make([]seat, ranks)}
	s.Spec.Ranks, s.Spec.Root = ranks, 0
	for rank := range s.member {
		s.member[rank].team = -1
	}
	return s
}

// join adds a team.
func (s *Schedule) join(t Team) error {
	i, spec := len(s.teams), t.Schedule.Spec
	switch {
	case len(t.Ranks) != spec.Ranks:
		return fmt.Errorf("schedule: team %d has %d ranks, its schedule %d", i, len(t.Ranks),
			spec.Ranks)
	case t.Schedule.teams != nil:
		return fmt.Errorf("schedule: team %d is made of teams", i)
	case t.Schedule.Slots != s.Slots || t.Schedule.Slices != s.Slices ||
		spec.Kind != s.Spec.Kind || spec.Type != s.Spec.Type || spec.Op != s.Spec.Op:
		return fmt.Errorf("schedule: team %d does another collective, or has other slots or slices, "+
			"than team 0", i)
	}
	for place, rank := range t.Ranks {
		if rank < 0 || rank >= len(s.member) || s.member[rank].team >= 0 {
			return fmt.Errorf("schedule: rank %d of team %d is in another team, or none of the ranks "+
				"0…%d", rank, i, len(s.member)-1)
		}
		s.member[rank] = seat{team: i, place: place}
	}
	s.teams = append(s.teams, t)
	return nil
}

// Teams are those of a schedule that Beside has made; nil of any other.
func (s *Schedule) Teams() []Team { return s.teams }

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

// equalTeams is Equal of schedules of teams: the same ranks play equal schedules, in the same
// places.
func equalTeams(a, b *Schedule) bool {
	return len(a.member) == len(b.member) && slices.EqualFunc(a.teams, b.teams, func(x, y Team) bool {
		return slices.Equal(x.Ranks, y.Ranks) && Equal(x.Schedule, y.Schedule)
	})
}

// teamsText prints how many ranks there are and all teams, and below each what it does, indented;
// a schedule that several teams play is below the first of them.
func (s *Schedule) teamsText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nranks %d\n", strings.TrimSpace("schedule "+s.Name), s.Spec.Ranks)
	printed := map[*Schedule]int{}
	for i, t := range s.teams {
		fmt.Fprintf(&b, "team %s", words(t.Ranks))
		if as, ok := printed[t.Schedule]; ok {
			fmt.Fprintf(&b, " as %d\n", as)
			continue
		}
		printed[t.Schedule] = i
		b.WriteByte('\n')
		for line := range strings.Lines(t.Schedule.String()) {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}
