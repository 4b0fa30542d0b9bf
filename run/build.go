package run

import (
	"errors"

	"collsim/algos"
	"collsim/collective"
	"collsim/formats"
	"collsim/program"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
)

// made holds the schedules with which a point is carried out.
type made struct {
	algorithm scenarios.Algorithm
	whole     *schedule.Schedule // of all ranks: what the network sees
	members   []member           // the schedules in it: one, or those of teams, each once
	file      *formats.File      // of another format than our text form, that holds it; else nil
	// ran is the result of a simulation with the options ranBy, by which it was chosen; else nil.
	ran   *sim.Result
	ranBy sim.Options
	// another makes the schedule for another count, where that is not what Scenario.build does.
	another func(spec collective.Spec) (*schedule.Schedule, error)
	program *lowering // of a program, in place of all else
}

// lowering is a program that has been lowered, and what its calls are done by, by name.
type lowering struct {
	*program.Lowered
	chosen map[string]scenarios.Algorithm
}

// member is a schedule that a number of teams execute, each on its own ranks.
type member struct {
	schedule *schedule.Schedule
	teams    int
}

// illegal is an algorithm that cannot do what a point asks, and why: no mistake where the scenario
// has not named it.
type illegal struct{ why error }

func (e *illegal) Error() string { return e.why.Error() }
func (e *illegal) Unwrap() error { return e.why }

// reason returns why an algorithm does not run, for a place that names the algorithm already.
func reason(err error) string {
	var unfit *algos.Unfit
	if errors.As(err, &unfit) {
		return unfit.Why
	}
	return err.Error()
}

// Build returns the schedule of a point, over all ranks where there are teams. It refuses
// "fastest": only Run finds out which algorithm that is.
func (s *Scenario) Build(p *scenarios.Point) (*schedule.Schedule, error) {
	if p.Algorithm.Name == fastestName {
		return nil, errors.New("fastest is no algorithm: it is chosen by running all")
	}
	m, err := s.make(p, p.Algorithm)
	if err != nil {
		return nil, err
	}
	return m.whole, nil
}

// make builds the schedules of a point with an algorithm of the point's kind, and settles the
// algorithm's channels and parameters.
func (s *Scenario) make(p *scenarios.Point, a scenarios.Algorithm) (*made, error) {
	a = s.withChannels(p, settled(p, a))
	m := &made{algorithm: a}
	if p.Teams == nil {
		f, err := s.build(p, p.Spec, a)
		if err != nil {
			return nil, err
		}
		m.keepFile(f)
		m.whole = f.Schedule
		m.members = []member{{m.whole, 1}}
		return m, nil
	}
	if err := relayed(p, a); err != nil { // NCCL relays through members of a team only
		return nil, &illegal{err}
	}
	bySize := map[int]int{} // index in members: teams of one size share a schedule
	teams := make([]schedule.Part, len(p.Teams))
	for i, ranks := range p.Teams {
		at, ok := bySize[len(ranks)]
		if !ok {
			built, err := s.build(p, p.TeamSpec(len(ranks)), a)
			if err != nil {
				return nil, err
			}
			at = len(m.members)
			bySize[len(ranks)] = at
			m.members = append(m.members, member{schedule: built.Schedule})
			m.keepFile(built)
		}
		m.members[at].teams++
		teams[i] = schedule.Part{Ranks: ranks, Schedule: m.members[at].schedule}
	}
	var err error
	m.whole, err = schedule.Compose(teams[0].Schedule.Name, p.Topology.Ranks, nil, teams)
	return m, err
}

// keepFile keeps the file of a schedule that is stored in another format than our text form. Such a
// file has a fixed number of ranks, so all teams that execute it share one file.
func (m *made) keepFile(f *formats.File) {
	if f.Format != formats.Text {
		m.file = f
	}
}

// build applies an algorithm to a collective of a point. What no file holds is in a file all the
// same, of our text form.
func (s *Scenario) build(p *scenarios.Point, spec collective.Spec,
	a scenarios.Algorithm) (*formats.File, error) {
	if a.FromFile() {
		return s.fromFile(p, spec, a)
	}
	found, err := find(spec.Kind, a.Name)
	if err != nil {
		return nil, err
	}
	if why := noLibrary(p, a); why != "" {
		return nil, &illegal{errors.New(why)}
	}
	if err := multimemOn(p, spec, found); err != nil {
		return nil, &illegal{err}
	}
	o := optionsOn(p, a, found)
	if o.Network, err = networkOf(s, p, spec.Ranks, found); err != nil {
		return nil, err
	}
	built, err := s.kept.build(found, "", spec, o)
	if err == nil {
		err = leaves(p, built.Protocol.Leave)
	}
	if err != nil {
		return nil, &illegal{err}
	}
	return &formats.File{Format: formats.Text, Schedule: built}, nil
}
