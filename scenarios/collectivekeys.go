package scenarios

import (
	"collsim/collective"
	"collsim/dtype"
)

// collectiveKeys returns the keys of a collective that say what it computes, and how.
func collectiveKeys() []Key {
	return []Key{
		{Path: "collective.name", kind: aText, Example: `"balanced"`,
			Doc: "Tells several collectives apart.",
			to:  set(func(p *Point, name string) { p.Collective = name })},
		{Path: "collective.kind", kind: aChoice, Values: kindNames(), Example: `"all_reduce"`,
			Axis: true, Sweep: true, Doc: "What to compute; names are torch.distributed's. Custom is " +
				"whatever a schedule from a file does: it takes \"file:…\" and at most bytes.",
			by: (*run).kind},
		{Path: "collective.algorithm", kind: anAlgorithm, Default: `"fastest"`, Example: `"ring"`,
			Axis: true, Sweep: true,
			Doc: "How: a name of `collsim list algorithms`, parameters in brackets, as " +
				"\"chain(segment=512KiB)\", or a schedule from a file, as \"file:my.xml\" (formats: " +
				"`collsim list formats`); \"all\" is every one that can do it, \"fastest\" the one of " +
				"them whose simulation takes the least time. Files, what libraries execute, as " +
				"\"openmpi:ring\", and \"synth\" are not among these.", by: (*run).algorithm},
		{Path: "collective.dtype", kind: aDataType, Values: dtypeNames(), Default: `"float32"`,
			Example: `"bfloat16"`, Axis: true, Sweep: true,
			Doc: "Type of an element. A bool is one byte, 0 or 1; a complex number is its real and its " +
				"imaginary part, each added alone.",
			to:   set(func(p *Point, t dtype.Type) { p.Spec.Type = t }),
			idle: "a barrier moves nothing"},
		{Path: "collective.op", kind: anOperator, Values: opNames(), Default: `"sum"`,
			Example: `"max"`, Axis: true, Sweep: true,
			Doc: "Operator of a kind that reduces; premulsum takes premulsum(factor=0.5). and, or and " +
				"xor combine bools, and integers bit by bit; complex numbers have sum, avg and premulsum.",
			to:   set(func(p *Point, o operator) { p.Spec.Op, p.Spec.Factor = o.op, o.factor }),
			idle: "no kind here reduces"},
		{Path: "collective.root", kind: aWhole, min: 0, max: maxRanks - 1, Default: "0",
			Example: "3", Sweep: true, Doc: "Root of a kind that has one.",
			to:   set(func(p *Point, n int64) { p.Spec.Root = int(n) }),
			idle: "no kind here has a root"},
		{Path: "collective.in_place", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Whether input and output share a buffer, as NCCL places them.",
			to:  set(func(p *Point, on bool) { p.Spec.InPlace = on })},
		{Path: "collective.avg", kind: aChoice, Values: []string{"nccl", "post"},
			Default: `"nccl"`, Example: `"post"`, Sweep: true,
			Doc:  "Where op avg divides: as NCCL (floats before, integers after), or after the sum.",
			to:   set(func(p *Point, name string) { p.Spec.Avg, _ = collective.ParseAvgMode(name) }),
			idle: `no op here is "avg"`},
		{Path: "collective.accumulate", kind: aChoice, Values: accumulations(),
			Default: `"native"`, Example: `"float32"`, Sweep: true,
			Doc: "In what a step adds: in the type, rounding after every operation, or all its sources " +
				"in float32, rounding once at its end; for float32, float64 and integers that is the " +
				"same. Messages are of the type. Of executors, cuda does it, and others add in the type.",
			to:   pick(accumulations(), func(p *Point, to Accumulation) { p.Accumulate = to }),
			idle: "no kind here reduces"},
		{Path: "collective.splits", kind: aMatrix, min: 0, max: maxCount,
			Example: "[[0, 3], [5, 1]]",
			Doc: "Elements of every block, for kinds ending in v: a row a sender for all_to_allv, " +
				"one list of all ranks otherwise; or the name of a file that has them, .npy, CSV or JSON, " +
				"as `\"dispatch.npy\"`; or `{ zipf = 1.2 }`: bytes or count is what a sender of " +
				"all_to_allv has (else all blocks together), and block k of a random order, that of " +
				"seed, has a share of 1/kˢ of it.", by: (*run).splits,
			idle: "no kind here takes splits; they end in v"},
	}
}

// formKeys returns the keys of a collective that say who does it, and in how many parts.
func formKeys() []Key {
	return []Key{
		{Path: "collective.teams", kind: aTeams, max: maxRanks - 1,
			Values: []string{"all", "node", "rail"}, Default: `"all"`, Example: "[[0, 1], [2, 3]]",
			Sweep: true,
			Doc: "Who does it together, each team for itself and all teams at once: all ranks, those " +
				"of each node, those at the same place of every node, or teams rank by rank; root, " +
				"splits and sizes are those of a team.", by: (*view).teams},
		{Path: "collective.channels", kind: aWhole, min: 1, max: maxCopies,
			Default: "as many as the links of a rank need at device.lane_rate, up to device.channels; " +
				"1 where lane_rate is unlimited",
			Example: "4", Sweep: true,
			Doc: "Copies of the algorithm side by side, each on its part of the data. In a cluster those " +
				"of rings, chains and trees leave a node by different NICs.", by: (*view).copies},
		{Path: "collective.slices", kind: aWhole, min: 1, max: maxCopies, Default: "1",
			Example: "2", Sweep: true, Doc: "Parts of a chunk that follow one another in a pipeline.",
			by: (*view).copies},
	}
}

// sizeKeys returns the keys of a collective that give the amount of data.
func sizeKeys() []Key {
	return []Key{
		{Path: "collective.bytes", kind: aSize, min: 0, max: maxBytes, Example: `"64 MiB"`,
			Axis: true, Sweep: true,
			Doc: "Size as in nccl-tests (for all_gather, reduce_scatter, all_to_all, gather and " +
				"scatter the whole vector), rounded down to what kind and type can divide.",
			by: (*view).elements, idle: "the kind takes its sizes from splits, or has none"},
		{Path: "collective.count", kind: aWhole, min: 0, max: maxCount, Example: "1000003",
			Axis: true, Sweep: true,
			Doc: "Instead of bytes: elements as in the NCCL call, exactly.", by: (*view).elements,
			idle: "the kind takes its sizes from splits, or has none"},
		{Path: "collective.shape", kind: aShape, min: 0, max: maxCount, Example: "[1024, 768]",
			Sweep: true, Doc: "Instead of bytes: of every rank's input tensor (the root's, where it " +
				"alone has one), outermost axis first.", by: (*run).sizes,
			idle: "no kind here has tensors"},
		{Path: "collective.axis", kind: aWhole, min: 0, max: maxAxes - 1, Default: "0", Example: "1",
			Sweep: true, Doc: "Axis of the tensor that is gathered, or cut into parts for the ranks.",
			by: (*view).tensor, idle: "no kind here cuts or joins an axis of a shape"},
		{Path: "collective.concat", kind: aWhole, min: 0, max: maxAxes - 1, Default: "0",
			Example: "1", Sweep: true, Doc: "Axis along which all_to_all joins what it receives.",
			by: (*view).tensor, idle: "it is for all_to_all on tensors of a shape"},
	}
}

// passKeys returns the keys of a collective that select its passes and their data.
func passKeys() []Key {
	return []Key{
		{Path: "collective.gradient", kind: aChoice, Values: gradientModes()[1:],
			Default: "none", Example: `"full"`, Sweep: true,
			Doc: "Run the backward pass too: of the full gradient, a collective by the same algorithm, " +
				"else the schedule run backwards, else the fastest; of the local one, each rank's own " +
				"share, which moves nothing.",
			to: pick(gradientModes(), func(p *Point, to GradientMode) { p.Gradient = to })},
		{Path: "collective.gradient_of_output", kind: aFile, Example: `"upstream.safetensors"`,
			Doc: "What the backward pass takes: the gradient of the loss by every rank's output, in the " +
				"forms of input; without it, made data.",
			to: set(func(p *Point, name string) { p.GradientData.Input = name })},
		{Path: "collective.gradient_of_input", kind: aFile, Example: `"downstream.safetensors"`,
			Doc: "File for what the backward pass gives: the gradient by every rank's input, scaled " +
				"(avg, premulsum) and masked (max, min), in the forms of output.",
			to: set(func(p *Point, name string) { p.GradientData.Output = name })},
		{Path: "collective.compare_gradient", kind: aFile, Example: `"autograd.npz"`,
			Doc: "Somebody else's gradient by every rank's input: compared bit for bit, as by compare.",
			to:  set(func(p *Point, name string) { p.GradientData.Compare = name })},
		{Path: "collective.enabled", kind: aFlag, Default: "true", Example: "false",
			Doc: "Whether to run this one; one that is skipped leaves its output as it is.",
			by:  (*run).enabled},
		{Path: "collective.input", kind: aFile, Example: `"grads.safetensors"`,
			Doc: "Every rank's input: .npy, .npz or .safetensors, of tensors rank0, rank1, …, or one " +
				"array whose first axis is the rank, or a file a rank with {rank} in its name. It " +
				"gives the shape where none of bytes, count and shape does.",
			to:   set(func(p *Point, name string) { p.Data.Input = name }),
			idle: "a barrier moves nothing"},
		{Path: "collective.output", kind: aFile, Example: `"mine.safetensors"`,
			Doc: "File for every rank's result, in the same forms; a .npy without {rank} is one array " +
				"whose first axis is the rank.",
			to:   set(func(p *Point, name string) { p.Data.Output = name }),
			idle: "a barrier moves nothing"},
		{Path: "collective.compare", kind: aFile, Example: `"theirs.npz"`,
			Doc: "Somebody else's result of the same input, in the same forms: compared bit for bit, " +
				"but that any NaN equals any other.",
			to:   set(func(p *Point, name string) { p.Data.Compare = name }),
			idle: "a barrier moves nothing"},
	}
}

func kindNames() []string {
	var names []string
	for _, k := range collective.Kinds() {
		names = append(names, k.String())
	}
	return append(names, collective.Custom.String())
}

func opNames() []string {
	var names []string
	for _, o := range collective.Ops() {
		names = append(names, o.String())
	}
	return names
}

func dtypeNames() []string {
	var names []string
	for _, t := range dtype.All() {
		names = append(names, t.String())
	}
	return names
}
