package scenarios

// programCallKeys returns the keys of an op that say who does it, when and how.
func programCallKeys() []Key {
	return []Key{
		{Path: "program.op.group", kind: aText, Default: `"all"`, Example: `"tp"`, Sweep: true,
			Doc: "Who does it: a call team by team, a kernel every rank that is in a team.",
			by:  (*run).programOp},
		{Path: "program.op.stream", kind: aText, Default: `"compute" of a kernel, "comm" of a call`,
			Example: `"comm2"`, Sweep: true, Doc: "The stream of every rank that it is issued to.",
			to: set(func(o *ProgramOp, name string) { o.Stream = name })},
		{Path: "program.op.algorithm", kind: anAlgorithm,
			Default: `the library's of the machine (nccl:auto) where it is known, else "fastest"`,
			Example: `"low-contention"`, Sweep: true,
			Doc: "How a call is done: a name of `collsim list algorithms`, with parameters in brackets; " +
				"\"fastest\" is that of the least time if it had the machine for itself.",
			to: set(func(o *ProgramOp, a Algorithm) { o.Algorithm = a })},
		{Path: "program.op.async", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Whether only ops that need its result wait for a call; else all behind it do.",
			to:  set(func(o *ProgramOp, on bool) { o.Async = on })},
		{Path: "program.op.after", kind: aNames, Example: `["optimizer"]`, Default: "none",
			Doc: "Ops before it that must have ended on a rank before it begins there, besides those " +
				"whose tensors it uses.",
			to: set(func(o *ProgramOp, names []string) { o.After = names })},
		{Path: "program.op.wait", kind: aNames, Example: `["gather"]`, Default: "none",
			Doc: "In place of a call or a kernel, ops before it: what is issued behind it on its stream, " +
				"that of kernels unless stream says another, begins on a rank when they have ended there. " +
				"As Work.wait and wait_tensor of torch.",
			to: set(func(o *ProgramOp, names []string) { o.Wait = names })},
		{Path: "program.op.enabled", kind: aFlag, Default: "true", Example: "false", Sweep: true,
			Doc: "Whether it is done at all: a program with and without it are two values of [sweep].",
			to:  set(func(o *ProgramOp, on bool) { o.Disabled = !on })},
	}
}
