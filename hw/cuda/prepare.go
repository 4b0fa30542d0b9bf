package cuda

import (
	"context"
	"sync/atomic"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/schedule"
)

// A task is what an execution executes: a schedule in an environment. Its places map ranks to
// machines; given holds the inputs of this machine's ranks.
type task struct {
	schedule *schedule.Schedule
	env      hw.Env
	places   machines
	given    [][]byte
}

// newExecution prepares and plans a task for this machine.
func newExecution(ctx context.Context, d *device, t *task) (*execution, error) {
	if err := d.enter(len(t.given)); err != nil {
		return nil, err
	}
	t.places.ranks = t.schedule.Spec.Ranks
	p := &execution{ctx: ctx, device: d, s: t.schedule, env: t.env, places: t.places,
		wide: t.env.Float32, moved: &atomic.Int64{}, connections: map[hw.Connection]*connection{},
		streams: map[streamKey]uintptr{},
		gpus:    d.gpus[:min(d.used, len(t.given))],
		hasGraphs: t.schedule.AnyStep(func(s *schedule.Step) bool {
			return s.Launch != nil && s.Launch.Graph != 0
		})}
	if err := p.prepare(t.given); err != nil {
		return nil, err
	}
	return p, p.plan()
}

// alignment is the alignment of buffers in a rank's memory, in bytes.
const alignment = 256

// prepare creates the ranks and their memory. GPUs get consecutive ranks, evenly distributed.
func (p *execution) prepare(given [][]byte) error {
	for _, g := range p.gpus {
		stream, err := p.device.stream(g, 0)
		if err != nil {
			return err
		}
		handle, err := p.device.event(g)
		if err != nil {
			return err
		}
		p.origin = append(p.origin, stream)
		p.events = append(p.events, event{on: g, handle: handle})
	}
	var err error
	if p.startEvent, err = p.device.event(p.gpus[0]); err != nil {
		return err
	}
	for number := range p.s.Spec.Ranks {
		one := &participant{number: number, remote: p.places.of(number) != p.places.self}
		if one.remote {
			one.Memory = rank.Elsewhere(p.s, number)
			one.at = make([]uint64, len(one.Buffers))
		} else {
			local := len(p.here)
			one.Memory, one.given = rank.NewMemory(p.s, number), given[local]
			one.gpu = p.gpus[rank.WorkerOf(local, len(given), len(p.gpus))]
			if err := p.place(one); err != nil {
				return p.of(err, number, -1, -1)
			}
			p.here = append(p.here, one)
		}
		program, parts := p.s.Program(number), map[int]int{}
		for i := range program.Lanes() {
			l := &lane{rank: one, program: program, index: i, slices: int32(program.Slices(i)),
				ordinal: parts[program.Part(i)]}
			parts[program.Part(i)]++
			one.lanes, p.all = append(one.lanes, l), append(p.all, l)
			if !one.remote {
				p.lanes = append(p.lanes, l)
			}
		}
		p.ranks = append(p.ranks, one)
	}
	return p.post()
}

// place allocates the buffers of a rank.
func (p *execution) place(one *participant) error {
	var total int64
	offsets := make([]int64, len(one.Buffers))
	for b, memory := range one.Buffers {
		offsets[b] = total
		total += (int64(len(memory)) + alignment - 1) / alignment * alignment
	}
	base, err := p.device.allocate(one.gpu, total)
	if err != nil {
		return err
	}
	for _, offset := range offsets {
		one.at = append(one.at, uint64(base)+uint64(offset))
	}
	for _, b := range hw.InputBuffers(p.s) {
		home, at := one.Place(b)
		e := extent{at: run{one.gpu, one.at[home] + uint64(at.Off), at.Len}}
		if p.env.Iterations > 1 {
			again, err := p.device.allocate(one.gpu, at.Len)
			if err != nil {
				return err
			}
			e.copy = run{one.gpu, uint64(again), at.Len}
		}
		one.inputs = append(one.inputs, e)
	}
	return nil
}
