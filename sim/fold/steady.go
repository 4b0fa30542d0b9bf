package fold

import (
	"cmp"
	"slices"

	"collsim/schedule"
	"collsim/sim/internal/cycle"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// A run is steady from a time on when all that is under way is what it was at an earlier time, but
// for a shift of all times, and every lane is at the same step of the same loop, in a later
// iteration. What follows depends on nothing else, so the stretch between the two goes on to repeat
// itself until a lane comes to the end of its loop: whole repetitions before that are left out.
//
// Package cycle finds it among the states at the iterations of a certain lane, the beacon.

// steady holds the search for a cycle.
type steady struct {
	search cycle.Search
	beacon int32 // a lane in a loop, 1 more; 0 for none
	at     int32 // its place that counts
	isDue  bool
	kept   snapshot
	sorted []model.Request
	jumps  int // found
}

// wordsPerStep bounds what the search costs: so many words take a tenth to a fifth of the time of a
// sub-step.
const wordsPerStep = 16

// snapshot holds the counts at the time of the kept state.
type snapshot struct {
	at     unit.Time
	totals model.Totals
	lanes  []progress
	links  []carried
}

type progress struct{ steps, iteration int32 }

type carried struct {
	busy unit.Time
	load unit.Bytes
}

// advance goes to a lane's next sub-step.
func (e *engine) advance(i int32, l *lane) {
	c := &l.cursor
	place, step := c.Place(), c.Step
	if c.Next(e.slices); c.Step == step {
		return
	}
	isBeacon := e.beacon == i+1
	if c.Done() {
		if l.action = -1; isBeacon {
			e.beacon = 0
		}
		return
	}
	if l.action == l.own || c.Place() != place {
		l.action = -1
	}
	switch loop, follow := c.Around(); {
	case loop < 0 || follow < 2:
		if isBeacon {
			e.beacon = 0
		}
	case isBeacon:
		e.isDue = e.isDue || c.Place() == e.at
	case e.beacon == 0 && follow > 8 && e.repeats(l, loop):
		e.beacon, e.at = i+1, c.Place()
		e.search.WordsPerStep = wordsPerStep
		e.search.Begin()
	}
}

// repeat looks for a cycle, now that the next thing happens at a time, and leaves out as many as
// can be: it returns how much later that then is.
func (e *engine) repeat(now unit.Time) unit.Time {
	e.probe.comesTo(now)
	if !e.isDue {
		return 0
	}
	e.isDue = false
	if !e.search.Affords(e.steps) {
		return 0
	}
	isBack := e.search.Add(e.write(e.search.Empty(), now))
	if isBack && e.probe.canLeaveOut(now) {
		return e.jump(now)
	}
	if isBack || e.search.IsOld() {
		e.keep(now)
	}
	return 0
}

// keep takes the present state for the one to compare with.
func (e *engine) keep(now unit.Time) {
	e.search.Keep()
	k := &e.kept
	k.at, k.totals = now, e.totals
	k.lanes, k.links = k.lanes[:0], k.links[:0]
	for i := range e.lanes {
		k.lanes = append(k.lanes, progressOf(&e.lanes[i].cursor))
	}
	for i := range e.links {
		k.links = append(k.links, carried{e.links[i].busy, e.links[i].load})
	}
	e.probe.keeps(now)
}

func progressOf(c *schedule.Cursor) progress {
	p := progress{steps: c.Step}
	if !c.Done() {
		if loop, _ := c.Around(); loop >= 0 {
			p.iteration = c.Iteration()
		}
	}
	return p
}

// jump leaves out as many repetitions of what has happened since the kept state as it can.
func (e *engine) jump(now unit.Time) unit.Time {
	times, k := int64(1)<<40, &e.kept
	for i := range e.lanes {
		c, was := &e.lanes[i].cursor, k.lanes[i]
		if c.Step == was.steps {
			continue
		}
		loop, follow := c.Around() // the state has its place: it is in a loop if it has moved
		if !e.repeats(&e.lanes[i], loop) {
			times = 0
			break
		}
		times = min(times, int64(follow/(c.Iteration()-was.iteration)))
	}
	period := now - k.at
	if period > 0 {
		times = min(times, int64((unit.Forever-now)/period))
	}
	if times > 0 && times < 1<<40 {
		e.probe.leftOut(now, period, times)
		e.leaveOut(times, unit.Time(times)*period)
		e.jumps++
	}
	e.beacon = 0
	e.search.Forgive()
	return unit.Time(times) * period
}

// leaveOut moves everything on by so many repetitions, which take so long.
func (e *engine) leaveOut(times int64, later unit.Time) {
	k := &e.kept
	e.totals.Repeat(&k.totals, times)
	for i := range e.lanes {
		l, was := &e.lanes[i], k.lanes[i]
		if l.isOver() {
			continue
		}
		l.end.T, l.until.T = l.end.T+later, l.until.T+later
		if l.cursor.Step != was.steps {
			l.cursor.Skip(int32(times)*(l.cursor.Iteration()-was.iteration),
				int32(times)*(l.cursor.Step-was.steps))
		}
	}
	for i := range e.links {
		l, was := &e.links[i], k.links[i]
		l.busy = min(l.busy+unit.Time(times)*(l.busy-was.busy), unit.Forever)
		l.load += unit.Bytes(times) * (l.load - was.load)
		l.free += later
	}
	for i := range int32(e.messages.Len()) {
		e.messages.At(i).at.T += later
	}
	e.marks.Shift(later)
	for i := range int32(e.packets.Len()) {
		e.packets.At(i).tail.T += later
	}
	for i := range e.queue {
		e.queue[i].First += later
	}
	if e.fair != nil {
		e.fair.Shift(later)
	}
	e.last.request.First += later
}

// write appends the state to a list: all that later events depend on, with times relative to now. A
// time before now has no influence any more, however long ago it was.
func (e *engine) write(s []int64, now unit.Time) []int64 {
	s = append(s, e.forgotten) // numbers of connections and routes mean what they meant
	for i := range e.lanes {
		s = e.writeLane(s, &e.lanes[i], now)
	}
	for i := range e.conns {
		c := &e.conns[i]
		s = c.slots.AppendState(&e.marks, s, now)
		for m := c.queue.First; m >= 0; m = e.messages.Next(m) {
			s = e.writeMessage(s, m, now)
		}
		s = append(s, -2)
	}
	if e.fair == nil {
		for i := range e.links {
			s = append(s, int64(max(e.links[i].free-now, 0)))
		}
	}
	e.sorted = append(e.sorted[:0], e.queue...)
	slices.SortFunc(e.sorted, func(a, b model.Request) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second),
			cmp.Compare(a.Third, b.Third))
	})
	if e.fair != nil { // of one time, in any order: in that of their lanes
		slices.SortStableFunc(e.sorted, func(a, b flat.Entry[unit.Time]) int {
			x, y := e.messages.At(a.Item), e.messages.At(b.Item)
			return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(x.lane, y.lane),
				cmp.Compare(x.key, y.key))
		})
	}
	for i := range e.sorted {
		s = e.writeRequest(s, &e.sorted[i], now)
	}
	return s
}

func (e *engine) writeLane(s []int64, l *lane, now unit.Time) []int64 {
	c := &l.cursor
	if l.waits == forEver {
		return append(s, -3)
	}
	s = append(s, int64(l.waits), int64(l.on), int64(l.pending), int64(l.waiters), int64(l.next))
	s = l.until.AppendSince(l.end.AppendSince(s, now), now)
	if !c.Done() {
		outer := c.Outer()
		loop, _ := c.Around()
		s = append(s, int64(c.Place()), int64(loop), int64(c.Slice()))
		for _, done := range outer {
			s = append(s, int64(done))
		}
		if loop < 0 {
			s = append(s, int64(c.Step))
		}
	}
	for m := l.received; m >= 0 && l.waits == forStep; m = e.messages.At(m).also {
		s = append(s, int64(e.messages.At(m).conn))
	}
	for i := len(l.posts) - 1; i >= 0 && l.posts[i].T >= now; i-- {
		s = l.posts[i].AppendSince(s, now)
	}
	return append(s, int64(len(l.posts)))
}

// writeMessage appends a message that has not been received.
func (e *engine) writeMessage(s []int64, m int32, now unit.Time) []int64 {
	x := e.messages.At(m)
	s = append(s, int64(x.key-e.lanes[x.lane].key), int64(x.bytes), int64(x.carried), int64(x.late),
		int64(x.peers), int64(x.route))
	switch {
	case x.isHere:
		return x.at.AppendSince(s, now)
	case e.fair == nil || !e.fair.HasRate(m):
		return append(s, -4)
	}
	n, rest := e.fair.Left(m, now).Bytes()
	return append(s, int64(n), int64(rest), int64(e.fair.Rate(m)))
}

// writeRequest appends who asks for a link.
func (e *engine) writeRequest(s []int64, r *model.Request, now unit.Time) []int64 {
	m := r.Item
	s = append(s, int64(r.First-now), int64(r.Second))
	if e.fair == nil {
		p := e.packets.At(r.Item)
		m = p.message
		s = append(s, int64(p.from), int64(p.to), int64(p.hop))
		if !p.isFirst {
			s = p.tail.AppendSince(s, now)
			s = append(s, int64(r.Third-e.links[e.net.onPath(p.hop).from].went))
		}
	}
	x := e.messages.At(m)
	return append(s, int64(x.lane), int64(x.key-e.lanes[x.lane].key))
}
