package scenarios

import (
	"slices"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/unit"
)

// Point is one fully determined run of a scenario. It is plain data: NewPoint makes one without a
// file.
type Point struct {
	// ID is stable and unique in the scenario: "all_reduce/ring/67108864", with the values of
	// what else varies behind it.
	ID         string
	Collective string // its name; empty if it has none
	// Spec is the collective on all ranks, or where there are teams on the largest of them: TeamSpec
	// has those of the others. Topology.Ranks is the number of all ranks in any case.
	Spec  collective.Spec
	Asked unit.Bytes // what bytes said, before rounding down; the size where count is given
	Whole unit.Bytes // of a custom collective: what bytes said, 0 if nothing
	// Teams has the ranks of each team; all teams do the collective at once. Place i of a list has
	// the role of rank i. Ranks in no team do nothing. Nil is one team of all ranks in their order.
	Teams [][]int
	// Tensor is the collective on tensors, of all ranks of a team, where the scenario or the input
	// file gives a shape; nil where there are elements alone. Spec and TeamSpec follow from it.
	Tensor   *collective.Communication
	Data     Files
	Gradient GradientMode
	// GradientData are the files of its backward pass: gradients of outputs go in, those of inputs
	// come out. They are the Data of Backward.
	GradientData Files
	Algorithm    Algorithm
	Topology     *Topology // shared by all points that have it
	Device       device.Device
	Sim          Sim
	Check        Check
	Benchmark    Benchmark
	Measured     MeasuredFile
	// Environment has the variables that NCCL reads, as a shell has them.
	Environment string
	// Version is NCCL's; empty is the newest that is known.
	Version string
	// Graph has the result of NCCL's search, in the words of its algorithms; empty where no file
	// states it.
	Graph string
	// TunerFile is the file that NCCL's tuner plugin reads, as the scenario names it, and Tuner has
	// its lines, each with its end; empty where there is no plugin.
	TunerFile, Tuner string
	Hardware         Hardware
	// Accumulate is a property of who carries the schedule out, so it is not in Spec.
	Accumulate Accumulation
	Seed       int64
	Axes       []Axis // what [sweep] set, in its order
	Forward    *Point // of a backward pass, the point whose it is; else nil
	ByBytes    bool   // the size is given by bytes: teams of another size have another count
	Number     int    // of the [[collective]], from 0
}

// Axis is a swept key at a point.
type Axis struct {
	Path  string // as written: "topology.ranks"
	Value Value  // as TOML has it
	Text  string // the value in its one spelling
}

// Sim says how time is counted.
type Sim struct {
	Sharing   Sharing
	Segment   unit.Bytes // with FIFO; 0: a message is one segment
	Switching Switching
	Engine    Engine
	Slots     int  // of connections that declare none; 0 is unlimited
	SlotsSet  bool // the scenario says so, not the device
}

// Check says what is checked besides.
type Check struct {
	Proof, Numbers bool
	Memory         unit.Bytes // bound on the buffers of the numeric check
	Full           bool       // check as much as that allows, however long it takes
	Data           DataKind
}

// point puts a view together for one collective, nil if something is wrong with it.
func (r *run) point(v *view, number int, network *Topology) *Point {
	p := &Point{Number: number, Topology: network, Collective: r.name(v, number)}
	ok := v.machine(p)
	at := numbered("collective", number) + "."
	kind, ok1 := r.kind(v, at)
	algorithm, ok2 := fetchOr(v, at+"algorithm", Algorithm{Name: fastest})
	if algorithm.Every && ok1 && !slices.Contains(r.algorithms[kind], algorithm.Name) {
		return nil // of another kind of the same collective
	}
	ok2 = ok2 && ok1 && r.algorithm(v, at, kind, &algorithm)
	p.Algorithm = algorithm
	if !ok1 || network == nil {
		return nil
	}
	p.Spec.Kind = kind
	if !v.teams(p, at) {
		return nil
	}
	ok3 := v.spec(p, at)
	ok3 = r.files(v, p, at) && ok3
	var ok4 bool
	if kind == collective.Custom {
		ok4 = ok2 && ok3 && r.shape(v, p, at)
	} else {
		tensors := v.has(at+"shape") || v.has(at+"input") // cannot be judged without the rest
		ok4 = (ok3 || !tensors) && r.sizes(v, p, at)
	}
	if !ok || !ok2 || !ok3 || !ok4 {
		return nil
	}
	for _, s := range p.specs() {
		if err := s.Validate(); err != nil {
			v.fail(at[:len(at)-1], problem{text: err.Error()})
			return nil
		}
	}
	if p.Asked == 0 {
		p.Asked = p.Spec.Bytes()
	}
	if !r.inputs(v, p, at) || !v.gradient(p, at) {
		return nil
	}
	v.measured(&p.Measured)
	v.benchmark(&p.Benchmark)
	if p.Algorithm.mayBeNCCL() {
		v.useLibrary()
	}
	return p
}

func (r *run) name(v *view, number int) string {
	name, _ := fetchOr(v, numbered("collective", number)+".name", "")
	return name
}

// machine reads device, sim, check and seed.
func (v *view) machine(p *Point) bool {
	ok1, ok2 := v.device(&p.Device), true
	p.Sim, ok2 = v.sim(p.Device.Slots)
	p.Check.Proof, _ = fetchOr(v, "check.proof", true)
	p.Check.Numbers, _ = fetchOr(v, "check.numbers", true)
	p.Check.Memory, _ = fetchOr(v, "check.memory", unit.GiB)
	p.Check.Full, _ = fetchOr(v, "check.full", false)
	p.Check.Data, _, _ = choose[DataKind](v, "check.data", dataKinds())
	p.Seed, _ = fetchOr(v, "seed", int64(0))
	ok3 := v.library(p)
	return v.hardware(&p.Hardware) && ok1 && ok2 && ok3
}

// device reads a preset and the figures that replace its own.
func (v *view) device(into *device.Device) bool {
	name, ok := fetchOr(v, "device.preset", "ideal")
	if !ok {
		return false
	}
	d, err := device.Lookup(name)
	if err != nil {
		v.fail("device.preset", problem{text: err.Error()})
		return false
	}
	d.Overhead, _ = fetchOr(v, "device.overhead", d.Overhead)
	d.ReduceRate, _ = fetchOr(v, "device.reduce_rate", d.ReduceRate)
	d.CopyRate, _ = fetchOr(v, "device.copy_rate", d.CopyRate)
	d.LaneRate, _ = fetchOr(v, "device.lane_rate", d.LaneRate)
	channels, _ := fetchOr(v, "device.channels", int64(d.Channels))
	d.Channels = int(channels)
	d.MultimemEfficiency, _ = fetchOr(v, "device.multimem_efficiency", d.MultimemEfficiency)
	d.SlotLatency, _ = fetchOr(v, "device.slot_latency", d.SlotLatency)
	d.Offload, _ = fetchOr(v, "device.offload", d.Offload)
	queue, readable := fetchOr(v, "device.queue", int64(d.Queue))
	d.Queue = int(queue)
	d.SendBuffer, _ = fetchOr(v, "device.send_buffer", d.SendBuffer)
	d.EagerLimit, _ = fetchOr(v, "device.eager_limit", d.EagerLimit)
	ahead, _ := fetchOr(v, "device.receives_ahead", int64(d.ReceivesAhead))
	d.ReceivesAhead = int(ahead)
	readable = v.messages(&d) && readable
	readable = v.gpu(&d) && readable
	*into = d
	if d.Offload {
		v.use("device.queue")
	}
	if d.EagerLimit > 0 {
		v.use("device.receives_ahead")
	}
	if d.Offload && d.SendBuffer > 0 {
		v.fail("device.send_buffer", problem{"a device that offloads has a queue of messages, not a " +
			"buffer of bytes", "leave out one of offload and send_buffer"})
		return false
	}
	if d.Offload && d.Queue == 0 && readable {
		v.missing("device", "queue", "a device that offloads has a queue", v.example("device.queue"))
		return false
	}
	return true
}

// sim reads how time is counted; slots are the device's.
func (v *view) sim(slots int) (s Sim, ok bool) {
	s.Sharing, _, _ = choose[Sharing](v, "sim.sharing", sharings())
	s.Segment, _ = fetchOr(v, "sim.segment", unit.Bytes(0))
	s.Switching, _, _ = choose[Switching](v, "sim.switching", switchings())
	s.Engine, _, _ = choose[Engine](v, "sim.engine", engines())
	n, given, _ := fetch[int64](v, "sim.slots")
	if s.Slots, s.SlotsSet = int(n), given; !given {
		s.Slots = slots
	}
	if s.Sharing == FIFO {
		v.use("sim.segment")
	}
	if s.Sharing == Fluid && s.Switching == StoreForward {
		v.fail("sim.switching", problem{"a fluid flow takes all its links at once and is never " +
			"stored", `write sharing = "fifo"`})
		return s, false
	}
	return s, true
}

// spec reads all of the collective but its sizes.
func (v *view) spec(p *Point, at string) bool {
	s := &p.Spec
	t, ok1 := fetchOr(v, at+"dtype", dtype.Float32)
	if s.Type = t; !ok1 {
		s.Type = dtype.Float32 // so that sizes can be judged all the same
	}
	op, ok2 := fetchOr(v, at+"op", operator{collective.Sum, 1})
	if s.Kind.Reduces() || s.Kind == collective.Custom {
		v.use(at + "op")
		s.Op, s.Factor = op.op, op.factor
	}
	mode, ok3 := fetchOr(v, at+"avg", collective.AvgNCCL.String())
	if s.Op == collective.Avg {
		v.use(at + "avg")
		s.Avg, _ = collective.ParseAvgMode(mode) // what is none has been reported
	}
	p.Accumulate, _, _ = choose[Accumulation](v, at+"accumulate", accumulations())
	if s.Op != 0 || v.has(at+"gradient") { // the backward pass may reduce
		v.use(at + "accumulate")
	}
	if s.Kind != collective.Barrier {
		v.use(at+"dtype", at+"input", at+"output", at+"compare")
	}
	root, ok4 := fetchOr(v, at+"root", int64(0))
	if s.Kind.Rooted() {
		v.use(at + "root")
		s.Root = int(root)
		if n := p.smallest(); ok4 && s.Root >= n {
			text := "no such rank; " + ranksUpTo(n) + " is expected"
			if p.Teams != nil {
				text = "no such place in every team; " + ranksUpTo(n) + " is expected"
			}
			v.fail(at+"root", problem{text, ""})
			ok4 = false
		}
	}
	inPlace, ok5 := fetchOr(v, at+"in_place", false)
	s.InPlace = inPlace
	if inPlace && s.Kind == collective.AllToAllV {
		v.fail(at+"in_place", problem{"all_to_allv has no common place for what comes and goes", ""})
		ok5 = false
	}
	return ok1 && ok2 && ok3 && ok4 && ok5
}
