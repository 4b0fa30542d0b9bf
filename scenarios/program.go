package scenarios

import (
	"maps"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/program/lowering"
	"collsim/program/mesh"
)

// ProgramPoint is one fully determined run of a program: where it runs, as in a Point without a
// collective, and what it does.
type ProgramPoint struct {
	*Point
	Iterations int
	Gradient   bool   // its backward pass follows
	Order      string // of programOrders
	Stages     []string
	Groups     []ProgramGroup
	Tensors    []ProgramTensor
	Ops        []ProgramOp
	Lowering   Lowering
	TensorData []TensorData
	Notes      []string // of its file, if it has one
	Unplaced   bool     // what its tensors hold, and how much memory they take, is not known

	lengths []ProgramLength `digest:"-"` // shapes and ops have them
	mesh    mesh.Mesh       `digest:"-"` // so have groups, shapes and calls
	placed  []placedTensor  `digest:"-"` // on the mesh
}

// Digest returns 16 hexadecimal digits of what a program means, as that of a point.
func (p *ProgramPoint) Digest(version string) string { return digestOf(*p, version) }

// Lowering is [lowering]: which passes a program goes through.
type Lowering = lowering.Passes

// OfProgram reports whether a point is that of a program: it has no collective of its own.
func (p *Point) OfProgram() bool { return p.Spec.Ranks == 0 }

// ProgramGroup is a [[program.group]].
type ProgramGroup struct {
	Name  string
	Teams [][]int
}

// ProgramTensor is a [[program.tensor]].
type ProgramTensor struct {
	Name   string
	Shape  collective.Shape
	Type   dtype.Type
	Memory string
	Keep   bool
	// NoGradient marks a tensor that gets no gradient.
	NoGradient bool
	At         int // number of its table: a repeated one makes several
}

// ProgramOp is a [[program.op]].
type ProgramOp struct {
	Name, Call, Kernel string
	In                 []string
	Out                string
	Outs               []string   // of a call of several tensors, in place of Out
	Type               dtype.Type // 0 where nothing is said
	Shape              collective.Shape
	Group, Stream      string
	Algorithm          Algorithm // of no name where nothing is said
	After, Wait        []string
	Async              bool
	Disabled           bool
	Backward           string // of an opaque kernel, that of the backward pass
	Microbatch         int    // which repetition it is
	At                 int    // number of its table: a repeated one makes several

	lengths   lengths  `digest:"-"`
	placement []string `digest:"-"`
}

func programKeys() []Key {
	return slices.Concat([]Key{
		{Path: "program.iterations", kind: aWhole, min: 1, max: 1000, Default: "1", Example: "3",
			Sweep: true, Doc: "How often every rank does it, back to back.",
			to: set(func(p *ProgramPoint, n int64) { p.Iterations = int(n) })},
		{Path: "program.gradient", kind: aChoice, Values: []string{"none", "full"}, Default: "none",
			Example: `"full"`, Sweep: true,
			Doc: "Whether its backward pass follows: of the full gradient, as of a collective. The " +
				"gradient of tensor x is x_grad: of results it is given, of given tensors a result, unless " +
				"ops read it; these are done as soon as it is complete.",
			to: set(func(p *ProgramPoint, name string) { p.Gradient = name == "full" })},
		{Path: "program.order", kind: aChoice, Values: append(programOrders(), callOrders()...),
			Default: `"as written"`, Example: `"1f1b"`, Sweep: true,
			Doc: "How stages take turns with the passes of microbatches, which are the repetitions of " +
				"ops: all forward, then all backward; or one forward, one backward, as PipeDream-flush " +
				"and Megatron do it; or so with several chunks of the model a stage. Of a trace, in " +
				"which order a rank makes calls that nothing orders: of their ids, or of the times at " +
				"which they began.",
			to: set(func(p *ProgramPoint, name string) { p.Order = name })},
		{Path: "program.stages", kind: aNames, Example: `["stage0", "stage1"]`,
			Doc: "The groups that a pipeline goes through: what ranks of several do together stands " +
				"between them. The orders 1f1b need them, and of any order the result tells their bubble.",
			to: set(func(p *ProgramPoint, names []string) { p.Stages = names })},
		{Path: "program.mesh", kind: aShape, min: 1, max: maxRanks, Example: "[2, 4]", Default: "none",
			Sweep: true, Doc: "A mesh of all ranks, the last axis fastest, as PyTorch's device meshes. " +
				"Each axis is a group: of ranks that differ in their place on it alone.",
			by: (*run).programMesh},
		{Path: "program.axes", kind: aNames, Example: `["dp", "tp"]`, Doc: "The names of the mesh's " +
			"axes, which are those of their groups.", by: (*run).programMesh},
		{Path: "program.group.name", kind: aText, Example: `"tp"`, Doc: "What ops call it.",
			must: "a name", to: set(func(g *ProgramGroup, name string) { g.Name = name })},
		{Path: "program.group.ranks", kind: aTeams, max: maxRanks - 1,
			Values: []string{"all", "node", "rail"}, Default: `"all"`, Example: `"node"`,
			Sweep: true, Doc: "Its teams, as of a collective: each does a call for itself, all at once.",
			by: (*view).programGroup},
	}, programTensorKeys(), programDataKeys(), programLengthKeys(), programFileKeys(), programOpKeys(),
		programCallKeys())
}

// programTensorKeys returns the keys of a tensor.
func programTensorKeys() []Key {
	return []Key{
		{Path: "program.tensor.name", kind: aText, Example: `"x"`, Doc: "What ops call it.",
			must: "a name", to: set(func(t *tensorTable, name string) { t.Name = name })},
		{Path: "program.tensor.shape", kind: aLengths, min: 0, max: maxCount,
			Example: "[4096, 8192]", Sweep: true, Doc: "Of every rank's, outermost axis first: whole " +
				"numbers, and names of lengths. With placement, of the whole.",
			to: set(func(t *tensorTable, as lengths) { t.lengths = as })},
		{Path: "program.tensor.dtype", kind: aDataType, Values: dtypeNames(), Default: `"bfloat16"`,
			Example: `"float8_e4m3fn"`, Sweep: true, Doc: "Type of an element.",
			to: set(func(t *tensorTable, is dtype.Type) { t.Type = is })},
		{Path: "program.tensor.memory", kind: aChoice,
			Values: []string{"private", "registered", "symmetric"}, Default: `"private"`,
			Example: `"symmetric"`, Sweep: true,
			Doc: "Where it lies: others may read and write symmetric memory one-sided.",
			to:  set(func(t *tensorTable, name string) { t.Memory = name })},
		{Path: "program.tensor.keep", kind: aFlag, Default: "false", Example: "true",
			Doc: "Whether it is a result though an op reads it; what nobody reads is one anyhow.",
			to:  set(func(t *tensorTable, on bool) { t.Keep = on })},
		{Path: "program.tensor.gradient", kind: aFlag, Default: "true", Example: "false", Sweep: true,
			Doc: "Whether a gradient goes to it, and through it; data needs none.",
			to:  set(func(t *tensorTable, on bool) { t.NoGradient = !on })},
		{Path: "program.tensor.repeat", kind: aCount, min: 1, max: maxRepeat, Default: "1",
			Example: "32", Sweep: true,
			Doc: "How many there are: {i} in the names is 0, 1, …. A list, as [4, 32], is loops in one " +
				"another, as of ops.", by: (*run).programTensor},
	}
}

func programOpKeys() []Key {
	return append(loopKeys(), []Key{
		{Path: "program.op.name", kind: aText, Example: `"gather"`, Default: "op and its number",
			Doc: "What tables and pictures call it.",
			to:  set(func(o *ProgramOp, name string) { o.Name = name })},
		{Path: "program.op.call", kind: aText, Example: `"all_gather"`, Sweep: true,
			Doc: "A collective of the tensor in: its kind, and where they matter operator, root, axis, " +
				"average and splits, as in \"reduce_scatter avg average post\" and \"all_to_allv splits " +
				"3,1/2,2\": lengths along the axis from every rank to every rank. What has other lengths " +
				"on its ranks is as long as the longest, and kernels compute what each rank has.",
			to: set(func(o *ProgramOp, text string) { o.Call = text })},
		{Path: "program.op.kernel", kind: aText, Example: `"matmul"`, Sweep: true,
			Doc: "Or an operation: matmul, scaled_matmul, add, cast, sum axis=0, mean axis=0, " +
				"move axis=1, expand axis=1 times=8, scale by=0.125; a layer, attention heads=32 " +
				"kv_heads=8 causal, rms_norm, layer_norm, gelu, silu, relu, swiglu, softmax, " +
				"cross_entropy, embedding, route k=2, shard axis=1 over=tp, pad rows=8; an optimizer's " +
				"step, sgd, adam_m, adam_v, adam; or opaque 150 us, or opaque flops=2e12 " +
				"bytes=64MiB, of which no more than the cost is known. A matmul may read operands that " +
				"lie transposed: matmul transpose=a, b or ab.",
			to: set(func(o *ProgramOp, text string) { o.Kernel = text })},
		{Path: "program.op.backward", kind: aText, Example: `"opaque 300 us"`, Sweep: true,
			Doc: "What the backward pass of an opaque kernel is, of a program with a gradient; of one " +
				"that writes, twice what it takes forward without it.",
			to: set(func(o *ProgramOp, text string) { o.Backward = text })},
		{Path: "program.op.in", kind: aNames, Example: `["xs", "w"]`,
			Doc: "The tensors that it reads, in order; one may stand without brackets.",
			to:  set(func(o *ProgramOp, names []string) { o.In = names })},
		{Path: "program.op.out", kind: aNames, Example: `"h"`,
			Doc: "The tensor that it writes; of a call of several tensors one for each of in, each its " +
				"own or that of in in its place.",
			to: set(func(o *ProgramOp, names []string) {
				if o.Outs = names; len(names) == 1 {
					o.Out, o.Outs = names[0], nil
				}
			})},
		{Path: "program.op.dtype", kind: aDataType, Values: dtypeNames(), Default: "that of its input",
			Example: `"bfloat16"`, Sweep: true, Doc: "Type of what a kernel writes.",
			to: set(func(o *ProgramOp, t dtype.Type) { o.Type = t })},
		{Path: "program.op.shape", kind: aLengths, min: 0, max: maxCount, Example: "[4096, 8192]",
			Default: "that of out, if it is declared", Sweep: true,
			Doc: "Shape of what an opaque kernel writes.",
			to:  set(func(o *ProgramOp, as lengths) { o.lengths = as })},
		{Path: "program.op.placement", kind: aNames, Example: `["replicate", "shard(1)"]`,
			Default: "that of out, if it is declared", Sweep: true,
			Doc: "How call = \"redistribute\" divides a tensor: it becomes the calls that PyTorch's " +
				"DTensor makes.",
			to: set(func(o *ProgramOp, words []string) { o.placement = words })},
	}...)
}

// isOfProgram reports whether a numbered path is of no collective, but of a program.
func isOfProgram(at string) bool {
	return strings.HasPrefix(at, "program.") || strings.HasPrefix(at, "lowering.")
}

// hasProgram reports whether the document has a program.
func (r *run) hasProgram() bool { return r.d.root.child("program") != nil }

// programOrders lists the values of program.order.
func programOrders() []string { return []string{"as written", "1f1b", "interleaved-1f1b"} }

// programs makes the points of the program, if there is one.
func (r *run) programs() []*ProgramPoint {
	if !r.hasProgram() {
		return nil
	}
	var axes []axis
	for _, s := range r.d.sweeps {
		if len(s.places) == 0 || strings.HasPrefix(s.places[0], "collective[") {
			continue
		}
		a := axis{label: s.path, swept: true, items: s.items, key: s.key, places: s.places}
		if len(a.items) == 0 {
			a.items = []item{{node: s.node}}
		}
		axes = append(axes, a)
	}
	if total := product(axes); total > r.most() {
		r.view().fail("program", r.tooMany(total))
		return nil
	}
	var points []*ProgramPoint
	pick := make([]int, len(axes))
	used := map[string]bool{} // by the point at hand
	for {
		clear(used)
		v := &view{d: r.d, at: map[string]item{}, used: used}
		for i, a := range axes {
			for _, at := range a.places {
				v.at[at] = a.items[pick[i]]
			}
		}
		if p := r.program(v, r.network(v, axes)); p != nil {
			p.ID = "program"
			for i, a := range axes {
				it := a.items[pick[i]]
				text := canonical(it.value)
				p.Axes = append(p.Axes, Axis{a.label, valueOf(it.node.value), text})
				p.ID += "/" + a.label + "=" + strings.ReplaceAll(text, " ", "")
			}
			r.views[p.Point] = func() *view { return v }
			if idle := r.idleAxes(axes, used); idle != nil {
				r.idles[p.Point] = idle
			}
			points = append(points, p)
		}
		maps.Copy(r.used, used)
		if len(r.d.errs.list) > maxTrouble || !next(pick, axes) {
			return points
		}
	}
}

// program puts a view together, nil if something is wrong with it.
func (r *run) program(v *view, network *Topology) *ProgramPoint {
	p := &ProgramPoint{Point: &Point{Topology: network, Device: &device.Device{}}}
	ok := v.machine(p.Point) && network != nil
	v.useLibrary()
	ok = v.fill("program", p) && ok
	ok = v.fill("lowering", &p.Lowering) && ok
	ok = r.programLengths(v, p) && ok
	ok = r.programMesh(v, p) && ok
	for i := range r.d.count("program.group") {
		ok = v.programGroup(p, numbered("program.group", i)+".") && ok
	}
	for i := range r.d.count("program.tensor") {
		ok = r.programTensor(v, p, numbered("program.tensor", i)+".", i) && ok
	}
	readable, file := r.programFile(v, p)
	if ok = ok && readable; file {
		if !ok {
			return nil
		}
		return p
	}
	n := r.d.count("program.op")
	if slices.Contains(callOrders(), p.Order) {
		v.fail("program.order", problem{quoted(p.Order) + " is an order of calls in a trace",
			"ops here are in the order in which they are written"})
		ok = false
	}
	if n == 0 {
		v.missing("program", "op", "[[program.op]]: what is done", `for example kernel = "matmul"`)
	}
	ok = r.programOps(v, p, n) && ok && redistributed(v, p)
	if ok && n > 0 && len(p.Ops) == 0 {
		v.fail("program.op[0].enabled", problem{"every op is disabled", ""})
		ok = false
	}
	if !ok || n == 0 {
		return nil
	}
	return p
}

func (r *run) programOp(v *view, p *ProgramPoint, number int) (ProgramOp, bool) {
	at, o := numbered("program.op", number)+".", ProgramOp{At: number}
	ok := v.fill(at[:len(at)-1], &o)
	if ok {
		o.Shape, ok = shapeAs(v, at+"shape", p, o.lengths)
	}
	for _, one := range []struct {
		key  string
		text *string
	}{{"call", &o.Call}, {"kernel", &o.Kernel}, {"backward", &o.Backward}} {
		text, bound := withLengths(v, at+one.key, p, *one.text)
		*one.text, ok = text, ok && bound
	}
	group, readable := fetchOr(v, at+"group", "") // workspaces have it in their names
	o.Group, ok = group, ok && readable
	if o.Algorithm.FromFile() {
		v.fail(at+"algorithm", problem{"an algorithm by its name is expected, no file: a call has a " +
			"size of its own", "collsim list algorithms names them"})
		ok = false
	}
	if o.Call == "" && (v.has(at+"algorithm") || v.has(at+"async")) {
		v.fail(at[:len(at)-1], problem{"algorithm and async are a call's; this is none", ""})
		ok = false
	}
	return o, ok
}
