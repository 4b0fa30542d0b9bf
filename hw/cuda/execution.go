package cuda

import (
	"context"
	"sync/atomic"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// execution plays one job: what streams are to do is planned once, and done in each repetition.
type execution struct {
	ctx    context.Context
	device *device
	gpus   []*gpu // that have ranks
	s      *schedule.Schedule
	env    hw.Env
	wide   bool // steps compute in float32
	places machines
	moved  *atomic.Int64 // progress

	ranks   []*participant
	here    []*participant // those on this machine
	lanes   []*lane        // of ranks on this machine
	all     []*lane
	streams map[streamKey]uintptr
	origin  []uintptr   // a stream of each GPU
	told    uintptr     // the event of the first GPU that the others begin after
	offsets []unit.Time // when each GPU began, since that
	skew    unit.Time   // how far off that may be, at most so far

	// What is planned: the calls, their events, of which the first are those with which the GPUs
	// begin, and the graph at hand.
	tape      []op
	events    []event
	hasGraphs bool
	graph     *graph
	mail      mail

	// The lanes that may go on, and the connections.
	ready       []*lane
	connections map[hw.Connection]*connection
	step        schedule.Step
}

// participant is a rank.
type participant struct {
	*rank.Memory
	number  int
	away    bool // on another machine: what it does is planned and not done
	given   []byte
	gpu     *gpu
	at      []uint64 // where its buffers lie there
	inputs  []extent // where what it is given lies, and a copy of that if there are iterations
	lanes   []*lane
	left    int     // lanes that have not ended this iteration
	round   int     // iterations that have ended
	waiting []*lane // for an event of the schedule
}

// extent is memory of a GPU, and where a copy of it is; without one, of no bytes.
type extent struct{ at, copy run }

// lane is one, on one stream at a time.
type lane struct {
	rank     *participant
	program  *schedule.Program
	cursor   schedule.Cursor
	index    int
	ordinal  int // among the lanes of its part on the rank
	slices   int32
	stream   uintptr
	engine   schedule.Engine
	given    int32 // blocks that its launch has, 0: as many as there are
	priority int32
	graph    int32         // that its launch names
	joined   *graph        // that its stream is in
	posts    []int         // the events that say that a post was made in this iteration
	began    int           // the event before its first step in this iteration
	steps    []subStep     // planned
	over     atomic.Int64  // of them, those that are known to have ended in this repetition
	deps     []depended    // of the sub-step at hand
	brought  []op          // messages of other machines that the sub-step at hand takes in
	rooms    []run         // memory of its own for values
	roomed   int           // of them, those that the sub-step at hand has
	outs     []hw.Messages // with At the number of a sub-step
	ins      []hw.Messages
}

// subStep is one that is planned.
type subStep struct {
	step       int32 // of the program
	begin, end int   // events
	bytes      int64
	deps       []depended
}

// depended is an event that a sub-step waits for: what it is of which lane.
type depended struct {
	event      int
	what       string
	rank, lane int
	crossing   int // 0: the event is one of this machine
}

// execute carries out a job on the GPUs that there are.
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

// repeat does all that is planned once more.
func (p *execution) repeat() error {
	if err := p.reset(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	if err := p.run(p.tape); err != nil {
		return err
	}
	return p.finish()
}

// of says where an error of a call was.
func (p *execution) of(err error, rank, lane, step int) error {
	if e, ok := err.(*hw.Error); ok && e.Rank < 0 {
		e.Rank, e.Lane, e.Step = rank, lane, step
	}
	return err
}

// reset makes all ready for a repetition: what no step writes is all ones.
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

// start begins a repetition. All lanes of a GPU begin after its first event, which is recorded when
// all GPUs are ready. How long it takes to notify the others, and to hear of them, bounds how far
// apart these events are.
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
		ops = append(ops, do(records, 0, p.told))
		for i := range p.gpus[1:] {
			ops = append(ops, do(waits, 1+i, p.told), do(records, 1+i, p.events[1+i].handle),
				do(waits, 0, p.events[1+i].handle))
		}
	}
	return p.run(append(ops, do(records, 0, p.events[0].handle)))
}

// load gives a rank its inputs.
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

// plan plans all that the lanes do.
func (p *execution) plan() error {
	for _, one := range p.ranks {
		one.left = len(one.lanes)
		for _, l := range one.lanes {
			if l.cursor = l.program.Walk(l.index); !one.away {
				l.began = one.gpu.index
			}
			p.ready = append(p.ready, l)
		}
	}
	return p.issue()
}

// again has a rank begin another iteration when all its lanes have ended this one: what it is given
// is written again, by its first lane.
func (p *execution) again(one *participant) error {
	first := one.lanes[0]
	first.rest()
	var err error
	if !one.away {
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

// rest has a lane be on no stream, as before its first launch.
func (l *lane) rest() {
	l.stream, l.joined = 0, nil
	l.engine, l.given, l.priority, l.graph = schedule.SMs, 0, 0, 0
}

// last is the event after the lane's last sub-step so far.
func (l *lane) last() int {
	if n := len(l.steps); n > 0 && l.steps[n-1].end > l.began {
		return l.steps[n-1].end
	}
	return l.began
}

// outputs is what all ranks have in the end.
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

// settle waits until the GPUs have done what they were given beside their lanes.
func (p *execution) settle() error {
	for i, g := range p.gpus {
		if err := p.device.on(g, "cuEventRecord", p.events[i].handle, p.origin[i]); err != nil {
			return err
		}
	}
	return p.await(func() (bool, bool, error) { return p.begun() })
}

// begun reports whether the first events of all GPUs have come.
func (p *execution) begun() (all, moved bool, err error) {
	for i := range p.gpus {
		if come, err := p.come(i); !come || err != nil {
			return false, false, err
		}
	}
	return true, false, nil
}
