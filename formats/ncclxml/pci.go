package ncclxml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/system"
	"collsim/unit"
)

// pci adds a PCI device below a node. aboveIs is the generation of a two-level switch whose upper
// level that node is, 0 if it is none.
func (f *file) pci(e *element, parent, host, aboveIs int) error {
	rate, err := f.lanes(e)
	if err != nil {
		return err
	}
	var tags, nics []*element
	for _, k := range e.kids {
		switch k.name {
		case "gpu":
			tags = append(tags, k)
		case "nic":
			nics = append(nics, k)
		}
	}
	class := strings.ToLower(strings.TrimSpace(e.at["class"]))
	vendor, err := e.number(f.name, "vendor", 0)
	if err != nil {
		return err
	}
	isMaker := vendor == 0 || vendor == 0xffff || system.IsGPUMaker(vendor)
	isGPU := isMaker && (strings.HasPrefix(class, "0x03") || strings.HasPrefix(class, "0x1200"))
	switch {
	case len(tags) > 0 || isGPU && len(nics) == 0:
		return f.gpu(e, append(tags, nil)[0], gpu{parent: parent, host: host, rate: rate})
	case len(nics) > 0:
		for _, n := range nics {
			if err := f.nic(n, e, parent, rate); err != nil {
				return err
			}
		}
		return nil
	case strings.HasPrefix(class, "0x02"):
		return f.nic(&element{name: "nic", line: e.line}, e, parent, rate)
	}
	return f.switches(e, parent, host, aboveIs, rate)
}

// switches adds a PCIe switch. It attaches the devices below the lower level of a two-level switch
// to its upper level, as NCCL does (src/graph/topo.cc, ncclTopoFlattenBcmSwitches).
func (f *file) switches(e *element, parent, host, aboveIs int, rate unit.Rate) error {
	upper, lower, err := f.levels(e)
	if err != nil {
		return err
	}
	v := parent
	if aboveIs > 0 && lower == aboveIs {
		upper = 0
	} else {
		v = f.sys.Add(system.Node{Kind: system.PCI, Name: e.at["busid"], Host: host,
			Dissolved: e.at[dissolved] != ""})
		f.sys.Links = append(f.sys.Links, system.Link{A: v, B: parent, Kind: system.PCIe, Count: 1,
			Rate: rate})
	}
	f.bridges[busKey(host, e.at["busid"])] = v
	for _, k := range e.kids {
		switch k.name {
		case "pci":
			if err := f.pci(k, v, host, upper); err != nil {
				return err
			}
		case "pcilink":
			f.peers = append(f.peers, peer{v, host, k.at["target"]})
		}
	}
	return nil
}

// levels returns the generation of a Broadcom switch that appears as two levels: as the upper one,
// and as the lower one; 0 if it is none.
func (f *file) levels(e *element) (upper, lower int, err error) {
	var id [4]int
	for i, key := range []string{"vendor", "device", "subsystem_vendor", "subsystem_device"} {
		if id[i], err = e.number(f.name, key, 0); err != nil {
			return 0, 0, err
		}
	}
	switch [3]int{id[0], id[1], id[2]} {
	case [3]int{0x1000, 0xc010, 0x1000}:
		if id[3]>>12 == 0xa {
			return 4, 4, nil
		}
	case [3]int{0x1000, 0xc030, 0x1000}:
		switch id[3] >> 12 {
		case 0:
			return 5, 0, nil
		case 1:
			return 0, 5, nil
		}
	}
	return 0, 0, nil
}

// lanes returns NCCL's rate for the link above a device (src/graph/topo.cc, ncclTopoAddPci). An
// unknown speed counts 60, in units of 100 Mbit/s, a lane; an unknown width counts 16 lanes.
func (f *file) lanes(e *element) (unit.Rate, error) {
	width, err := e.number(f.name, "link_width", 0)
	if err != nil {
		return 0, err
	}
	if width <= 0 || width > 64 {
		width = 16
	}
	words := strings.Fields(strings.ReplaceAll(e.at["link_speed"], "GT/s", " GT/s"))
	lane := 60
	if len(words) > 0 {
		if gts, err := strconv.ParseFloat(words[0], 64); err == nil {
			for _, gen := range []struct {
				gts  float64
				lane int
			}{{2.5, 15}, {5, 30}, {8, 60}, {16, 120}, {32, 240}, {64, 480}} {
				if gts == gen.gts {
					lane = gen.lane
				}
			}
		}
	}
	return f.rate(e, unit.Rate(width*lane)*unit.Rate(unit.GB)/80)
}

// gpu records a GPU.
func (f *file) gpu(e, tag *element, g gpu) (err error) {
	g.pci, g.tag, g.dev = e, tag, -1
	if g.vendor, err = e.number(f.name, "vendor", 0); err != nil {
		return err
	}
	if g.id, err = e.number(f.name, "device", 0); err != nil {
		return err
	}
	if tag != nil {
		if g.dev, err = tag.number(f.name, "dev", -1); err != nil {
			return err
		}
	}
	if len(f.gpus) == system.MaxGPUs {
		return f.wrong(e, "has more than %d GPUs", system.MaxGPUs)
	}
	f.gpus = append(f.gpus, g)
	return nil
}

// order numbers the GPUs by host. Within it they have the driver's numbers if the file states them,
// else the order of bus ids, which is the driver's.
func (f *file) order() error {
	seen, byDev := map[string]*element{}, true
	for _, g := range f.gpus {
		key := busKey(g.host, g.pci.at["busid"])
		if first := seen[key]; first != nil && g.pci.at["busid"] != "" {
			return f.wrong(g.pci, "GPU busid %.40q is that of line %d, too", g.pci.at["busid"], first.line)
		}
		seen[key] = g.pci
		key = fmt.Sprint("dev ", g.host, " ", g.dev)
		byDev = byDev && g.dev >= 0 && seen[key] == nil
		seen[key] = g.pci
	}
	slices.SortStableFunc(f.gpus, func(a, b gpu) int {
		by := strings.Compare(busID(a.pci.at["busid"]), busID(b.pci.at["busid"]))
		if byDev {
			by = a.dev - b.dev
		}
		return cmp.Or(a.host-b.host, by)
	})
	for i := range f.gpus {
		g := &f.gpus[i]
		g.node = f.sys.Add(system.Node{Kind: system.GPU, Name: g.pci.at["busid"], Host: g.host,
			Dissolved: g.pci.at[dissolved] != ""})
		f.sys.Links = append(f.sys.Links, system.Link{A: g.node, B: g.parent, Kind: system.PCIe,
			Count: 1, Rate: g.rate})
	}
	for _, p := range f.peers {
		if v, ok := f.bridges[busKey(p.host, p.target)]; ok && v != p.from {
			f.joinPeers(p.from, v)
		}
	}
	return nil
}

// joinPeers links two PCIe switches; each may name the other.
func (f *file) joinPeers(a, b int) {
	for _, l := range f.sys.Links {
		if l.Kind == system.Peer && (l.A == a && l.B == b || l.A == b && l.B == a) {
			return
		}
	}
	f.sys.Links = append(f.sys.Links, system.Link{A: a, B: b, Kind: system.Peer, Count: 1,
		Rate: 5000 * unit.Rate(unit.GB)})
}

// busID normalises a bus id for comparison.
func busID(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// busKey returns the key of a device of a host.
func busKey(host int, id string) string { return strconv.Itoa(host) + "/" + busID(id) }

// nic adds the ports of a NIC. It has a PCI device unless it is attached to a processor directly.
func (f *file) nic(e, pci *element, parent int, rate unit.Rate) error {
	host := f.sys.Nodes[parent].Host
	add := func(name string, port unit.Rate, latency unit.Time, dev int) error {
		if len(f.sys.NICs) == system.MaxNICs {
			return f.wrong(e, "has more than %d NICs", system.MaxNICs)
		}
		f.devs = append(f.devs, dev)
		v := f.sys.Add(system.Node{Kind: system.NIC, Name: name, Rate: port, Latency: latency,
			Host: host})
		f.sys.Links = append(f.sys.Links, system.Link{A: v, B: parent, Kind: system.PCIe, Count: 1,
			Rate: rate})
		f.fabrics[v] = fabricOf(pci, name)
		return nil
	}
	found := false
	for _, n := range e.kids {
		if n.name != "net" || n.at["net"] == "0" {
			continue
		}
		found = true
		mbps, err := n.number(f.name, "speed", 0)
		if err != nil {
			return err
		}
		port := unit.Rate(mbps) * 125_000
		switch {
		case mbps <= 0 && rate == unit.Unlimited:
			port = 10_000 * 125_000 // NCCL's default (src/graph/topo.cc, ncclTopoAddNet)
		case mbps <= 0, rate < unit.Unlimited && port > 16*rate: // implausible: another unit
			port = rate
		}
		if port, err = f.rate(n, port); err != nil {
			return err
		}
		dev, err := n.number(f.name, "dev", -1)
		if err != nil {
			return err
		}
		latency, err := n.microseconds(f.name, "latency")
		if err != nil {
			return err
		}
		if err := add(cmp.Or(n.at["name"], "NIC"), port, latency, dev); err != nil {
			return err
		}
	}
	if found || pci == nil {
		return nil
	}
	f.source("nic_rate", "of its PCIe link, at what NCCL counts; the file has no <net speed>")
	return add(cmp.Or(pci.at["busid"], "NIC"), rate, 0, -1)
}

// orderNICs orders NICs as the driver does, where the file has that order.
func (f *file) orderNICs() {
	isKnown, at := true, make([]int, len(f.devs))
	for i, dev := range f.devs {
		isKnown = isKnown && dev >= 0
		at[i] = i
	}
	if !isKnown {
		return
	}
	slices.SortStableFunc(at, func(a, b int) int {
		host := func(i int) int { return f.sys.Nodes[f.sys.NICs[i]].Host }
		return cmp.Or(host(a)-host(b), f.devs[a]-f.devs[b])
	})
	nics := make([]int, len(at))
	for i, from := range at {
		nics[i] = f.sys.NICs[from]
	}
	f.sys.NICs = nics
}

// fabricOf returns the network of a NIC, by its PCI class and vendor, or by its name.
func fabricOf(pci *element, name string) string {
	switch {
	case pci == nil || strings.HasPrefix(name, "eth") || strings.HasPrefix(name, "ens"):
		return "ethernet"
	case strings.EqualFold(pci.at["vendor"], "0x1d0f"): // Amazon
		return "efa"
	case strings.HasPrefix(pci.at["class"], "0x0207"):
		return "infiniband"
	}
	return "roce"
}
