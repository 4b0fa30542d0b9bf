package run

import (
	"errors"
	"math/bits"

	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// Nanoseconds that things take in a check of a program's numbers, on one core of an AMD EPYC:
// shares of profiles of the examples, times what these took. TestProgramEstimateMeasured holds
// them against others.
const (
	flopTime     = 0.009   // an operation of a kernel in float32,
	wideFlopTime = 0.22    // or in float64, and integers;
	operandTime  = 0.7     // an element that a kernel reads or writes,
	packTime     = 0.9     // one of a matmul more,
	boundedTime  = 8       // or one to bound errors
	givenTime    = 9       // a float that is made,
	wholeTime    = 1.5     // or an integer
	movedTime    = 0.25    // a byte that is moved,
	heldTime     = 0.25    // or held
	summedTime   = 1.5     // an element that is added to another,
	addedTime    = 6       // or is so by definition,
	sparseTime   = 22      // where many are 0,
	doubtedTime  = 20      // or how far a sum may be off is worked out
	loweredTime  = 100_000 // a part of each size that is tried,
	triedTime    = 300     // and a step of it
)

// What programs take beside what collectives do. TestProgramTakesMeasured holds the sum against the
// command's largest resident set.
const (
	programBytes   = 8 << 20 // what lowers, and the tables of results
	logOfPrograms  = 2.25    // times the log of as many steps: from it, spans of ops are worked out
	numbersGarbage = 2       // times what is held, of which some has not been collected
	mostOfMemory   = 2.5     // times check.memory, with what bounds errors
	leastBytes     = commandBytes + programBytes
)

// EstimateProgram lowers a program and counts its steps. Of a call by "fastest" all that it may
// turn out to be are counted, each alone; in the program itself it is taken to be the first that
// can do it.
func (s *Scenario) EstimateProgram(p *scenarios.ProgramPoint) (_ *Estimate, err error) {
	defer func() { err = s.located(err) }()
	e, _, err := s.estimateProgram(p, p.Check.Numbers)
	if err != nil {
		return nil, err
	}
	g, err := p.Topology.Graph()
	if err != nil {
		return nil, p.Refuse("topology", err.Error(), "")
	}
	e.Takes.Schedule += unit.Bytes(linkBytes * g.NumLinks())
	e.Memory, e.MemoryWithin = leastBytes+e.Takes.peak(), RoughlyKnown
	if e.Within = RoughlyKnown; e.NumberSeconds == 0 {
		e.Within = HardlyForeseen
	}
	e.slow()
	return e, nil
}

// estimateProgram is the estimate without what the network takes, and the log of a simulation.
// It looks at what a check of numbers computes only where that is asked for.
func (s *Scenario) estimateProgram(p *scenarios.ProgramPoint, numbers bool) (*Estimate, unit.Bytes,
	error) {
	e := &Estimate{Point: p.Point, Algorithms: 1}
	r := &runner{s: s, candidates: e}
	low, chosen, err := r.lower(p, nil)
	if err != nil {
		return nil, 0, err
	}
	sched := low.Schedule
	parts := sched.Parts() // a copy of all
	e.Parts = len(parts)
	var all work
	known := map[*schedule.Schedule]work{}
	for i := range parts {
		part := parts[i].Schedule
		w, there := known[part]
		if !there {
			w = workOf(part)
			known[part] = w
			e.Takes.Schedule += bytesOf(ownStepBytes * float64(w.steps))
		}
		all = all.plus(w)
	}
	log := bytesOf(float64(logOfPrograms * float64(recordsTake(all, 1))))
	e.Steps, e.Messages = e.Steps+all.steps, e.Messages+all.messages
	e.Takes.Log = log // spans of ops are those of a timeline
	e.Takes.Simulation = bytesOf(float64(simPlaceBytes*float64(all.places)) +
		float64(simConnectionBytes*float64(all.connections)))
	steps, messages := float64(all.steps), float64(all.messages)
	once := float64(partTime*(steps+messages)) + float64(partRunTime*float64(all.runs))
	e.Seconds += float64(1e-9 * (float64(programBuilds*once) +
		float64((simMessageTime+ownMessageTime)*(messages+steps)) +
		float64(laneTime*float64(all.lanes))))
	if p.Check.Proof {
		all.cells = max(all.cells, all.runs)
		e.Takes.Proof = bytesOf(proofNeeds(all, proofCellBytes))
		e.Seconds += float64(1e-9 * (float64(programProofs*once) + float64(proofFoldedStepTime*steps) +
			float64(proofFoldedRunTime*float64(all.blocks))))
	}
	if numbers {
		r.candidates = &Estimate{}
		w, err := reference.WorkOfProgram(sched, r.optionsOf(&ProgramResult{Point: p, Lowered: low,
			chosen: chosen}))
		if err != nil {
			return nil, 0, p.Refuse("check.memory", err.Error(), "")
		}
		e.expectNumbers(&w)
	}
	return e, log, nil
}

// expectNumbers adds what a check of numbers takes.
func (e *Estimate) expectNumbers(w *reference.ProgramWork) {
	if e.scaled = w.By; w.Why != "" {
		return
	}
	e.Takes.Numbers = bytesOf(numbersGarbage * float64(w.Bytes))
	tried := int64(bits.Len64(uint64(w.By)))
	for _, x := range []struct {
		each float64
		n    int64
	}{{flopTime, w.FLOPs - w.WideFLOPs}, {wideFlopTime, w.WideFLOPs}, {operandTime, w.Elements},
		{packTime, w.Packed}, {boundedTime, w.Bounded}, {givenTime, w.Given}, {wholeTime, w.Whole},
		{movedTime, w.Moved}, {heldTime, w.Bytes}, {summedTime, w.Summed}, {addedTime, w.Added},
		{sparseTime, w.Sparse}, {doubtedTime, w.Doubted}, {numberStepTime, w.Steps},
		{loweredTime, tried * int64(e.Parts)}, {triedTime, tried * w.Steps}} {
		e.NumberSeconds += float64(1e-9 * x.each * float64(x.n))
	}
	e.Seconds += e.NumberSeconds
}

// plus is the work of two schedules, one after the other.
func (w work) plus(v work) work {
	return work{w.steps + v.steps, w.messages + v.messages, w.bytes + v.bytes, w.moved + v.moved,
		w.lanes + v.lanes, w.blocks + v.blocks, w.walked + v.walked, w.rolled + v.rolled,
		w.kept + v.kept, w.places + v.places, w.connections + v.connections, w.cells + v.cells,
		w.held + v.held, max(w.longest, v.longest), w.sizes + v.sizes, max(w.largest, v.largest),
		w.runs + v.runs, w.isOneSided || v.isOneSided, w.writing.plus(v.writing), ways{}}
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
		for _, member := range m.members {
			w := workOf(member.schedule)
			w.look(member.schedule, p, likelyPlayed(member.schedule, p, w))
			c := costOf(member.schedule, p, w, member.teams)
			r.candidates.Seconds += float64(programBuilds*c.build) + c.simulate
			r.candidates.Steps += int64(member.teams) * w.steps
			r.candidates.Messages += int64(member.teams) * w.messages
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
	e, log, err := s.estimateProgram(p, p.Check.Numbers && do&computes != 0 &&
		most > float64(s.Free.Bytes))
	if err != nil {
		return nil // as the run will say
	}
	t := e.Takes.only(do)
	if t.Log = 0; do&simulates != 0 {
		t.Log = log
	}
	var large *tooLarge
	if err := s.Free.lacks(t); errors.As(err, &large) {
		return large.refusal(p.Point)
	}
	return nil
}
