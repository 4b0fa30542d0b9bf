package rocmtopo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/system"
	"collsim/internal/prose"
	"collsim/machine"
	"collsim/unit"
)

// maxBytes bounds a file.
const maxBytes = 4 << 20

// Is reports whether a text has one of the tables.
func Is(text string) bool {
	all, _ := scan(text)
	return slices.ContainsFunc(all, (*table).isWhole)
}

// Read reads the tables as a machine. name is that of the file, device the GPU that device.preset
// names. Errors are *system.Error.
func Read(name string, data []byte, device string) (*machine.Machine, error) {
	if len(data) > maxBytes {
		return nil, system.Errorf(name, 0, "has %d bytes; at most %d are expected", len(data),
			maxBytes)
	}
	b := &builder{sys: &system.System{IsAMD: true}}
	all, numa := scan(string(data))
	for _, t := range all {
		if !t.isWhole() {
			continue
		}
		if err := b.take(name, t); err != nil {
			return nil, err
		}
	}
	if b.names == nil {
		return nil, system.Errorf(name, 0, "has no table of rocm-smi --showtopo or amd-smi topology")
	}
	d, err := system.Device(device, "AMD's tools name no GPU in their tables of links")
	if err != nil {
		return nil, system.Errorf(name, 0, "%s", err.Error())
	}
	model := system.ModelOf(d.Name)
	if model.SM > 0 {
		return nil, system.Errorf(name, b.line, "device.preset = %q: a GPU of AMD is expected, "+
			"whose tool this is", d.Name)
	}
	b.link, b.pcie = system.XGMIRate(model.GCN), system.PCIeRate(d)
	b.build(numa)
	m, err := b.sys.Machine(system.Facts{Name: system.BaseName(name), Device: d.Name, File: name,
		About: fmt.Sprintf("%d × %s, of AMD's table of links", len(b.names), d.Name),
		CPUs:  prose.Plural(b.cpus, "NUMA domain"),
		Sources: map[string]string{"device": "of device.preset",
			"joined": "a link of xGMI, of those that the tables do not count, where the way has one hop",
			"wires": fmt.Sprintf("assumed: a link of xGMI where the way has one hop, %v as RCCL counts; "+
				"16 lanes of PCIe, %v; between processors %v, as NCCL counts for AMD's", b.link, b.pcie,
				betweenCPUs)}})
	if err != nil {
		return nil, system.Errorf(name, b.line, "%s", err.Error())
	}
	return m, nil
}

// builder makes a system from the tables.
type builder struct {
	line       int
	names      []string
	of         [types + 1][][]string // cells by kind of table; nil if there is none
	link, pcie unit.Rate
	sys        *system.System
	cpus       int
}

// take adds a table, which must not contradict itself or an earlier one.
func (b *builder) take(name string, t *table) error {
	if b.names == nil {
		b.names, b.line = t.names, t.line
	}
	if !slices.Equal(b.names, t.names) {
		return system.Errorf(name, t.line, "has other GPUs than the table of line %d", b.line)
	}
	for i := range t.cells {
		for j := range i {
			if t.cells[i][j] != t.cells[j][i] {
				return system.Errorf(name, t.line, "%s to %s is %s, and back %s", t.names[i], t.names[j],
					t.cells[i][j], t.cells[j][i])
			}
		}
	}
	if b.of[t.kind] == nil {
		b.of[t.kind] = t.cells
	}
	return nil
}

// number returns a cell of a table of numbers; 0 if there is no such table.
func (b *builder) number(k kind, i, j int) int {
	if b.of[k] == nil {
		return 0
	}
	n, err := strconv.Atoi(b.of[k][i][j])
	if err != nil {
		return 0
	}
	return n
}

// weightOfLink is the weight of an xGMI link (Linux, drivers/gpu/drm/amd/amdkfd/kfd_crat.h).
const weightOfLink = 15

// isXGMI reports whether the path between two GPUs is xGMI alone.
func (b *builder) isXGMI(i, j int) bool {
	if b.of[types] != nil {
		return strings.EqualFold(b.of[types][i][j], "XGMI")
	}
	if w := b.number(weights, i, j); w > 0 {
		return w%weightOfLink == 0 && w < 4*weightOfLink
	}
	return b.number(hops, i, j) == 1
}

// isLink reports whether the path between two GPUs is a single xGMI link.
func (b *builder) isLink(i, j int) bool {
	hop, weight := b.number(hops, i, j), b.number(weights, i, j)
	return b.isXGMI(i, j) && (hop == 1 || hop == 0 && (weight == weightOfLink || weight == 0))
}

// far is the weight from which on a PCIe path between GPUs leaves a NUMA domain: 20 to and from
// each processor, and the distance between the two.
const far = 50

// build adds the links, and PCIe to the processor near each GPU. That is the one of its NUMA
// domain. If the tables do not state it, GPUs that reach each other within a domain or over xGMI
// share a processor.
func (b *builder) build(numa map[int]string) {
	n := len(b.names)
	group := make([]int, n)
	for i := range n {
		group[i] = i
		for j := range i {
			near := b.isXGMI(i, j) || b.number(hops, i, j) == 2 ||
				b.number(hops, i, j) == 0 && b.number(weights, i, j) < far
			if len(numa) == n {
				near = numa[i] == numa[j]
			}
			if near {
				from, to := group[i], group[j]
				for k := range i + 1 {
					if group[k] == from {
						group[k] = to
					}
				}
			}
		}
	}
	cpus := map[int]int{}
	for i, name := range b.names {
		v, ok := cpus[group[i]]
		if !ok {
			v = b.sys.Add(system.Node{Kind: system.CPU, Name: fmt.Sprint("CPU ", len(cpus))})
			cpus[group[i]] = v
		}
		g := b.sys.Add(system.Node{Kind: system.GPU, Name: name})
		b.sys.Links = append(b.sys.Links, system.Link{A: g, B: v, Kind: system.PCIe, Count: 1,
			Rate: b.pcie})
		for j := range i {
			if b.isLink(i, j) {
				b.sys.Links = append(b.sys.Links, system.Link{A: b.sys.GPUs[j], B: g, Kind: system.NVLink,
					Count: 1, Rate: b.link})
			}
		}
	}
	b.cpus = len(cpus)
	b.sys.JoinCPUs(func(int) unit.Rate { return betweenCPUs }, nil)
}

// betweenCPUs is NCCL's rate between two processors of AMD.
const betweenCPUs = 16 * unit.Rate(unit.GB)
