package ncclxml

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"collsim/device"
	"collsim/formats/system"
	"collsim/machine"
	"collsim/unit"
)

// MostOfNCCL is the most elements of a file that NCCL reads (src/graph/topo.h,
// NCCL_TOPO_XML_MAX_NODES).
const MostOfNCCL = 256

// Write returns a topology file of a machine's node, which NCCL and RCCL accept (NCCL_TOPO_FILE),
// and Read reads back as the same network. Facts that NCCL has no attributes for (measured rates,
// the network between nodes) are in further attributes, which it ignores. A machine whose wires are
// not a tree of PCIe is an error.
func Write(m *machine.Machine) ([]byte, error) {
	d, err := device.Lookup(m.Device)
	if err != nil {
		return nil, err
	}
	w := &writer{m: m, model: system.ModelOf(m.Device), pcie: system.PCIeRate(d)}
	root := w.system()
	if m.Joined == "wires" {
		err = w.wired(root)
	} else {
		w.plain(root)
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	root.write(&b, 0)
	back, err := Read(m.Name+".xml", []byte(b.String()), "")
	if err != nil {
		return nil, fmt.Errorf("machine %s cannot be written as NCCL XML: %w", m.Name, err)
	}
	if what := differs(m, back); what != "" {
		return nil, fmt.Errorf("machine %s cannot be written as NCCL XML: it would have another %s",
			m.Name, what)
	}
	return []byte(b.String()), nil
}

// tag is an element to be written.
type tag struct {
	name string
	at   [][2]string
	kids []*tag
}

// add adds an element inside t.
func (t *tag) add(name string, at ...string) *tag {
	k := &tag{name: name}
	for i := 0; i+1 < len(at); i += 2 {
		k.set(at[i], at[i+1])
	}
	t.kids = append(t.kids, k)
	return k
}

// set adds an attribute.
func (t *tag) set(key, value string) { t.at = append(t.at, [2]string{key, value}) }

// write writes the element in the layout of NCCL's dumps.
func (t *tag) write(b *strings.Builder, depth int) {
	indent := strings.Repeat("  ", depth)
	fmt.Fprintf(b, "%s<%s", indent, t.name)
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", "\n", " ")
	for _, a := range t.at {
		fmt.Fprintf(b, ` %s="%s"`, a[0], escape.Replace(a[1]))
	}
	if len(t.kids) == 0 {
		b.WriteString("/>\n")
		return
	}
	b.WriteString(">\n")
	for _, k := range t.kids {
		k.write(b, depth+1)
	}
	fmt.Fprintf(b, "%s</%s>\n", indent, t.name)
}

// writer makes the elements of a machine.
type writer struct {
	m     *machine.Machine
	model system.Model
	pcie  unit.Rate // of 16 lanes of the device
	buses int       // number of bus ids assigned
}

// system makes the root element, with the facts that NCCL has no attributes for.
func (w *writer) system() *tag {
	m := w.m
	root := &tag{name: "system"}
	root.set("version", map[bool]string{false: "1", true: "2"}[w.model.IsAMD()])
	root.set("name", m.Name)
	if _, _, ok := system.CardOf(m.Device); !ok {
		root.set("device", m.Device)
	}
	if m.Joined == "wires" {
		root.set("joined", m.Joined)
	} else {
		root.set("gpu_rate", m.Rate.String())
	}
	root.set("gpu_latency", m.Latency.String())
	for _, k := range []struct{ kind, key string }{{"pcie", "pcie_latency"}, {"cpu", "cpu_latency"}} {
		for _, wire := range m.Wires {
			if wire.Kind == k.kind && !isNIC(wire.From) && !isNIC(wire.To) {
				root.set(k.key, wire.Latency.String())
				break
			}
		}
	}
	root.set("multicast", map[bool]string{true: "yes", false: "no"}[m.Multicast])
	root.set("fabric", m.Fabric)
	root.set("joins", m.Joins)
	root.set("hop", m.Hop.String())
	var shares []string
	for _, s := range m.Shares {
		shares = append(shares, fmt.Sprintf("%d: %v", s.Nodes, s.Of))
	}
	root.set("nic_share", strings.Join(shares, ", "))
	return root
}

// isNIC reports whether the end of a wire is a NIC.
func isNIC(end string) bool { return strings.HasPrefix(end, "nic") }

// cpu adds a processor.
func (w *writer) cpu(root *tag, numa int) *tag {
	c := root.add("cpu", "numaid", strconv.Itoa(numa))
	words := strings.ToLower(w.m.CPUs)
	switch {
	case strings.Contains(words, "grace"):
		c.set("arch", "arm64")
	case strings.Contains(words, "intel"), strings.Contains(words, "xeon"):
		c.at = append(c.at, [][2]string{{"arch", "x86_64"}, {"vendor", "GenuineIntel"},
			{"familyid", "6"}, {"modelid", "143"}}...)
	default:
		c.at = append(c.at, [][2]string{{"arch", "x86_64"}, {"vendor", "AuthenticAMD"},
			{"familyid", "175"}, {"modelid", "1"}}...)
	}
	return c
}

// pci adds a PCI device of a class; the link above it has the rate.
func (w *writer) pci(above *tag, class string, vendor, id int, rate unit.Rate) *tag {
	bus := w.buses
	w.buses++
	p := above.add("pci", "busid", fmt.Sprintf("%04x:%02x:00.0", bus>>8, bus&0xff), "class", class,
		"vendor", fmt.Sprintf("0x%04x", vendor), "device", fmt.Sprintf("0x%04x", id))
	speed, counted := "16.0", unit.Rate(24*unit.GB)
	for _, gen := range []struct {
		speed string
		gbps  unit.Rate
	}{{"2.5", 3}, {"5.0", 6}, {"8.0", 12}, {"16.0", 24}, {"32.0", 48}, {"64.0", 96}} {
		if rate >= gen.gbps*unit.Rate(unit.GB) {
			speed, counted = gen.speed, gen.gbps*unit.Rate(unit.GB)
		}
	}
	p.set("link_speed", speed+" GT/s PCIe")
	p.set("link_width", "16")
	if rate != counted {
		p.set(reached, rate.String())
	}
	return p
}

// bridge adds a PCIe switch.
func (w *writer) bridge(above *tag, rate unit.Rate) *tag {
	return w.pci(above, "0x060400", 0xffff, 0xffff, rate)
}

// gpu adds a GPU, and returns its PCI device and its tag.
func (w *writer) gpu(above *tag, number int, rate unit.Rate) (pci, gpu *tag) {
	vendor, id, ok := system.CardOf(w.m.Device)
	if !ok && w.m.Library == "rccl" {
		vendor = 0x1002
	}
	class := "0x030200"
	if vendor == 0x1002 {
		class = "0x120000"
	}
	pci = w.pci(above, class, vendor, id, rate)
	n := strconv.Itoa(number)
	gpu = pci.add("gpu", "dev", n, "sm", strconv.Itoa(max(w.model.SM, 80)), "rank", n, "gdr", "1")
	if w.model.IsAMD() {
		gpu.set("gcn", w.model.GCN)
		gpu.set("arch", "38911")
	}
	return pci, gpu
}

// nic adds a NIC.
func (w *writer) nic(above *tag, number int, rate unit.Rate) {
	vendor, class := 0x15b3, "0x020000"
	switch w.m.Fabric {
	case "efa":
		vendor = 0x1d0f
	case "infiniband":
		class = "0x020700"
	}
	mbps := int64(w.m.NICRate) / 125_000
	net := w.pci(above, class, vendor, 0, rate).add("nic").add("net", "name",
		"mlx5_"+strconv.Itoa(number), "dev", strconv.Itoa(number), "speed", strconv.FormatInt(mbps, 10),
		"port", "1", "latency", microseconds(w.m.PluginLatency), "guid",
		fmt.Sprintf("0x%x", number+1), "maxconn", "131072", "gdr", "1")
	if unit.Rate(mbps)*125_000 != w.m.NICRate {
		net.set(reached, w.m.NICRate.String())
	}
}

// microseconds formats a time as NCCL does for a NIC.
func microseconds(t unit.Time) string {
	return fmt.Sprintf("%d.%06d", t/unit.Microsecond, t%unit.Microsecond)
}

// link adds links of a GPU to the device with a bus id; rate is that of all together.
func (w *writer) link(gpu *tag, target, class string, count int, rate unit.Rate) {
	name := "nvlink"
	if w.m.Library == "rccl" {
		name = "xgmi"
	}
	l := gpu.add(name, "target", target, "count", strconv.Itoa(count), "tclass", class)
	if rate != w.model.Link()*unit.Rate(count) {
		l.set(reached, rate.String())
	}
}

// busOf returns the bus id of a PCI device.
func busOf(pci *tag) string { return pci.at[0][1] }

// classOf returns the class of a PCI device.
func classOf(pci *tag) string { return pci.at[1][1] }

// nvSwitch is the class of an NVSwitch.
const nvSwitch = "0x068000"

// plain adds the node of a machine without wires. GPUs and their NICs are on a PCIe switch each,
// evenly divided among the processors that the machine's description counts.
func (w *writer) plain(root *tag) {
	m := w.m
	cpus := 1
	if words := strings.Fields(m.CPUs); len(words) > 0 {
		n, err := strconv.Atoi(words[0])
		if err == nil && n > 0 && m.GPUs%n == 0 && n <= system.MaxCPUs {
			cpus = n
		}
	}
	var hosts []*tag
	for c := range cpus {
		hosts = append(hosts, w.cpu(root, c))
	}
	cpuOf := func(gpu int) int { return gpu * cpus / m.GPUs }
	pcis, gpus := make([]*tag, m.GPUs), make([]*tag, m.GPUs)
	most := max(m.GPUs, m.NICs)
	nextGPU, nextNIC := 0, 0
	for nextGPU < m.GPUs || nextNIC < m.NICs {
		// A group is one NIC and its GPUs, or one GPU and its NICs.
		endGPU, endNIC := nextGPU+1, nextNIC+1
		for i := range most {
			if m.NICs <= m.GPUs && i*m.NICs/most == nextNIC {
				endGPU = max(endGPU, i+1)
			}
			if m.NICs > m.GPUs && i*m.GPUs/most == nextGPU {
				endNIC = max(endNIC, i+1)
			}
		}
		above := hosts[cpuOf(nextGPU)]
		isOne := cpuOf(nextGPU) == cpuOf(endGPU-1)
		if isOne {
			above = w.bridge(above, w.pcie)
		}
		for ; nextGPU < endGPU; nextGPU++ {
			at := above
			if !isOne {
				at = hosts[cpuOf(nextGPU)]
			}
			pcis[nextGPU], gpus[nextGPU] = w.gpu(at, nextGPU, w.pcie)
		}
		for ; nextNIC < endNIC; nextNIC++ {
			w.nic(above, nextNIC, max(w.pcie, m.NICRate))
		}
	}
	w.joinPlain(pcis, gpus)
}

// joinPlain adds the links of a switch or of a full mesh.
func (w *writer) joinPlain(pcis, gpus []*tag) {
	links := max(w.model.Links, 1)
	for g := range gpus {
		if w.m.Joined == "switch" {
			w.link(gpus[g], toSwitch, nvSwitch, links, w.model.Link()*unit.Rate(links))
			continue
		}
		each := max(links/max(len(gpus)-1, 1), 1)
		for h := range gpus {
			if h != g {
				w.link(gpus[g], busOf(pcis[h]), classOf(pcis[h]), each, w.model.Link()*unit.Rate(each))
			}
		}
	}
}

// differs names the first difference between the networks of two machines; empty if there is none.
func differs(a, b *machine.Machine) string {
	for _, f := range []struct {
		what string
		a, b any
	}{
		{"device", a.Device, b.Device}, {"number of GPUs", a.GPUs, b.GPUs},
		{"kind of node", a.Joined, b.Joined}, {"rate", a.Rate, b.Rate},
		{"latency", a.Latency, b.Latency}, {"multicast", a.Multicast, b.Multicast},
		{"number of NICs", a.NICs, b.NICs}, {"rate of NICs", a.NICRate, b.NICRate},
		{"share of NICs", a.Shares, b.Shares}, {"fabric", a.Fabric, b.Fabric},
		{"preset of its network", a.Joins, b.Joins}, {"hop", a.Hop, b.Hop},
		{"plugin_latency", a.PluginLatency, b.PluginLatency},
		{"library", a.Library, b.Library}, {"set of wires", sorted(a.Wires), sorted(b.Wires)},
	} {
		if !reflect.DeepEqual(f.a, f.b) {
			return f.what
		}
	}
	return ""
}

// sorted describes wires in a canonical order, each from the lesser end.
func sorted(wires []machine.Wire) []string {
	var list []string
	for _, w := range wires {
		ends := []string{w.From, w.To}
		slices.Sort(ends)
		list = append(list, fmt.Sprint(ends, w.Kind, w.Count, w.Rate, w.Latency))
	}
	slices.Sort(list)
	return list
}
