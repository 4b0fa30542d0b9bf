package event

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// begin lets lane i begin the bracket that its present step begins, if it does. It reports whether
// the lane can go on; the bracket's begin is then the end of the lane's step before.
func (g *gpus) begin(i int32) bool {
	l := g.e.lanes.at(i)
	x := &g.lanes[i]
	if x.launch == launched || !g.begins(i) {
		return true
	}
	if x.launch == asking {
		l.waits = forPlaces
		return false
	}
	g.leave(i)
	number := g.ofLanes[x.next]
	b := &g.brackets[number]
	at, known := g.beginning(i, b)
	if !known {
		return false
	}
	x.enter(b)
	x.open = number
	b.come++
	b.ready = model.Later(b.ready, at)
	g.report(bracketReady, i, number, at.T)
	if !b.resident && b.mark.Engine == schedule.SMs || b.mark.Engine == schedule.Host {
		x.launch, l.end = launched, at
		g.report(bracketBegins, i, number, at.T)
		return true
	}
	x.launch, l.waits = asking, forPlaces
	if b.come == b.lanes {
		g.claimPlaces(number)
	}
	return false
}

// begins reports whether the present step of lane i, in e.step, begins the lane's next bracket.
func (g *gpus) begins(i int32) bool {
	e := g.e
	x, at := &g.lanes[i], &e.lanes.at(i).cursor
	switch {
	case at.Slice() > 0 || x.next == x.end:
		return false
	case g.isLaunched:
		return e.step.Launch != nil
	}
	return at.Step == 0
}

// enter notes what the lane's next bracket, which it begins, has for its steps.
func (x *laneGPU) enter(b *bracket) {
	x.next++
	x.graph, x.pacer, x.holds = b.Graph, model.LanePace, true
	if b.mark.Engine == schedule.SMs {
		x.holds = b.resident
	} else if b.mark.Engine == schedule.CopyEngine {
		x.pacer = model.EnginePace
	}
}

// beginning returns the time when a lane can begin a bracket, apart from the wait for places. It
// reports whether that is known.
func (g *gpus) beginning(i int32, b *bracket) (at model.Moment, known bool) {
	e := g.e
	l := e.lanes.at(i)
	if !g.isLaunched {
		at = model.Later(l.end, e.rules.Arrives(l.rank, b.Issued))
		if !l.cursor.Edge() { // its blocks are there before they wait
			return at, true
		}
		posted, known := e.events(i)
		return model.Later(at, posted), known
	}
	inGraph := func(lane int32) bool { return b.Graph != 0 && g.lanes[lane].graph == b.Graph }
	at = model.Later(e.rules.Arrives(l.rank, b.Issued), e.rules.Follows(l.rank, l.end, inGraph(i)))
	if _, known = e.events(i); !known {
		return at, false
	}
	for _, v := range e.step.Await {
		if v.Value > 0 {
			at = model.Later(at, g.observed(i, v, inGraph))
		}
	}
	return at, true
}

// observed returns the time when the begin of a bracket of lane i sees an event that has been
// posted.
func (g *gpus) observed(i int32, v schedule.Event, inGraph func(lane int32) bool) model.Moment {
	e := g.e
	rank := e.lanes.at(i).rank
	on := e.first[rank] + v.Lane
	posted := e.lanes.at(on).posts[v.Value-1]
	if g.lanes[on].stream == g.lanes[i].stream {
		return e.rules.Follows(rank, posted, inGraph(on))
	}
	return e.rules.Observed(rank, posted, false)
}

// leave ends the bracket that a lane is in.
func (g *gpus) leave(i int32) {
	e, x := g.e, &g.lanes[i]
	if x.open < 0 {
		return
	}
	b := &g.brackets[x.open]
	b.over++
	b.ended = model.Later(b.ended, e.lanes.at(i).end)
	g.report(bracketLeft, i, x.open, e.lanes.at(i).end.T)
	if b.over == b.lanes && b.ended.T < unit.Forever {
		g.at(b.ended.T, bracketEnds, x.open)
	}
	x.open, x.holds, x.pacer = -1, false, model.LanePace
}

// endBracket gives back what a bracket has had.
func (g *gpus) endBracket(number int32, now unit.Time) {
	b := &g.brackets[number]
	g.report(bracketOver, number, 0, now)
	r, share := &g.ranks[b.rank], model.BlockShare(b.perSM)
	r.give(share, &b.sms)
	if b.sms.isAny() || b.engine >= 0 {
		g.markDirty(b.rank)
	}
	if b.engine >= 0 {
		r.engines[b.engine] = false
	}
	b.sms = taken{}
}

// claim is a bracket that wants its places, or a copy engine, or a kernel that wants some for the
// blocks of its grid.
type claim struct {
	model.Claim
	bracket int32 // −1: of the kernel of a lane
	lane    int32
	rank    int32
	perSM   int32
	grid    *model.KeptGrid
	placed  int64 // blocks of the grid, so far
	running int32 // waves
	waves   int   // begun so far
	ready   model.Moment
	begun   bool
}

// claimPlaces has a bracket ask for its places, when its last lane has come.
func (g *gpus) claimPlaces(number int32) {
	b := &g.brackets[number]
	who := model.Claim{Priority: g.e.rules.Priority(b.mark), Order: b.Order, Lane: b.Lane}
	c := g.claims.Put(claim{Claim: who, bracket: number, lane: b.lane, rank: b.rank, perSM: b.perSM,
		ready: b.ready})
	g.at(b.ready.T, claimComes, c)
}

// come puts a claim among those that wait.
func (g *gpus) come(number int32, now unit.Time) {
	c := g.claims.At(number)
	if c.bracket < 0 && !g.needsPlaces(c) {
		if g.isHeld(c.rank, now, claimComes, number) {
			return
		}
		g.beginKernel(number, now)
		g.endKernel(number, now)
		return
	}
	r := &g.ranks[c.rank]
	list := &r.waiting
	if c.bracket >= 0 && g.brackets[c.bracket].mark.Engine == schedule.CopyEngine {
		list = &r.copying
	}
	i, _ := slices.BinarySearchFunc(*list, c, func(other int32, c *claim) int {
		if model.First(&g.claims.At(other).Claim, &c.Claim) {
			return -1
		}
		return 1
	})
	*list = slices.Insert(*list, i, number)
	g.markDirty(c.rank)
}

// isHeld reports whether a fault holds what a rank could begin at an instant. Where it is only
// late, this is due again afterwards.
func (g *gpus) isHeld(rank int32, now unit.Time, again dueKind, item int32) bool {
	if !g.e.faults.isOn() {
		return false
	}
	at, goesOn := g.e.faults.resumes(rank, model.Moment{T: now})
	if goesOn && at.T > now {
		g.at(at.T, again, item)
	}
	return !goesOn || at.T > now
}

// markDirty remembers that a rank has something to give out.
func (g *gpus) markDirty(rank int32) {
	if r := &g.ranks[rank]; !r.isDirty {
		r.isDirty = true
		g.dirty = append(g.dirty, rank)
	}
}

// dispatch gives out what is free at an instant.
func (g *gpus) dispatch(now unit.Time) {
	for _, rank := range g.dirty {
		r := &g.ranks[rank]
		r.isDirty = false
		for len(r.waiting) > 0 && g.seat(r.waiting[0], now) {
			r.waiting = slices.Delete(r.waiting, 0, 1)
		}
		for len(r.copying) > 0 {
			engine := slices.Index(r.engines, false)
			if engine < 0 {
				break
			}
			r.engines[engine] = true
			c := r.copying[0]
			g.brackets[g.claims.At(c).bracket].engine = int32(engine)
			g.grant(c, now)
			r.copying = slices.Delete(r.copying, 0, 1)
		}
		g.report(smsChange, rank, 0, now)
	}
	g.dirty = g.dirty[:0]
}

// seat gives a claim places, and reports whether it has all that it wants.
func (g *gpus) seat(number int32, now unit.Time) bool {
	c := g.claims.At(number)
	r, share := &g.ranks[c.rank], model.BlockShare(c.perSM)
	if c.bracket < 0 {
		return g.placeGrid(number, now)
	}
	b := &g.brackets[c.bracket]
	if model.Room(r.each(), share) < b.places {
		return false
	}
	r.take(share, b.places, &b.sms)
	g.grant(number, now)
	return true
}

// grant lets the lanes of a bracket begin.
func (g *gpus) grant(number int32, now unit.Time) {
	e, c := g.e, g.claims.At(number)
	b := &g.brackets[c.bracket]
	at := model.Later(c.ready, model.Moment{T: now})
	for i := b.lane; i < e.first[b.rank+1]; i++ {
		if x := &g.lanes[i]; x.open == c.bracket && x.launch == asking {
			x.launch, e.lanes.at(i).end = launched, at
			g.report(bracketBegins, i, c.bracket, at.T)
			e.lanes.wake(i)
		}
	}
	g.claims.Drop(number)
}
