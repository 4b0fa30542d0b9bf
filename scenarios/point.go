package scenarios

import (
	"reflect"
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
	Topology     *Topology      // shared by all points that have it
	Device       *device.Device // shared by all points that have it, and never changed
	Sim          Sim
	Arrival      Arrival `digest:"set"`
	Faults       []Fault `digest:"set"`
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

// runKeys returns the keys that say how time is counted, and what is checked.
func runKeys() []Key {
	return []Key{
		{Path: "sim.sharing", kind: aChoice, Values: sharings(), Default: `"fluid"`,
			Example: `"fifo"`, Sweep: true,
			Doc: "How messages share a link: all at once and max-min fairly, or one after the other.",
			to:  pick(sharings(), func(s *Sim, to Sharing) { s.Sharing = to })},
		{Path: "sim.segment", kind: aSize, min: 1, max: maxBytes, Default: "none",
			Example: `"64 KiB"`, Sweep: true,
			Doc:  "With fifo, other traffic may pass after every so many bytes of a message.",
			to:   set(func(s *Sim, n unit.Bytes) { s.Segment = n }),
			idle: `segments need sharing = "fifo"`},
		{Path: "sim.switching", kind: aChoice, Values: switchings(),
			Default: `"cut-through"`, Example: `"store-and-forward"`, Sweep: true,
			Doc: "Whether a message goes on while it arrives, or when it is there (with fifo).",
			to:  pick(switchings(), func(s *Sim, to Switching) { s.Switching = to })},
		{Path: "sim.engine", kind: aChoice, Values: engines(), Default: `"best"`, Example: `"event"`,
			Sweep: true,
			Doc: "Which engine simulates the schedule; the time is the same. Event simulates every rank. " +
				"Fold simulates one rank for all that do the same, and ranks that are late with a time for " +
				"each, where it can prove that this is exact. Sweep simulates every rank, a row of steps at " +
				"a time, in an order that it guesses and verifies. Best is fold where that can be, else " +
				"sweep if there are 1,024 ranks with a group, else event, which timelines and the critical " +
				"path take, too. Results say which it was: see [performance.md](performance.md).",
			to: pick(engines(), func(s *Sim, to Engine) { s.Engine = to })},
		{Path: "sim.slots", kind: aWhole, min: 0, max: maxSlots, Default: "the device's",
			Example: "8", Sweep: true,
			Doc: "Messages that may lie at the end of a connection unread; 0 is any number. A schedule " +
				"that says how many keeps its own, but one of another format (\"file:my.xml\") does so " +
				"only where this key is not given.",
			to: set(func(s *Sim, n int64) { s.Slots, s.SlotsSet = int(n), true })},
		{Path: "check.proof", kind: aFlag, Default: "true", Example: "false", Sweep: true,
			Doc: "Prove that every input arrives exactly once, without deadlock and race.",
			to:  set(func(c *Check, on bool) { c.Proof = on })},
		{Path: "check.numbers", kind: aFlag, Default: "true", Example: "false", Sweep: true,
			Doc: "Run the schedule on real data and compare with the definition.",
			to:  set(func(c *Check, on bool) { c.Numbers = on })},
		{Path: "check.memory", kind: aSize, min: 1, max: maxBytes, Default: `"1 GiB"`,
			Example: `"256 MiB"`, Sweep: true,
			Doc: "Bound on all buffers of that run; a larger collective is checked on a smaller count.",
			to:  set(func(c *Check, n unit.Bytes) { c.Memory = n })},
		{Path: "check.full", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Check all elements that `check.memory` allows, however long that takes; else a " +
				"smaller count is checked, or of very many ranks some output elements, where all would " +
				"take more than some two seconds, by counts alone ([numbers.md](numbers.md)).",
			to: set(func(c *Check, on bool) { c.Full = on })},
		{Path: "check.data", kind: aChoice, Values: dataKinds(),
			Default: `"exact"`, Example: `"normal"`, Sweep: true,
			Doc: "Its data: small integers whose sums are exact in any order, or random numbers.",
			to:  pick(dataKinds(), func(c *Check, to DataKind) { c.Data = to })},
	}
}

// point puts a view together for one collective, nil if something is wrong with it.
func (r *run) point(v *view, number int, network *Topology) *Point {
	p := &Point{Number: number, Topology: network, Device: &device.Device{}}
	ok := v.machine(p)
	at := numbered("collective", number) + "."
	given := v.fill(at[:len(at)-1], p)
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
	ok3 := v.spec(p, at) && given
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
	v.fill("measured", &p.Measured)
	v.use("measured.file")
	if p.Measured.Name != "" {
		v.use("measured.kind", "measured.in_place")
	}
	v.benchmark(&p.Benchmark)
	if !faultsFit(v, p) {
		return nil
	}
	if p.Algorithm.mayBeNCCL() {
		v.useLibrary()
	}
	return p
}

// machine reads device, sim, check and seed.
func (v *view) machine(p *Point) bool {
	p.Seed, _ = fetchOr(v, "seed", int64(0))
	var d device.Device
	ok := v.device(&d)
	p.Device = v.d.sharedDevice(d)
	p.Sim.Slots = p.Device.Slots
	ok = v.sim(&p.Sim) && ok
	v.fill("check", &p.Check)
	ok = v.fill("arrival", &p.Arrival) && ok
	if p.Arrival.Spread > 0 {
		v.use("arrival.law")
	}
	ok = v.faults(p) && ok
	ok = v.library(p) && ok
	return v.hardware(&p.Hardware) && ok
}

// sharedDevice returns one device for equal ones of points that follow one another closely: a sweep
// of many points has few.
func (d *Document) sharedDevice(of device.Device) *device.Device {
	const most = 8
	for _, one := range d.devices {
		if reflect.DeepEqual(one, &of) {
			return one
		}
	}
	d.devices = append([]*device.Device{&of}, d.devices[:min(len(d.devices), most-1)]...)
	return &of
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
	v.fill("device", &d)
	v.messages(&d)
	*into = d
	if d.Offload {
		v.use("device.queue")
	}
	if d.EagerLimit > 0 {
		v.use("device.receives_ahead")
	}
	v.use("device.sms")
	if d.GPU.SMs > 0 {
		for _, f := range device.Figures() {
			if f.OfGPU {
				v.use(f.Key)
			}
		}
	}
	if d.Offload && d.SendBuffer > 0 {
		v.fail("device.send_buffer", problem{"a device that offloads has a queue of messages, not a " +
			"buffer of bytes", "leave out one of offload and send_buffer"})
		return false
	}
	if d.Offload && d.Queue == 0 && !v.has("device.queue") {
		v.missing("device", "queue", "a device that offloads has a queue", v.example("device.queue"))
		return false
	}
	return true
}

// sim reads how time is counted.
func (v *view) sim(s *Sim) bool {
	v.fill("sim", s)
	if s.Sharing == FIFO {
		v.use("sim.segment")
	}
	if s.Sharing == Fluid && s.Switching == StoreForward {
		v.fail("sim.switching", problem{"a fluid flow takes all its links at once and is never " +
			"stored", `write sharing = "fifo"`})
		return false
	}
	return true
}

// spec leaves out of the collective what its kind has not, and refuses what does not go together.
func (v *view) spec(p *Point, at string) bool {
	s := &p.Spec
	if s.Type == 0 {
		s.Type = dtype.Float32 // so that sizes can be judged all the same
	}
	if s.Kind.Reduces() || s.Kind == collective.Custom {
		v.use(at + "op")
	} else {
		s.Op, s.Factor = 0, 0
	}
	if !operatorFits(v, at+"op", s.Op, s.Type) {
		return false
	}
	if s.Op == collective.Avg {
		v.use(at + "avg")
	} else {
		s.Avg = collective.AvgNCCL
	}
	if s.Op != 0 || v.has(at+"gradient") { // the backward pass may reduce
		v.use(at + "accumulate")
	}
	if s.Kind != collective.Barrier {
		v.use(at+"dtype", at+"input", at+"output", at+"compare")
	}
	if !s.Kind.Rooted() {
		s.Root = 0
	} else if v.use(at + "root"); s.Root >= p.smallest() {
		text := "no such rank; " + ranksUpTo(p.smallest()) + " is expected"
		if p.Teams != nil {
			text = "no such place in every team; " + ranksUpTo(p.smallest()) + " is expected"
		}
		v.fail(at+"root", problem{text, ""})
		return false
	}
	if s.InPlace && s.Kind == collective.AllToAllV {
		v.fail(at+"in_place", problem{"all_to_allv has no common place for what comes and goes", ""})
		return false
	}
	return true
}

// operatorFits refuses an operator that does not combine elements of a type.
func operatorFits(v *view, at string, op collective.Op, t dtype.Type) bool {
	err := collective.CheckOp(op, t)
	if err == nil {
		return true
	}
	hint := "and, or and xor are for bools and integers"
	switch {
	case t == dtype.Bool:
		hint = `of bools, sum and max would be "or", prod and min "and"`
	case t.IsComplex():
		hint = "complex numbers have no order, and their components do not multiply alone"
	}
	v.fail(at, problem{err.Error(), hint})
	return false
}
