package topom

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"collsim/formats/system"
	"collsim/internal/prose"
	"collsim/machine"
	"collsim/unit"
)

// maxBytes bounds a text.
const maxBytes = 4 << 20

// Is reports whether a text has the header of a matrix.
func Is(text string) bool {
	isDevice, clean := device(), escapes()
	for line := range strings.Lines(text) {
		if header(words(clean.ReplaceAllString(line, "")), isDevice) != nil {
			return true
		}
	}
	return false
}

// Read reads a matrix as a machine. name is that of the file, device the GPU that device.preset
// names. Errors are *system.Error.
func Read(name string, data []byte, device string) (*machine.Machine, error) {
	m, err := read(name, data)
	if err != nil {
		return nil, err
	}
	d, err := system.Device(device, "the output of nvidia-smi topo -m names no GPU")
	if err != nil {
		return nil, system.Errorf(name, 0, "%s", err.Error())
	}
	model := system.ModelOf(d.Name)
	if model.IsAMD() {
		return nil, system.Errorf(name, m.line, "device.preset = %q: a GPU of NVIDIA is expected, "+
			"whose tool this is", d.Name)
	}
	pcie := system.PCIeRate(d)
	b := &builder{m: m, model: model, pcie: pcie, sys: &system.System{}}
	b.build()
	f := system.Facts{Name: system.BaseName(name), Device: d.Name, File: name, CPUs: b.cpus(),
		About:   fmt.Sprintf("%d × %s, of nvidia-smi topo -m", len(b.sys.GPUs), d.Name),
		Sources: b.sources()}
	made, err := b.sys.Machine(f)
	if err != nil {
		return nil, system.Errorf(name, m.line, "%s", err.Error())
	}
	return made, nil
}

// read finds the one matrix of a text.
func read(name string, data []byte) (*matrix, error) {
	if len(data) > maxBytes {
		return nil, system.Errorf(name, 0, "has %d bytes; at most %d are expected", len(data),
			maxBytes)
	}
	all := scan(strings.ToValidUTF8(string(data), "\uFFFD"))
	var whole []*matrix
	var why error
	for _, m := range all {
		if err := m.check(name); err != nil {
			if why == nil || slices.ContainsFunc(m.cells, func(c []cell) bool { return c != nil }) {
				why = err
			}
			continue
		}
		whole = append(whole, m)
	}
	if len(whole) == 0 {
		if why == nil {
			why = system.Errorf(name, 0, "%s", "has no header of nvidia-smi topo -m: GPU0 GPU1 …")
		}
		return nil, why
	}
	for _, m := range whole[1:] {
		if !reflect.DeepEqual(m.names, whole[0].names) || !reflect.DeepEqual(m.cells, whole[0].cells) {
			return nil, system.Errorf(name, m.line, "has another matrix than line %d; one machine "+
				"is expected", whole[0].line)
		}
	}
	return whole[0], nil
}

// check reports an incomplete matrix, or one that contradicts itself.
func (m *matrix) check(name string) error {
	seen := map[string]bool{}
	for _, n := range m.names {
		if seen[n] {
			return system.Errorf(name, m.line, "%s is there twice", n)
		}
		seen[n] = true
	}
	for i, row := range m.cells {
		if row == nil && isGPU(m.names[i]) {
			if slices.Contains(abilities(), m.odd[i]) {
				return system.Errorf(name, m.line, "is a table of which GPUs may reach each "+
					"other (nvidia-smi topo -p2p); it has no links. nvidia-smi topo -m has")
			}
			if m.odd[i] != "" {
				return system.Errorf(name, m.line, "the row of %s has %.20q; X, NV#, PIX, PXB, PHB, NODE "+
					"or SYS is expected", m.names[i], m.odd[i])
			}
			return system.Errorf(name, m.line, "the row of %s, with %s, is missing", m.names[i],
				prose.Plural(len(m.names), "cell"))
		}
	}
	for i, row := range m.cells {
		for j, c := range row {
			if c.isSelf != (i == j) {
				return system.Errorf(name, m.line, "%s to %s is %s", m.names[i], m.names[j], c.text)
			}
			if back := m.cells[j]; back != nil && back[i].text != c.text {
				return system.Errorf(name, m.line, "%s to %s is %s, and back %s", m.names[i],
					m.names[j], c.text, back[i].text)
			}
		}
	}
	return nil
}

// abilities lists the cells of nvidia-smi topo -p2p.
func abilities() []string { return []string{"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"} }

// at returns the cell of two devices: of the row of the first, else of that of the second. NICs
// without rows are far from each other.
func (m *matrix) at(i, j int) cell {
	if m.cells[i] != nil {
		return m.cells[i][j]
	}
	if m.cells[j] != nil {
		return m.cells[j][i]
	}
	return cell{path: system.SYS}
}

// numa returns the columns CPU Affinity and NUMA Affinity of a GPU, which identify its processors.
func (m *matrix) numa(i int) string {
	return strings.TrimSuffix(strings.TrimSpace(m.affinity[i]), " N/A")
}

// builder makes a system from a matrix: a PCIe tree whose paths are those of the matrix, and the
// NVLinks.
type builder struct {
	m     *matrix
	model system.Model
	pcie  unit.Rate
	sys   *system.System
	hosts int
}

// build groups the devices. Those with PIX between them are on one switch, those with PXB on
// switches below one, those with PHB or NODE on one processor.
func (b *builder) build() {
	pix, pxb, phb := b.groups(system.PIX), b.groups(system.PXB), b.groups(system.PHB)
	cpus, upper, lower := map[int]int{}, map[int]int{}, map[int]int{}
	size := func(group []int, of int) (count int) {
		for i := range group {
			if group[i] == of {
				count++
			}
		}
		return count
	}
	link := func(a, to int) {
		b.sys.Links = append(b.sys.Links, system.Link{A: a, B: to, Kind: system.PCIe, Count: 1,
			Rate: b.pcie})
	}
	below := func(at map[int]int, group, above int) int {
		v, ok := at[group]
		if !ok {
			v = b.sys.Add(system.Node{Kind: system.PCI})
			at[group] = v
			link(v, above)
		}
		return v
	}
	for i := range b.m.names {
		above, ok := cpus[phb[i]]
		if !ok {
			above = b.sys.Add(system.Node{Kind: system.CPU, Name: fmt.Sprint("CPU ", len(cpus))})
			cpus[phb[i]] = above
		}
		if size(pxb, pxb[i]) > size(pix, pix[i]) {
			above = below(upper, pxb[i], above)
		}
		if size(pix, pix[i]) > 1 || above != cpus[phb[i]] {
			above = below(lower, pix[i], above)
		}
		link(b.sys.Add(b.node(i)), above)
	}
	b.hosts = len(cpus)
	b.nvlinks()
	b.sys.JoinCPUs(func(int) unit.Rate { return betweenCPUs }, nil)
}

// node makes the node of a device of the matrix.
func (b *builder) node(i int) system.Node {
	name := b.m.names[i]
	if isGPU(name) {
		return system.Node{Kind: system.GPU, Name: name}
	}
	if of := b.m.legend[name]; of != "" {
		name = of
	}
	return system.Node{Kind: system.NIC, Name: name, Rate: portRate(b.pcie)}
}

// groups returns a group number for each device; devices share it if a path of such a type or a
// better one connects them. The matrix does not show PCIe paths between GPUs with NVLinks: such
// GPUs are on one processor if their affinity is equal.
func (b *builder) groups(most system.PathType) []int {
	m, group := b.m, make([]int, len(b.m.names))
	for i := range group {
		group[i] = i
		for j := range i {
			c := m.at(i, j)
			near := c.links == 0 && c.path <= most
			if c.links > 0 && most >= system.PHB {
				near = m.numa(i) == m.numa(j) && m.numa(i) != ""
			}
			if near {
				join(group[:i+1], i, j)
			}
		}
	}
	return group
}

// betweenCPUs is NCCL's rate between two processors of AMD.
const betweenCPUs = 16 * unit.Rate(unit.GB)

// portRate returns the rate of the NIC that matches 16 lanes of PCIe: 100 Gbit/s for generation 3,
// which is 12 GB/s in NCCL.
func portRate(pcie unit.Rate) unit.Rate { return pcie / 12 * 100 / 8 }

// join merges two groups.
func join(group []int, i, j int) {
	from, to := group[i], group[j]
	for k := range group {
		if group[k] == from {
			group[k] = to
		}
	}
}

// nvlinks adds NVLinks. They lead to an NVSwitch if all pairs have more links than a GPU could have
// to each peer; else from GPU to GPU.
func (b *builder) nvlinks() {
	var gpus []int // indices into the matrix
	for i, n := range b.m.names {
		if isGPU(n) {
			gpus = append(gpus, i)
		}
	}
	if links := b.switched(gpus); links > 0 {
		v := b.sys.Add(system.Node{Kind: system.NVSwitch, Name: "NVSwitch"})
		for _, g := range b.sys.GPUs {
			b.sys.Links = append(b.sys.Links, system.Link{A: g, B: v, Kind: system.NVLink, Count: links,
				Rate: b.model.Link() * unit.Rate(links)})
		}
		return
	}
	for h, j := range gpus {
		for g, i := range gpus[:h] {
			if n := b.m.at(i, j).links; n > 0 {
				b.sys.Links = append(b.sys.Links, system.Link{A: b.sys.GPUs[g], B: b.sys.GPUs[h],
					Kind: system.NVLink, Count: n, Rate: b.model.Link() * unit.Rate(n)})
			}
		}
	}
}

// switched returns the NVLinks of a GPU to NVSwitches, 0 if there are none. With NVSwitches all
// pairs show the same number. It counts as switched if the GPU could not have so many links to each
// peer. It also does if boards of the model have NVSwitches and the number is that of all its
// links.
func (b *builder) switched(gpus []int) int {
	if len(gpus) < 2 {
		return 0
	}
	links := b.m.at(gpus[0], gpus[1]).links
	for h, j := range gpus {
		for _, i := range gpus[:h] {
			if b.m.at(i, j).links != links {
				return 0
			}
		}
	}
	most := b.model.Links
	if most == 0 {
		most = 18
	}
	if links*(len(gpus)-1) > most || b.model.Board == "switch" && links == b.model.Links {
		return links
	}
	return 0
}

// cpus describes the machine's processors in words: how many groups of GPUs and NICs are SYS from
// each other.
func (b *builder) cpus() string {
	return prose.Plural(b.hosts, "group") + " of GPUs and NICs, SYS from each other"
}

// sources names the source of each figure that the matrix lacks.
func (b *builder) sources() map[string]string {
	s := map[string]string{"device": "of device.preset",
		"nic_rate": "assumed: the matrix has no rates; a NIC as fast as 16 lanes of the GPU's PCIe " +
			"have room for"}
	for _, l := range b.sys.Links {
		if l.Kind == system.NVLink {
			s["gpu_rate"] = fmt.Sprintf("%d links", l.Count)
			break
		}
	}
	s["wires"] = fmt.Sprintf("assumed of PCIe: 16 lanes of the GPU's generation, %v as NCCL counts; "+
		"between processors %v, as NCCL counts for AMD's; NVLinks as the matrix has them, %v each",
		b.pcie, betweenCPUs, b.model.Link())
	return s
}
