package run

import (
	"errors"

	"collsim/program"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// What programs take beside what collectives do, measured on examples (TestProgramTakesMeasured).
const (
	programBytes = 40 << 20 // what lowers, the tables of results, and tries at smaller sizes
	spanBytes    = 500      // a step or message: its place in a log, from which a picture is drawn,
	movingBytes  = 80       // or, without one, the time in which it moves something
	notCollected = 1.5      // times what a check of numbers holds, until it is collected
	flopTime     = 0.1      // nanoseconds of an operation of a kernel: vectors of eight, and a miss
)

// EstimateProgram lowers a program and estimates its steps, memory and time. A call by "fastest"
// adds the simulation of each candidate algorithm alone. Which one wins is not known yet, so the
// program is lowered with the first candidate that can carry out the call.
func (s *Scenario) EstimateProgram(p *scenarios.ProgramPoint) (_ *Estimate, err error) {
	defer func() { err = s.located(err) }()
	e, _, err := s.estimateProgram(p, runs)
	if err != nil {
		return nil, err
	}
	g, err := p.Topology.Graph()
	if err != nil {
		return nil, p.Refuse("topology", err.Error(), "")
	}
	e.Takes.Schedule += of(int64(g.NumLinks()), recordBytes)
	e.Memory = commandBytes + programBytes + e.Takes.peak()
	e.Seconds += float64(1e-9 * pointTime)
	return e, nil
}

// estimateProgram estimates what the given stages of a program need, without its network. It also
// returns the program as it will be carried out, unless that depends on which algorithm of several
// takes the least time.
func (s *Scenario) estimateProgram(p *scenarios.ProgramPoint, do stages) (*Estimate, *lowering,
	error) {
	e := &Estimate{Point: p.Point, Algorithms: 1}
	r := &runner{s: s, candidates: e}
	low, chosen, err := lowerFolded(r, p)
	if err != nil {
		return nil, nil, err
	}
	as := &lowering{low, chosen}
	if e.Algorithms > 1 {
		as = nil
	}
	stands := int64(1) // the ranks that each rank stands for
	if low.Schedule.Alike != nil {
		stands = int64(len(low.Schedule.Alike.Elements))
	}
	parts := low.Schedule.Parts()
	e.Parts = len(parts)
	var all work
	known := map[*schedule.Schedule]work{}
	for i := range parts {
		part := parts[i].Schedule
		w, there := known[part]
		if !there {
			w = workOf(part).over(int64(part.Spec.Ranks / len(parts[i].Ranks)))
			known[part] = w
			e.Takes.Schedule += of(w.steps, stepBytes)
		}
		all = all.plus(1, w)
	}
	e.count(work{}.plus(stands, all))
	if do&simulates != 0 {
		each := int64(movingBytes)
		if do&logs != 0 {
			each = spanBytes
		}
		e.Takes.Log = of(all.steps+all.transfers, each)
		e.Takes.Simulation = of(all.places, placeBytes) + of(all.peers, connectionBytes)
		e.Seconds += float64(1e-9 * eventTime * float64(all.steps))
	}
	if do&proves != 0 && p.Check.Proof {
		e.Takes.Proof = proofOfAll(low.Schedule, all)
		e.Seconds += float64(1e-9 * proofTime * float64(all.steps))
	}
	if do&computes == 0 || !p.Check.Numbers || p.Unplaced || stands > 1 {
		return e, as, nil
	}
	r.candidates = &Estimate{}
	n, err := reference.WorkOfProgram(low.Schedule, r.optionsOf(&ProgramResult{Point: p, Lowered: low,
		chosen: chosen}))
	if err != nil {
		return nil, nil, p.Refuse("check.memory", err.Error(), "")
	}
	e.Takes.Numbers = share(of(n.Bytes, 1), notCollected)
	e.Seconds += float64(1e-9 * (float64(stepOperations*float64(n.Steps)) +
		float64(flopTime*float64(n.FLOPs))))
	return e, as, nil
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
			w := work{}.plus(int64(member.teams), workOf(member.schedule))
			r.candidates.count(w)
			r.candidates.Seconds += timeOf(member.schedule, p, w, simulates)
		}
	}
	return first, candidates, nil
}

// programFits says what of a program is too large for the memory that there is. A check of numbers
// is looked at only if what check.memory lets it take is. It returns the program as estimateProgram
// does.
func (s *Scenario) programFits(p *scenarios.ProgramPoint, do stages) (*lowering, error) {
	if s.Free.Bytes == 0 {
		return nil, nil
	}
	if share(p.Check.Memory, 2*notCollected) <= s.Free.Bytes { // with what bounds errors
		do &^= computes
	}
	e, low, err := s.estimateProgram(p, do)
	if err != nil {
		return nil, nil // as the run will say
	}
	var large *tooLarge
	if err := s.Free.lacks(e.Takes); errors.As(err, &large) {
		return nil, large.refusal(p.Point)
	}
	return low, nil
}

// lowerFitting lowers a program on all ranks, once, where there is the memory for some stages of
// it.
func lowerFitting(r *runner, p *scenarios.ProgramPoint, do stages) (*program.Lowered,
	map[string]scenarios.Algorithm, error) {
	low, err := r.s.programFits(p, do)
	if err != nil {
		return nil, nil, err
	}
	if low != nil && low.Schedule.Alike == nil {
		return low.Lowered, low.chosen, nil
	}
	return r.lower(p, nil)
}
