package ncclxml

import (
	"cmp"
	"fmt"
	"strings"

	"collsim/formats/system"
	"collsim/unit"
)

// device determines the GPU's model: the one asked for, else by the PCI ids.
func (f *file) device(asked string) error {
	var first *gpu
	why := "the file does not say which GPU it is (its <pci> has no vendor and device)"
	for i := range f.gpus {
		g := &f.gpus[i]
		f.sys.IsAMD = f.sys.IsAMD || g.vendor == 0x1002 || g.tag != nil && g.tag.at["gcn"] != ""
		if g.vendor == 0 || g.id == 0 {
			continue
		}
		if first == nil {
			first = g
		}
		if g.vendor != first.vendor || g.id != first.id {
			why = fmt.Sprintf("has GPUs of several kinds (%s and %s); a machine has one",
				cardName(first), cardName(g))
			first = nil
			break
		}
	}
	var of string
	links := 0
	if first != nil {
		_, of, links = system.Card(first.vendor, first.id)
		why = fmt.Sprintf("its GPU is %s, which has no figures", cardName(first))
	}
	name := cmp.Or(asked, of, f.root.at["device"])
	d, err := system.Device(name, why)
	if err != nil {
		return f.wrong(nil, "%v", err)
	}
	f.facts.Device = d.Name
	if of == "" {
		of = d.Name
	}
	f.model = system.ModelOf(of)
	if links > 0 {
		f.model.Links = links
	}
	f.sys.IsAMD = f.sys.IsAMD || f.model.IsAMD()
	f.source("device", "of device.preset")
	if asked == "" && first != nil {
		f.source("device", "by PCI id, "+cardName(first))
	}
	return nil
}

// source extends the description of a figure's source.
func (f *file) source(name, text string) {
	if f.facts.Sources == nil {
		f.facts.Sources = map[string]string{}
	}
	f.facts.Sources[name] = text
}

// cardName names a GPU by its PCI id.
func cardName(g *gpu) string {
	id := fmt.Sprintf("0x%04x:0x%04x", g.vendor, g.id)
	if name, _, _ := system.Card(g.vendor, g.id); name != "" {
		return name + ", " + id
	}
	return id
}

// links adds the links between GPUs: those of the tags, or, without any tags, those that boards of
// the device have.
func (f *file) links() error {
	hasTag := false
	for _, g := range f.gpus {
		hasTag = hasTag || g.tag != nil
	}
	if !hasTag {
		f.board()
		return nil
	}
	all, err := f.bundles()
	if err != nil {
		return err
	}
	nvswitch := -1
	for _, l := range all {
		to := l.to
		switch {
		case to >= 0:
			back := l.back(all)
			if back > l.count || back == l.count && to < l.from {
				continue // the other end lists it, too
			}
			to = f.gpus[to].node
		case to == aSwitch:
			if nvswitch < 0 {
				nvswitch = f.sys.Add(system.Node{Kind: system.NVSwitch, Name: "NVSwitch"})
			}
			to = nvswitch
		default:
			to = f.above(f.gpus[l.from].node)
		}
		f.sys.Links = append(f.sys.Links, system.Link{A: f.gpus[l.from].node, B: to,
			Kind: system.NVLink, Count: l.count, Rate: l.rate})
	}
	return nil
}

// bundle holds the links that a GPU lists to another GPU, or to something else.
type bundle struct {
	from, to int // GPUs; to is negative if it is not a GPU
	count    int
	rate     unit.Rate
}

// back returns the number of links that the other end lists.
func (l *bundle) back(all []*bundle) int {
	for _, o := range all {
		if o.from == l.to && o.to == l.from {
			return o.count
		}
	}
	return 0
}

// bundles reads the links of all GPUs from their tags.
func (f *file) bundles() (all []*bundle, err error) {
	nodes, at := map[string]int{}, map[[2]int]*bundle{}
	for i, g := range f.gpus {
		nodes[busKey(g.host, g.pci.at["busid"])] = i
	}
	for i := range f.gpus {
		g := &f.gpus[i]
		if g.tag == nil {
			continue
		}
		link, err := f.linkRate(g.tag)
		if err != nil {
			return nil, err
		}
		for _, k := range g.tag.kids {
			switch k.name {
			case "c2c":
				if err := f.c2c(k, g); err != nil {
					return nil, err
				}
				continue
			case "nvlink", "xgmi":
			default:
				continue
			}
			count, err := k.number(f.name, "count", 1)
			if err != nil {
				return nil, err
			}
			if count < 0 || count > 1024 {
				return nil, f.wrong(k, "<%s count=%d>: 0 to 1024 links are expected", k.name, count)
			}
			to := f.target(k, g.host, nodes)
			if to == i {
				f.source("joined", "links of a GPU to itself, which it has, are none")
			}
			if to == i || to == nobody || count == 0 {
				continue
			}
			rate, err := f.rate(k, link*unit.Rate(count))
			if err != nil {
				return nil, err
			}
			key := [2]int{i, to}
			if at[key] == nil {
				at[key] = &bundle{from: i, to: to}
				all = append(all, at[key])
			}
			at[key].count += count
			at[key].rate += rate
		}
	}
	return all, nil
}

// linkRate returns NCCL's rate for a link of a GPU: by its tag, or else by its model.
func (f *file) linkRate(tag *element) (unit.Rate, error) {
	if gcn := tag.at["gcn"]; gcn != "" {
		return system.XGMIRate(gcn), nil
	}
	sm, err := tag.number(f.name, "sm", 0)
	if err != nil {
		return 0, err
	}
	if sm > 0 && !f.sys.IsAMD {
		return system.NVLinkRate(sm), nil
	}
	return f.model.Link(), nil
}

// Other ends of a link than GPUs of the file.
const (
	aSwitch  = -1
	aCPU     = -2
	nobody   = -3
	toSwitch = "fffffff:ffff:ff" // in a virtual machine, which does not see its NVSwitches
)

// target returns the other end of a link: a GPU's number, or one of the above. As NCCL does, it
// uses tclass.
func (f *file) target(e *element, host int, nodes map[string]int) int {
	class := strings.ToLower(e.at["tclass"])
	i, isGPU := nodes[busKey(host, e.at["target"])]
	switch {
	case isGPU:
		return i
	case class == "0x068001":
		return aCPU
	case strings.HasPrefix(class, "0x0680"), busID(e.at["target"]) == toSwitch,
		class == "" && e.name == "nvlink":
		return aSwitch
	}
	return nobody // a GPU that is not in the file
}

// above returns the processor above a node.
func (f *file) above(v int) int {
	for f.sys.Nodes[v].Kind != system.CPU {
		for _, l := range f.sys.Links {
			if l.Kind == system.PCIe && l.A == v {
				v = l.B
				break
			}
		}
	}
	return v
}

// c2c connects a GPU with its processor: bw is in MB/s for each of count links.
func (f *file) c2c(e *element, g *gpu) error {
	bw, err := e.number(f.name, "bw", 0)
	if err != nil {
		return err
	}
	count, err := e.number(f.name, "count", 1)
	if err != nil {
		return err
	}
	if bw <= 0 || count <= 0 || count > 1024 {
		return f.wrong(e, "<c2c bw=%q count=%q>: MB/s of a link, and 1 to 1024 links, are expected",
			e.at["bw"], e.at["count"])
	}
	rate, err := f.rate(e, unit.Rate(bw)*unit.Rate(count)*unit.Rate(unit.MB))
	if err != nil {
		return err
	}
	f.sys.Links = append(f.sys.Links, system.Link{A: g.node, B: f.above(g.node), Kind: system.C2C,
		Count: count, Rate: rate})
	return nil
}

// board adds the links of the GPU's boards, which the file leaves to the driver.
func (f *file) board() {
	m, gpus := f.model, len(f.gpus)
	says := fmt.Sprintf("as boards of %s have them; the file leaves them to the driver", m.Name)
	join := func(a, b, count int) {
		f.sys.Links = append(f.sys.Links, system.Link{A: a, B: b, Kind: system.NVLink, Count: count,
			Rate: m.Link() * unit.Rate(count)})
	}
	isMesh := m.Board == "full-mesh" && gpus <= m.Links+1 || m.Board == "switch" && gpus == 4
	switch {
	case gpus == 1:
	case isMesh:
		each := 1
		if m.Board == "switch" {
			each = m.Links / (gpus - 1)
		}
		for b := range f.gpus {
			for a := range b {
				join(f.gpus[a].node, f.gpus[b].node, each)
			}
		}
		f.source("joined", fmt.Sprintf("assumed: %d links a pair, %s", each, says))
	case m.Board == "switch":
		v := f.sys.Add(system.Node{Kind: system.NVSwitch, Name: "NVSwitch"})
		for _, g := range f.gpus {
			join(g.node, v, m.Links)
		}
		f.source("joined", fmt.Sprintf("assumed: %d NVLinks a GPU to NVSwitches, %s", m.Links, says))
	case m.Links > 0 || f.sys.IsAMD || m.SM == 0:
		f.source("joined", fmt.Sprintf("assumed: PCIe alone: the file leaves links between GPUs to the "+
			"driver, and %s does not tell which there are; the output of its tool has them (nvidia-smi "+
			"topo -m, rocm-smi --showtopo)", m.Name))
	}
}
