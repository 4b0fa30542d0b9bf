package cuda

import (
	"bytes"
	"fmt"

	"collsim/hw"
)

// A gpu holds what this process has on a GPU.
type gpu struct {
	index      int
	number     int32 // the driver's device number
	name       string
	processors int // SMs
	capability int // 10·major + minor

	context   uintptr
	highest   int32    // highest stream priority: the driver counts from 0 down to −highest
	streams   []stream // made so far
	events    []uintptr
	recorded  int // number of events that the run uses
	functions map[kernelName]kernels
	memory    []uintptr // of the run
	reaches   []bool    // by GPU index: kernels here can access its memory
}

// A stream is a CUDA stream that runs reuse.
type stream struct {
	handle   uintptr
	priority int32
	taken    bool // in use by the run
}

// look queries the properties of the i-th GPU.
func (d *device) look(i int) (err error) {
	g, o := &gpu{index: i}, d.out
	get := func(name string, args ...uintptr) {
		if err == nil {
			err = d.call(name, args...)
		}
	}
	attribute := func(number uintptr) int {
		get("cuDeviceGetAttribute", address(&o.number), number, uintptr(g.number))
		return int(o.number)
	}
	get("cuDeviceGet", address(&o.number), uintptr(i))
	g.number = o.number
	get("cuDeviceGetName", address(&o.text[0]), uintptr(len(o.text)), uintptr(g.number))
	name, _, _ := bytes.Cut(o.text[:], []byte{0})
	g.name = string(name)
	g.processors = attribute(multiprocessors)
	g.capability = 10*attribute(capabilityMajor) + attribute(capabilityMinor)
	d.gpus = append(d.gpus, g)
	return err
}

// open creates a context on a GPU.
func (d *device) open(g *gpu) error {
	g.functions, g.reaches = map[kernelName]kernels{}, make([]bool, len(d.gpus))
	g.reaches[g.index] = true
	if err := d.call("cuCtxCreate_v2", address(&d.out.pointer), 0, uintptr(g.number)); err != nil {
		return err
	}
	g.context, d.current = d.out.pointer, g
	o := d.out
	if err := d.call("cuCtxGetStreamPriorityRange", address(&o.list[0]),
		address(&o.list[1])); err != nil {
		return err
	}
	g.highest = -o.list[1]
	return nil
}

// connect gives kernels on one GPU access to the memory of another, if the hardware allows it.
func (d *device) connect(from, to *gpu) error {
	err := d.call("cuDeviceCanAccessPeer", address(&d.out.number), uintptr(from.number),
		uintptr(to.number))
	if err != nil || d.out.number == 0 {
		return err
	}
	if err := d.use(from); err != nil {
		return err
	}
	name := "cuCtxEnablePeerAccess"
	if code := d.code(&name, to.context, 0); code != 0 && code != alreadyReached {
		return d.failure(name, code)
	}
	from.reaches[to.index] = true
	return nil
}

// use makes a GPU's context current on the calling thread.
func (d *device) use(g *gpu) error {
	if d.current == g {
		return nil
	}
	d.current = g
	return d.call("cuCtxSetCurrent", g.context)
}

// on calls a function of the driver in the context of a GPU.
func (d *device) on(g *gpu, name string, args ...uintptr) error {
	if err := d.use(g); err != nil {
		return err
	}
	return d.call(name, args...)
}

// begin begins a run: no stream and no event is in use.
func (g *gpu) begin() {
	g.recorded = 0
	for i := range g.streams {
		g.streams[i].taken = false
	}
}

// allocate allocates memory of a GPU for the run.
func (d *device) allocate(g *gpu, n int64) (uintptr, error) {
	if n == 0 {
		return 0, nil
	}
	if err := d.on(g, "cuMemAlloc_v2", address(&d.out.pointer), uintptr(n)); err != nil {
		e := err.(*hw.Error)
		e.Text += fmt.Sprintf(": %d bytes are asked for", n)
		if d.call("cuMemGetInfo_v2", address(&d.out.size), address(&d.out.total)) == nil {
			e.Text += fmt.Sprintf(", %d of the device's %d are free", d.out.size, d.out.total)
		}
		return 0, err
	}
	g.memory = append(g.memory, d.out.pointer)
	return d.out.pointer, nil
}

// stream takes a stream of a priority, at least 0; higher ones than the GPU has are capped.
func (d *device) stream(g *gpu, priority int32) (uintptr, error) {
	priority = min(priority, g.highest)
	for i := range g.streams {
		if s := &g.streams[i]; !s.taken && s.priority == priority {
			s.taken = true
			return s.handle, nil
		}
	}
	if err := d.on(g, "cuStreamCreateWithPriority", address(&d.out.pointer), streamNonBlocking,
		uintptr(-priority)); err != nil {
		return 0, err
	}
	g.streams = append(g.streams, stream{d.out.pointer, priority, true})
	return d.out.pointer, nil
}

// event takes an event of a GPU for the run.
func (d *device) event(g *gpu) (uintptr, error) {
	if g.recorded == len(g.events) {
		if err := d.on(g, "cuEventCreate", address(&d.out.pointer), 0); err != nil {
			return 0, err
		}
		g.events = append(g.events, d.out.pointer)
	}
	g.recorded++
	return g.events[g.recorded-1], nil
}
