package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// A run is periodic from a time on when its state is what it was at an earlier time, but for a
// shift of all times, and each lane that has moved is at the same step of the same loop, in a later
// iteration. What follows depends on nothing else. So what has happened between the two times
// happens again and again, as long as the loops go on and their iterations move as many bytes.
// Whole periods are left out: their totals are added, and all times are moved on. Nothing is
// approximated. The period is searched for as Brent does (An improved Monte Carlo factorization
// algorithm, BIT 20, 1980). One state is kept, for twice as long each time. The states that follow,
// one an iteration of a certain lane, the beacon, are compared with it.

// period is the state of the search.
type period struct {
	isOff   bool  // for tests: every step is simulated
	mayBe   bool  // the run is one of those in which periods are left out
	beacon  int32 // a lane in a loop, −1 for none
	turn    int32 // the iteration in which it was
	isDue   bool  // it has begun another one
	kept    snapshot
	state   []int64 // the latest
	rows    []messageRow
	age     int
	until   int   // so many states, before another one is kept
	spent   int64 // words written
	refused int   // lanes that could not be the beacon
	found   int   // periods that have been left out, each many times
}

// A state is written while the words so far are no more than wordsPerStep for each step simulated,
// and fewWords more. A word takes about a hundredth of the time of a step.
const (
	wordsPerStep = 48
	fewWords     = 1 << 18
)

// A lane can be the beacon if at least leastFollow iterations follow that are alike. The search
// ends when mostRefused could not: then loops post and await events, or move other sizes each time.
const (
	leastFollow = 8
	mostRefused = 1 << 12
)

// snapshot is a state, with the counts that go on from it.
type snapshot struct {
	state  []int64
	at     unit.Time
	totals model.Totals
	spent  estimate
	lanes  []progress
	loads  []unit.Bytes // of the links
}

// progress counts the steps of a lane, and the iterations of its outermost loop.
type progress struct{ steps, iteration int32 }

// startPeriod readies the search. Periods are left out of runs whose whole state writeState writes:
// under fluid sharing, without a log, and without what only programs and devices that offload have.
func (e *engine) startPeriod() {
	p, s := &e.period, e.rules.Schedule
	p.beacon = -1
	p.mayBe = !p.isOff && e.isFluid && e.tape.heads == nil && e.observer == nil &&
		e.matches == nil && e.streams == nil && e.backlogs == nil &&
		s.Parts() == nil && s.Teams() == nil
}

// passes looks whether a lane that has ended a step is the beacon, or may be.
func (e *engine) passes(i int32) {
	p, c := &e.period, &e.lanes[i].cursor
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
		if turn := c.Iterations()[0]; turn != p.turn {
			p.turn, p.isDue = turn, true
		}
	case p.beacon < 0 && follow > leastFollow && p.spent <= wordsPerStep*e.totals.Steps+fewWords:
		l := &e.lanes[i]
		turn := c.Iterations()[0]
		if e.programs[l.rank].AlikeAfter(c, int(l.channel), turn) < leastFollow {
			p.refused++
			p.mayBe = p.refused < mostRefused
			return
		}
		p.beacon, p.turn, p.kept.state, p.age, p.until = i, turn, p.kept.state[:0], 0, 1
	}
}

// leaveOut looks for a period when all has been done that happens at an instant, and leaves out as
// many as it can.
func (e *engine) leaveOut(now unit.Time) {
	p := &e.period
	if !p.isDue {
		return
	}
	p.isDue = false
	if p.spent > wordsPerStep*e.totals.Steps+fewWords {
		return
	}
	if !e.writeState(now) {
		return
	}
	p.spent += int64(len(p.state))
	if len(p.kept.state) > 0 && e.isBack() {
		if times := e.periods(now); times > 0 {
			e.skip(times, now-p.kept.at)
			p.found++
		}
		p.beacon = -1
		return
	}
	if p.age++; p.age >= p.until || len(p.kept.state) == 0 {
		e.keepState(now)
	}
}

// isBack reports whether the latest state is the kept one.
func (e *engine) isBack() bool {
	p := &e.period
	if len(p.state) != len(p.kept.state) {
		return false
	}
	for i, x := range p.state {
		if p.kept.state[i] != x {
			return false
		}
	}
	return true
}

// keepState keeps the latest state to compare with.
func (e *engine) keepState(now unit.Time) {
	p := &e.period
	k := &p.kept
	k.state, p.state = p.state, k.state
	k.at, k.totals, k.spent = now, e.totals, e.spent
	k.lanes, k.loads = k.lanes[:0], k.loads[:0]
	for i := range e.lanes {
		c, at := &e.lanes[i].cursor, progress{}
		if at.steps = c.Step; !c.Done() && len(c.Iterations()) > 0 {
			at.iteration = c.Iterations()[0]
		}
		k.lanes = append(k.lanes, at)
	}
	for i := range e.links {
		k.loads = append(k.loads, e.links[i].load)
	}
	p.age, p.until = 0, 2*p.until
}

// periods returns how many periods like that since the kept state can be left out: until a lane
// comes to the last iteration of its loop, or to one that moves other sizes, or time ends.
func (e *engine) periods(now unit.Time) int32 {
	k := &e.period.kept
	took := now - k.at
	if took <= 0 {
		return 0
	}
	times := int32(min(int64(unit.Forever-now)/int64(took)/2, 1<<30))
	for i := range e.lanes {
		l, was := &e.lanes[i], k.lanes[i]
		if l.cursor.Step == was.steps {
			continue
		}
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
	return times
}

// skip leaves out so many periods of a given time.
func (e *engine) skip(times int32, each unit.Time) {
	k, t, n := &e.period.kept, &e.totals, int64(times)
	later := unit.Time(n) * each
	t.Steps += n * (t.Steps - k.totals.Steps)
	t.Messages += n * (t.Messages - k.totals.Messages)
	t.BytesSent += unit.Bytes(n) * (t.BytesSent - k.totals.BytesSent)
	e.spent.begun += n * (e.spent.begun - k.spent.begun)
	e.spent.ended += n * (e.spent.ended - k.spent.ended)
	for i := range e.lanes {
		l, was := &e.lanes[i], k.lanes[i]
		if l.waits == forEver {
			continue
		}
		l.end.T, l.until.T = l.end.T+later, l.until.T+later
		if c := &l.cursor; c.Step != was.steps {
			c.SkipOutermost(times*(c.Iterations()[0]-was.iteration), times*(c.Step-was.steps))
		}
	}
	for i := range e.links {
		e.links[i].load += unit.Bytes(n) * (e.links[i].load - k.loads[i])
	}
	for i := range e.messages {
		e.messages[i].at.T, e.messages[i].since.T = e.messages[i].at.T+later,
			e.messages[i].since.T+later
	}
	for i := range e.marks {
		e.marks[i].at.T += later
	}
	for i := range e.queue {
		e.queue[i].First += later
	}
	e.fair.Shift(later)
	e.now += later
}
