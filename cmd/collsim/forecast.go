package main

import (
	"time"

	"collsim/report"
	"collsim/run"
)

// forecast estimates a run that has taken a second, beside it: so that its progress knows what is
// left, and whoever waits knows what for. Estimates are about a twentieth of the work.
func (a *app) forecast(s *run.Scenario, p *progress, notes bool) {
	select {
	case <-p.stop:
		return
	case <-time.After(patience):
	}
	var list []*run.Estimate
	var shares []float64
	for _, point := range s.Points {
		select {
		case <-p.stop:
			return
		default:
		}
		e, err := s.Estimate(point)
		if err != nil { // the run will say so
			return
		}
		list, shares = append(list, e), append(shares, e.Seconds)
	}
	p.weigh(shares)
	if text := report.LongRun(list); text != "" && notes {
		p.say("note: " + text + "\n")
	}
}

// idsOf are the names of a scenario's points.
func idsOf(s *run.Scenario) (names []string) {
	for _, p := range s.Points {
		names = append(names, p.ID)
	}
	return names
}
