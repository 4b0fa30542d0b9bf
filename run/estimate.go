package run

import (
	"errors"
	"math"

	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// Nanoseconds of one core, in order of magnitude: one figure for each engine, measured on its
// benchmarks. An operation of a check of numbers takes one (see mostOperations).
const (
	pointTime = 500_000 // a point takes, whatever it does: network, schedule, bounds; a step
	eventTime = 1000    // simulated by events,
	sweepTime = 10      // or swept,
	likeTime  = 300     // or a rank that another one stands for
	proofTime = 1000    // proven
)

// Estimate counts what there is to do for a point, without running it.
type Estimate struct {
	Point           *scenarios.Point
	Skipped         string // why the point will be skipped; empty if it will be run
	Parts           int    // of a program; 0 of a collective
	Algorithms      int    // simulated: several for "fastest"; of a program, 1 + its candidates
	Steps, Messages int64  // of all of them; slices one by one
	Bytes           unit.Bytes
	Seconds         float64    // on one core, in order of magnitude: see Magnitude
	MostSeconds     float64    // if links or ranks that differ keep the ranks from being swept
	Takes           Takes      // stage by stage, of the one that takes the most
	Memory          unit.Bytes // an upper bound, with the command's own
}

// Magnitude rounds seconds to a power of ten, the least a millisecond.
func Magnitude(seconds float64) float64 {
	power := -3
	for power < 15 && seconds*math.Pow10(-power) >= 3 {
		power++
	}
	return math.Pow10(power)
}

// Sum returns the time of points one after the other, the most that it may be, and an upper bound
// of the memory that they take on one core, with their results.
func Sum(list []*Estimate) (seconds, most float64, memory unit.Bytes) {
	for _, e := range list {
		seconds, memory = seconds+e.Seconds, max(memory, e.Memory)
		most += max(e.Seconds, e.MostSeconds)
	}
	return seconds, most, memory + unit.Bytes(resultBytes*max(len(list)-1, 0))
}

// Estimate builds the schedule of a point, or of every algorithm that may turn out the fastest, and
// counts its steps.
func (s *Scenario) Estimate(p *scenarios.Point) (_ *Estimate, err error) {
	defer func() { err = s.located(err) }()
	e := &Estimate{Point: p}
	algorithms := standsFor(p)
	if p.Algorithm.Name == fastestName {
		algorithms = s.fewerChannels(p, algorithms)
	}
	var why error
	for _, a := range algorithms {
		m, err := s.make(p, a)
		var cannot *illegal
		if errors.As(err, &cannot) && (s.mayLeaveOut(p) || len(algorithms) > 1) {
			why = err
			continue
		}
		if err != nil {
			return nil, p.Refuse("collective.algorithm", reason(err), "")
		}
		e.add(m, len(algorithms) == 1)
	}
	if e.Algorithms == 0 {
		e.Skipped = reason(why)
		return e, nil
	}
	e.Memory = commandBytes + e.Takes.peak()
	e.Seconds += float64(1e-9 * pointTime)
	e.MostSeconds += e.Seconds
	return e, nil
}

// add counts one algorithm. One that is alone is sure to be proven and computed; of several, only
// the fastest is, which may be any.
func (e *Estimate) add(m *made, isAlone bool) {
	e.Algorithms++
	do := simulates
	if isAlone {
		do = runs
	}
	for _, member := range m.members {
		s, w := member.schedule, workOf(member.schedule)
		teams := int64(member.teams)
		e.count(work{}.plus(teams, w))
		e.Seconds += float64(float64(teams) * timeOf(s, e.Point, w, do))
		if sweeps(s, e.Point) && classesOf(s, e.Point) == 0 && differ(e.Point) {
			e.MostSeconds += float64(1e-9 * (eventTime - sweepTime) * float64(w.steps))
		}
	}
	if t := m.takes(e.Point, runs, 1); t.peak() >= e.Takes.peak() {
		e.Takes = t
	}
}

// count adds what there is to do in a schedule.
func (e *Estimate) count(w work) {
	e.Steps, e.Messages, e.Bytes = e.Steps+w.steps, e.Messages+w.messages, e.Bytes+unit.Bytes(w.bytes)
}

// timeOf estimates how many seconds the given stages of a schedule take.
func timeOf(s *schedule.Schedule, p *scenarios.Point, w work, do stages) float64 {
	steps, ranks := float64(w.steps), float64(s.Spec.Ranks)
	seconds := 0.0
	switch classes := classesOf(s, p); {
	case classes > 0:
		seconds = float64(likeTime*ranks) + float64(eventTime*steps*float64(classes)/ranks)
	case sweeps(s, p):
		seconds = float64(sweepTime * steps)
	default:
		seconds = float64(eventTime * steps)
	}
	if do&proves != 0 && p.Check.Proof {
		seconds += float64(proofTime * steps / float64(stoodFor(s, w)))
	}
	if do&computes != 0 && p.Check.Numbers {
		seconds += amountOf(s, p, w).operations
	}
	return 1e-9 * seconds
}
