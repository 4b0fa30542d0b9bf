package scenarios

import (
	"slices"
	"sync"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// Limits. They bound what a mistyped scenario can cost, and keep every sum of times and bytes far
// from the end of its integer.
const (
	maxRanks  = 1 << 20
	maxBytes  = int64(1024 * unit.TiB) // 1 PiB
	maxCount  = int64(1) << 50
	maxCopies = 64                    // channels, and slices of a chunk
	maxSlots  = 65536                 // slots of a connection, posts outstanding
	maxLink   = int64(8000 * unit.GB) // bytes per second; sim counts in 2^-20 of them in int64
	maxWait   = int64(1000 * unit.Second)
	maxFactor = 1_000_000
	maxAxes   = 64 // as NumPy's
)

// sections are the tables of a scenario, in the order of the documentation.
var sections = []section{
	{"", false, "What stands before the first table."},
	{"topology", false, "The network: a preset, links by hand in `[[topology.link]]`, or nodes of " +
		"several GPUs each: `nodes` with a preset, or with `[topology.node]`, and " +
		"`[topology.network]` between them. A preset takes the keys that the table of presets " +
		"below names, and `bandwidth` and `latency`."},
	{"topology.node", false, "The network inside each node, where `[topology]` has no preset. Its " +
		"links are called as `node2/gpu3->node2/switch`."},
	{"topology.network", false, "The network between the nodes: its ends are their NICs, as in " +
		"`node2/gpu3->node2/nic3` and `node2/nic3->rail3`."},
	{"topology.link", true, "A link: from and to define one where there is no preset; match " +
		"changes all links of that name. Later entries change what earlier ones left. From the " +
		"command line: `--set 'topology.link=[{ match = \"gpu3 <-> *\", bandwidth = \"50 %\" }]'`, " +
		"in place of all that the scenario has here; `[]` takes them away. `[[topology.link]]` in a " +
		"file for `--with` does the same."},
	{"topology.rank", true, "Ranks that start late or run slowly; `--set 'topology.rank=[{ match = " +
		"\"3\", start = \"200 us\" }]'` and `--with` replace them all, as they do links."},
	{"device", false, "What a GPU and its wires cost: a preset, and any of its figures by name."},
	{"device.range", true, "Figures of messages up to a size, in place of those of `[device]`: of " +
		"several entries the first that a message is not too long for, so they stand by size, and " +
		"longer messages have `[device]`'s. Libraries change their protocol like this. The size is " +
		"that of one message (of a slice, where there are several), not of the collective; a signal " +
		"has none, 0 B. `range = []` in the `[device]` of a file for `--with` takes a scenario's away."},
	{"device.protocol", true, "What a call of NCCL's (`nccl:auto` and its like) and its messages " +
		"take besides bandwidth, by the shape of its algorithm and its protocol, in place of " +
		"device.launch, of device.overhead and of the latencies of links in a node. NVIDIA's GPUs " +
		"have those of NCCL's own tables (docs/devices.md); an entry changes what it names of " +
		"one of them, or is a new one. Who gives device.overhead, latency, launch or range has these " +
		"for NCCL's messages, too, and none of the tables'."},
	{"sim", false, "How virtual time is counted."},
	{"check", false, "What is checked beside the time."},
	{"collective", true, "A collective to run. There may be several, each an experiment of its " +
		"own; a single one may be written `[collective]`."},
	{"program", false, "What all ranks do, op after op: collectives and kernels on tensors. A file " +
		"may have one, beside collectives or instead of them: see [programs.md](programs.md)."},
	{"program.group", true, "Ranks that do calls together, under a name; \"all\" is there without."},
	{"program.tensor", true, "What every rank has before the program begins, or a name, a shape and " +
		"a memory for what an op writes. Types and shapes of all else follow from the ops."},
	{"program.op", true, "A call, which is a collective of a group, or a kernel, in the order in " +
		"which the host of every rank issues them. What an op reads it waits for."},
	{"lowering", false, "What is made of a program before it is carried out; each key also under " +
		"[sweep]."},
	{"sweep", false, "Any key that is marked so, by its path in quotes, with a list or a range " +
		"of values: every combination is one point. Keys of an array of tables are all meant, or " +
		"one by its number from 0: `\"collective[1].bytes\"`."},
	{"nccl", false, "What NCCL is told, where a collective is done by its algorithms."},
	{"nccl.env", false, "Variables of its environment, mostly written in one line, `env = { … }`. " +
		"Others change nothing that is chosen here, and are refused."},
	{"benchmark", false, "A loop of calls, one behind the other, as nccl-tests times them. With " +
		"this table, which may be empty, every collective has the time of a call of the loop beside " +
		"that of one call alone: see [benchmark.md](benchmark.md)."},
	{"measured", false, "Times that were measured elsewhere, which stand beside those that are " +
		"simulated, with the error: see [measured.md](measured.md). Calls are timed in a loop, as by " +
		"nccl-tests, with or without `[benchmark]`."},
	{"hardware", false, "What `collsim validate` executes the schedules on, for real: see " +
		"[hardware.md](hardware.md). A simulation has no use for it."},
	{"hardware.tolerance", false, "How far measured times and bits may be from what was predicted " +
		"before `collsim validate` exits with 1; mostly written in one line, `tolerance = { … }`."},
	{"hardware.known", true, "Results that are known to miss, and why: a report says so beside " +
		"them. The tolerance holds for them all the same."},
	{"variant", true, "The scenario with other values of some keys, under a name: the points of " +
		"each variant stand beside those of the others, and where there are variants, nothing runs " +
		"without. `--only variant=…` chooses; `--set 'variant=[]'` takes them away."},
	{"variant.set", false, "Keys and their values, as of `--set`, which wins: " +
		"`set = { \"topology.nodes\" = 8 }`. Any key but those of the file as a whole: name, " +
		"description, schema, `[output]`, `[input]`, `[hardware.tolerance]`, `[[hardware.known]]` and " +
		"`[sweep]`."},
	{"variant.link", true, "As `[[topology.link]]`, behind its entries, in this variant alone."},
	{"variant.rank", true, "As `[[topology.rank]]`, behind its entries, in this variant alone."},
	{"input", false, "How files are read that the scenario names: schedules, programs and data."},
	{"output", false, "Files to write, as the flags of the same names, which win. The names of a " +
		"timeline, a trace and curves may hold `{kind}`, `{algorithm}`, `{bytes}`, `{count}`, " +
		"`{dtype}`, `{op}`, `{ranks}`, `{name}`, `{collective}` (its name, or else its number), " +
		"`{id}` and the path of any swept key in braces. A name is relative to the scenario, " +
		"leads neither out of its folder nor out of that in which " +
		"the command was started, hides nothing (no part begins with a dot) and has the ending of its " +
		"format. A file that is there is replaced if it has the form of what is written here under " +
		"such a name (a table by its columns, JSON by its first key, a picture by its caption or by " +
		"what made it), and otherwise with `--overwrite` alone; likewise what a collective's " +
		"`output` and `gradient_of_input` name, where arrays have a mark that other programs do not " +
		"mind and do not keep. Flags (`--csv`, " +
		"`--set output.csv=…`) may name any file."},
}

// Keys lists all keys of a scenario file, table by table. Loader, --set, [sweep], documentation
// and completion derive from it.
func Keys() []Key {
	keys := slices.Clone(keyTable())
	for i := range keys {
		keys[i].Values = slices.Clone(keys[i].Values) // the caller may write to them
	}
	return keys
}

// keyTable makes the list of Keys once, since every scenario that is read needs it.
var keyTable = sync.OnceValue(func() []Key {
	keys := append(topKeys(), topologyKeys()...)
	keys = append(append(keys, deviceKeys()...), messageKeys()...)
	keys = append(keys, protocolKeys()...)
	keys = append(keys, runKeys()...)
	keys = append(keys, collectiveKeys()...)
	keys = append(keys, sizeKeys()...)
	keys = append(keys, passKeys()...)
	keys = append(keys, programKeys()...)
	keys = append(keys, loweringKeys()...)
	keys = append(append(keys, libraryKeys()...), environmentKeys()...)
	keys = append(keys, benchmarkKeys()...)
	keys = append(keys, measuredKeys()...)
	keys = append(keys, hardwareKeys()...)
	keys = append(keys, variantKeys(singleKeys())...)
	keys = append(keys, outputKeys()...)
	for i := range keys {
		k := &keys[i]
		if k.Type == "" {
			k.Type = words[k.kind]
		}
		if k.kind == aFlag {
			k.Values = []string{"true", "false"}
		}
		k.Limit = k.bounds()
	}
	return keys
})

func topKeys() []Key {
	return []Key{
		{Path: "schema", kind: aWhole, min: 1, max: 1, Default: "1", Example: "1",
			Doc: "Version of this format."},
		{Path: "name", kind: aText, Default: "the file's name", Example: `"ring on 8 ranks"`,
			Doc: "A title for tables and pictures."},
		{Path: "description", kind: aText, Example: `"why this was run"`,
			Doc: "Anything worth keeping with the results."},
		{Path: "seed", kind: aWhole, min: 0, max: 1<<63 - 1, Default: "0", Example: "1", Sweep: true,
			Doc: "Seed of all random data; equal seeds give equal bytes."},
	}
}

func runKeys() []Key {
	return []Key{
		{Path: "sim.sharing", kind: aChoice, Values: sharings(), Default: `"fluid"`,
			Example: `"fifo"`, Sweep: true,
			Doc: "How messages share a link: all at once and max-min fairly, or one after the other."},
		{Path: "sim.segment", kind: aSize, min: 1, max: maxBytes, Default: "none",
			Example: `"64 KiB"`, Sweep: true,
			Doc: "With fifo, other traffic may pass after every so many bytes of a message."},
		{Path: "sim.switching", kind: aChoice, Values: switchings(),
			Default: `"cut-through"`, Example: `"store-and-forward"`, Sweep: true,
			Doc: "Whether a message goes on while it arrives, or when it is there (with fifo)."},
		{Path: "sim.engine", kind: aChoice, Values: engines(), Default: `"best"`, Example: `"event"`,
			Sweep: true,
			Doc: "Which engine simulates the schedule; the time is the same. Event simulates every rank. " +
				"Fold simulates one rank for all that do the same, and ranks that are late with a time for " +
				"each, where it can prove that this is exact. Sweep simulates every rank, a row of steps at " +
				"a time, in an order that it guesses and verifies. Best is fold where that can be, else " +
				"sweep if there are 1,024 ranks with a group, else event, which timelines and the critical " +
				"path take, too. Results say which it was: see [performance.md](performance.md)."},
		{Path: "sim.slots", kind: aWhole, min: 0, max: maxSlots, Default: "the device's",
			Example: "8", Sweep: true,
			Doc: "Messages that may lie at the end of a connection unread; 0 is any number. A schedule " +
				"that says how many keeps its own, but one of another format (\"file:my.xml\") does so " +
				"only where this key is not given."},
		{Path: "check.proof", kind: aFlag, Default: "true", Example: "false", Sweep: true,
			Doc: "Prove that every input arrives exactly once, without deadlock and race."},
		{Path: "check.numbers", kind: aFlag, Default: "true", Example: "false", Sweep: true,
			Doc: "Run the schedule on real data and compare with the definition."},
		{Path: "check.memory", kind: aSize, min: 1, max: maxBytes, Default: `"1 GiB"`,
			Example: `"256 MiB"`, Sweep: true,
			Doc: "Bound on all buffers of that run; a larger collective is checked on a smaller count."},
		{Path: "check.full", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Check all elements that `check.memory` allows, however long that takes; else a " +
				"smaller count is checked, or of very many ranks some output elements, where all would " +
				"take more than some two seconds, by counts alone ([numbers.md](numbers.md))."},
		{Path: "check.data", kind: aChoice, Values: dataKinds(),
			Default: `"exact"`, Example: `"normal"`, Sweep: true,
			Doc: "Its data: small integers whose sums are exact in any order, or random numbers."},
	}
}

func collectiveKeys() []Key {
	return []Key{
		{Path: "collective.name", kind: aText, Example: `"balanced"`,
			Doc: "Tells several collectives apart."},
		{Path: "collective.kind", kind: aChoice, Values: kindNames(), Example: `"all_reduce"`,
			Axis: true, Sweep: true, Doc: "What to compute; names are torch.distributed's. Custom is " +
				"whatever a schedule from a file does: it takes \"file:…\" and at most bytes."},
		{Path: "collective.algorithm", kind: anAlgorithm, Default: `"fastest"`, Example: `"ring"`,
			Axis: true, Sweep: true,
			Doc: "How: a name of `collsim list algorithms`, parameters in brackets, as " +
				"\"chain(segment=512KiB)\", or a schedule from a file, as \"file:my.xml\" (formats: " +
				"`collsim list formats`); \"all\" is every one that can do it, \"fastest\" the one of " +
				"them whose simulation takes the least time. Files and what libraries execute, as " +
				"\"openmpi:ring\", are not among these."},
		{Path: "collective.dtype", kind: aDataType, Values: dtypeNames(), Default: `"float32"`,
			Example: `"bfloat16"`, Axis: true, Sweep: true, Doc: "Type of an element."},
		{Path: "collective.op", kind: anOperator, Values: opNames(), Default: `"sum"`,
			Example: `"max"`, Axis: true, Sweep: true,
			Doc: "Operator of a kind that reduces; premulsum takes premulsum(factor=0.5)."},
		{Path: "collective.root", kind: aWhole, min: 0, max: maxRanks - 1, Default: "0",
			Example: "3", Sweep: true, Doc: "Root of a kind that has one."},
		{Path: "collective.in_place", kind: aFlag, Default: "false", Example: "true", Sweep: true,
			Doc: "Whether input and output share a buffer, as NCCL places them."},
		{Path: "collective.avg", kind: aChoice, Values: []string{"nccl", "post"},
			Default: `"nccl"`, Example: `"post"`, Sweep: true,
			Doc: "Where op avg divides: as NCCL (floats before, integers after), or after the sum."},
		{Path: "collective.accumulate", kind: aChoice, Values: accumulations(),
			Default: `"native"`, Example: `"float32"`, Sweep: true,
			Doc: "In what a step adds: in the type, rounding after every operation, or all its sources " +
				"in float32, rounding once at its end; for float32, float64 and integers that is the " +
				"same. Messages are of the type. Of executors, cuda does it, and others add in the type."},
		{Path: "collective.splits", kind: aMatrix, min: 0, max: maxCount,
			Example: "[[0, 3], [5, 1]]",
			Doc: "Elements of every block, for kinds ending in v: a row a sender for all_to_allv, " +
				"one list of all ranks otherwise; or the name of a file that has them, .npy, CSV or JSON, " +
				"as `\"dispatch.npy\"`; or `{ zipf = 1.2 }`: bytes or count is what a sender of " +
				"all_to_allv has (else all blocks together), and block k of a random order, that of " +
				"seed, has a share of 1/kˢ of it."},
		{Path: "collective.teams", kind: aTeams, max: maxRanks - 1,
			Values: []string{"all", "node", "rail"}, Default: `"all"`, Example: "[[0, 1], [2, 3]]",
			Sweep: true,
			Doc: "Who does it together, each team for itself and all teams at once: all ranks, those " +
				"of each node, those at the same place of every node, or teams rank by rank; root, " +
				"splits and sizes are those of a team."},
		{Path: "collective.channels", kind: aWhole, min: 1, max: maxCopies,
			Default: "as many as the links of a rank need at device.lane_rate, up to device.channels; " +
				"1 where lane_rate is unlimited",
			Example: "4", Sweep: true,
			Doc: "Copies of the algorithm side by side, each on its part of the data. In a cluster those " +
				"of rings, chains and trees leave a node by different NICs."},
		{Path: "collective.slices", kind: aWhole, min: 1, max: maxCopies, Default: "1",
			Example: "2", Sweep: true, Doc: "Parts of a chunk that follow one another in a pipeline."},
	}
}

// sizeKeys returns the keys of a collective that give the amount of data.
func sizeKeys() []Key {
	return []Key{
		{Path: "collective.bytes", kind: aSize, min: 0, max: maxBytes, Example: `"64 MiB"`,
			Axis: true, Sweep: true,
			Doc: "Size as in nccl-tests (for all_gather, reduce_scatter, all_to_all, gather and " +
				"scatter the whole vector), rounded down to what kind and type can divide."},
		{Path: "collective.count", kind: aWhole, min: 0, max: maxCount, Example: "1000003",
			Axis: true, Sweep: true,
			Doc: "Instead of bytes: elements as in the NCCL call, exactly."},
		{Path: "collective.shape", kind: aShape, min: 0, max: maxCount, Example: "[1024, 768]",
			Sweep: true, Doc: "Instead of bytes: of every rank's input tensor (the root's, where it " +
				"alone has one), outermost axis first."},
		{Path: "collective.axis", kind: aWhole, min: 0, max: maxAxes - 1, Default: "0", Example: "1",
			Sweep: true, Doc: "Axis of the tensor that is gathered, or cut into parts for the ranks."},
		{Path: "collective.concat", kind: aWhole, min: 0, max: maxAxes - 1, Default: "0",
			Example: "1", Sweep: true, Doc: "Axis along which all_to_all joins what it receives."},
	}
}

// passKeys returns the keys of a collective that select its passes and their data.
func passKeys() []Key {
	return []Key{
		{Path: "collective.gradient", kind: aChoice, Values: gradientModes()[1:],
			Default: "none", Example: `"full"`, Sweep: true,
			Doc: "Run the backward pass too: of the full gradient, a collective by the same algorithm " +
				"or the schedule run backwards; of the local one, each rank's own share, which moves " +
				"nothing."},
		{Path: "collective.gradient_of_output", kind: aFile, Example: `"upstream.safetensors"`,
			Doc: "What the backward pass takes: the gradient of the loss by every rank's output, in the " +
				"forms of input; without it, made data."},
		{Path: "collective.gradient_of_input", kind: aFile, Example: `"downstream.safetensors"`,
			Doc: "File for what the backward pass gives: the gradient by every rank's input, scaled " +
				"(avg, premulsum) and masked (max, min), in the forms of output."},
		{Path: "collective.compare_gradient", kind: aFile, Example: `"autograd.npz"`,
			Doc: "Somebody else's gradient by every rank's input: compared bit for bit, as by compare."},
		{Path: "collective.enabled", kind: aFlag, Default: "true", Example: "false",
			Doc: "Whether to run this one; one that is skipped leaves its output as it is."},
		{Path: "collective.input", kind: aFile, Example: `"grads.safetensors"`,
			Doc: "Every rank's input: .npy, .npz or .safetensors, of tensors rank0, rank1, …, or one " +
				"array whose first axis is the rank, or a file a rank with {rank} in its name. It " +
				"gives the shape where none of bytes, count and shape does."},
		{Path: "collective.output", kind: aFile, Example: `"mine.safetensors"`,
			Doc: "File for every rank's result, in the same forms; a .npy without {rank} is one array " +
				"whose first axis is the rank."},
		{Path: "collective.compare", kind: aFile, Example: `"theirs.npz"`,
			Doc: "Somebody else's result of the same input, in the same forms: compared bit for bit, " +
				"but that any NaN equals any other."},
	}
}

func outputKeys() []Key {
	return []Key{
		{Path: inputLimit, kind: aSize, min: 1, max: maxBytes, Default: `"1 GiB"`, Example: `"4 GiB"`,
			Doc: "Bound on what a file may have, unpacked, each by itself; whatever has more is refused. " +
				"`--input-limit` replaces it, and bounds the scenario and what flags name as well."},
		{Path: "output.csv", kind: aFile, Example: `"results.csv"`, Doc: "All results as CSV."},
		{Path: "output.json", kind: aFile, Example: `"results.json"`, Doc: "All results as JSON."},
		{Path: "output.timeline", kind: aFile, Example: `"{algorithm}-{bytes}.svg"`,
			Doc: "A picture of who does what when, one for each result: SVG, PNG or PDF."},
		{Path: "output.trace", kind: aFile, Example: `"{algorithm}-{bytes}.pftrace"`,
			Doc: "The same for Perfetto: .pftrace, or .json for other viewers."},
		{Path: "output.curves", kind: aFile, Example: `"{kind}.svg"`,
			Doc: "A picture of busbw against size, a curve for each algorithm: SVG, PNG or PDF."},
		{Path: "output.links", kind: aFile, Example: `"links.csv"`,
			Doc: "What every link carried and for how long it was busy, for each result, as CSV."},
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
