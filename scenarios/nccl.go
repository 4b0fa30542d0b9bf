package scenarios

import (
	"slices"
	"strconv"
	"strings"
)

// libraryPrefix begins the names of NCCL's algorithms.
const libraryPrefix = "nccl:"

// The tables of NCCL's settings: its version, graph and tuner, and the variables that it reads.
const (
	libraryTable     = "nccl"
	environmentTable = libraryTable + ".env"
)

// idleVariable says what is wrong with a variable that NCCL reads, and no simulation.
const idleVariable = "has no effect on choice or time here"

// libraryKeys lists the keys of [nccl] besides its variables.
func libraryKeys() []Key {
	return []Key{
		{Path: libraryTable + ".graph", kind: aFile, Example: `"graph.xml"`, Sweep: true,
			Doc: "What its search has found, as NCCL_GRAPH_DUMP_FILE writes it: channels, speeds, the " +
				"orders of rings and trees, NVLS. Else these are inferred.", by: (*view).graph},
		{Path: libraryTable + ".version", kind: aText, Default: "the newest that is known",
			Example: `"2.25.1"`, Sweep: true,
			Doc: "Whose figures and rules it chooses by: its cost model, its search's speeds, its " +
				"algorithms. One between two that are known is as the older one. How calls are cut, and " +
				"what a way of doing them takes, is that of the newest.",
			to: set(func(p *Point, text string) { p.Version = text })},
		{Path: libraryTable + ".tuner", kind: aFile, Example: `"tuner.csv"`, Sweep: true,
			Doc: "A file of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE), as `collsim tune` " +
				"writes it: algorithm, protocol and channels by kind and size. A call that no line matches " +
				"takes 1 channel, as with the plugin. \"nccl:auto(tuner=none)\" does without.",
			to: set(func(p *Point, name string) { p.TunerFile = name })},
	}
}

// environmentKeys returns the variables of NCCL that change its choice.
func environmentKeys() []Key {
	one := func(name, example, doc string) Key {
		return Key{Path: environmentTable + "." + name, kind: aText, Example: example, Sweep: true,
			Doc: doc, by: (*view).library}
	}
	channels := func(name, doc string) Key {
		k := one(name, "8", doc)
		k.kind, k.min, k.max = aWhole, 1, 64
		return k
	}
	bytes := func(name, example, doc string) Key {
		k := one(name, example, doc)
		k.kind, k.min, k.max = aWhole, 16<<10, 1<<30
		return k
	}
	threads := func(name, doc string) Key {
		k := one(name, "256", doc)
		k.kind, k.min, k.max = aWhole, 1, 1<<16
		return k
	}
	overhead := one("NCCL_NET_OVERHEAD", "1500", "Nanoseconds that the processors take for a message "+
		"of a ring between nodes, in NCCL's model; three times as much by Simple.")
	overhead.kind, overhead.max = aWhole, 1_000_000_000
	flag := func(name, doc string) Key {
		k := one(name, "0", doc)
		k.kind, k.max = aWhole, 2
		return k
	}
	return append([]Key{
		one("NCCL_ALGO", `"ring,tree;allreduce:^ring"`, "Algorithms to choose among: a list for all "+
			"collectives, then lists for some, each behind the name and a colon; ^ is all but these."),
		one("NCCL_PROTO", `"^ll128"`, "Protocols to choose among, in the same form: LL, LL128, Simple. "+
			"A list that does not leave LL128 out asks for it, on any links."),
		channels("NCCL_MIN_NCHANNELS", "Channels of a communicator, at least."),
		channels("NCCL_MAX_NCHANNELS", "Channels of a communicator, at most; the least wins."),
		channels("NCCL_MIN_CTAS", "As NCCL_MIN_NCHANNELS; of both the larger holds."),
		channels("NCCL_MAX_CTAS", "As NCCL_MAX_NCHANNELS; of both the smaller holds."),
		channels("NCCL_NVLS_NCHANNELS", "Channels of NVLS and NVLSTree."),
		flag("NCCL_NVLS_ENABLE", "0 leaves out NVLS and NVLSTree."),
		flag("NCCL_PAT_ENABLE", "0 leaves out PAT; 1 has it on nodes of several GPUs, too."),
		bytes("NCCL_BUFFSIZE", "4194304", "Bytes of a connection by Simple, of which 8 slots are made; "+
			"a chunk is one or four of these."),
		bytes("NCCL_LL_BUFFSIZE", "524288", "The same by LL."),
		bytes("NCCL_LL128_BUFFSIZE", "4915200", "The same by LL128."),
		bytes("NCCL_NVLS_CHUNKSIZE", "131072", "Bytes of a chunk of NVLS and NVLSTree."),
		bytes("NCCL_NVLSTREE_MAX_CHUNKSIZE", "131072", "Of one of NVLSTree at most."),
		threads("NCCL_NTHREADS", "Threads of a channel by Simple and LL: 64 to 512, a multiple of 32, "+
			"else the nearest that is one or 512, as NCCL has it."),
		threads("NCCL_LL128_NTHREADS", "The same by LL128: 160 to 640."),
		one("NCCL_THREAD_THRESHOLDS", `"8 8 64 64 8 64"`, "Bytes of a thread, below which fewer "+
			"channels and threads are taken: of Tree by LL, LL128 and Simple, then of Ring; -1 is NCCL's "+
			"own."),
		overhead,
	}, slices.Concat(collNetKeys(), sendingKeys(), leavingKeys())...)
}

// collNetKeys returns the variables that say whether there is CollNet.
func collNetKeys() []Key {
	whole := func(name, example string, least, most int64, doc string) Key {
		return Key{Path: environmentTable + "." + name, kind: aWhole, min: least, max: most,
			Example: example, Sweep: true, Doc: doc, by: (*view).library}
	}
	return []Key{
		whole("NCCL_COLLNET_ENABLE", "1", 0, 1, "1 has CollNet where the switches between nodes "+
			"multicast and reduce (topology.network.multimem): CollNetDirect, CollNetChain, and NVLS "+
			"over several nodes."),
		whole("NCCL_COLLNET_NODE_THRESHOLD", "4", 1, 1<<20, "Nodes with CollNet, at least; by itself 2."),
	}
}

// sendingKeys returns the variables that say how sends and receives are cut.
func sendingKeys() []Key {
	whole := func(name, example string, least, most int64, doc string) Key {
		return Key{Path: environmentTable + "." + name, kind: aWhole, min: least, max: most,
			Example: example, Sweep: true, Doc: doc, by: (*view).library}
	}
	return []Key{
		whole("NCCL_P2P_NVL_CHUNKSIZE", "524288", 16<<10, 1<<30, "Bytes of a chunk of a send within a "+
			"node with NVLinks; a slot by Simple at most."),
		whole("NCCL_P2P_PCI_CHUNKSIZE", "131072", 16<<10, 1<<30, "The same within a node without."),
		whole("NCCL_P2P_NET_CHUNKSIZE", "131072", 16<<10, 1<<30, "The same over several nodes."),
		whole("NCCL_P2P_LL_THRESHOLD", "16384", 0, 1<<30, "Bytes of a send on each of its channels, up "+
			"to which it is by LL within a node."),
		whole("NCCL_MIN_P2P_NCHANNELS", "8", 1, 64, "Channels of all sends, at least."),
		whole("NCCL_MAX_P2P_NCHANNELS", "8", 1, 64, "Channels of all sends, at most; the least wins."),
		whole("NCCL_NCHANNELS_PER_NET_PEER", "4", 1, 64, "Channels of a send over several nodes, at "+
			"most."),
	}
}

// leavingKeys returns the variables that select the NICs by which messages leave a node.
func leavingKeys() []Key {
	level := func(name, example string, most int64, doc string) Key {
		return Key{Path: environmentTable + "." + name, kind: aWhole, max: most, Example: example,
			Sweep: true, Doc: doc, by: (*view).library}
	}
	return []Key{
		level("NCCL_CROSS_NIC", "0", 2, "0: rings leave a node by the rail that they enter by; 1: by "+
			"their last GPU's NIC. By itself (2) NCCL takes what its search finds first."),
		level("NCCL_PXN_DISABLE", "1", 1, "1: no message leaves a node through another GPU than its "+
			"sender's (PXN)."),
		level("NCCL_P2P_PXN_LEVEL", "0", 2, "Which sends leave a node by the NIC of the receiver's "+
			"rail, through a GPU near to it: 0 none, 1 those whose GPU is not near to it, 2 all, as by "+
			"itself."),
	}
}

// library reads the version, and the variables as a shell has them: "NCCL_ALGO=ring
// NCCL_MAX_CTAS=8".
func (v *view) library(p *Point) bool {
	var list []string
	ok := v.graph(p) && v.fill(libraryTable, p)
	if !ok {
		return false
	}
	for _, k := range v.d.schema.environment {
		if _, given := v.given(k.Path); !given {
			continue
		}
		value := ""
		if k.kind == aText {
			text, _, readable := fetch[string](v, k.Path)
			value, ok = text, ok && readable
			if k.name() == "NCCL_THREAD_THRESHOLDS" { // the shell's form has them with blanks
				value = strings.Join(strings.Fields(text), ",")
				text = value
			}
			if readable && (text == "" || strings.ContainsAny(text, " \t\n=")) {
				v.fail(k.Path, problem{"is no list", "for example " + k.Example})
				ok = false
			}
		} else {
			n, _, readable := fetch[int64](v, k.Path)
			value, ok = strconv.FormatInt(n, 10), ok && readable
		}
		list = append(list, k.name()+"="+value)
	}
	p.Environment = strings.Join(list, " ")
	return ok
}

// graph asks what the file of NCCL's graphs says.
func (v *view) graph(p *Point) bool {
	const at = libraryTable + ".graph"
	file, given, ok := fetch[string](v, at)
	if !given || !ok || v.d.ask == nil {
		return ok
	}
	answer, known := v.d.ask(WhichGraph, &Point{Data: Files{Input: file}})
	if answer.Err != nil {
		v.fail(at, problem{text: answer.Err.Error()})
	}
	p.Graph = answer.Graph
	return known && answer.Err == nil
}

// useLibrary marks NCCL's settings as used where NCCL may do a point.
func (v *view) useLibrary() {
	for _, k := range append(libraryKeys(), environmentKeys()...) {
		v.use(k.Path)
	}
}

// mayBeNCCL reports whether an algorithm is one of NCCL's, or is chosen among those.
func (a *Algorithm) mayBeNCCL() bool {
	return strings.HasPrefix(a.Name, libraryPrefix) || a.Name == "fastest"
}
