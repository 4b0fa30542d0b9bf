package program

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Chosen is the schedule chosen for a call, for a team, and its name.
type Chosen struct {
	Schedule *schedule.Schedule
	Name     string
}

// Choose makes the schedule of a call by an algorithm's name, among these ranks (nil is all); the
// input may be symmetric memory.
type Choose func(spec collective.Spec, algorithm string, team []int, symmetric bool) (Chosen, error)

// Lowered is a program as one schedule.
type Lowered struct {
	Schedule *schedule.Schedule
	Ops      []LoweredOp // of all iterations, in order
	Streams  []string    // by number
	Where    map[string]schedule.Place
	Memory   Usage
	Notes    []Note // of the passes that were on, in their order
	Decided  Decisions
	Stages   []Stage // of a pipeline; nil if it is none
	// Registering lists the parts in which hosts register buffers.
	Registering []int
}

// LoweredOp is the result of lowering an op, or several that were fused.
type LoweredOp struct {
	Names     []string
	Became    string // "ring", "matmul m=…", "pipeline repaired"
	Iteration int
	Parts     []int // of Schedule.Parts
	IsCall    bool  // a collective, and no kernel
	Stream    string

	Microbatch int
	Pass       string // "forward", "backward", or "update" for what uses gradients
}

// Lower makes one schedule of a program. Errors are an *Error, which includes errors of choose.
func Lower(p *Program, passes Lowering, choose Choose) (*Lowered, error) {
	return LowerBy(p, passes, Guide{Choose: choose})
}

// LowerBy makes one schedule of a program with a guide, which also knows times, or what was decided
// at other sizes. Errors are an *Error, which includes errors of Guide.Choose.
func LowerBy(p *Program, passes Lowering, guide Guide) (*Lowered, error) {
	if guide.Alike != nil {
		if makesOthers(&passes) {
			return nil, notFolded("a pass is on that makes other parts than calls and kernels")
		}
		folded, err := p.folded(guide.Alike)
		if err != nil {
			return nil, err
		}
		p = folded
	}
	l, asWritten, err := p.resolveBoth()
	if err != nil {
		return nil, err
	}
	if n := len(l.tensors); n > schedule.MaxTensors {
		return nil, &Error{-1, -1, "tensor", fmt.Sprintf("%d tensors, those that ops write and "+
			"gradients included; at most %d", n, schedule.MaxTensors)}
	}
	stages, err := p.stages()
	if err != nil {
		return nil, err
	}
	x := newPlan(l, passes, guide)
	for _, pass := range passTable() {
		if !pass.on(&x.passes) {
			continue
		}
		if x, err = pass.apply(x); err != nil {
			return nil, err
		}
	}
	w, err := x.emit()
	if err != nil {
		return nil, err
	}
	if w.result.Schedule.Means, err = w.meaning(asWritten); err != nil {
		return nil, err
	}
	w.result.Memory = w.account()
	carried := w.result.Decided.Backward
	w.result.Notes, w.result.Decided, w.result.Stages = x.notes, x.decided, stages
	w.result.Decided.Backward = carried
	return w.result, nil
}

// emit makes the schedule of a plan. It is made once: ops and homes must not change afterwards.
func (x *plan) emit() (*scheduler, error) {
	if x.emitted == nil {
		w, err := scheduleOf(x)
		if err != nil {
			return nil, err
		}
		x.emitted = w
	}
	return x.emitted, nil
}

// scheduleOf makes the schedule of a plan anew.
func scheduleOf(x *plan) (*scheduler, error) {
	w := &scheduler{plan: x, tensors: map[string]schedule.Place{}, inside: map[string]bool{},
		uses: map[string][]int{}, owned: map[string]schedule.Tensor{}, registered: map[string]int{},
		result: &Lowered{Decided: Decisions{Backward: map[string]string{}}}}
	for _, t := range x.tensors {
		if _, lies := x.homes[t.Name]; !lies {
			w.declare(schedule.Tensor{Name: t.Name, Type: t.Type, Shape: t.Shape,
				Role: x.roles[t.Name], Symmetric: t.Memory == Symmetric})
		}
	}
	for _, t := range x.tensors {
		if _, lies := x.homes[t.Name]; lies {
			w.tensors[t.Name] = w.place(t.Name)
		}
	}
	for i := range max(x.Iterations, 1) {
		w.ended = map[string][]int{}
		w.iterations = append(w.iterations, w.ended)
		for _, u := range x.units() {
			w.await(u)
			var err error
			if len(u) > 1 {
				err = w.fuse(u, i)
			} else {
				err = w.op(&u[0], i)
			}
			if err != nil {
				return nil, err
			}
			for _, name := range answersOf(u) {
				w.ended[name] = append(w.ended[name], w.result.Ops[len(w.result.Ops)-1].Parts...)
			}
		}
	}
	w.wait()
	var err error
	if w.result.Schedule, err = w.compose(); err != nil {
		return nil, err
	}
	w.result.Where = w.tensors
	return w, nil
}

// scheduler is the state of making a schedule of a plan.
type scheduler struct {
	*plan
	list    []schedule.Tensor
	tensors map[string]schedule.Place
	parts   []schedule.Part
	batches []batch
	fence   []int // parts that every later op waits for
	// parts of ops by name, in each iteration and in this one, and those that the present unit
	// waits for by name
	iterations []map[string][]int
	ended      map[string][]int
	awaited    []int
	inside     map[string]bool  // tensors of fused ops that no memory holds
	uses       map[string][]int // of a tensor: indices in result.Ops of ops that use it
	owned      map[string]schedule.Tensor
	ownNames   []string // of owned, in order
	// buffers that have been registered, and in which iteration last
	registered map[string]int
	result     *Lowered
	usage      *Usage // once computed
}

// declare adds a tensor.
func (w *scheduler) declare(t schedule.Tensor) schedule.Buffer {
	at := schedule.FirstTensor + schedule.Buffer(len(w.list))
	w.list, w.tensors[t.Name] = append(w.list, t), schedule.Place{Tensor: at}
	return at
}

// place returns where a tensor is stored.
func (w *scheduler) place(name string) schedule.Place {
	h, lies := w.homes[name]
	if !lies {
		return w.tensors[name]
	}
	at := w.place(h.in)
	if off := at.Offset(0) + h.off; off > 0 {
		at.Offsets = []int64{off}
	}
	return at
}

// own adds a tensor that the program does not name, of at least so many elements. Equal names and
// types share one, which grows to the largest request. It returns its name and place.
func (w *scheduler) own(name string, t *schedule.Tensor, symmetric bool) (string, schedule.Place) {
	name = fmt.Sprintf("%s_%v", identifier(name), t.Type)
	was, known := w.owned[name]
	for _, taken := w.tensors[name]; taken && !known; _, taken = w.tensors[name] {
		name += "_" // the program has such a tensor
		was, known = w.owned[name]
	}
	w.use(name)
	if !known {
		was = *t
		w.ownNames = append(w.ownNames, name)
	}
	was.Shape = collective.Shape{max(was.Shape.Elements(), t.Shape.Elements())}
	was.Symmetric = was.Symmetric || symmetric
	w.owned[name] = was
	if _, lies := w.homes[name]; lies {
		return name, w.place(name)
	}
	if at, ok := w.tensors[name]; ok {
		has := &w.list[at.Tensor-schedule.FirstTensor]
		if t.Shape.Elements() > has.Shape.Elements() {
			has.Shape = collective.Shape{t.Shape.Elements()}
		}
		has.Symmetric = has.Symmetric || symmetric
		return name, at
	}
	return name, schedule.Place{Tensor: w.declare(schedule.Tensor{Name: name, Type: t.Type,
		Symmetric: symmetric, Shape: collective.Shape{t.Shape.Elements()}})}
}

// use records that the present op uses a tensor.
func (w *scheduler) use(name string) {
	now := len(w.result.Ops)
	if of := w.uses[name]; len(of) == 0 || of[len(of)-1] != now {
		w.uses[name] = append(of, now)
	}
}

// stream returns the number of a stream. Numbers are two apart: a pipeline has a second stream next
// to its own.
func (w *scheduler) stream(name string) int32 {
	i := slices.Index(w.result.Streams, name)
	if i < 0 {
		i = len(w.result.Streams)
		w.result.Streams = append(w.result.Streams, name, name+" (2)")
	}
	return int32(i)
}

// op lowers one op.
func (w *scheduler) op(r *resolved, iteration int) error {
	row := LoweredOp{Names: r.names(), Iteration: iteration, IsCall: r.call != nil,
		Stream: r.stream(), Microbatch: r.Microbatch, Pass: r.phase.String()}
	if r.call == nil {
		row.Became = r.kernelText()
		row.Parts = w.add(w.kernelParts(r), r.touches(), nil)
		if !r.kernel.HasResult() {
			w.batches[len(w.batches)-1].reads = w.intervals(r.reads())
		}
		w.result.Ops = append(w.result.Ops, row)
		return nil
	}
	if err := w.communicate(&row, r, iteration); err != nil {
		return err
	}
	if !r.Async {
		w.fence = append(w.elsewhere(w.fence, row.Parts), row.Parts...)
	}
	w.result.Ops = append(w.result.Ops, row)
	return nil
}

// communicate lowers a call.
func (w *scheduler) communicate(row *LoweredOp, r *resolved, iteration int) error {
	if w.passes.CommBuffer > 0 {
		c, _, err := w.chunksOf(r)
		if err == nil && c != nil {
			row.Parts, row.Became, err = w.staged(r, c, iteration)
		}
		if err != nil || c != nil {
			return err
		}
	}
	var parts []schedule.Part
	var buffers []string
	var in, out schedule.Place
	if len(r.In) > 0 {
		in, out = w.tensors[r.In[0]], w.tensors[r.Out]
		buffers = []string{r.In[0], r.Out}
	}
	for _, team := range r.teams {
		c, err := w.call(r, team)
		if err != nil {
			return err
		}
		row.Became = c.Name
		if r.phase == backwardPass {
			w.result.Decided.Backward[r.Name] = c.Name
		}
		part, scratch, err := w.callPart(r, team, c.Schedule, in, out)
		if err != nil {
			return err
		}
		if part.Launch != nil && r.launch > 0 {
			part.Launch.Together = int32(iteration)*w.launches + r.launch
		}
		parts = append(parts, part)
		if c.Schedule.OneSided() && scratch != "" {
			buffers = append(buffers, scratch)
		}
	}
	row.Parts = w.known(r.teams, r.stream(), iteration, buffers)
	row.Parts = append(row.Parts, w.add(parts, r.touches(), nil)...)
	return nil
}

// await finds the parts that a unit waits for by the names of ops.
func (w *scheduler) await(unit []resolved) {
	w.awaited = nil
	for i := range unit {
		for _, name := range unit[i].After {
			w.awaited = append(w.awaited, w.ended[name]...)
		}
		if before := len(w.iterations) - 2; before >= 0 {
			for _, name := range w.pending[unit[i].stream()] {
				w.awaited = append(w.awaited, w.iterations[before][name]...)
			}
		}
	}
}

// add adds parts that do one thing together and use tensors of these names, after some parts, and
// returns their numbers. Further waits follow from the memory that they access: see wait.
func (w *scheduler) add(parts []schedule.Part, uses []string, after []int) (numbers []int) {
	if len(parts) == 0 { // a kernel on ranks that have nothing of its operands
		return nil
	}
	after = slices.Concat(w.fence, w.awaited, after)
	w.batches = append(w.batches, batch{first: len(w.parts)})
	for _, p := range parts {
		p.After = after
		numbers = append(numbers, len(w.parts))
		w.parts = append(w.parts, p)
	}
	for _, t := range uses {
		w.use(t)
	}
	return numbers
}

// elsewhere returns those of some parts that are also on ranks without any of the new ones. There,
// waiting for the new parts does not imply waiting for these.
func (w *scheduler) elsewhere(parts, now []int) (list []int) {
	there := make([]bool, w.Ranks)
	for _, n := range now {
		if w.parts[n].Ranks == nil {
			return nil
		}
		for _, rank := range w.parts[n].Ranks {
			there[rank] = true
		}
	}
	if !slices.Contains(there, false) {
		return nil
	}
	for _, n := range parts {
		ranks := w.parts[n].Ranks
		if ranks == nil || slices.ContainsFunc(ranks, func(rank int) bool { return !there[rank] }) {
			list = append(list, n)
		}
	}
	return list
}
