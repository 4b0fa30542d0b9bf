package cuda

import (
	"slices"

	"collsim/schedule"
)

// A graph is a CUDA graph: the steps of all brackets that name it, on all ranks, captured once and
// launched as a whole. It is cut in two where a bracket waits for something outside that itself
// waits for the graph.
type graph struct {
	number     int32 // its number in the schedule
	on         *gpu
	stream     uintptr // that launches it
	base       uintptr // event at the start of the capture
	ops        []op
	before     []op    // waits before its launch
	lanes      []*lane // participating lanes of this machine
	end        int     // event after all of it
	executable uintptr
}

// after adds a wait before the launch of the graph.
func (g *graph) after(o op) {
	if !slices.Contains(g.before, o) {
		g.before = append(g.before, o)
	}
}

// next returns the next lane to plan, nil if none is ready. While a graph is planned, its lanes
// come first, unless they wait for another machine's part of the graph. Otherwise lanes outside
// graphs come before one that begins a graph.
func (p *execution) next() (*lane, error) {
	take := func(i int) *lane {
		l := p.ready[i]
		p.ready = append(p.ready[:i:i], p.ready[i+1:]...)
		return l
	}
	if !p.hasGraphs {
		if len(p.ready) == 0 {
			return nil, nil
		}
		l := p.ready[0]
		p.ready = p.ready[1:]
		return l, nil
	}
	var number int32
	if p.graph != nil {
		number = p.graph.number
	}
	for i, l := range p.ready {
		if p.graphOf(l) == number && (number == 0 || l.cursor.Done() || !p.wants(l).cut) {
			return take(i), nil
		}
	}
	if p.graph != nil {
		if err := p.capture(); err != nil {
			return nil, err
		}
		return p.next()
	}
	if len(p.ready) == 0 {
		return nil, nil
	}
	l := take(0)
	p.graph = &graph{number: p.graphOf(l)}
	return l, nil
}

// graphOf returns the graph of a lane's next sub-step, 0 for none.
func (p *execution) graphOf(l *lane) int32 {
	if l.cursor.Done() {
		return 0
	}
	l.program.Load(&l.cursor, &p.step)
	if s := p.step.Launch; s != nil {
		return s.Graph
	}
	return l.graph
}

// begin begins this machine's part of the graph being planned, on the GPU of its first lane here.
func (p *execution) begin(g *graph, l *lane) (err error) {
	if g.on != nil {
		return nil
	}
	g.on = l.rank.gpu
	if g.stream, err = p.device.stream(g.on, 0); err != nil {
		return err
	}
	g.base, err = p.device.event(g.on)
	return err
}

// capture ends the planning of a graph. It captures the graph on the graph's stream, which forks to
// all streams of its lanes and joins them, and plans the launch.
func (p *execution) capture() error {
	g, d := p.graph, p.device
	p.graph = nil
	if g.on == nil {
		return nil // only other machines take part
	}
	own := op{on: g.on, stream: g.stream, step: -1}
	with := func(kind opKind, event uintptr) op {
		o := own
		o.kind, o.event = kind, event
		return o
	}
	if err := d.on(g.on, "cuStreamBeginCapture_v2", g.stream, captureRelaxed); err != nil {
		return err
	}
	captured := append([]op{with(records, g.base)}, g.ops...)
	for _, l := range g.lanes {
		captured = append(captured, with(waits, p.events[l.last()].handle))
	}
	if err := p.run(captured); err != nil {
		return err
	}
	if err := d.on(g.on, "cuStreamEndCapture", g.stream, address(&d.out.pointer)); err != nil {
		return err
	}
	captive := d.out.pointer
	if err := d.call("cuGraphInstantiateWithFlags", address(&d.out.pointer), captive, 0); err != nil {
		return err
	}
	g.executable = d.out.pointer
	d.graphs = append(d.graphs, g.executable)
	if err := d.call("cuGraphDestroy", captive); err != nil {
		return err
	}
	for _, o := range g.before {
		o.on, o.stream, o.step = g.on, g.stream, -1
		p.ops = append(p.ops, o)
	}
	launch := with(replays, 0)
	launch.graph = g
	handle, err := d.event(g.on)
	if err != nil {
		return err
	}
	p.ops = append(p.ops, launch, with(records, handle))
	g.end = len(p.events)
	p.events = append(p.events, event{on: g.on, handle: handle})
	g.ops = nil
	return nil
}

// enter puts a lane on the stream that its launch asks for, and into the graph being planned. There
// it continues after its earlier steps.
func (p *execution) enter(l *lane) error {
	if s := p.step.Launch; s != nil {
		l.engine, l.given, l.priority, l.graph = s.Engine, 0, s.Priority, s.Graph
		if s.Engine == schedule.SMs && p.step.Kernel == nil {
			l.given = max(s.Blocks, 1)
		} else if s.Engine == schedule.SMs {
			l.given = s.Blocks
		}
	}
	if l.rank.remote {
		return nil
	}
	stream, err := p.streamOf(l)
	if err != nil || stream == l.stream && l.joined == p.graph {
		return err
	}
	l.stream = stream
	if g := p.graph; g != nil {
		if err := p.begin(g, l); err != nil {
			return err
		}
		if l.joined != g {
			g.lanes = append(g.lanes, l)
		}
		if p.events[l.last()].in != g {
			p.emit(l, op{kind: waits, event: g.base})
		}
	}
	l.joined = p.graph
	p.wait(l, l.last())
	return nil
}

// streamOf returns the CUDA stream of a lane. Each priority of each stream of the schedule has one
// of its own, and so have concurrent lanes of a part.
func (p *execution) streamOf(l *lane) (uintptr, error) {
	key := streamKey{l.rank.number, l.program.Stream(l.index), l.ordinal,
		min(l.priority, l.rank.gpu.highest)}
	handle, there := p.streams[key]
	if !there {
		var err error
		if handle, err = p.device.stream(l.rank.gpu, l.priority); err != nil {
			return 0, err
		}
		p.streams[key] = handle
	}
	return handle, nil
}

// A streamKey identifies a CUDA stream.
type streamKey struct {
	rank, stream, ordinal int
	priority              int32
}
