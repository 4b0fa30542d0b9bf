package sim

import "collsim/schedule"

// launched reports whether every lane of a schedule begins with a launch, so that brackets hold all
// its steps. It is false if a launch is shared.
func launched(s *schedule.Schedule) bool {
	var step schedule.Step
	for rank := range s.RepresentativeRanks() {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			at := p.Walk(lane)
			if at.Done() {
				continue
			}
			if p.Load(&at, &step); step.Launch == nil {
				return false
			}
		}
	}
	return !s.AnyStep(func(step *schedule.Step) bool {
		return step.Launch != nil && sharesLaunch(step.Launch)
	})
}

// sharesLaunch reports whether the host launches a bracket together with others.
func sharesLaunch(l *schedule.Launch) bool { return l.Graph != 0 || l.Together != 0 }
