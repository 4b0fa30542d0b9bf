package run

import (
	"errors"
	"math"

	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// flopTime is what an operation of a kernel takes in a check of numbers, in nanoseconds.
const flopTime = 0.1

// What programs take beside what collectives do. TestProgramTakesMeasured holds the sum against the
// command's largest resident set.
const (
	programBytes  = 8 << 20 // what lowers, and the tables of results
	logOfPrograms = 2.25    // times the log of as many steps: from it, spans of ops are worked out
	tensorsAtOnce = 3       // given, computed, defined
	smallerAtOnce = 1       // schedules of smaller sizes, on which numbers are checked,
	sizesAtOnce   = 4       // and while one size after the other is tried, before tensors are made
	leastBytes    = commandBytes + programBytes
)

// EstimateProgram lowers a program and counts its steps. Of a call by "fastest" all that it may
// turn out to be are counted, each alone; in the program itself it is taken to be the first that
// can do it.
func (s *Scenario) EstimateProgram(p *scenarios.ProgramPoint) (_ *Estimate, err error) {
	defer func() { err = s.located(err) }()
	e, _, err := s.estimateProgram(p)
	if err != nil {
		return nil, err
	}
	g, err := p.Topology.Graph()
	if err != nil {
		return nil, p.Refuse("topology", prose.Unprefixed(err), "")
	}
	e.Takes.Schedule += unit.Bytes(linkBytes * g.NumLinks())
	e.Memory = leastBytes + e.Takes.peak()
	return e, nil
}

// estimateProgram is the estimate without what the network takes, and the log of a simulation.
func (s *Scenario) estimateProgram(p *scenarios.ProgramPoint) (*Estimate, unit.Bytes, error) {
	e := &Estimate{Point: p.Point, Algorithms: 1}
	r := &runner{s: s, candidates: e}
	low, _, err := r.lower(p, nil)
	if err != nil {
		return nil, 0, err
	}
	sched := low.Schedule
	e.Parts = len(sched.Parts())
	var all work
	var flops float64
	known := map[*schedule.Schedule]work{}
	for i := range sched.Parts() {
		part := sched.Parts()[i].Schedule
		w, there := known[part]
		if !there {
			w = workOf(part)
			known[part] = w
			e.Takes.Schedule += bytesOf(ownStepBytes * float64(w.steps))
		}
		flops += flopsOf(part)
		all = all.plus(w)
	}
	log := bytesOf(float64(logOfPrograms * float64(recordsTake(all, 1))))
	e.Steps, e.Messages = e.Steps+all.steps, e.Messages+all.messages
	e.Takes.Log = log // spans of ops are those of a timeline
	e.Takes.Simulation = bytesOf(float64(simPlaceBytes*float64(all.places)) +
		float64(simConnectionBytes*float64(all.connections)))
	steps, messages := float64(all.steps), float64(all.messages)
	once := float64(buildTime*(steps+messages)) + float64(buildRunTime*float64(all.runs))
	e.Seconds += float64(1e-9 * (float64(buildsToTime*once) +
		float64((simMessageTime+ownMessageTime)*(messages+steps)) +
		float64(laneTime*float64(all.lanes))))
	if p.Check.Proof {
		all.cells = max(all.cells, all.runs)
		e.Takes.Proof = bytesOf(proofNeeds(all, proofCellBytes))
		e.Seconds += float64(1e-9 * (float64(buildsToProve*once) + float64(proofStepTime*steps) +
			float64(proofBlockTime*float64(all.blocks))))
	}
	if p.Check.Numbers {
		e.expectNumbers(p, sched, all, flops)
	}
	return e, log, nil
}

// expectNumbers adds what a check of numbers takes, on sizes that it can compute.
func (e *Estimate) expectNumbers(p *scenarios.ProgramPoint, s *schedule.Schedule, all work,
	flops float64) {
	bytes := float64(s.Contents().Bytes) * float64(s.Spec.Ranks)
	by, most := 1.0, float64(sampledFLOPs)
	if p.Check.Full {
		most = math.Inf(1)
	}
	for flops/by/by/by > most || 2*bytes/by/by > float64(p.Check.Memory) {
		by *= 2
	}
	e.Takes.Numbers = bytesOf(float64(tensorsAtOnce*bytes/by/by) +
		float64(moveBytes*float64(all.steps)))
	if by > 1 {
		e.Takes.Numbers = max(e.Takes.Numbers+smallerAtOnce*e.Takes.Schedule,
			sizesAtOnce*e.Takes.Schedule)
	}
	e.NumberSeconds = 1e-9 * (float64(flopTime*flops/by/by/by) + float64(fillTime*bytes/by/by) +
		float64(numberStepTime*float64(all.steps)))
	e.Seconds += e.NumberSeconds
}

// flopsOf is how many operations a schedule's kernels have, twice: the definition computes them
// too.
func flopsOf(s *schedule.Schedule) (flops float64) {
	ranks := s.Alike()
	var step schedule.Step
	for rank := range ranks {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			for at := p.Walk(lane); !at.Done(); at.Next(1) {
				if p.Load(&at, &step); step.Kernel != nil {
					flops += float64(2 * float64(step.Kernel.FLOPs()))
				}
			}
		}
	}
	return flops * float64(s.Spec.Ranks/ranks)
}

// plus is the work of two schedules, one after the other.
func (w work) plus(v work) work {
	return work{w.steps + v.steps, w.messages + v.messages, w.bytes + v.bytes, w.moved + v.moved,
		w.lanes + v.lanes, w.blocks + v.blocks, w.places + v.places, w.connections + v.connections,
		w.cells + v.cells, w.held + v.held, max(w.longest, v.longest), w.sizes + v.sizes,
		max(w.largest, v.largest), w.runs + v.runs, ways{}}
}

// consider counts what a call may be carried out by, and returns the first that can do it: nothing
// is simulated.
func (r *runner) consider(p *scenarios.Point, list []scenarios.Algorithm) (first *made,
	candidates []Candidate, err error) {
	for _, a := range list {
		m, err := r.s.make(p, a)
		if err != nil && !leavesOut(err) {
			return nil, nil, err
		}
		if err != nil {
			candidates = append(candidates, Candidate{Algorithm: a, Time: -1,
				Why: prose.Unprefixed(err)})
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
			r.candidates.Seconds += c.build + c.simulate
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
	e, log, err := s.estimateProgram(p)
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
