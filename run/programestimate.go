package run

import (
	"errors"

	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// What programs take beside what collectives do.
const (
	programBytes = 40 << 20 // what lowers, the tables of results, and tries at smaller sizes
	logsOfSpans  = 2.5      // times a log: from it, spans of ops are worked out
	garbage      = 1.5      // factor on what a check of numbers holds: some is not collected yet
	mostOfMemory = 2.5      // times check.memory that a check takes, with what bounds errors
	flopTime     = 0.1      // nanoseconds of an operation of a kernel
)

// EstimateProgram lowers a program and counts its steps. Of a call by "fastest" all that it may
// turn out to be are counted, each alone; in the program itself it is taken to be the first that
// can do it.
func (s *Scenario) EstimateProgram(p *scenarios.ProgramPoint) (_ *Estimate, err error) {
	defer func() { err = s.located(err) }()
	e, err := s.estimateProgram(p, p.Check.Numbers)
	if err != nil {
		return nil, err
	}
	g, err := p.Topology.Graph()
	if err != nil {
		return nil, p.Refuse("topology", err.Error(), "")
	}
	e.Takes.Schedule += unit.Bytes(linkBytes * g.NumLinks())
	e.Memory = commandBytes + programBytes + e.Takes.peak()
	e.Seconds += float64(1e-9 * pointTime)
	return e, nil
}

// estimateProgram estimates a program's needs without those of the network. It includes the
// operations of a check of numbers only if numbers is set.
func (s *Scenario) estimateProgram(p *scenarios.ProgramPoint, numbers bool) (*Estimate, error) {
	e := &Estimate{Point: p.Point, Algorithms: 1}
	r := &runner{s: s, candidates: e}
	low, chosen, err := r.lower(p, nil)
	if err != nil {
		return nil, err
	}
	parts := low.Schedule.Parts()
	e.Parts = len(parts)
	var all work
	known := map[*schedule.Schedule]work{}
	for i := range parts {
		part := parts[i].Schedule
		w, there := known[part]
		if !there {
			w = workOfAll(part)
			known[part] = w
			e.Takes.Schedule += bytesOf(stepBytes * float64(w.steps))
		}
		all = all.plus(w)
	}
	e.count(all)
	e.Takes.Log = logTakes(logsOfSpans*float64(all.steps), logsOfSpans*float64(all.transfers))
	e.Takes.Simulation = bytesOf(float64(placeBytes*float64(all.places)) +
		float64(connectionBytes*float64(all.connections)))
	e.Seconds += float64(1e-9 * eventTime * float64(all.steps))
	if p.Check.Proof {
		e.Takes.Proof = bytesOf(proofNeeds(all, max(all.cells, all.runs), cellBytes))
		e.Seconds += float64(1e-9 * proofTime * float64(all.steps))
	}
	if !numbers {
		return e, nil
	}
	r.candidates = &Estimate{}
	n, err := reference.WorkOfProgram(low.Schedule, r.optionsOf(&ProgramResult{Point: p, Lowered: low,
		chosen: chosen}))
	if err != nil {
		return nil, p.Refuse("check.memory", err.Error(), "")
	}
	e.Takes.Numbers = bytesOf(garbage * float64(n.Bytes))
	e.Seconds += float64(1e-9 * (float64(numberTime*float64(n.Steps)) +
		float64(wordTime*float64(n.Elements)) + float64(flopTime*float64(n.FLOPs))))
	return e, nil
}

// consider counts what a call may be carried out by, and returns the first that can do it: nothing
// is simulated.
func (r *runner) consider(p *scenarios.Point, list []scenarios.Algorithm) (first *made,
	candidates []Candidate, err error) {
	if p.Algorithm.Name == fastestName {
		list = r.s.fewerChannels(p, list)
	}
	for _, a := range list {
		m, err := r.s.make(p, a)
		if err != nil && !leavesOut(err) {
			return nil, nil, err
		}
		if err != nil {
			candidates = append(candidates, Candidate{Algorithm: a, Time: -1,
				Why: reason(err)})
			continue
		}
		if first == nil {
			first = m
		}
		if len(list) == 1 {
			continue
		}
		r.candidates.Algorithms++
		for _, member := range m.members {
			w := workOfAll(member.schedule).times(int64(member.teams))
			r.candidates.count(w)
			r.candidates.Seconds += timeOf(member.schedule, p, w, simulates)
		}
	}
	return first, candidates, nil
}

// programFits says what of a program is too large for the memory that there is.
func (s *Scenario) programFits(p *scenarios.ProgramPoint, do stages) error {
	if s.Free.Bytes == 0 {
		return nil
	}
	most := float64(mostOfMemory * float64(p.Check.Memory))
	e, err := s.estimateProgram(p, p.Check.Numbers && do&computes != 0 && most > float64(s.Free.Bytes))
	if err != nil {
		return nil // as the run will say
	}
	t := e.Takes.only(do)
	if do&simulates == 0 {
		t.Log = 0
	}
	var large *tooLarge
	if err := s.Free.lacks(t); errors.As(err, &large) {
		return large.refusal(p.Point)
	}
	return nil
}
