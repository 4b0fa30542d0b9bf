package event

import (
	"collsim/sim/model"
	"collsim/unit"
)

// gpuLog holds what is written of GPUs in addition to times. It is small, as brackets and kernels
// are few.
type gpuLog struct {
	causes []gated
	waves  []waved
}

// gated notes why a step began no sooner, if the step begins a bracket or its blocks had places of
// their own. If a step has two such notes, the later one counts.
type gated struct {
	of named
	cause
}

// waved is a wave of a step's kernel.
type waved struct {
	of         named
	begin, end unit.Time
	bytes      unit.Bytes // that it has moved over the memory
	limit      uint64     // no faster than that
}

// cause writes why a step of a lane begins no sooner.
func (w *writer) cause(of named, c *cause) {
	if w.isOn() {
		w.causes = append(w.causes, gated{of, *c})
	}
}

// wave writes a wave that begins, and returns its number.
func (w *writer) wave(x waved) int32 {
	w.waves = append(w.waves, x)
	return int32(len(w.waves) - 1)
}

// waveEnds writes when a wave ends.
func (w *writer) waveEnds(number int32, at unit.Time) {
	if w.isOn() {
		w.waves[number].end = at
	}
}

// rewind puts all in the order of lanes and steps.
func (t *gpuLog) rewind(lanes int32) {
	t.causes = byLane(t.causes, lanes, func(c *gated) int32 { return c.of.lane })
	t.waves = byLane(t.waves, lanes, func(w *waved) int32 { return w.of.lane })
}

// byLane returns a list in the order of lanes and steps. Those of a lane are in the order of steps.
func byLane[T any](list []T, lanes int32, of func(*T) int32) []T {
	next := make([]int32, lanes+1) // of a lane: where its next one goes
	for i := range list {
		next[of(&list[i])+1]++
	}
	for lane := range lanes {
		next[lane+1] += next[lane]
	}
	sorted := make([]T, len(list))
	for i := range list {
		lane := of(&list[i])
		sorted[next[lane]] = list[i]
		next[lane]++
	}
	return sorted
}

// onGPU holds the properties of a form that concern the GPU.
type onGPU struct {
	cause      *gated // nil: what any step can have waited for
	waves      []waved
	flows      int32 // of them: all of a kernel that moves anything
	copies     bool
	dispatched bool
	begun      unit.Time // the bracket that it begins
	pacer      model.Pacer
}

// isLike reports whether two are the same, and nothing is any sub-step's own.
func (f *onGPU) isLike(o *onGPU) bool {
	return f.cause == nil && o.cause == nil && len(f.waves)+len(o.waves) == 0 && f.begun == o.begun &&
		f.copies == o.copies && f.dispatched == o.dispatched && f.pacer == o.pacer
}

// crosses returns the number of messages of a sub-step that cross its rank's memory.
func (f *onGPU) crosses() int32 {
	if f.copies {
		return 1
	}
	return f.flows
}

// loadGPU finds what the sub-step in e.step, to which a lane has come, has to do with its GPU.
func (r *reader) loadGPU(i int32, f *form) {
	e := r.e
	x, t := &e.gpu.lanes[i], &r.gpu
	of := named{i, int32(len(r.steps)) - r.firsts[i]}
	if of.step == 0 { // it has left all brackets
		x.next = x.first
	}
	begins := e.gpu.begins(i)
	if begins {
		x.enter(&e.gpu.brackets[e.gpu.ofLanes[x.next]])
	}
	f.pacer, f.dispatched = x.pacer, e.step.Kernel != nil && !x.holds
	if begins && len(t.causes) > 0 && t.causes[0].of == of {
		f.begun = t.causes[0].at
	}
	for len(t.causes) > 0 && t.causes[0].of == of {
		f.cause, t.causes = &t.causes[0], t.causes[1:]
	}
	n := 0
	for n < len(t.waves) && t.waves[n].of == of {
		if t.waves[n].bytes > 0 {
			f.flows++
		}
		n++
	}
	f.waves, t.waves = t.waves[:n], t.waves[n:]
}

// overMemory returns the record of a message that crosses its rank's memory, and when it has left.
func (r *reader) overMemory(number, at int32, m model.MessageRecord) (
	model.MessageRecord, unit.Time) {
	e, p := r.e, &r.steps[m.Step]
	f := r.form(p.form)
	m.Route, m.Peers = e.network.Memory(e.lanes.at(f.lane).rank), 0
	if f.copies {
		m.Bytes, m.Pacer = model.Copies(f.bytes), model.CopyPacer(f.pacer == model.EnginePace)
		return m, r.times.of[at]
	}
	w := &f.waves[number-r.firstOver(m.Step, f)]
	m.Since, m.Bytes, m.Pacer = w.begin, w.bytes, model.BlockPace
	return m, w.end
}

// capOf returns the highest rate that a flow may have.
func (r *reader) capOf(number int32, m *model.MessageRecord) uint64 {
	p := &r.steps[m.Step]
	if m.Pacer != model.BlockPace {
		return r.e.rules.PaceRateBy(m.Pacer, r.e.lanes.at(r.form(p.form).lane).rank, m.Peers)
	}
	f := r.form(p.form)
	return f.waves[number-r.firstOver(m.Step, f)].limit
}

// firstOver returns the number of the first message of a sub-step that crosses its rank's memory.
// Such messages come after all that the sub-step gets and sends.
func (r *reader) firstOver(step int32, f *form) int32 {
	first := r.steps[step].message
	if !r.e.log.byWay {
		return first + int32(len(f.sent()))
	}
	if n := int32(len(f.travels)); n > 0 {
		return r.ways[r.waysOf[step]+n-1].last + 1
	}
	return first
}

// isFlow reports whether a message shares what it crosses with others at the same time.
func (r *reader) isFlow(m *model.MessageRecord) bool {
	return r.e.isFluid || m.Pacer >= model.CopyPace
}
