package collsim

import (
	"errors"
	"fmt"

	"collsim/algos"
	"collsim/collective"
	"collsim/scenarios"
	"collsim/schedule"
)

// made is what a point is carried out as.
type made struct {
	algorithm scenarios.Algorithm
	whole     *schedule.Schedule // of all ranks: what the network sees
	members   []member           // the schedules in it: one, or those of teams, each once
}

// member is a schedule that a number of teams plays, each on its own ranks.
type member struct {
	schedule *schedule.Schedule
	teams    int
}

// illegal is an algorithm that cannot do what a point asks, and why: no mistake where the scenario
// has not named it.
type illegal struct{ why error }

func (e *illegal) Error() string { return e.why.Error() }
func (e *illegal) Unwrap() error { return e.why }

// Build makes the schedule of a point: of all ranks, where there are teams. What an algorithm
// stands for that is chosen by time ("fastest") only Run can tell.
func (s *Scenario) Build(p *scenarios.Point) (*schedule.Schedule, error) {
	if p.Algorithm.Name == fastestName {
		return nil, errors.New("collsim: fastest is no algorithm: it is chosen by running all")
	}
	m, err := s.make(p, p.Algorithm)
	if err != nil {
		return nil, err
	}
	return m.whole, nil
}

// make is Build for an algorithm of the point's kind.
func (s *Scenario) make(p *scenarios.Point, a scenarios.Algorithm) (*made, error) {
	if p.Teams == nil {
		built, err := s.build(p.Spec, a)
		if err != nil {
			return nil, err
		}
		return &made{algorithm: a, whole: built, members: []member{{built, 1}}}, nil
	}
	m := &made{algorithm: a}
	bySize := map[int]int{} // place in members
	teams := make([]schedule.Team, len(p.Teams))
	for i, ranks := range p.Teams {
		at, ok := bySize[len(ranks)]
		if !ok {
			built, err := s.build(p.TeamSpec(len(ranks)), a)
			if err != nil {
				return nil, err
			}
			at = len(m.members)
			bySize[len(ranks)] = at
			m.members = append(m.members, member{schedule: built})
		}
		m.members[at].teams++
		teams[i] = schedule.Team{Ranks: ranks, Schedule: m.members[at].schedule}
	}
	var err error
	m.whole, err = schedule.Beside(p.Topology.Ranks, teams...)
	return m, err
}

// build applies an algorithm to a collective.
func (s *Scenario) build(spec collective.Spec, a scenarios.Algorithm) (*schedule.Schedule, error) {
	if a.Name == fileName {
		return fit(s.files[a.File], spec)
	}
	found, err := algos.Find(spec.Kind, a.Name)
	if err != nil {
		return nil, err
	}
	built, err := found.Build(spec, options(a))
	if err != nil {
		return nil, &illegal{err}
	}
	return built, nil
}

// fit is a schedule from a file for another count, type or operator. What it says of the ranks
// must hold as it is.
func fit(s *schedule.Schedule, spec collective.Spec) (*schedule.Schedule, error) {
	own := s.Spec
	for _, fact := range []struct{ what, has, wants string }{
		{"the collective", own.Kind.String(), spec.Kind.String()},
		{"ranks", fmt.Sprint(own.Ranks), fmt.Sprint(spec.Ranks)},
		{"root", fmt.Sprint(own.Root), fmt.Sprint(spec.Root)},
		{"in place", fmt.Sprint(own.InPlace), fmt.Sprint(spec.InPlace)},
		{"splits", fmt.Sprint(own.Splits), fmt.Sprint(spec.Splits)},
	} {
		if fact.has != fact.wants {
			return nil, fmt.Errorf("the schedule is for %s %s, not %s", fact.what, fact.has, fact.wants)
		}
	}
	if own.Count != spec.Count && s.Memory > 0 {
		return nil, fmt.Errorf("the schedule has a scratch buffer for count %d, not %d", own.Count,
			spec.Count)
	}
	fitted := *s
	fitted.Spec = spec
	return schedule.Parse(fitted.String()) // which checks the cuts of the new size
}
