package ncclxml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/machine"
	"collsim/unit"
)

// wired adds the node of a machine with wires: the tree of PCIe below its processors, with NICs
// beside the GPUs that they have wires to. Other links become tags of GPUs.
func (w *writer) wired(root *tag) error {
	t := &tree{writer: w, at: map[string]*tag{}, gpus: make([]*tag, w.m.GPUs),
		pcis: make([]*tag, w.m.GPUs), up: map[string]*machine.Wire{}}
	t.cpus(root)
	t.climb()
	t.groups()
	for _, name := range t.order {
		t.device(name)
	}
	for g := range t.gpus {
		if t.gpus[g] == nil {
			t.device("gpu" + strconv.Itoa(g))
		}
	}
	for _, c := range t.group {
		t.nics(c)
	}
	return t.links()
}

// tree is the PCIe tree of a machine with wires.
type tree struct {
	*writer
	at    map[string]*tag // of processors and switches
	hosts []string        // processors
	gpus  []*tag          // their tags <gpu>
	pcis  []*tag
	up    map[string]*machine.Wire // the PCIe wire above each node
	order []string                 // nodes with a wire above, parents first
	group []*group
}

// group holds GPUs and NICs that wires connect, directly or through one another.
type group struct {
	gpus, nics []string
	rate       unit.Rate // of the wires
	isOwn      bool      // the switch above its GPUs has no others
	at         *tag      // what they stand below; nil: not known yet
}

// cpus adds the processors. The rate between any two is that of the wire between one pair.
func (t *tree) cpus(root *tag) {
	var names []string
	rates, others := map[string]unit.Rate{}, map[string][]string{}
	for _, wire := range t.m.Wires {
		for _, end := range []string{wire.From, wire.To} {
			if strings.HasPrefix(end, "cpu") && !slices.Contains(names, end) {
				names = append(names, end)
			}
			if wire.Kind == "cpu" {
				rates[end] = wire.Rate
				others[end] = append(others[end], far(&wire, end))
			}
		}
	}
	slices.SortFunc(names, byNumber)
	if len(names) == 0 {
		names = []string{"cpu0"}
	}
	t.hosts = names
	for i, n := range names {
		t.at[n] = t.cpu(root, i)
		if rates[n] > 0 {
			t.at[n].set(reached, rates[n].String())
		}
		if len(others[n]) < len(names)-1 {
			var numas []string
			for _, o := range others[n] {
				numas = append(numas, strconv.Itoa(slices.Index(names, o)))
			}
			t.at[n].set(peersOf, strings.Join(numas, " "))
		}
	}
}

// byNumber orders names such as pcie2 and pcie10.
func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// climb finds the wire above each node, from the processors down.
func (t *tree) climb() {
	now, seen := t.hosts, map[string]bool{}
	for _, n := range now {
		seen[n] = true
	}
	for len(now) > 0 {
		var next []string
		for _, n := range now {
			var below []string
			for i := range t.m.Wires {
				wire := &t.m.Wires[i]
				other := far(wire, n)
				if wire.Kind == "pcie" && other != "" && !isNIC(other) && !seen[other] {
					seen[other] = true
					t.up[other] = wire
					below = append(below, other)
				}
			}
			slices.SortFunc(below, byNumber)
			next = append(next, below...)
		}
		t.order = append(t.order, next...)
		now = next
	}
}

// far returns the other end of a wire; empty if n is not an end.
func far(wire *machine.Wire, n string) string {
	switch n {
	case wire.From:
		return wire.To
	case wire.To:
		return wire.From
	}
	return ""
}

// groups collects the GPUs and NICs that wires connect, and the NICs attached to a processor.
func (t *tree) groups() {
	of := map[string]*group{}
	for i := range t.m.Wires {
		wire := &t.m.Wires[i]
		nic, gpu := wire.From, wire.To
		if !isNIC(nic) {
			nic, gpu = gpu, nic
		}
		if !isNIC(nic) {
			continue
		}
		a, b := of[nic], of[gpu]
		switch {
		case !strings.HasPrefix(gpu, "gpu"):
			t.group = append(t.group, &group{nics: []string{nic}, rate: wire.Rate, at: t.at[gpu]})
			continue
		case a == nil && b == nil:
			a = &group{rate: wire.Rate}
			t.group = append(t.group, a)
		case a == nil:
			a = b
		case b != nil && a != b: // merges two groups
			a.gpus, a.nics = append(a.gpus, b.gpus...), append(a.nics, b.nics...)
			t.group = slices.DeleteFunc(t.group, func(g *group) bool { return g == b })
			for _, n := range append(b.gpus, b.nics...) {
				of[n] = a
			}
		}
		if of[nic] == nil {
			a.nics = append(a.nics, nic)
		}
		if of[gpu] == nil {
			a.gpus = append(a.gpus, gpu)
		}
		of[nic], of[gpu] = a, a
	}
	for _, g := range t.group {
		slices.SortFunc(g.gpus, byNumber)
		slices.SortFunc(g.nics, byNumber)
		g.isOwn = g.at == nil && t.isOwn(g)
	}
}

// isOwn reports whether all GPUs of a group are below one switch that has no others.
func (t *tree) isOwn(g *group) bool {
	var above string
	for i, n := range g.gpus {
		if t.up[n] == nil {
			return false
		}
		if a := far(t.up[n], n); i > 0 && a != above {
			return false
		} else if above = a; !strings.HasPrefix(a, "pcie") {
			return false
		}
	}
	for _, n := range t.order {
		if far(t.up[n], n) == above && !slices.Contains(g.gpus, n) {
			return false
		}
	}
	return true
}

// device adds a switch or a GPU below its parent; a GPU with NICs goes below the switch of these.
func (t *tree) device(name string) {
	wire := t.up[name]
	above, rate := t.at[t.hosts[0]], t.pcie
	if wire != nil {
		above, rate = t.at[far(wire, name)], wire.Rate
	}
	if !strings.HasPrefix(name, "gpu") {
		t.at[name] = t.bridge(above, rate)
		return
	}
	for _, g := range t.group {
		if !slices.Contains(g.gpus, name) {
			continue
		}
		if g.at == nil {
			if g.at = above; !g.isOwn {
				g.at = t.bridge(above, unit.Rate(96*unit.GB))
				g.at.set(dissolved, "1")
			}
		}
		above = g.at
		if wire == nil {
			rate = g.rate
		}
	}
	number, err := strconv.Atoi(name[len("gpu"):])
	if err != nil || number >= len(t.gpus) {
		return // links handles it
	}
	t.pcis[number], t.gpus[number] = t.gpu(above, number, rate)
	if wire == nil {
		t.pcis[number].set(dissolved, "1")
	}
}

// nics adds the NICs of a group below its tag. A group that nothing has placed goes below the first
// processor. A name other than nic and a number has no tag.
func (t *tree) nics(g *group) {
	at := g.at
	if at == nil {
		at = t.at[t.hosts[0]]
	}
	for _, n := range g.nics {
		if number, err := strconv.Atoi(n[len("nic"):]); err == nil {
			t.nic(at, number, g.rate)
		}
	}
}

// links adds the links of GPUs that are not PCIe.
func (t *tree) links() error {
	gpu := func(end string) (int, bool) {
		n, err := strconv.Atoi(strings.TrimPrefix(end, "gpu"))
		return n, err == nil && strings.HasPrefix(end, "gpu") && n < len(t.gpus) && t.gpus[n] != nil
	}
	for _, wire := range t.m.Wires {
		if wire.Kind == "pcie" || wire.Kind == "cpu" {
			continue
		}
		from, to := wire.From, wire.To
		g, ok := gpu(from)
		if !ok {
			from, to = to, from
			g, ok = gpu(from)
		}
		h, both := gpu(to)
		switch {
		case !ok:
			return fmt.Errorf("machine %s: wire from %s to %s: NCCL XML has links of GPUs alone", t.m.Name,
				wire.From, wire.To)
		case wire.Kind == "c2c":
			mbps := int64(wire.Rate) / int64(wire.Count) / int64(unit.MB)
			t.gpus[g].add("c2c", "bw", strconv.FormatInt(mbps, 10), "count",
				strconv.Itoa(wire.Count), reached, wire.Rate.String())
		case both:
			t.link(t.gpus[g], busOf(t.pcis[h]), classOf(t.pcis[h]), wire.Count, wire.Rate)
			t.link(t.gpus[h], busOf(t.pcis[g]), classOf(t.pcis[g]), wire.Count, wire.Rate)
		default:
			t.link(t.gpus[g], toSwitch, nvSwitch, wire.Count, wire.Rate)
		}
	}
	return nil
}
