package cuda

import (
	"context"
	"fmt"
	"unsafe"
)

// An op is a planned call that enqueues work on a stream. Ops are planned once a job, and issued in
// each repetition.
type op struct {
	kind      opKind
	on        *gpu
	stream    uintptr
	event     uintptr        // waited for or recorded
	host      uintptr        // host memory
	to        run            // of a copy
	from      run            // of a copy
	graph     *graph         // to launch
	lane      *lane          // the step's lane; nil for none
	step      int32          // of the lane's program; −1 for none
	blocks    uint32         // of a kernel
	threads   uint32         // per block
	function  uintptr        // the kernel
	arguments unsafe.Pointer // of the kernel
}

// An opKind says what an op enqueues.
type opKind uint8

const (
	waits    opKind = iota // wait for an event
	records                // record an event
	observes               // record an event inside a graph that the host can query
	launches               // launch a kernel
	copies                 // copy by a copy engine
	replays                // launch a graph
	fetches                // copy to the host; from has the size
	brings                 // copy from the host; to has the size
	hears                  // wait until the host has written a 1
)

// emit plans an op on the stream of a lane, or in the graph being planned. It ignores lanes of
// other machines.
func (p *execution) emit(l *lane, o op) {
	if l.rank.remote {
		return
	}
	o.on, o.stream, o.lane, o.step = l.rank.gpu, l.stream, l, l.cursor.Step
	if l.cursor.Done() {
		o.step = -1
	}
	if p.graph != nil {
		p.graph.ops = append(p.graph.ops, o)
		return
	}
	p.ops = append(p.ops, o)
}

// run issues planned ops.
func (p *execution) run(ops []op) error {
	for i := range ops {
		if i%1024 == 0 && p.ctx.Err() != nil {
			return fmt.Errorf("%w", context.Cause(p.ctx))
		}
		o := &ops[i]
		p.moved.Add(1)
		if err := p.device.do(o); err != nil {
			if o.lane == nil {
				return err
			}
			return p.of(err, o.lane.rank.number, o.lane.index, int(o.step))
		}
	}
	return nil
}

// do issues an op.
func (d *device) do(o *op) error {
	switch o.kind {
	case waits:
		return d.on(o.on, "cuStreamWaitEvent", o.stream, o.event, 0)
	case records:
		return d.on(o.on, "cuEventRecord", o.event, o.stream)
	case observes:
		return d.on(o.on, "cuEventRecordWithFlags", o.event, o.stream, recordExternal)
	case launches:
		d.arguments.parameters[0] = o.arguments
		return d.on(o.on, "cuLaunchKernel", o.function, uintptr(o.blocks), 1, 1, uintptr(o.threads),
			1, 1, 0, o.stream, address(&d.arguments.parameters[0]), 0)
	case replays:
		return d.on(o.on, "cuGraphLaunch", o.graph.executable, o.stream)
	case fetches:
		return d.on(o.on, "cuMemcpyDtoHAsync_v2", o.host, uintptr(o.from.at), uintptr(o.from.n),
			o.stream)
	case brings:
		return d.on(o.on, "cuMemcpyHtoDAsync_v2", uintptr(o.to.at), o.host, uintptr(o.to.n), o.stream)
	case hears:
		return d.on(o.on, "cuStreamWaitValue32_v2", o.stream, o.host, 1, waitAtLeast)
	}
	return d.copy(o.on, o.stream, o.to, o.from)
}

// copy enqueues a copy by a copy engine.
func (d *device) copy(g *gpu, stream uintptr, to, from run) error {
	if to.on == from.on {
		return d.on(g, "cuMemcpyDtoDAsync_v2", uintptr(to.at), uintptr(from.at), uintptr(from.n),
			stream)
	}
	return d.on(g, "cuMemcpyPeerAsync", uintptr(to.at), to.on.context, uintptr(from.at),
		from.on.context, uintptr(from.n), stream)
}

// An event completes when a stream has done everything that was enqueued before.
type event struct {
	on     *gpu
	handle uintptr
	in     *graph  // graph that records it; nil for none
	node   uintptr // event that the host can query inside a graph; 0 for none
}

// record plans an event on a lane's stream, and returns its number.
func (p *execution) record(l *lane) (int, error) {
	e := event{on: l.rank.gpu, in: p.graph}
	if l.rank.remote {
		p.events = append(p.events, e)
		return len(p.events) - 1, nil
	}
	var err error
	if e.handle, err = p.device.event(e.on); err != nil {
		return 0, err
	}
	if p.graph != nil && p.env.Trace {
		if e.node, err = p.device.event(e.on); err != nil {
			return 0, err
		}
		p.emit(l, op{kind: observes, event: e.node})
	}
	p.emit(l, op{kind: records, event: e.handle})
	p.events = append(p.events, e)
	return len(p.events) - 1, nil
}

// wait plans that a lane's stream waits for an event. A graph waits as a whole for events outside
// it. Outside, a wait for an event inside a graph becomes a wait for the end of the graph.
func (p *execution) wait(l *lane, number int) {
	if l.rank.remote {
		return
	}
	in := p.events[number].in
	if in != p.graph && in != nil {
		number = in.end
	}
	if in != p.graph && p.graph != nil {
		p.graph.after(op{kind: waits, event: p.events[number].handle})
		return
	}
	p.emit(l, op{kind: waits, event: p.events[number].handle})
}

// seen returns the GPU and the handle by which the host can query an event.
func (p *execution) seen(number int) (*gpu, uintptr) {
	e := &p.events[number]
	switch {
	case e.in == nil:
		return e.on, e.handle
	case e.node != 0:
		return e.on, e.node
	}
	end := &p.events[e.in.end]
	return end.on, end.handle
}

// come reports whether an event has completed.
func (p *execution) come(number int) (bool, error) {
	g, handle := p.seen(number)
	d, name := p.device, "cuEventQuery"
	if err := d.use(g); err != nil {
		return false, err
	}
	switch code := d.code(&name, handle); code {
	case 0:
		return true, nil
	case notReady:
		return false, nil
	default:
		return false, d.failure(name, code)
	}
}
