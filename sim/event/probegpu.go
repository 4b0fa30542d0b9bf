package event

import (
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// gpuProbe is what is remembered of GPUs.
type gpuProbe struct {
	causes   []cause // of each lane: why its bracket, or its kernel, does not begin sooner
	last     []int32 // of each bracket: its last step, when the last lane has left
	places   []freed // of each rank: the step that gave back places last
	engines  []freed // and a copy engine
	brackets []int32 // of each bracket, its record; −1 for none yet
	kernels  []int32 // of each lane, the record of the kernel that is in no bracket
}

// cause is what something waited for until a time.
type cause struct {
	what model.Awaited
	by   int32
	at   unit.Time
}

// freed is who gave back something last; of several at one time, the first lane.
type freed struct {
	at         unit.Time
	lane, step int32
}

func (f *freed) give(at unit.Time, lane, step int32) {
	if at > f.at || lane < f.lane {
		*f = freed{at, lane, step}
	}
}

func (p *probe) startGPU() {
	e, g := p.e, &p.gpu
	g.causes, g.kernels = make([]cause, len(e.lanes)), make([]int32, len(e.lanes))
	g.last, g.brackets = make([]int32, len(e.gpu.brackets)), make([]int32, len(e.gpu.brackets))
	g.places, g.engines = make([]freed, len(e.programs)), make([]freed, len(e.programs))
	for i := range g.brackets {
		g.last[i], g.brackets[i] = -1, -1
	}
	if p.log.Counters != nil {
		p.log.Counters = append(p.log.Counters,
			make([]model.Counter, len(e.links)-int(e.network.Wires))...)
		p.log.Busy = make([][]model.Level, len(e.programs))
	}
}

// bracketReady remembers why a bracket is not ready sooner.
func (p *probe) bracketReady(i, number int32, at unit.Time) {
	e := p.e
	b, rank := &e.gpu.brackets[number], e.lanes[i].rank
	c := cause{model.HostLaunch, -1, at}
	if e.rules.Arrives(rank, b.Issued).T < at {
		c.what, c.by = model.StepBefore, p.log.Lanes[i].Last
		for _, v := range e.step.Await {
			on := e.first[rank] + v.Lane
			if v.Value <= 0 {
				continue
			}
			if by := p.lanes[on].posts[v.Value-1]; p.steps.At(int(by)).End > p.stepEnd(c.by) {
				c.what, c.by = model.EventPost, by
			}
		}
	}
	p.gpu.causes[i] = c
}

// stepEnd is when a step has ended, 0 of none.
func (p *probe) stepEnd(step int32) unit.Time {
	if step < 0 {
		return 0
	}
	return p.steps.At(int(step)).End
}

// bracketBegins remembers what a bracket has waited for besides.
func (p *probe) bracketBegins(i, number int32, at unit.Time) {
	b, c := &p.e.gpu.brackets[number], &p.gpu.causes[i]
	isEngine := b.mark.Engine == schedule.CopyEngine
	ready := b.ready.T
	if at > c.at {
		f := &p.gpu.places[b.rank]
		if c.what = model.Places; isEngine {
			c.what, f = model.CopyEngine, &p.gpu.engines[b.rank]
		}
		c.by, c.at = f.step, at
	}
	if p.log.Brackets == nil || p.gpu.brackets[number] >= 0 {
		return
	}
	p.gpu.brackets[number] = int32(len(p.log.Brackets))
	blocks := int64(0)
	if b.resident && b.mark.Engine == schedule.SMs {
		blocks = b.places
	}
	p.log.Brackets = append(p.log.Brackets, model.BracketRecord{Name: p.nameOf(b), Rank: b.rank,
		Stream: b.stream, Lane: b.Lane, Lanes: b.lanes, Engine: b.mark.Engine, CopyEngine: b.engine,
		Blocks: blocks, Issued: b.Issued, Ready: ready, Begin: at})
}

// nameOf is the name of a bracket: its own, or that of its part, or of its schedule.
func (p *probe) nameOf(number *bracket) string {
	s := p.e.rules.Schedule
	if number.mark.Name != "" {
		return number.mark.Name
	}
	if parts := s.Parts(); parts != nil {
		part := &parts[number.Part]
		if part.Name != "" {
			return part.Name
		}
		return part.Schedule.Name
	}
	return s.Name
}

func (p *probe) bracketLeft(i, number int32, at unit.Time) {
	if b := &p.e.gpu.brackets[number]; b.ended.T == at {
		p.gpu.last[number] = p.log.Lanes[i].Last
	}
}

func (p *probe) bracketOver(number, _ int32, at unit.Time) {
	b := &p.e.gpu.brackets[number]
	f := &p.gpu.places[b.rank]
	if b.engine >= 0 {
		f = &p.gpu.engines[b.rank]
	}
	f.give(at, b.lane, p.gpu.last[number])
	if r := p.gpu.brackets[number]; r >= 0 {
		p.log.Brackets[r].End = at
	}
}

func (p *probe) kernelReady(i, _ int32, at unit.Time) {
	e := p.e
	if e.gpu.lanes[i].gate == passed {
		return
	}
	c := cause{model.StepBefore, p.log.Lanes[i].Last, at}
	if at == e.lanes[i].end.T {
		if c.by < 0 {
			c.what = model.RankStart
		}
	} else {
		c.what, c.by = model.EventPost, p.event(i, at)
	}
	p.gpu.causes[i] = c
}

// kernelBegins adds the record of a step that computes.
func (p *probe) kernelBegins(i, _ int32, start unit.Time) {
	e, c := p.e, &p.gpu.causes[i]
	rank, open := e.lanes[i].rank, e.gpu.lanes[i].open
	ready := c.at
	if start > c.at {
		c.what, c.by = model.Places, p.gpu.places[rank].step
	}
	p.addStep(i, start, c.what, c.by)
	s := p.steps.At(int(p.log.Lanes[i].Last))
	s.Dispatched = true
	p.gpu.kernels[i] = -1
	if p.log.Brackets == nil {
		return
	}
	claim := &e.gpu.claims[e.gpu.lanes[i].claim]
	if open >= 0 {
		if r := &p.log.Brackets[p.gpu.brackets[open]]; e.gpu.brackets[open].mark.Name == "" &&
			r.Blocks == 0 && r.Lanes == 1 && e.rules.Schedule.Parts() == nil {
			r.Name = e.step.Kernel.Kind.String()
		}
		p.log.Brackets[p.gpu.brackets[open]].Blocks += claim.grid.Blocks
		return
	}
	p.gpu.kernels[i] = int32(len(p.log.Brackets))
	p.log.Brackets = append(p.log.Brackets, model.BracketRecord{Name: e.step.Kernel.Kind.String(),
		Rank: rank, Stream: e.gpu.lanes[i].stream, Lane: i - e.first[rank], Lanes: 1, CopyEngine: -1,
		Blocks: claim.grid.Blocks, Issued: ready, Ready: ready, Begin: start})
}

func (p *probe) blocksEnd(number, _ int32, at unit.Time) {
	w := &p.e.gpu.waves[number]
	p.gpu.places[p.e.lanes[w.lane].rank].give(at, w.lane, p.log.Lanes[w.lane].Last)
}

// smsChange counts the SMs that have a block.
func (p *probe) smsChange(rank, _ int32, at unit.Time) {
	if p.log.Busy == nil {
		return
	}
	n := int32(0)
	for _, f := range p.e.gpu.ranks[rank].free {
		if f < model.WholeSM {
			n++
		}
	}
	list := p.log.Busy[rank]
	if last := len(list) - 1; last >= 0 && list[last].At == at {
		list = list[:last]
	}
	if last := len(list) - 1; last < 0 || list[last].Value != n {
		list = append(list, model.Level{At: at, Value: n})
	}
	p.log.Busy[rank] = list
}
