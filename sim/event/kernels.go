package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// wave is blocks of a kernel that have begun at one time, and end at one.
type wave struct {
	claim   int32 // −1: of a kernel whose bracket has places
	lane    int32
	sms     taken
	limit   uint64 // the cap of its flow
	takes   unit.Time
	ends    unit.Time // no sooner: its arithmetic
	message int32     // its flow, −1 for none
	written int32     // its number among those in the compact log
}

// newWave adds a wave.
func (g *gpus) newWave(w wave) int32 {
	i := g.waves.Take()
	w.sms.on = g.waves.At(i).sms.on // for its room
	*g.waves.At(i) = w
	return i
}

// dispatches has the step in e.step claim places, where it is a kernel whose bracket has none. It
// reports whether it is one.
func (g *gpus) dispatches(i int32) bool {
	e := g.e
	l, s := e.lanes.at(i), &e.step
	x := &g.lanes[i]
	if s.Kernel == nil || x.holds {
		return false
	}
	if x.claim >= 0 {
		l.waits = forPlaces
		return true
	}
	at := l.end
	if x.launch != launched {
		t, known := e.events(i)
		if !known {
			return true
		}
		at = model.Later(at, t)
	}
	var mark *schedule.Launch
	who := model.Claim{Lane: i - e.first[l.rank]}
	if x.open >= 0 {
		b := &g.brackets[x.open]
		mark, who.Priority, who.Order = b.mark, e.rules.Priority(b.mark), b.Order
	}
	x.claim = g.claims.Put(claim{Claim: who, bracket: -1, lane: i, rank: l.rank, ready: at,
		perSM: e.rules.PerSM(mark), grid: g.grids.Of(&e.rules, l.rank, s.Kernel, mark)})
	l.waits = forPlaces
	g.report(kernelReady, i, 0, at.T)
	g.at(at.T, claimComes, x.claim)
	return true
}

// needsPlaces reports whether a kernel takes any time.
func (g *gpus) needsPlaces(c *claim) bool {
	return c.grid.Blocks > 0 && (c.grid.Time > 0 || c.grid.Starts() || g.moves(&c.grid.Grid))
}

// moves reports whether a kernel's blocks cross the memory.
func (g *gpus) moves(grid *model.Grid) bool {
	return g.e.rules.HasMemory() && grid.Moves()
}

// placeGrid gives the blocks of a kernel places, and reports whether all have had one.
func (g *gpus) placeGrid(number int32, now unit.Time) bool {
	c := g.claims.At(number)
	if !c.begun && g.isHeld(c.rank, now, rankGoesOn, c.rank) {
		return false
	}
	r, left := &g.ranks[c.rank], c.grid.Blocks-c.placed
	w := g.newWave(wave{claim: number, lane: c.lane, message: -1})
	n := r.take(model.BlockShare(c.perSM), left, &g.waves.At(w).sms)
	if n == 0 {
		g.waves.Drop(w)
		return false
	}
	if !c.begun {
		g.beginKernel(number, now)
		c = g.claims.At(number)
	}
	takes, bytes := c.grid.WaveAt(c.waves, c.placed, n)
	g.waves.At(w).takes = takes
	c.placed += n
	c.running++
	c.waves++
	g.addFlow(w, bytes)
	g.beginWave(w, now)
	return n == left
}

// addFlow makes what a wave moves a message over its rank's memory.
func (g *gpus) addFlow(number int32, n unit.Bytes) {
	e, w := g.e, g.waves.At(number)
	if n == 0 {
		return
	}
	w.limit = model.CapOf(n, w.takes)
	w.message = e.conns.add(message{kind: computing, bytes: n, lane: w.lane, conn: -1, post: -1,
		route: e.network.Memory(e.lanes.at(w.lane).rank), pacer: model.BlockPace,
		key: e.lanes.at(w.lane).key})
	e.lanes.at(w.lane).key++
	e.conns.message(w.message).also = number
}

// limitOf returns the highest rate of a wave's flow.
func (g *gpus) limitOf(wave int32) uint64 { return g.waves.At(wave).limit }

// beginWave lets a wave run.
func (g *gpus) beginWave(number int32, now unit.Time) {
	w := g.waves.At(number)
	w.ends = min(now+w.takes, unit.Forever)
	if e := g.e; e.log.isOn() {
		x := waved{of: g.lastOf(w.lane), begin: now}
		if w.message >= 0 {
			x.bytes, x.limit = e.conns.message(w.message).bytes, w.limit
		}
		w.written = e.log.wave(x)
	}
	if w.message < 0 {
		g.at(w.ends, waveEnds, number)
		return
	}
	g.beginFlow(w.message, now)
}

// beginFlow lets a message cross a memory.
func (g *gpus) beginFlow(m int32, now unit.Time) {
	e := g.e
	x := e.conns.message(m)
	x.since = model.Moment{T: now}
	e.report(asksAfter, m, -1, now)
	e.links.at(e.network.LinksOf(&e.network.Routes[x.route])[0]).load += x.bytes
	e.now = now
	e.startFlow(m)
}

// crossedMemory continues a wave, or a copy, whose flow over the memory has been drained.
func (g *gpus) crossedMemory(m int32, now unit.Time) {
	e := g.e
	x := e.conns.message(m)
	if x.kind == copying {
		lane := x.lane
		if e.log.isOn() && e.conns.isLogged(x) {
			e.log.write(aPacket, x.entry, now)
		}
		e.report(messageLeaves, m, 0, now)
		e.conns.drop(m)
		e.oneDone(lane, model.Moment{T: now})
		return
	}
	if w := g.waves.At(x.also); now < w.ends {
		g.at(w.ends, waveEnds, x.also)
		return
	}
	g.endWave(x.also, now)
}

// endWave gives back the places of a wave.
func (g *gpus) endWave(number int32, now unit.Time) {
	e, w := g.e, g.waves.At(number)
	e.log.waveEnds(w.written, now)
	if w.message >= 0 {
		e.report(messageLeaves, w.message, 0, now)
		e.conns.drop(w.message)
	}
	claim, lane := w.claim, w.lane
	g.report(blocksEnd, number, 0, now)
	if claim >= 0 {
		c := g.claims.At(claim)
		g.ranks[c.rank].give(model.BlockShare(c.perSM), &w.sms)
		g.markDirty(c.rank)
	}
	g.waves.Drop(number)
	if claim < 0 {
		e.oneDone(lane, model.Moment{T: now})
		return
	}
	c := g.claims.At(claim)
	if c.running--; c.running == 0 && c.placed == c.grid.Blocks {
		g.endKernel(claim, now)
	}
}

// beginKernel starts the sub-step that computes a claim's kernel: its first blocks have their
// places.
func (g *gpus) beginKernel(number int32, now unit.Time) {
	e, c := g.e, g.claims.At(number)
	c.begun = true
	l := e.lanes.at(c.lane)
	e.programs[l.rank].Load(&l.cursor, &e.step)
	e.totals.Steps++
	start := model.Later(c.ready, model.Moment{T: now})
	if e.faults.isOn() {
		e.faults.count(c.lane, start)
	}
	l.waits, l.sends, l.pending = forStep, -1, 1
	l.isPost = e.step.Post && l.cursor.Last(l.slices)
	l.until, e.moved, l.named, l.receives = start, 0, l.named[:0], 0
	if len(e.step.To) > 0 {
		e.moved = e.size(l)
	}
	g.lanes[c.lane].launch = notLaunched
	g.lanes[c.lane].steps++
	if e.log.isOn() {
		e.log.begin(c.lane, 0, start.T)
	}
	g.report(kernelBegins, c.lane, 0, start.T)
}

// endKernel ends that sub-step.
func (g *gpus) endKernel(number int32, now unit.Time) {
	c := g.claims.At(number)
	lane, at := c.lane, model.Later(c.ready, model.Moment{T: now})
	g.lanes[lane].claim = -1
	g.claims.Drop(number)
	g.report(kernelEnds, lane, 0, at.T)
	g.e.oneDone(lane, at)
}

// copies reports whether the sub-step in e.step copies over its rank's memory.
func (g *gpus) copies() bool {
	if g == nil {
		return false
	}
	e := g.e
	return model.IsCopy(&e.step) && e.rules.HasMemory() && e.moved > 0
}

// engage lets the sub-step in e.step, whose D is known, use its device: a copy crosses the memory,
// and a kernel whose bracket has places computes on them.
func (g *gpus) engage(i int32) {
	e := g.e
	l, s := e.lanes.at(i), &e.step
	x := &g.lanes[i]
	x.launch = notLaunched
	d := l.until.T
	switch {
	case d >= unit.Forever:
	case g.copies():
		m := e.conns.add(message{kind: copying, bytes: model.Copies(e.moved), lane: i, conn: -1,
			post: -1, route: e.network.Memory(l.rank), key: l.key,
			pacer: model.CopyPacer(x.pacer == model.EnginePace)})
		l.key++
		l.pending++
		e.enlist(m)
		g.at(d, flowBegins, m)
	case s.Kernel != nil && s.OpaqueTime() == 0:
		b := &g.brackets[x.open]
		grid := g.grids.Of(&e.rules, l.rank, s.Kernel, b.mark)
		takes, n := grid.Resident(b.places)
		if !g.moves(&grid.Grid) {
			n = 0
		}
		w := g.newWave(wave{claim: -1, lane: i, takes: takes, message: -1})
		g.addFlow(w, n)
		l.pending++
		g.at(d, waveBegins, w)
	}
}
