package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// gpuHappening names an event that an engine reports to the observer of its GPUs, as happening
// does.
type gpuHappening uint8

const (
	bracketReady  gpuHappening = iota // lane i has come to bracket j, which waits only for places
	bracketBegins                     // j of lane i
	bracketLeft                       // j by lane i, whose last step of it ends by then
	bracketOver                       // i, and what it has had is free again
	kernelReady                       // lane i has come to the kernel in e.step, as to a bracket
	kernelBegins                      // e.step of lane i, whose first blocks have places
	kernelEnds                        // of lane i
	blocksEnd                         // wave i, and its places are free again
	smsChange                         // what of rank i's SMs is free has changed, or may have
)

// seen has the observer's method for each gpuHappening.
var seen = [...]func(w *gpuWatch, i, j int32, at unit.Time){
	bracketReady: (*gpuWatch).bracketReady, bracketBegins: (*gpuWatch).bracketBegins,
	bracketLeft: (*gpuWatch).bracketLeft, bracketOver: (*gpuWatch).bracketOver,
	kernelReady: (*gpuWatch).kernelReady, kernelBegins: (*gpuWatch).kernelBegins,
	kernelEnds: (*gpuWatch).kernelEnds, blocksEnd: (*gpuWatch).blocksEnd,
	smsChange: (*gpuWatch).smsChange,
}

// report reports to the observers of the GPUs what happens at a time.
func (g *gpus) report(what gpuHappening, i, j int32, at unit.Time) {
	if w := g.watch; w != nil {
		seen[what](w, i, j, at)
	}
	if g.parts != nil {
		g.reportPart(what, i, j, at)
	}
}

// partsObserver is notified when brackets and kernels of parts begin.
type partsObserver interface {
	bracketBegins(first int32, at unit.Time) // whose first lane this is
	kernelBegins(lane int32, at unit.Time)
}

// reportPart reports to an observer of parts. A kernel outside of brackets is one of its own.
func (g *gpus) reportPart(what gpuHappening, i, j int32, at unit.Time) {
	switch what {
	case bracketBegins:
		if b := &g.brackets[j]; !b.seen {
			b.seen = true
			g.parts.bracketBegins(g.e.first[b.rank]+b.Lane, at)
		}
	case kernelBegins:
		if g.lanes[i].open < 0 {
			g.parts.bracketBegins(i, at)
		}
		g.parts.kernelBegins(i, at)
	}
}

// gpuWatch watches GPUs for a log: why brackets and kernels begin no sooner, and for a
// picture when they do and how many SMs have a block. These are few beside messages.
type gpuWatch struct {
	e        *engine
	log      *model.Log
	causes   []cause // of each lane: why its bracket, or its kernel, does not begin sooner
	last     []named // of each bracket: its last step, when the last lane has left
	places   []freed // of each rank: the step that gave back places last
	engines  []freed // and a copy engine
	brackets []int32 // of each bracket, its record; −1 for none yet
	kernels  []int32 // of each lane, the record of the kernel that is in no bracket
}

// named is a step of a lane by its number among the lane's: of a post, among its posts from 1 on.
// −1 is none.
type named struct{ lane, step int32 }

// lastOf names the last step that a lane has begun.
func (g *gpus) lastOf(lane int32) named { return named{lane, g.lanes[lane].steps - 1} }

// cause names what something waited for, and until when.
type cause struct {
	what model.Awaited
	by   named
	at   unit.Time
}

// freed is who gave back something last; of several at one time, the first lane.
type freed struct {
	at   unit.Time
	lane int32
	step named
}

func (f *freed) give(at unit.Time, lane int32, step named) {
	if at > f.at || lane < f.lane {
		*f = freed{at, lane, step}
	}
}

func newGPUWatch(e *engine, log *model.Log) *gpuWatch {
	lanes, brackets, ranks := e.lanes.len(), len(e.gpu.brackets), len(e.programs)
	w := &gpuWatch{e: e, log: log, causes: make([]cause, lanes), kernels: make([]int32, lanes),
		last: make([]named, brackets), brackets: make([]int32, brackets),
		places: make([]freed, ranks), engines: make([]freed, ranks)}
	for i := range w.brackets {
		w.last[i].step, w.brackets[i] = -1, -1
	}
	if log.Counters != nil {
		log.Counters = append(log.Counters, make([]model.Counter, e.links.len()-e.network.Wires)...)
		log.Busy = make([][]model.Level, ranks)
	}
	return w
}

// bracketReady remembers why a bracket is not ready sooner.
func (w *gpuWatch) bracketReady(i, number int32, at unit.Time) {
	e := w.e
	b, rank := &e.gpu.brackets[number], e.lanes.at(i).rank
	c := cause{model.HostLaunch, named{i, -1}, at}
	if e.rules.Arrives(rank, b.Issued).T < at {
		ended := unit.Time(0)
		if c.what, c.by = model.StepBefore, e.gpu.lastOf(i); c.by.step >= 0 {
			ended = e.lanes.at(i).end.T
		}
		for _, v := range e.step.Await {
			on := e.first[rank] + v.Lane
			if v.Value <= 0 {
				continue
			}
			if posted := e.lanes.at(on).posts[v.Value-1].T; posted > ended {
				c.what, c.by, ended = model.EventPost, named{on, v.Value}, posted
			}
		}
	}
	w.causes[i] = c
}

// bracketBegins remembers what a bracket has waited for besides.
func (w *gpuWatch) bracketBegins(i, number int32, at unit.Time) {
	b, c := &w.e.gpu.brackets[number], &w.causes[i]
	isEngine := b.mark.Engine == schedule.CopyEngine
	if at > c.at {
		f := &w.places[b.rank]
		if c.what = model.Places; isEngine {
			c.what, f = model.CopyEngine, &w.engines[b.rank]
		}
		c.by, c.at = f.step, at
	}
	w.e.log.cause(named{i, w.e.gpu.lanes[i].steps}, c)
	if w.log.Brackets == nil || w.brackets[number] >= 0 {
		return
	}
	w.brackets[number] = int32(len(w.log.Brackets))
	blocks := int64(0)
	if b.resident && b.mark.Engine == schedule.SMs {
		blocks = b.places
	}
	w.log.Brackets = append(w.log.Brackets, model.BracketRecord{Name: w.nameOf(b), Rank: b.rank,
		Stream: b.stream, Lane: b.Lane, Lanes: b.lanes, Engine: b.mark.Engine, CopyEngine: b.engine,
		Blocks: blocks, Issued: b.Issued, Ready: b.ready.T, Begin: at})
}

// nameOf returns the name of a bracket: its own, or that of its part, or of its schedule.
func (w *gpuWatch) nameOf(number *bracket) string {
	s := w.e.rules.Schedule
	if number.mark.Name != "" {
		return number.mark.Name
	}
	if schedule.Composed(s) {
		part := schedule.PartOf(s, int(number.Part))
		if part.Name != "" {
			return part.Name
		}
		return part.Schedule.Name
	}
	return s.Name
}

func (w *gpuWatch) bracketLeft(i, number int32, at unit.Time) {
	if b := &w.e.gpu.brackets[number]; b.ended.T == at {
		w.last[number] = w.e.gpu.lastOf(i)
	}
}

func (w *gpuWatch) bracketOver(number, _ int32, at unit.Time) {
	b := &w.e.gpu.brackets[number]
	f := &w.places[b.rank]
	if b.engine >= 0 {
		f = &w.engines[b.rank]
	}
	f.give(at, b.lane, w.last[number])
	if r := w.brackets[number]; r >= 0 {
		w.log.Brackets[r].End = at
	}
}

func (w *gpuWatch) kernelReady(i, _ int32, at unit.Time) {
	e := w.e
	if e.gpu.lanes[i].launch == launched {
		return
	}
	c := cause{model.StepBefore, e.gpu.lastOf(i), at}
	if at != e.lanes.at(i).end.T {
		c.what, c.by = model.EventPost, e.postAt(i, at)
	} else if c.by.step < 0 {
		c.what = model.RankStart
	}
	w.causes[i] = c
}

// postAt returns the post, made at a time, that the step in e.step of lane i awaits. Its step is −1
// if there is none.
func (e *engine) postAt(i int32, at unit.Time) named {
	for _, v := range e.step.Await {
		on := e.first[e.lanes.at(i).rank] + v.Lane
		if v.Value > 0 && e.lanes.at(on).posts[v.Value-1].T == at {
			return named{on, v.Value}
		}
	}
	return named{i, -1}
}

// kernelBegins remembers what a kernel has waited for besides, and that it has begun.
func (w *gpuWatch) kernelBegins(i, _ int32, start unit.Time) {
	e, c := w.e, &w.causes[i]
	rank, open := e.lanes.at(i).rank, e.gpu.lanes[i].open
	ready := c.at
	if start > c.at {
		c.what, c.by, c.at = model.Places, w.places[rank].step, start
	}
	e.log.cause(e.gpu.lastOf(i), c)
	e.report(kernelHasBegun, i, 0, start)
	w.kernels[i] = -1
	if w.log.Brackets == nil {
		return
	}
	claim := e.gpu.claims.At(e.gpu.lanes[i].claim)
	if open >= 0 {
		if r := &w.log.Brackets[w.brackets[open]]; e.gpu.brackets[open].mark.Name == "" &&
			r.Blocks == 0 && r.Lanes == 1 && !schedule.Composed(e.rules.Schedule) {
			r.Name = e.step.Kernel.Kind.String()
		}
		w.log.Brackets[w.brackets[open]].Blocks += claim.grid.Blocks
		return
	}
	w.kernels[i] = int32(len(w.log.Brackets))
	w.log.Brackets = append(w.log.Brackets, model.BracketRecord{Name: e.step.Kernel.Kind.String(),
		Rank: rank, Stream: e.gpu.lanes[i].stream, Lane: i - e.first[rank], Lanes: 1, CopyEngine: -1,
		Blocks: claim.grid.Blocks, Issued: ready, Ready: ready, Begin: start})
}

func (w *gpuWatch) kernelEnds(i, _ int32, at unit.Time) {
	if r := w.kernels[i]; r >= 0 {
		w.log.Brackets[r].End = at
	}
}

func (w *gpuWatch) blocksEnd(number, _ int32, at unit.Time) {
	lane := w.e.gpu.waves.At(number).lane
	w.places[w.e.lanes.at(lane).rank].give(at, lane, w.e.gpu.lastOf(lane))
}

// smsChange counts the SMs that have a block.
func (w *gpuWatch) smsChange(rank, _ int32, at unit.Time) {
	if w.log.Busy == nil {
		return
	}
	n := int32(0)
	for _, f := range w.e.gpu.ranks[rank].each() {
		if f < model.WholeSM {
			n++
		}
	}
	list := w.log.Busy[rank]
	if last := len(list) - 1; last >= 0 && list[last].At == at {
		list = list[:last]
	}
	if last := len(list) - 1; last < 0 || list[last].Value != n {
		list = append(list, model.Level{At: at, Value: n})
	}
	w.log.Busy[rank] = list
}
