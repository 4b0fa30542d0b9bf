package cuda

import (
	"context"
	"sync/atomic"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// An execution executes one job: calls are planned once, and issued in each repetition.
type execution struct {
	ctx    context.Context
	device *device
	gpus   []*gpu // that have ranks
	s      *schedule.Schedule
	env    hw.Env
	wide   bool // steps compute in float32
	places machines
	moved  *atomic.Int64 // progress

	ranks      []*participant
	here       []*participant // on this machine
	lanes      []*lane        // of ranks on this machine
	all        []*lane
	streams    map[streamKey]uintptr
	origin     []uintptr   // one stream per GPU, outside the lanes
	startEvent uintptr     // event of the first GPU that precedes the start of the others
	offsets    []unit.Time // start of each GPU, counted from that event
	skew       unit.Time   // error bound of offsets, maximum so far

	// The plan: calls, and their events. The first events mark the start of the GPUs; graph is the
	// one that is being planned.
	ops       []op
	events    []event
	hasGraphs bool
	graph     *graph
	mail      mail

	// State while planning: lanes that may proceed, connections, and the step that is loaded.
	ready       []*lane
	connections map[hw.Connection]*connection
	step        schedule.Step
}

// A participant is a rank.
type participant struct {
	*rank.Memory
	number  int
	remote  bool // on another machine: its steps are planned, but not executed
	given   []byte
	gpu     *gpu
	at      []uint64 // address of each buffer
	inputs  []extent // its inputs; with iterations, also a copy
	lanes   []*lane
	left    int     // lanes that have not ended this iteration
	round   int     // completed iterations
	waiting []*lane // for an event of the schedule
}

// An extent is memory of a GPU, with a copy; the copy has no bytes if none is needed.
type extent struct{ at, copy run }

// A lane is the state of a lane while its steps are planned and executed.
type lane struct {
	rank     *participant
	program  *schedule.Program
	cursor   schedule.Cursor
	index    int
	ordinal  int // among the lanes of its part on the rank
	slices   int32
	stream   uintptr
	engine   schedule.Engine
	given    int32 // blocks of its launch; 0: any number
	priority int32
	graph    int32         // that its launch names, 0 for none
	joined   *graph        // graph that its stream has been forked into
	posts    []int         // end event of each step with a post, this iteration
	began    int           // event before its first step, this iteration
	steps    []subStep     // planned
	over     atomic.Int64  // number of steps that are known to have ended in this repetition
	deps     []depended    // of the current sub-step
	brought  []op          // copies of other machines' messages for the current sub-step
	rooms    []run         // scratch memory of the lane
	roomed   int           // number of rooms that the current sub-step uses
	outs     []hw.Messages // messages sent; At holds the number of a sub-step
	ins      []hw.Messages
}

// A subStep is a planned sub-step.
type subStep struct {
	step       int32 // of the program
	begin, end int   // numbers of events
	bytes      int64
	deps       []depended
}

// A depended is an event that a sub-step waits for: what it stands for, and whose lane records it.
type depended struct {
	event      int
	what       string
	rank, lane int
	crossing   int // number of the crossing that brings it; 0: an event of this machine
}

// execute executes a job on the GPUs of this machine.
func execute(ctx context.Context, d *device, job *hw.Job, env hw.Env) (*hw.Result, error) {
	p, err := newExecution(ctx, d, &task{job.Schedule, env, machines{count: 1}, job.Given()})
	if err != nil {
		return nil, err
	}
	result := &hw.Result{RanOn: hw.Here("cuda", d.version(len(p.gpus))), Float32: p.wide}
	var kept []hw.Recording
	for i := range env.Warmup + env.Repetitions {
		if err := p.repeat(); err != nil {
			return nil, err
		}
		if i < env.Warmup {
			continue
		}
		start, end, err := p.measure()
		if err != nil {
			return nil, err
		}
		measured, _ := hw.Measure(start, end)
		result.Repetitions = append(result.Repetitions, measured)
		if env.Trace && result.Fastest() == len(result.Repetitions)-1 {
			if kept, err = p.recordings(); err != nil {
				return nil, err
			}
		}
	}
	outputs, err := p.outputs()
	if err != nil {
		return nil, err
	}
	result.Skew = p.skew
	result.Take(job.Schedule, outputs)
	if env.Trace {
		result.Trace = hw.Timeline(job.Schedule, env.Iterations, kept)
	}
	return result, d.free()
}

// repeat issues the plan once more and waits for its end.
func (p *execution) repeat() error {
	if err := p.reset(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	if err := p.run(p.ops); err != nil {
		return err
	}
	return p.finish()
}

// of adds rank, lane and step to an error that has none.
func (p *execution) of(err error, rank, lane, step int) error {
	if e, ok := err.(*hw.Error); ok && e.Rank < 0 {
		e.Rank, e.Lane, e.Step = rank, lane, step
	}
	return err
}

// reset prepares a repetition: buffers are loaded, and bytes that no step writes are 0xff.
func (p *execution) reset() error {
	for _, one := range p.here {
		if err := p.load(one); err != nil {
			return p.of(err, one.number, -1, -1)
		}
	}
	for i, at := range p.mail.one {
		if err := p.device.on(p.gpus[i], "cuMemcpyHtoDAsync_v2", uintptr(at), address(&p.device.out.one),
			flagSize, p.origin[i]); err != nil {
			return err
		}
	}
	for _, l := range p.lanes {
		l.over.Store(0)
	}
	return nil
}

// start begins a repetition. All lanes of a GPU start after its first event, which is recorded when
// all GPUs are ready. The round trip between the first GPU and the others bounds the skew of these
// events.
func (p *execution) start() error {
	do := func(kind opKind, i int, event uintptr) op {
		return op{kind: kind, on: p.gpus[i], stream: p.origin[i], event: event}
	}
	var ops []op
	if len(p.gpus) > 1 {
		for i := range p.gpus[1:] {
			ops = append(ops, do(records, 1+i, p.events[1+i].handle),
				do(waits, 0, p.events[1+i].handle))
		}
		ops = append(ops, do(records, 0, p.startEvent))
		for i := range p.gpus[1:] {
			ops = append(ops, do(waits, 1+i, p.startEvent), do(records, 1+i, p.events[1+i].handle),
				do(waits, 0, p.events[1+i].handle))
		}
	}
	return p.run(append(ops, do(records, 0, p.events[0].handle)))
}

// load copies a rank's buffers to its GPU.
func (p *execution) load(one *participant) error {
	d, stream := p.device, p.origin[one.gpu.index]
	one.Reset(one.given)
	for b, memory := range one.Buffers {
		if len(memory) == 0 {
			continue
		}
		if err := d.on(one.gpu, "cuMemcpyHtoDAsync_v2", uintptr(one.at[b]), start(memory),
			uintptr(len(memory)), stream); err != nil {
			return err
		}
	}
	for _, e := range one.inputs {
		if e.copy.n == 0 {
			continue
		}
		if err := d.copy(one.gpu, stream, e.copy, e.at); err != nil {
			return err
		}
	}
	return nil
}

// plan plans all calls of a repetition.
func (p *execution) plan() error {
	for _, one := range p.ranks {
		one.left = len(one.lanes)
		for _, l := range one.lanes {
			if l.cursor = l.program.Walk(l.index); !one.remote {
				l.began = one.gpu.index
			}
			p.ready = append(p.ready, l)
		}
	}
	return p.issue()
}

// again begins the rank's next iteration once all its lanes have ended this one. Its first lane
// restores the inputs.
func (p *execution) again(one *participant) error {
	first := one.lanes[0]
	first.rest()
	var err error
	if !one.remote {
		if first.stream, err = p.streamOf(first); err != nil {
			return err
		}
	}
	for _, l := range one.lanes {
		p.wait(first, l.last())
	}
	for _, e := range one.inputs {
		if e.at.n > 0 {
			p.emit(first, op{kind: copies, to: e.at, from: e.copy})
		}
	}
	event, err := p.record(first)
	if err != nil {
		return err
	}
	one.left = len(one.lanes)
	for _, l := range one.lanes {
		l.rest()
		l.cursor, l.posts, l.began = l.program.Walk(l.index), nil, event
		p.ready = append(p.ready, l)
	}
	return nil
}

// rest resets a lane to its state before its first launch: on no stream.
func (l *lane) rest() {
	l.stream, l.joined = 0, nil
	l.engine, l.given, l.priority, l.graph = schedule.SMs, 0, 0, 0
}

// last returns the event after the lane's last sub-step so far.
func (l *lane) last() int {
	if n := len(l.steps); n > 0 && l.steps[n-1].end > l.began {
		return l.steps[n-1].end
	}
	return l.began
}

// outputs copies the ranks' outputs to the host and returns them.
func (p *execution) outputs() (all [][]byte, err error) {
	d := p.device
	for _, one := range p.here {
		for b, memory := range one.Buffers {
			if len(memory) == 0 {
				continue
			}
			rank.Spoil(memory)
			err := d.on(one.gpu, "cuMemcpyDtoHAsync_v2", start(memory), uintptr(one.at[b]),
				uintptr(len(memory)), p.origin[one.gpu.index])
			if err != nil {
				return nil, p.of(err, one.number, -1, -1)
			}
		}
	}
	if err := p.settle(); err != nil {
		return nil, err
	}
	for _, one := range p.here {
		all = append(all, one.Output())
	}
	return all, nil
}

// settle waits until the GPUs have done the work outside the lanes.
func (p *execution) settle() error {
	for i, g := range p.gpus {
		if err := p.device.on(g, "cuEventRecord", p.events[i].handle, p.origin[i]); err != nil {
			return err
		}
	}
	return p.await(func() (bool, bool, error) { return p.begun() })
}

// begun reports whether the first events of all GPUs have completed.
func (p *execution) begun() (all, moved bool, err error) {
	for i := range p.gpus {
		if come, err := p.come(i); !come || err != nil {
			return false, false, err
		}
	}
	return true, false, nil
}
