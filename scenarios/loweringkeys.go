package scenarios

import (
	"collsim/program/lowering"
	"collsim/unit"
)

func loweringKeys() []Key {
	flag := func(name string, to func(*Lowering, bool), about string) Key {
		return Key{Path: "lowering." + name, kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: about, to: set(to)}
	}
	return []Key{
		flag("symmetric_memory", func(l *Lowering, on bool) { l.SymmetricMemory = on },
			"Whether what kernels write may become symmetric memory; one_shot "+
				"needs it."),
		{Path: "lowering.one_shot", kind: aSize, max: maxBytes, Default: `"128 KiB"`,
			Example: `"256 KiB"`, Sweep: true,
			Doc: "Sums of at most so many bytes are done in one shot if symmetric_memory is on and the " +
				"tensor is symmetric, or a kernel writes it; 0 B is none.",
			to: set(func(l *Lowering, most unit.Bytes) { l.OneShot = most })},
		{Path: "lowering.bucket", kind: aSize, max: maxBytes, Default: `"0 B"`, Example: `"25 MiB"`,
			Sweep: true,
			Doc: "all_reduces, and broadcasts, that do the same become one call until they have so many " +
				"bytes; 0 B is none.", to: set(func(l *Lowering, n unit.Bytes) { l.Bucket = n })},
		flag("coalesce", func(l *Lowering, on bool) { l.Coalesce = on },
			"Whether those that stand next to each other become one call, or are launched at once."),
		flag("in_place", func(l *Lowering, on bool) { l.InPlace = on },
			"Whether all_reduce and broadcast work in place: on a clone of what they read, "+
				"or on that if it is dead afterwards."),
		{Path: "lowering.pipeline", kind: aChoice, Values: lowering.Pipelines(), Default: `"off"`,
			Example: `"repaired"`, Sweep: true,
			Doc: "Whether an all_gather and the matmuls behind it, and a matmul and the reduce_scatter " +
				"behind it, become a pipeline on two streams, as torch published it or repaired; or " +
				"repaired where the program takes less time then.",
			to: pick(lowering.Pipelines(), func(l *Lowering, to lowering.Pipeline) { l.Pipeline = to })},
		{Path: "lowering.comm_buffer", kind: aSize, max: maxBytes, Default: `"0 B"`,
			Example: `"4 MiB"`, Sweep: true,
			Doc: "What calls on private memory go through: a copy engine copies it to and from a buffer " +
				"of so many bytes, in chunks of half of it at most; 0 B is none, as if all were " +
				"registered.", to: set(func(l *Lowering, n unit.Bytes) { l.CommBuffer = n })},
		flag("register", func(l *Lowering, on bool) { l.Register = on },
			"Whether the private tensors that calls read and write are registered, so that "+
				"nothing is copied."),
		{Path: "lowering.registering", kind: aTime, max: maxWait,
			Default: `"0 s"`, Example: `"100 us"`, Sweep: true,
			Doc: "What it takes a host to register a buffer, or to tell others of a symmetric one: once " +
				"of what is given, of other tensors in every iteration unless they are persistent.",
			to: set(func(l *Lowering, t unit.Time) { l.Registering = t })},
		flag("persistent", func(l *Lowering, on bool) { l.Persistent = on },
			"Whether buffers that are registered or symmetric are the same allocation in "+
				"every iteration."),
		flag("reorder", func(l *Lowering, on bool) { l.Reorder = on },
			"Whether calls are issued early and waited for late, if the program takes less "+
				"time then."),
		flag("reuse", func(l *Lowering, on bool) { l.Reuse = on },
			"Whether tensors lie where others lay that nobody uses any more."),
	}
}
