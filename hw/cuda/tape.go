package cuda

import (
	"context"
	"fmt"
	"unsafe"
)

// op is one call that has a stream do something. All of a job's are planned once and made in each
// repetition.
type op struct {
	kind      opKind
	on        *gpu
	stream    uintptr
	event     uintptr        // that is awaited or recorded
	host      uintptr        // memory of the host
	to        run            // of a copy
	from      run            // of a copy: as many bytes
	graph     *graph         // that is launched
	lane      *lane          // whose step it is of; nil: no lane's
	step      int32          // of the lane's program, −1: none
	blocks    uint32         // of a kernel, with so many
	threads   uint32         // threads each
	function  uintptr        // the kernel
	arguments unsafe.Pointer // of the kernel
}

// opKind is what an op has a stream do.
type opKind uint8

const (
	waits    opKind = iota // for an event
	records                // an event
	observes               // the same, as a node of a graph, for those who look at it from outside
	launches               // a kernel
	copies                 // by a copy engine
	replays                // a graph
	fetches                // to the host, as many bytes as from has
	brings                 // from the host, as many as to has
	hears                  // until the host has written a 1
)

// emit plans a call for the stream of a lane: in the graph that is being planned, if one is. What
// another machine does is not this one's.
func (p *execution) emit(l *lane, o op) {
	if l.rank.away {
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
	p.tape = append(p.tape, o)
}

// run makes planned calls.
func (p *execution) run(tape []op) error {
	for i := range tape {
		if i%1024 == 0 && p.ctx.Err() != nil {
			return fmt.Errorf("cuda: %w", context.Cause(p.ctx))
		}
		o := &tape[i]
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

// do makes a planned call.
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

// copy has a stream of a GPU copy bytes by a copy engine.
func (d *device) copy(g *gpu, stream uintptr, to, from run) error {
	if to.on == from.on {
		return d.on(g, "cuMemcpyDtoDAsync_v2", uintptr(to.at), uintptr(from.at), uintptr(from.n),
			stream)
	}
	return d.on(g, "cuMemcpyPeerAsync", uintptr(to.at), to.on.context, uintptr(from.at),
		from.on.context, uintptr(from.n), stream)
}

// event is one that comes when a stream has done all that it was given before.
type event struct {
	on     *gpu
	handle uintptr
	in     *graph  // that it is recorded in; nil: in none
	node   uintptr // what can be looked at from outside of that; 0: nothing
}

// record plans an event of a lane's stream, and returns its number.
func (p *execution) record(l *lane) (int, error) {
	e := event{on: l.rank.gpu, in: p.graph}
	if l.rank.away {
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

// wait plans that a lane's stream waits for an event. A graph as a whole waits for what comes from
// outside of it, and is over as a whole for who waits for something in it.
func (p *execution) wait(l *lane, number int) {
	if l.rank.away {
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

// seen is the GPU and the handle by which an event can be looked at.
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

// come reports whether an event has come.
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
