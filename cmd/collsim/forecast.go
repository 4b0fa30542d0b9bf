package main

import (
	"time"

	"collsim/report"
	"collsim/run"
)

// forecast estimates a run that has taken a second, beside it, so that its progress knows the
// time left, and the user what takes it. Estimates are about a twentieth of the work.
func (a *app) forecast(s *run.Scenario, p *progress, notes bool) {
	select {
	case <-p.stop:
		return
	case <-time.After(patience):
	}
	var list []*run.Estimate
	for _, of := range pointsOf([]*run.Scenario{s}) {
		select {
		case <-p.stop:
			return
		default:
		}
		e, err := estimate(of)
		if err != nil { // the run will say so
			return
		}
		list = append(list, e)
	}
	var shares []float64
	for _, e := range run.Together(list) {
		shares = append(shares, e.Seconds)
	}
	p.weigh(shares)
	if text := report.LongRun(list); text != "" && notes {
		p.say("note: " + text + "\n")
	}
}

// idsOf lists the names of a scenario's points.
func idsOf(s *run.Scenario) (names []string) {
	for _, p := range run.AllPoints(s) {
		names = append(names, p.ID)
	}
	return names
}
