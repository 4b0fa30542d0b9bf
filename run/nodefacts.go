package run

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"collsim/algos/nccl"
	"collsim/formats/ncclxml"
	"collsim/formats/system"
	"collsim/machine"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// ofNCCL reports whether an algorithm is one of NCCL's.
func ofNCCL(name string) bool { return strings.HasPrefix(name, nccl.Prefix) }

// ncclNodes returns what NCCL would see of a point's nodes, each with perNode GPUs of the
// collective. ok is false where the device is no GPU of NVIDIA's. A machine states most of it. On
// an abstract network the device gives the NVLinks, and the preset gives NVSwitches: boards that
// are made with NVSwitches have them on every preset but a full mesh. NICs have the rate of a
// data sheet. Processors beside an A100 are AMD's, as in NVIDIA's own machines.
func ncclNodes(p *scenarios.Point, perNode int) (f nccl.Facts, ok bool) {
	model := system.ModelOf(p.Device.Name)
	if model.SM == 0 {
		return f, false
	}
	nodes := p.Topology.NodeFacts()
	f = nccl.Facts{Device: p.Device.Name, SM: model.SM, GPUs: perNode, Joined: "pcie",
		AMD:  model.SM >= 80 && model.SM < 90,
		PCIe: gigabytes(system.PCIeRate(*p.Device))}
	if nodes.Machine != nil {
		ofMachine(&f, nodes.Machine, &model)
	} else if model.Board == "switch" || strings.HasPrefix(model.Name, "v100-") && model.Links > 0 {
		f.Joined, f.Links = "switch", []int{model.Links}
		if nodes.Inside.Preset == "full-mesh" {
			meshed(&f, model.Links, perNode)
		}
	}
	f.Multicast = f.SM >= 90 && f.Joined == "switch"
	if f.Joined != "pcie" {
		f.PCIe = 0
	}
	if b := nodes.Between; b != nil {
		withNICs(&f, b, nodes.Machine)
		f.NetLatency = int(nodes.PluginLatency / unit.Microsecond)
	}
	return f, true
}

// gigabytes converts a rate to GB/s.
func gigabytes(r unit.Rate) float64 { return float64(r) / float64(unit.GB) }

// meshed joins GPUs each to each, with equal shares of the links of one.
func meshed(f *nccl.Facts, links, gpus int) {
	f.Joined, f.Links = "links", nil
	for range f.GPUs - 1 {
		f.Links = append(f.Links, max(links/max(gpus-1, 1), 1))
	}
	if f.GPUs == 1 {
		f.Links = []int{links}
	}
}

// ofMachine takes over what a machine says of its nodes.
func ofMachine(f *nccl.Facts, m *machine.Machine, model *system.Model) {
	f.AMD = strings.Contains(m.CPUs, "AMD")
	f.FarNICs = strings.Contains(m.Near, "shared") && m.GPUs > 1
	switch {
	case m.Joined == "switch" && model.Links > 0:
		f.Joined, f.Links = "switch", []int{model.Links}
	case m.Joined == "full-mesh" && model.Links > 0:
		meshed(f, model.Links, m.GPUs)
	case m.Joined == "wires":
		ofWires(f, m)
	}
}

// ofWires counts the NVLinks of a machine whose links are listed, and sees which NICs are behind
// a processor. GPUs in pairs make no ring: that goes by PCIe.
func ofWires(f *nccl.Facts, m *machine.Machine) {
	counts := make([]map[string]int, f.GPUs)
	for i := range counts {
		counts[i] = map[string]int{}
	}
	number := func(name string) int {
		n := -1
		if _, err := fmt.Sscanf(name, "gpu%d", &n); err != nil || n >= f.GPUs {
			return -1
		}
		return n
	}
	isSwitch := false
	for _, w := range m.Wires {
		for _, ends := range [][2]string{{w.From, w.To}, {w.To, w.From}} {
			here, there := number(ends[0]), ends[1]
			hasPeer := number(there) >= 0 || strings.HasPrefix(there, "nvswitch")
			if w.Kind == "nvlink" && here >= 0 && hasPeer {
				counts[here][there] += w.Count
				isSwitch = isSwitch || strings.HasPrefix(there, "nvswitch")
			}
			isNIC := strings.HasPrefix(ends[0], "nic")
			f.FarNICs = f.FarNICs || isNIC && strings.HasPrefix(there, "cpu")
		}
		if w.Kind == "cpu" && f.GPUs > m.GPUs/2 {
			f.PCIe = min(f.PCIe, gigabytes(w.Rate))
		}
	}
	var fewest []int
	for i, peers := range counts {
		links := slices.Sorted(maps.Values(peers))
		slices.Reverse(links)
		if len(links) < 2 && f.GPUs > 2 && !isSwitch || len(links) == 0 {
			return
		}
		if i == 0 || sum(links) < sum(fewest) {
			fewest = links
		}
	}
	f.Joined, f.Links = "links", fewest
	if isSwitch {
		f.Joined, f.Links = "switch", []int{sum(fewest)}
	}
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}

// nominalShare is the least part of a data sheet's rate that counts as that.
const nominalShare = 0.85

// fastestNIC bounds a NIC's rate, in GB/s, where a scenario sets none.
const fastestNIC = 1000

// withNICs takes over the NICs of a node: their rates by the machine's data sheet, or else by the
// next higher of those that are sold.
func withNICs(f *nccl.Facts, between *topology.Params, m *machine.Machine) {
	if f.NICs = between.NICs; f.NICs == 0 {
		f.NICs = f.GPUs
	}
	f.NICRate = min(gigabytes(between.Bandwidth), fastestNIC)
	for _, gbits := range []float64{1, 10, 25, 40, 50, 100, 200, 400, 800} {
		if rate := gbits / 8; f.NICRate <= rate && f.NICRate >= nominalShare*rate {
			f.NICRate = rate
		}
	}
	if m != nil && between.Bandwidth <= m.NICRate {
		f.NICRate = gigabytes(m.NICRate)
	}
}

// noLibrary says why NCCL does not run on a point's device, and what would have it answer all the
// same; "" where it does, or where the device is nobody's.
func noLibrary(p *scenarios.Point, a scenarios.Algorithm) string {
	if !ofNCCL(a.Name) || slices.ContainsFunc(a.Params, func(q scenarios.Param) bool {
		return q.Name == "machine"
	}) {
		return ""
	}
	if model := system.ModelOf(p.Device.Name); model.IsAMD() {
		return fmt.Sprintf("%s: NCCL does not run on %s; what RCCL would choose is not known here "+
			"(machine=%s answers as if there were NVIDIA's GPUs)", a.Name, p.Device.Name,
			nccl.Machines()[0].Name)
	}
	return ""
}

// ncclEnvironment returns the variables that NCCL reads at a point: those that the operator of its
// machine sets, as far as they change what is chosen, and then those of the scenario, which win.
func ncclEnvironment(p *scenarios.Point) string {
	var list []string
	if m := p.Topology.NodeFacts().Machine; m != nil {
		known, _ := nccl.Variables()
		for _, field := range strings.Fields(m.Env) {
			name, value, _ := strings.Cut(field, "=")
			if value != "" && slices.Contains(known, name) {
				list = append(list, field)
			}
		}
	}
	return strings.Join(append(list, strings.Fields(p.Environment)...), " ")
}

// graphIn reads what NCCL's search has found, from its own dump.
func (s *Scenario) graphIn(file string) (string, error) {
	text, err := scenarioFile(s.file, file, s.Resolve(file), s.disk)
	if err != nil {
		return "", err
	}
	graphs, err := ncclxml.ReadGraphs(filepath.Base(file), text)
	if err != nil {
		return "", err
	}
	var found nccl.Found
	for _, one := range []struct {
		of   *ncclxml.Graph
		into *nccl.FoundGraph
	}{{graphs.Ring, &found.Ring}, {graphs.Tree, &found.Tree}, {graphs.NVLS, &found.NVLS}} {
		if g := one.of; g != nil {
			*one.into = nccl.FoundGraph{Orders: g.Orders, Intra: g.SpeedIntra, Inter: g.SpeedInter,
				NVLink: g.TypeIntra == "NVL", Same: g.Same, FromTop: g.Pattern == 3,
				Crosses: g.CrossNIC == 2, LL128: g.Short(80), PXN: g.Short(90),
				Nets: g.HasNets}
		}
	}
	words := found.String()
	if us := math.Round(graphs.Ring.LatencyInter); us > 0 {
		words += fmt.Sprintf(" net-latency=%g", us)
	}
	return words, nil
}

// refusedByNCCL returns why NCCL does not take a point's version, graph or environment, nil if it
// does.
func refusedByNCCL(p *scenarios.Point) *scenarios.Refusal {
	if err := nccl.CheckVersion(p.Version); err != nil {
		return p.Refuse("nccl.version", err.Error(), "")
	}
	if p.Graph != "" {
		f, err := nccl.ParseFacts(nccl.Machines()[0].Facts.String() + " " + p.Graph)
		if err == nil {
			err = f.Fits(cmp.Or(perNode(p), ranksOf(p)), ranksOf(p))
		}
		if err != nil {
			return p.Refuse("nccl.graph", err.Error(), "")
		}
	}
	for _, field := range strings.Fields(p.Environment) {
		name, _, _ := strings.Cut(field, "=")
		e, err := nccl.ParseEnv(field)
		if err == nil {
			err = e.Check(p.Version)
		}
		if err != nil {
			return p.Refuse("nccl.env."+name, cmp.Or(errors.Unwrap(err), err).Error(), "")
		}
	}
	return nil
}

// LibraryNotes say of a point that is done by NCCL why its choice may not be that of a machine: a
// tuner plugin decides there, or the device is nobody's.
func LibraryNotes(p *scenarios.Point, algorithm string) (notes []string) {
	if !ofNCCL(algorithm) || p.Topology == nil {
		return nil
	}
	if m := p.Topology.NodeFacts().Machine; m != nil && m.Tuner != "" && p.Tuner == "" {
		notes = append(notes, fmt.Sprintf("on %s %s tuner plugin decides; this is NCCL's own model",
			m.Name, m.Tuner))
	}
	model := system.ModelOf(p.Device.Name)
	if _, ok := ncclNodes(p, 1); !ok && !model.IsAMD() &&
		!strings.Contains(algorithm, "machine=") {
		notes = append(notes, fmt.Sprintf("device %s is nobody's: taken for a DGX H100", p.Device.Name))
	}
	return notes
}
