package scenarios

import "collsim/unit"

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
	{"arrival", false, "Ranks that do not arrive together: a random time for each, by the seed, " +
		"which comes to what `[[topology.rank]]` says. Results say what waiting for the last costs."},
	{"fault", true, "What goes wrong on a rank, and when: see [faults.md](faults.md). A run that a " +
		"fault keeps from its end is no error: the result says who waits for whom. From the command " +
		"line: `--set 'fault=[{ rank = 3, does = \"stops\", at = \"3 us\" }]'`; `[]` takes them away."},
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
	{"program.length", true, "A name for a length, which shapes may have in place of a number."},
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
