package nccl

// Machine is what NCCL's search has found on a kind of machine, and what its model asks of one.
type Machine struct {
	Name, About string
	generation  int  // row of the tables by compute capability
	amd         bool // the processors' vendor
	ll128       bool // the wires let it send by LL128
	one, many   rings
}

// The rows of tables by compute capability.
const (
	volta     = iota // below 8.0
	ampere           // 8
	hopper           // 9
	blackwell        // 10 and above
)

// rings are what was found on one node, or on several.
type rings struct {
	ring, tree, nvls graph
	channels         int // of a communicator; of its trees the second half is the other one
	toPeer           int // channels that point to point would take to a rank (ncclTopoGetNchannels)
}

// graph is one search's result: so many channels of so many GB/s inside of a node and between.
type graph struct {
	channels     int
	intra, inter float64
	nvlink       bool // between the GPUs of a node
	same         bool // all channels take the same way
	fromTop      bool // of a tree: parent and children all talk to the first GPU of a node's chain
}

// Machines are those whose graphs are known: they are what NCCL 2.30.7's own search finds on 8 of
// these GPUs a node. Its counts on one node, 24, 24 and 12 channels, are those of published logs.
// Those of dgx-b200 are inferred: by the rules that give an H100's, from the speeds that the search
// tries on Blackwell (graph/search.cc) and 18 links of 40.1 GB/s (graph/topo.h). Its 32 channels
// are those of a published log (NVIDIA/nccl#1646).
func Machines() []Machine {
	return []Machine{
		{Name: "dgx-h100", About: "H100 or H200 on NVSwitch, 8 NICs of 400 Gbit/s a node",
			generation: hopper, ll128: true,
			one: rings{ring: graph{12, 30, 0, true, true, false},
				tree: graph{12, 30, 0, true, true, false}, channels: 24, toPeer: 36},
			many: rings{ring: graph{8, 48, 48, true, false, false},
				tree: graph{8, 48, 48, true, false, true}, nvls: graph{8, 40, 48, true, false, false},
				channels: 16, toPeer: 4}},
		{Name: "dgx-b200", About: "B200 or B300 on NVSwitch, 8 NICs of 400 Gbit/s a node",
			generation: blackwell, ll128: true,
			one: rings{ring: graph{16, 45, 0, true, true, false},
				tree: graph{16, 45, 0, true, true, false}, channels: 32, toPeer: 36},
			many: rings{ring: graph{8, 48, 48, true, false, false},
				tree: graph{8, 48, 48, true, false, true}, nvls: graph{8, 90, 48, true, false, false},
				channels: 16, toPeer: 4}},
		{Name: "dgx-a100", About: "A100 on NVSwitch, 8 NICs of 200 Gbit/s a node, AMD processors",
			generation: ampere, amd: true, ll128: true,
			one: rings{ring: graph{12, 20, 0, true, true, false},
				tree: graph{12, 20, 0, true, true, false}, channels: 24, toPeer: 24},
			many: rings{ring: graph{8, 24, 24, true, false, false},
				tree: graph{8, 30, 24, true, false, false}, channels: 16, toPeer: 2}},
		{Name: "dgx-v100", About: "V100 in a cube of NVLinks, 4 NICs of 100 Gbit/s a node",
			generation: volta, ll128: true,
			one: rings{ring: graph{6, 20, 0, true, false, false},
				tree: graph{6, 20, 0, true, false, false}, channels: 12, toPeer: 2},
			many: rings{ring: graph{4, 12, 12, true, false, false},
				tree: graph{4, 20, 12, true, false, false}, channels: 8, toPeer: 1}},
		{Name: "socket", About: "one H100 or H200 a node on a network of 10 Gbit/s, as processes of " +
			"one GPU are that take each other for other hosts", generation: hopper,
			many: rings{ring: graph{1, 1.2, 1.2, false, true, false},
				tree: graph{1, 2.4, 1.2, false, true, false}, channels: 2, toPeer: 1}},
	}
}

// on is what was found where so many nodes have so many GPUs.
func (m *Machine) on(nodes, perNode int) rings {
	if nodes > 1 || m.one.channels == 0 {
		return m.many
	}
	r := m.one
	if m.generation < hopper {
		return r
	}
	if perNode == 2 {
		r.tree.intra *= 2
	}
	// A head for every GPU, at the fastest of the speeds that the search tries whose sum the NVLinks
	// of a GPU carry (topo.h, 18 of 20.6 or 40.1 GB/s): seen for 2 and 8 H100, inferred elsewhere.
	heads, links := min(perNode, mostHeads), 370.8
	speeds := []float64{60, 50, 40, 30, 24, 20, 15, 12, 11}
	if m.generation == blackwell {
		speeds, links = []float64{90, 80, 70, 60, 50, 45, 40, 30, 24, 20}, 721.8
	}
	for _, speed := range speeds {
		if float64(heads)*speed <= links {
			r.nvls = graph{heads, speed, speeds[0], true, false, false}
			break
		}
	}
	return r
}

// switchChannels returns how many channels a call by NVLS or NVLSTree has (transport/nvls.cc).
func (m *model) switchChannels() int {
	n, _, _ := m.switchTuning()
	return n
}

// switchChunks are the most bytes of a chunk of NVLS, and of one of NVLSTree.
func (m *model) switchChunks() (all, tree int64) {
	_, all, tree = m.switchTuning()
	return all, tree
}

// switchTuning is ncclNvlsTuning (transport/nvls.cc), where NICs have a GPU each on its own PCIe
// switch.
func (m *model) switchTuning() (channels int, all, tree int64) {
	switch channels, all = 16, 128<<10; {
	case m.generation < blackwell && m.nodes >= 4:
		return channels, all, 64 << 10
	case m.generation < blackwell:
		return channels, all, all
	case m.nodes == 1:
		return 24, all, all
	case m.nodes == 2 && m.perNode <= 4:
		return 32, 256 << 10, 256 << 10
	case m.nodes == 2:
		return 32, all, 64 << 10
	}
	return 24, all, 64 << 10
}
