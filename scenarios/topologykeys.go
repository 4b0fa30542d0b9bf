package scenarios

import (
	"collsim/machine"
	"collsim/topology"
	"collsim/unit"
)

func topologyKeys() []Key {
	keys := flatKeys("topology", "The shape of the network; nodes make it that inside each node. Or "+
		"the name of a machine (collsim list machines), which stands for the network in its nodes, "+
		"that between them, and the device; keys that are given win.")
	keys[0].Values = append(keys[0].Values, machine.Names()...)
	keys = append(keys, []Key{
		{Path: machineFile, kind: aFile, Example: `"my-node.xml"`, Sweep: true,
			Doc: "A machine in a file, in place of a preset: NCCL's topology XML (NCCL_TOPO_FILE, " +
				"NCCL_TOPO_DUMP_FILE, RCCL's too), what nvidia-smi topo -m or rocm-smi --showtopo prints, " +
				"or a TOML file as collsim's own machines are. Where it does not say which GPUs it has, " +
				"device.preset does.", by: (*view).machineGiven},
		{Path: "topology.nodes", kind: aWhole, min: 1, max: maxRanks, Default: "1", Example: "4",
			Sweep: true, Doc: "Number of nodes: each is a network of its own, and their NICs " +
				"are the ends of [topology.network].", by: (*view).cluster},
		{Path: "topology.routing", kind: aChoice,
			Values:  []string{topology.Shortest.String(), topology.ECMP.String()},
			Default: "ecmp on fat-tree, leaf-spine and rails with spines, else shortest",
			Example: `"ecmp"`, Sweep: true,
			Doc: "Which of several shortest ways a message takes: shortest the first one, whoever " +
				"sends, so that equal switches stay idle; ecmp by a fixed hash of the two ranks.",
			by: (*view).seating},
		{Path: "topology.order", kind: anOrder, max: maxRanks - 1,
			Values: []string{"block", "round-robin"}, Default: `"block"`,
			Example: "[0, 2, 1, 3]", Sweep: true,
			Doc: "Where the ranks sit: node after node, one in each node in turn, or the place of " +
				"each rank, counted as in block.", by: (*view).seating},
	}...)
	keys = append(keys, Key{Path: "topology.absent", kind: aNames,
		Example: `["node1/gpu3", "node*/nic0"]`, Sweep: true,
		Doc: "GPUs and NICs of nodes that are not there, with * for any characters. Ranks are numbered " +
			"over the GPUs that are; those near an absent NIC use the nearest other one of their node. " +
			"topology.ranks counts absent GPUs, too.", by: (*view).cluster})
	keys = append(keys, flatKeys("topology.node",
		"The shape inside a node, where it is not given by preset in [topology].")...)
	keys = append(keys, flatKeys("topology.network", "The shape between the NICs of the nodes.")...)
	keys = append(keys, Key{Path: "topology.network.nics", kind: aWhole, min: 1, max: maxRanks,
		Default: "one a GPU", Example: "8", Sweep: true,
		Doc: "NICs of a node, which its GPUs share evenly, or several a GPU; the link between the two " +
			"is not limited unless [[topology.link]] says so.",
		by: (*view).cluster},
		Key{Path: machine.PluginLatencyKey, kind: aTime, max: int64(unit.Second), Default: `"0 s"`,
			Example: `"75 us"`, Sweep: true, Doc: "What the network's plugin reports to NCCL as its " +
				"latency (ncclNetProperties.latency), in whole microseconds. NCCL adds it to its table, by " +
				"which it chooses; no message takes longer for it.",
			by: (*view).cluster})
	return append(keys, singleKeys()...)
}

// flatKeys returns the keys of a table that describes a network: [topology], [topology.node] or
// [topology.network], whose ranks are the NICs.
func flatKeys(table, shape string) []Key {
	presets := presetNames(table)
	keys := []Key{
		{Path: table + ".preset", kind: aChoice, Values: presets, Example: `"switch"`, Sweep: true,
			Doc: shape},
		{Path: table + ".shape", kind: aShape, min: 1, max: maxRanks, Example: "[4, 2]", Sweep: true,
			Doc: "Sizes of the dimensions of a mesh or a torus, which make the number of ranks."},
		{Path: table + ".k", kind: aWhole, min: 1, max: maxRanks, Example: "4",
			Sweep: true, Doc: "Ports of a switch of a fat-tree (the fewest that fit), ranks on a leaf " +
				"of a leaf-spine (half of all), children of a switch of a tree (to be given)."},
		{Path: table + ".a", kind: aWhole, min: 1, max: 4096, Default: "the smallest that fits",
			Example: "4", Sweep: true, Doc: "Routers in a group of a dragonfly."},
		{Path: table + ".p", kind: aWhole, min: 1, max: 4096, Default: "half of a",
			Example: "2", Sweep: true, Doc: "Ranks on a router of a dragonfly; a, p and h go together."},
		{Path: table + ".h", kind: aWhole, min: 1, max: 4096, Default: "half of a",
			Example: "2", Sweep: true, Doc: "Global links of a router of a dragonfly."},
		{Path: table + ".oversubscription", kind: aFactor, min: 1, max: maxRanks, Default: "1",
			Example: "2", Sweep: true, Doc: "Links down for each link up of a leaf, or of an edge " +
				"switch of a fat-tree; links up are fewer, not slower. Rails are joined by spines only if it " +
				"is given: 1 is a rail-optimized network without oversubscription."},
		{Path: table + ".bandwidth", kind: aRate, max: maxLink, Example: `"100 Gbit/s"`, Sweep: true,
			Doc: "Of each link in each direction."},
		{Path: table + ".latency", kind: aTime, max: maxWait, Example: `"500 ns"`, Sweep: true,
			Doc: "Of each link; a route adds up its links."},
		{Path: table + ".multimem", kind: aFlag, Default: "true where a switch joins H100, H200, " +
			"B200 or B300 on boards with NVSwitches", Example: "true", Sweep: true,
			Doc: "Whether every switch multicasts, and adds up what several ranks have (NVLink SHARP), " +
				"as schedules with multimem steps need."},
	}
	ranks := Key{Path: table + ".ranks", kind: aWhole, min: 1, max: maxRanks, Example: "8",
		Sweep: true, Doc: "Number of ranks, one GPU each, of all nodes together; with links by hand " +
			"it is counted."}
	ranks.by = (*view).flat
	for i := range keys {
		keys[i].by = (*view).flat
	}
	switch table {
	case "topology.network":
		of := &keys[len(keys)-1]
		of.Default, of.Doc = "false", "Whether every switch multicasts, and adds up what several ranks "+
			"have, over several hops (SHARP), as multimem steps across nodes need. NICs "+
			"pass that on."
		return keys
	case "topology.node":
		ranks.kind, ranks.Default = aCount, "topology.ranks by nodes"
		ranks.Doc = "Number of ranks in a node, one GPU each; or a list of those of each node, as " +
			"[8, 8, 4]: the first GPUs of a node then are there."
	}
	return append(append(keys[:1:1], ranks), keys[1:]...)
}

// presetNames lists the presets that a table may have: rails join NICs, and nothing else.
func presetNames(table string) []string {
	var names []string
	for _, p := range topology.Catalogue() {
		if !p.OnlyNICs || table == "topology.network" {
			names = append(names, p.Name)
		}
	}
	return names
}

// singleKeys returns the keys of [[topology.link]] and [[topology.rank]].
func singleKeys() []Key {
	return []Key{
		{Path: "topology.link.from", kind: aText, Example: `"gpu0"`,
			Doc: "Where a new link begins: gpu0, gpu1, … are the ranks, all other names switches.",
			by:  (*view).wire},
		{Path: "topology.link.to", kind: aText, Example: `"leaf"`, Doc: "Where a new link ends.",
			by: (*view).wire},
		{Path: "topology.link.both", kind: aFlag, Default: "true", Example: "false", Sweep: true,
			Doc: "Whether a new link has a twin in the other direction.", by: (*view).wire},
		{Path: "topology.link.match", kind: aText, Example: `"gpu3 <-> switch"`, Sweep: true,
			Doc: "Links to change: a name as gpu3->switch or node2/nic5->rail5, with * for any " +
				"characters; <-> means both directions.", by: (*view).alterations},
		{Path: "topology.link.bandwidth", kind: aChange, max: maxLink, Default: "topology's",
			Example: `"50 %"`, Sweep: true,
			Doc: "Of this link; where match changes links, also a share of what they have.",
			by:  (*view).alterations},
		{Path: "topology.link.latency", kind: aTime, max: maxWait, Default: "topology's",
			Example: `"2 us"`, Sweep: true, Doc: "Of this link.", by: (*view).alterations},
		{Path: "topology.rank.match", kind: aText, Example: `"3"`, Sweep: true,
			Doc: "Ranks meant: a number, or a place as node2/gpu3, with * for any characters.",
			by:  (*view).groups},
		{Path: "topology.rank.start", kind: aTime, max: maxWait, Default: `"0 s"`,
			Example: `"200 us"`, Sweep: true, Doc: "When the rank enters the collective.",
			by: (*view).groups},
		{Path: "topology.rank.slowdown", kind: aFactor, min: 1, max: maxFactor, Default: "1",
			Example: "1.5", Sweep: true,
			Doc: "Factor on all that the rank's device takes time for; links keep their speed. " +
				"With a few slow ranks among 1,024 or more, rings and the like, and trees on a switch, " +
				"are still simulated by fold.", by: (*view).groups},
	}
}
