package nccl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/algos"
)

// Machine is a kind of machine that NCCL's search was recorded on.
type Machine struct {
	Name, About string
	Facts       Facts
	// Recorded lists the GPUs of package device on whose nodes the search's graphs were recorded.
	Recorded []string
}

// The rows of tables by compute capability.
const (
	volta     = iota // below 8.0
	ampere           // 8
	hopper           // 9
	blackwell        // 10 and above
	generations
)

// rings holds what the search finds on one node, or on several.
type rings struct {
	ring, tree, nvls graph
	channels         int  // of a communicator; of its trees the second half is the other one
	toPeer           int  // channels that point to point would take to a rank (ncclTopoGetNchannels)
	ll128            bool // the wires let it send by LL128
}

// graph is one search's result: so many channels of so many GB/s inside of a node and between.
type graph struct {
	channels     int
	intra, inter float64
	nvlink       bool // between the GPUs of a node
	same         bool // all channels take the same way
	fromTop      bool // of a tree: parent and children all talk to the first GPU of a node's chain
}

// Machines lists the machines whose graphs are known: search.rings gives what NCCL 2.30.7's own
// search finds on 8 of these GPUs a node. Its counts on one node, 24, 24 and 12 channels, are
// those of published logs. Those of dgx-b200 are inferred: by the rules that give an H100's, from
// the speeds that the search tries on Blackwell (graph/search.cc) and 18 links of 40.1 GB/s
// (graph/topo.h). Its 32 channels are those of a published log (NVIDIA/nccl#1646).
func Machines() []Machine {
	return []Machine{
		{"dgx-h100", "H100 or H200 on NVSwitch, 8 NICs of 400 Gbit/s a node",
			Facts{Device: "h100-sxm", SM: 90, Joined: bySwitch, Links: []int{18}, Multicast: true,
				GPUs: 8, NICs: 8, NICRate: 50}, []string{"h100-sxm", "h200"}},
		{inferred, "B200 or B300 on NVSwitch, 8 NICs of 400 Gbit/s a node",
			Facts{Device: "b200", SM: 100, Joined: bySwitch, Links: []int{18}, Multicast: true, GPUs: 8,
				NICs: 8, NICRate: 50}, nil},
		{"dgx-a100", "A100 on NVSwitch, 8 NICs of 200 Gbit/s a node, AMD processors",
			Facts{Device: "a100-80gb", SM: 80, Joined: bySwitch, Links: []int{12}, GPUs: 8, NICs: 8,
				NICRate: 25, AMD: true}, []string{"a100-40gb", "a100-80gb"}},
		{"dgx-v100", "V100 in a cube of NVLinks, 4 NICs of 100 Gbit/s a node",
			Facts{Device: "v100-16gb", SM: 70, Joined: byLinks, Links: []int{2, 2, 1, 1}, GPUs: 8,
				NICs: 4, NICRate: 12.5}, []string{"v100-16gb", "v100-32gb"}},
		{"socket", "one H100 or H200 a node on a network of 10 Gbit/s, as processes of one GPU are " +
			"that take each other for other hosts",
			Facts{Device: "h200", SM: 90, Joined: byPCIe, GPUs: 1, NICs: 1, NICRate: 1.25,
				FarNICs: true}, nil},
	}
}

// machineOf returns the machine of a name, or that of the facts that a text has; "" is the first.
func machineOf(text string) (Machine, error) {
	all := Machines()
	var names []string
	for _, m := range all {
		if m.Name == text || text == "" || text == algos.AsMachine {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if !strings.Contains(text, " ") {
		return Machine{}, fmt.Errorf("machine=%s: one of %s is expected", text,
			strings.Join(names, ", "))
	}
	f, err := ParseFacts(text)
	if err != nil {
		return Machine{}, fmt.Errorf("machine=%s: %w", text, err)
	}
	return Machine{Name: f.Device, Facts: f}, nil
}

// inferred is the machine of Machines whose graphs were not recorded.
const inferred = "dgx-b200"

// isKnown reports whether the graphs of nodes with these facts were recorded (Machines), or else
// are inferred by rules. On one node NICs do not matter. They were recorded of the newest release:
// an older one that tries other speeds is inferred.
func (f *search) isKnown(nodes, perNode int) bool {
	if f.Found != nil {
		return true
	}
	now := search{f.Facts, current()}
	one, many := f.speeds()
	oneNow, manyNow := now.speeds()
	if !slices.Equal(one, oneNow) || !slices.Equal(many, manyNow) || f.linkRate() != now.linkRate() {
		return false
	}
	for _, m := range Machines() {
		is, of := *f.Facts, m.Facts
		is.Device, of.Device = "", ""
		is.NetLatency = of.NetLatency // no graph depends on it
		if nodes == 1 {
			is.NICs, is.NICRate, is.FarNICs, is.AMD = of.NICs, of.NICRate, of.FarNICs, of.AMD
			is.GPUs = of.GPUs
		}
		isSeen := perNode == m.Facts.GPUs || nodes == 1 && perNode == 2 && f.Joined == bySwitch
		if m.Name != inferred && isSeen && !f.staysOnNIC && is.String() == of.String() {
			return true
		}
	}
	return false
}

// switchChannels returns how many channels a call by NVLS or NVLSTree has (transport/nvls.cc).
func (m *model) switchChannels() int {
	if m.env != nil && m.env.nvls > 0 {
		return m.env.nvls
	}
	n, _, _ := m.switchTuning()
	return n
}

// communicator returns how many channels a communicator has for a way, where somebody has set them
// or, by 0, nobody.
func (m *model) communicator(w Way, set int) int {
	switch {
	case m.overNetwork(w.Algorithm) && w.Algorithm == NVLS:
		return cmp.Or(set, min(m.switchChannels(), m.channels))
	case w.Algorithm.usesSwitch():
		return cmp.Or(set, m.switchChannels())
	}
	return cmp.Or(set, m.channels)
}

// switchChunks returns the most bytes of a chunk of NVLS, and of one of NVLSTree.
func (m *model) switchChunks() (all, tree int64) {
	_, all, tree = m.switchTuning()
	if m.env == nil {
		return all, tree
	}
	if m.env.nvlsChunk > 0 {
		tuned := m.tunesBlackwell && m.generation() == blackwell && m.nodes > 1
		if all = m.env.nvlsChunk; !tuned && m.nodes < 4 {
			tree = all
		}
	}
	return all, cmp.Or(m.env.nvlsMax, tree)
}

// switchTuning returns ncclNvlsTuning (transport/nvls.cc): the channels of NVLS, the most bytes of
// its chunks (all), and of NVLSTree's (tree). It holds for NICs that have a GPU each on their own
// PCIe switch.
func (m *model) switchTuning() (channels int, all, tree int64) {
	channels, all = 16, 128<<10
	isBlackwell := m.generation() == blackwell
	switch {
	case isBlackwell && m.nodes == 1:
		return m.blackwellHeads[0], all, all
	case m.generation() < blackwell || isBlackwell && !m.tunesBlackwell:
		if isBlackwell {
			channels = m.blackwellHeads[1]
		}
		if m.nodes >= 4 {
			return channels, all, 64 << 10
		}
		return channels, all, all
	case m.nodes == 2 && m.perNode <= 4:
		return 32, 256 << 10, 256 << 10
	case m.nodes == 2:
		return 32, all, 64 << 10
	}
	return 24, all, 64 << 10
}
