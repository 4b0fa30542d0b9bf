package event

import (
	"collsim/schedule"
	"collsim/sim/internal/cycle"
	"collsim/sim/model"
	"collsim/unit"
)

// A run is periodic from a time on when its state is what it was at an earlier time, but for a
// shift of all times, and each lane that has moved is at the same step of the same loop, in a later
// iteration. What follows depends on nothing else. So what has happened between the two times
// happens again and again, as long as the loops go on and their iterations move as many bytes.
// Whole periods are left out: their totals are added, and all times are moved on. Nothing is
// approximated.
//
// Package cycle finds a period among the states at the iterations of a certain lane, the beacon.

// period holds the search for periods.
type period struct {
	e         *engine
	search    cycle.Search
	isOff     bool  // for tests: every step is simulated
	mayBe     bool  // the run is one of those in which periods are left out
	beacon    int32 // a lane in a loop, −1 for none
	iteration int32 // of the beacon's loop, the latest
	isDue     bool  // the beacon has begun another one
	kept      snapshot
	rows      []messageRow // scratch of writeState
	refused   int          // lanes that could not be the beacon
	found     int          // periods that have been left out, each many times
}

// wordsPerStep bounds what the search costs: a word takes about a thousandth of the time of a step.
const wordsPerStep = 48

// A lane can be the beacon if at least leastFollow iterations follow that are alike. The search
// ends when mostRefused could not: then loops post and await events, or move other sizes each time.
const (
	leastFollow = 8
	mostRefused = 1 << 12
)

// snapshot holds the counts at the time of the kept state.
type snapshot struct {
	at     unit.Time
	totals model.Totals
	lanes  []progress
	loads  []unit.Bytes // of the links
}

// progress counts the steps of a lane, and the iterations of its outermost loop.
type progress struct{ steps, iteration int32 }

// start readies the search. Periods are left out of runs whose whole state writeState writes:
// under fluid sharing, without a log, and without what only programs and devices that offload have.
func (p *period) start() {
	e, s := p.e, p.e.rules.Schedule
	p.beacon, p.search.WordsPerStep = -1, wordsPerStep
	p.mayBe = !p.isOff && e.isFluid && !e.log.isOn() && e.observer == nil &&
		!e.faults.isOn() && !e.ahead.hasStreams() && !schedule.Composed(s) && s.Teams() == nil
}

// isOn reports whether periods may be left out.
func (p *period) isOn() bool { return p.mayBe }

// passes looks whether a lane that has ended a step is the beacon, or may be.
func (p *period) passes(i int32) {
	e, c := p.e, &p.e.lanes.at(i).cursor
	if c.Done() {
		if p.beacon == i {
			p.beacon = -1
		}
		return
	}
	loop, follow := c.Outermost()
	switch {
	case loop < 0 || follow == 0:
		if p.beacon == i {
			p.beacon = -1
		}
	case p.beacon == i:
		if now := c.Iterations()[0]; now != p.iteration {
			p.iteration, p.isDue = now, true
		}
	case p.beacon < 0 && follow > leastFollow && p.search.Affords(e.totals.Steps):
		l := e.lanes.at(i)
		p.iteration = c.Iterations()[0]
		if e.programs[l.rank].AlikeAfter(c, int(l.channel), p.iteration) < leastFollow {
			p.refused++
			p.mayBe = p.refused < mostRefused
			return
		}
		p.beacon = i
		p.search.Begin()
	}
}

// leaveOut looks for a period when all has been done that happens at an instant, and leaves out as
// many as it can.
func (p *period) leaveOut(now unit.Time) {
	if !p.isDue {
		return
	}
	p.isDue = false
	if !p.search.Affords(p.e.totals.Steps) {
		return
	}
	state, ok := p.writeState(p.search.Empty(), now)
	if !ok {
		return
	}
	if p.search.Add(state) {
		if times := p.periods(now); times > 0 {
			p.skip(times, now-p.kept.at)
			p.found++
		}
		p.beacon = -1
		return
	}
	if p.search.IsOld() {
		p.keepState(now)
	}
}

// keepState keeps the latest state to compare with.
func (p *period) keepState(now unit.Time) {
	e := p.e
	p.search.Keep()
	k := &p.kept
	k.at, k.totals = now, e.totals
	k.lanes, k.loads = k.lanes[:0], k.loads[:0]
	for i := range e.lanes.len() {
		c, at := &e.lanes.at(i).cursor, progress{}
		if at.steps = c.Step; !c.Done() && len(c.Iterations()) > 0 {
			at.iteration = c.Iterations()[0]
		}
		k.lanes = append(k.lanes, at)
	}
	for i := range e.links.len() {
		k.loads = append(k.loads, e.links.at(i).load)
	}
}

// periods returns how many periods like that since the kept state can be left out: until a lane
// comes to the last iteration of its loop, or to one that moves other sizes, or time ends.
func (p *period) periods(now unit.Time) int32 {
	e, k := p.e, &p.kept
	took := now - k.at
	if took <= 0 {
		return 0
	}
	times, hasMoved := int32(min(int64(unit.Forever-now)/int64(took)/2, 1<<30)), false
	for i := range e.lanes.len() {
		l, was := e.lanes.at(i), k.lanes[i]
		if l.cursor.Step == was.steps {
			continue
		}
		hasMoved = true
		by := l.cursor.Iterations()[0] - was.iteration // the state has its loop, so it is in one
		_, follow := l.cursor.Outermost()
		if times = min(times, follow/by); times == 0 {
			return 0
		}
		p := e.programs[l.rank]
		alike := p.AlikeAfter(&l.cursor, int(l.channel), was.iteration)
		if times = min(times, (alike-by)/by); times <= 0 {
			return 0
		}
	}
	if !hasMoved {
		return 0
	}
	return times
}

// skip leaves out so many periods of a given time.
func (p *period) skip(times int32, each unit.Time) {
	e := p.e
	k, n := &p.kept, int64(times)
	later := unit.Time(n) * each
	e.totals.Repeat(&k.totals, n)
	for i := range e.lanes.len() {
		l, was := e.lanes.at(i), k.lanes[i]
		if l.waits == forEver {
			continue
		}
		l.end.T, l.until.T = l.end.T+later, l.until.T+later
		if c := &l.cursor; c.Step != was.steps {
			c.SkipOutermost(times*(c.Iterations()[0]-was.iteration), times*(c.Step-was.steps))
		}
	}
	for i := range e.links.len() {
		e.links.at(i).load += unit.Bytes(n) * (e.links.at(i).load - k.loads[i])
	}
	e.conns.shift(later)
	e.flows.shift(later)
	e.now += later
}
