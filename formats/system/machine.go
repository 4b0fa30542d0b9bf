package system

import (
	"cmp"
	"fmt"
	"strings"

	"collsim/machine"
	"collsim/unit"
)

// Facts holds what a machine needs besides its system: the source of each figure, and the network
// between nodes. Empty fields are assumed, and their source says so.
type Facts struct {
	Name, About string // of the machine
	File        string // the file that figures come from: "h100.xml"
	Device      string // of every GPU
	// Sources extend the source of single figures, by name: "joined", "nics". One that begins with
	// "assumed" replaces it.
	Sources map[string]string
	CPUs    string // in words
	// The network between nodes: its description, its preset, and the time of a hop.
	Fabric, Joins string
	Hop           unit.Time
	// NICFabric returns the network of a NIC, given its node, if Fabric is empty; nil if it is
	// unknown.
	NICFabric func(nic int) string
	Shares    []machine.Share
	// Latency, NICRate and Rate are those of the file; 0 derives them.
	Latency, PCIeLatency, CPULatency unit.Time
	Rate                             unit.Rate // of a GPU to all others
	Multicast                        string    // "yes" or "no"
	// "wires" for a machine with wires that could also be a mesh
	Joined string
}

// Latencies of a link, if the file has none.
const (
	nvlinkLatency = 450 * unit.Nanosecond
	xgmiLatency   = unit.Microsecond
	pcieLatency   = 750 * unit.Nanosecond
	cpuLatency    = 500 * unit.Nanosecond
)

// Sources of figures that no file has.
const (
	ofNVLink = "assumed: with the 1 us of a step on the GPU, two of them are the 1.9 us that NCCL " +
		"counts for a hop of LL128 over NVLink (src/graph/tuning.cc)"
	ofXGMI = "assumed: as mi300x-8"
	ofPCIe = "assumed: with the 1 us of a step on the GPU, two of them are the 2.5 us that NCCL " +
		"counts for a hop of LL128 over PCIe (src/graph/tuning.cc); 500 ns between processors"
	ofShare   = "assumed: all of it; a measured share is topology.network.bandwidth"
	ofLibrary = "assumed: the library that the maker of the GPUs has"
)

// builder makes a machine from a system.
type builder struct {
	s     *System
	f     *Facts
	m     *machine.Machine
	paths *Paths
	near  *nearness
}

// Machine derives the machine: the connection of its GPUs, its NICs and the GPUs near each. GPUs
// with equally many links to NVSwitches are a switch; GPUs with equally many links between all
// pairs are a full mesh; otherwise every link is a wire.
func (s *System) Machine(f Facts) (*machine.Machine, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	b := &builder{s: s, f: &f, paths: s.Paths(), m: &machine.Machine{Name: f.Name, About: f.About,
		Device: f.Device, GPUs: len(s.GPUs), Library: "nccl"}}
	if s.IsAMD {
		b.m.Library = "rccl"
	}
	b.figure("device", f.Device, f.File)
	b.figure("gpus", fmt.Sprint(len(s.GPUs)), f.File)
	b.join()
	b.near = s.nearNICs(b.paths, b.m.Joined == "wires")
	if b.m.Joined == "wires" {
		if err := b.wire(); err != nil {
			return nil, err
		}
	} else {
		b.figure("gpu_rate", b.m.Rate.String(), f.File+", at what NCCL counts for a link")
	}
	b.latency()
	b.multicast()
	b.nics()
	b.fabric()
	b.figure("library", b.m.Library, ofLibrary)
	b.pluginLatency()
	return b.m, nil
}

// pluginLatency sets the latency that the network's plugin reports to NCCL. NCCL's search keeps
// that of the last NIC of its graph.
func (b *builder) pluginLatency() {
	if b.m.Library != "nccl" {
		return
	}
	source := "assumed: the file has no <net latency>"
	if n := len(b.near.nics); n > 0 {
		if t := b.s.Nodes[b.s.NICs[b.near.nics[n-1]]].Latency; t > 0 {
			b.m.PluginLatency, source = t, b.f.File
		}
	}
	b.figure("plugin_latency", b.m.PluginLatency.String(), source)
}

// figure records a figure and its source.
func (b *builder) figure(name, is, source string) {
	if more := b.f.Sources[name]; strings.HasPrefix(more, "assumed") {
		source = more
	} else if more != "" {
		source += ": " + more
	}
	b.m.Figures = append(b.m.Figures, machine.Figure{Name: name, Is: is, Source: source})
}

// join determines the connection of the GPUs.
func (b *builder) join() {
	toSwitch, pair := b.bundles()
	gpus := len(b.s.GPUs)
	isSwitch, isMesh := toSwitch[0] > 0, gpus > 1
	for g := range gpus {
		isSwitch = isSwitch && toSwitch[g] == toSwitch[0]
		for h := range gpus {
			if g != h {
				isSwitch = isSwitch && pair[g][h] == 0
				isMesh = isMesh && toSwitch[g] == 0 && pair[g][h] > 0 && pair[g][h] == pair[0][1]
			}
		}
	}
	switch {
	case b.f.Joined == "wires":
		b.m.Joined = "wires"
	case isSwitch:
		b.m.Joined, b.m.Rate = "switch", toSwitch[0]
	case isMesh:
		b.m.Joined, b.m.Rate = "full-mesh", pair[0][1]*unit.Rate(gpus-1)
	default:
		b.m.Joined = "wires"
	}
	if b.m.Joined != "wires" && b.f.Rate > 0 {
		b.m.Rate = b.f.Rate
	}
	b.figure("joined", b.m.Joined, b.f.File)
}

// bundles sums the NVLinks of each GPU to an NVSwitch, and to each other GPU.
func (b *builder) bundles() (toSwitch []unit.Rate, pair [][]unit.Rate) {
	number := map[int]int{}
	for g, v := range b.s.GPUs {
		number[v] = g
	}
	toSwitch, pair = make([]unit.Rate, len(b.s.GPUs)), make([][]unit.Rate, len(b.s.GPUs))
	for g := range pair {
		pair[g] = make([]unit.Rate, len(b.s.GPUs))
	}
	for _, l := range b.s.Links {
		g, isGPU := number[l.A]
		h, also := number[l.B]
		switch {
		case l.Kind != NVLink:
		case isGPU && also:
			pair[g][h] += l.Rate
			pair[h][g] += l.Rate
		case isGPU && b.s.Nodes[l.B].Kind == NVSwitch:
			toSwitch[g] += l.Rate
		case also && b.s.Nodes[l.A].Kind == NVSwitch:
			toSwitch[h] += l.Rate
		}
	}
	return toSwitch, pair
}

// linkLatency returns the latency of a kind of link.
func (b *builder) linkLatency(kind LinkKind) unit.Time {
	switch kind {
	case PCIe, Peer:
		return cmp.Or(b.f.PCIeLatency, pcieLatency)
	case Socket:
		return cmp.Or(b.f.CPULatency, cpuLatency)
	}
	if b.s.IsAMD {
		return cmp.Or(b.f.Latency, xgmiLatency)
	}
	return cmp.Or(b.f.Latency, nvlinkLatency)
}

// latency sets the latency of links between GPUs.
func (b *builder) latency() {
	kind, source := NVLink, ofNVLink
	if b.s.IsAMD {
		source = ofXGMI
	}
	isWired := func() bool {
		for _, l := range b.s.Links {
			if l.Kind == NVLink || l.Kind == C2C {
				return true
			}
		}
		return false
	}
	if b.m.Joined == "wires" {
		if !isWired() {
			kind, source = PCIe, ofPCIe
		} else {
			source += "; of PCIe " + strings.TrimPrefix(ofPCIe, "assumed: ")
		}
	}
	b.m.Latency = b.linkLatency(kind)
	if b.f.Latency > 0 {
		source = b.f.File
	}
	b.figure("gpu_latency", b.m.Latency.String(), source)
}

// multicast sets whether the switch multicasts and reduces: NVSwitches of Hopper and later do.
func (b *builder) multicast() {
	model := ModelOf(b.m.Device)
	b.m.Multicast = b.m.Joined == "switch" && model.SM >= 90
	source := "assumed: NVSwitches have it since Hopper"
	if b.f.Multicast != "" {
		b.m.Multicast, source = b.m.Joined == "switch" && b.f.Multicast == "yes", b.f.File
	}
	if b.m.Joined != "switch" {
		source = b.f.File + ": there is no NVSwitch for all GPUs"
	}
	b.figure("multicast", map[bool]string{true: "yes", false: "no"}[b.m.Multicast], source)
}

// noNIC is the rate of the NIC of a machine whose file has none.
const noNIC = unit.Rate(100 * 125_000_000)

// nics sets the number and the rate of NICs, and the GPUs near each.
func (b *builder) nics() {
	s, m, near := b.s, b.m, b.near
	m.Shares = b.f.Shares
	if m.Shares == nil {
		m.Shares = []machine.Share{{Nodes: 1, Of: 1_000_000}}
	}
	if len(near.nics) == 0 {
		m.NICs, m.NICRate, m.Near = 1, noNIC, "one for all"
		source := "assumed: the file names no NIC"
		delete(b.f.Sources, "nic_rate")
		b.figure("nics", "1", source)
		b.figure("nic_rate", m.NICRate.String(), source)
	} else {
		m.NICs, m.NICRate, m.Near = len(near.nics), s.Nodes[s.NICs[near.nics[0]]].Rate, near.words(s)
		unequal := ""
		for _, n := range near.nics {
			if rate := s.Nodes[s.NICs[n]].Rate; rate != m.NICRate {
				m.NICRate, unequal = min(m.NICRate, rate), "; the slowest of those that are there"
			}
		}
		b.figure("nics", fmt.Sprint(m.NICs), b.f.File+near.leftOut(s))
		b.figure("nic_rate", m.NICRate.String(), b.f.File+unequal)
	}
	b.figure("nic_share", shareText(m.Shares), cmp.Or(b.f.Sources["nic_share"], ofShare))
	b.figure("near", m.Near, b.f.File+near.uneven(m))
	m.CPUs = cmp.Or(b.f.CPUs, "unknown")
	b.figure("cpus", m.CPUs, b.f.File)
}

// shareText formats shares as a machine's file has them.
func shareText(shares []machine.Share) string {
	if len(shares) == 1 && shares[0].Nodes == 1 {
		return shares[0].Of.String()
	}
	var parts []string
	for _, s := range shares {
		parts = append(parts, fmt.Sprintf("%d: %v", s.Nodes, s.Of))
	}
	return strings.Join(parts, ", ")
}

// fabric sets the network between nodes.
func (b *builder) fabric() {
	m := b.m
	m.Fabric, m.Joins, m.Hop = b.f.Fabric, b.f.Joins, b.f.Hop
	source := b.f.File
	for i, n := range b.near.nics {
		if b.f.NICFabric == nil || m.Fabric != "" && i == 0 {
			break
		}
		of := b.f.NICFabric(b.s.NICs[n])
		if i > 0 && of != m.Fabric { // NICs of several networks
			m.Fabric = ""
			break
		}
		m.Fabric = of
	}
	if m.Fabric == "" {
		m.Fabric, source = "infiniband", "assumed: a file of one node has no network between nodes"
		delete(b.f.Sources, "fabric")
	}
	b.figure("fabric", m.Fabric, source)
	if source = b.f.File; m.Joins == "" {
		m.Joins, source = "switch", "assumed: as machines with fewer NICs than GPUs are built"
		if m.NICs >= m.GPUs {
			m.Joins, source = "rails", "assumed: as machines with a NIC a GPU are built"
		}
	}
	b.figure("joins", m.Joins, source)
	if source = b.f.File; m.Hop == 0 {
		m.Hop, source = hopOf(m.Fabric)
	}
	b.figure("hop", m.Hop.String(), source)
}

// hopOf returns the time of a hop of a network, as a known machine has it, and that source.
func hopOf(fabric string) (unit.Time, string) {
	switch fabric {
	case "efa":
		return 24_800 * unit.Nanosecond, "assumed: as p5"
	case "roce":
		return 9_800 * unit.Nanosecond, "assumed: as oci-a100"
	case "ethernet":
		return 46 * unit.Microsecond, "assumed: as a3-high"
	}
	return 7_100 * unit.Nanosecond, "assumed: as dgx-h100"
}
