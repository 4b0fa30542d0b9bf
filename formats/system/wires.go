package system

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/machine"
	"collsim/unit"
)

// wire lists the wires of a machine: NVLinks, the tree of PCIe with the processors, and NICs. A NIC
// near a GPU (PXB or better) has a wire to that GPU; any other is attached to its processor. A PCIe
// switch with one child is replaced by it, one without children is left out.
func (b *builder) wire() error {
	w := &wiring{builder: b, names: make([]string, len(b.s.Nodes))}
	w.parent, w.up = b.s.parents()
	for g, v := range b.s.GPUs {
		w.names[v] = "gpu" + strconv.Itoa(g)
	}
	w.below = make([][]int, len(b.s.Nodes))
	for v, p := range w.parent {
		if p >= 0 && b.s.Nodes[v].Kind != NIC {
			w.below[p] = append(w.below[p], v)
		}
	}
	w.links(NVLink, map[bool]string{false: "nvlink", true: "xgmi"}[b.s.IsAMD])
	w.links(C2C, "c2c")
	for v := range b.s.Nodes {
		if b.s.Nodes[v].Kind == CPU {
			w.tree(v)
		}
	}
	w.links(Peer, "pcie")
	w.toNICs()
	w.sockets()
	if err := w.connected(); err != nil {
		return err
	}
	b.m.Wires = w.wires
	list := make([]string, len(w.wires))
	for i, one := range w.wires {
		list[i] = fmt.Sprintf("%s %s %s %d at %v", one.From, one.To, one.Kind, one.Count, one.Rate)
	}
	b.figure("wires", strings.Join(list, ", "), b.f.File+", at what NCCL counts for a link")
	return nil
}

// wiring holds the state of wire.
type wiring struct {
	*builder
	wires      []machine.Wire
	parent, up []int   // by node: its parent, and the link to it
	below      [][]int // by node: GPUs and switches below it
	names      []string
	pcies      int
	cpus       int
}

// add adds a wire.
func (w *wiring) add(from, to, kind string, l Link) {
	w.wires = append(w.wires, machine.Wire{From: from, To: to, Kind: kind, Count: max(l.Count, 1),
		Rate: l.Rate, Latency: w.linkLatency(l.Kind)})
}

// name returns the name of a node, and assigns one to a processor that has none yet.
func (w *wiring) name(v int) string {
	if w.names[v] == "" {
		switch w.s.Nodes[v].Kind {
		case CPU:
			w.names[v] = "cpu" + strconv.Itoa(w.cpus)
			w.cpus++
		case NVSwitch:
			w.names[v] = "nvswitch"
		}
	}
	return w.names[v]
}

// links adds the links of a kind whose ends both have a name.
func (w *wiring) links(kind LinkKind, as string) {
	for _, l := range w.s.Links {
		if l.Kind != kind || l.A == l.B {
			continue
		}
		if from, to := w.name(l.A), w.name(l.B); from != "" && to != "" {
			w.add(from, to, as, l)
		}
	}
}

// tree adds the wires below a processor.
func (w *wiring) tree(cpu int) {
	for _, v := range w.below[cpu] {
		w.hang(v, cpu, w.s.Links[w.up[v]].Rate)
	}
}

// hang adds the wires below a node, and one with a rate from it to its parent. GPUs are never below
// GPUs.
func (w *wiring) hang(v, above int, rate unit.Rate) {
	for w.s.Nodes[v].Kind == PCI {
		next := w.used(v)
		switch {
		case len(next) == 0:
			return
		case w.s.Nodes[v].Dissolved:
			for _, n := range next {
				w.hang(n, above, w.s.Links[w.up[n]].Rate)
			}
			return
		case len(next) > 1 || w.isPeer(v):
			w.names[v] = "pcie" + strconv.Itoa(w.pcies)
			w.pcies++
			w.add(w.names[v], w.name(above), "pcie", Link{Kind: PCIe, Rate: rate})
			for _, n := range next {
				w.hang(n, v, w.s.Links[w.up[n]].Rate)
			}
			return
		}
		v, rate = next[0], min(rate, w.s.Links[w.up[next[0]]].Rate)
	}
	if w.s.Nodes[v].Kind == GPU && !w.s.Nodes[v].Dissolved {
		w.add(w.names[v], w.name(above), "pcie", Link{Kind: PCIe, Rate: rate})
	}
}

// used lists the nodes below a switch that are GPUs or have some. It descends into dissolved
// switches.
func (w *wiring) used(v int) (list []int) {
	for _, n := range w.below[v] {
		switch {
		case !w.hasGPU(n):
		case w.s.Nodes[n].Kind == PCI && w.s.Nodes[n].Dissolved:
			list = append(list, w.used(n)...)
		default:
			list = append(list, n)
		}
	}
	return list
}

// hasGPU reports whether a node is a GPU with a wire, or has one below.
func (w *wiring) hasGPU(v int) bool {
	if w.s.Nodes[v].Kind == GPU {
		return !w.s.Nodes[v].Dissolved
	}
	for _, n := range w.below[v] {
		if w.hasGPU(n) {
			return true
		}
	}
	return false
}

// isPeer reports whether a switch has a link to another one outside of the tree.
func (w *wiring) isPeer(v int) bool {
	for _, l := range w.s.Links {
		if l.Kind == Peer && (l.A == v || l.B == v) {
			return true
		}
	}
	return false
}

// toNICs adds the wires of NICs.
func (w *wiring) toNICs() {
	if len(w.s.NICs) == 0 {
		cpu := w.anyCPU()
		w.add(w.name(cpu), "nic0", "pcie", Link{Kind: PCIe, Rate: noNIC})
		w.wires[len(w.wires)-1].Latency = 0
		return
	}
	isNear := make([]bool, len(w.near.nics))
	add := func(from, to string, rate unit.Rate) {
		w.wires = append(w.wires, machine.Wire{From: from, To: to, Kind: "pcie", Count: 1, Rate: rate})
	}
	for _, pair := range w.near.pairs {
		n := w.near.nics[pair[1]]
		if w.paths.NIC[pair[0]][n].Type <= PXB {
			isNear[pair[1]] = true
			add("gpu"+strconv.Itoa(pair[0]), "nic"+strconv.Itoa(pair[1]),
				w.between(w.s.GPUs[pair[0]], w.s.NICs[n]))
		}
	}
	for i, n := range w.near.nics {
		if isNear[i] {
			continue
		}
		cpu, rate := w.climb(w.s.NICs[n], nil)
		if rate == unit.Unlimited {
			rate = w.s.Nodes[w.s.NICs[n]].Rate
		}
		if w.s.Nodes[cpu].Kind != CPU {
			cpu = w.anyCPU()
		}
		add(w.name(cpu), "nic"+strconv.Itoa(i), rate)
	}
}

// climb walks up from a node to the root or to a node in stop. It returns where it ends, and the
// rate of the slowest link.
func (w *wiring) climb(v int, stop map[int]unit.Rate) (int, unit.Rate) {
	rate := unit.Unlimited
	for w.parent[v] >= 0 {
		if _, ok := stop[v]; ok {
			break
		}
		rate = min(rate, w.s.Links[w.up[v]].Rate)
		v = w.parent[v]
	}
	return v, rate
}

// between returns the rate of the PCIe path between two nodes.
func (w *wiring) between(a, b int) unit.Rate {
	rates := map[int]unit.Rate{}
	for v, rate := a, unit.Unlimited; v >= 0; v = w.parent[v] {
		rates[v] = rate
		if w.parent[v] >= 0 {
			rate = min(rate, w.s.Links[w.up[v]].Rate)
		}
	}
	v, rate := w.climb(b, rates)
	if other, ok := rates[v]; ok {
		return min(rate, other)
	}
	return rate
}

// anyCPU returns a processor that has a name, or else the first.
func (w *wiring) anyCPU() int {
	first := -1
	for v := range w.s.Nodes {
		if w.s.Nodes[v].Kind == CPU {
			if w.names[v] != "" {
				return v
			}
			if first < 0 {
				first = v
			}
		}
	}
	return first
}

// sockets adds the wires between processors that have anything attached.
func (w *wiring) sockets() {
	for _, l := range w.s.Links {
		if l.Kind == Socket && w.names[l.A] != "" && w.names[l.B] != "" {
			w.add(w.names[l.A], w.names[l.B], "cpu", l)
		}
	}
}

// connected reports GPUs and NICs that the wires do not connect with the first.
func (w *wiring) connected() error {
	root := map[string]string{}
	var find func(n string) string
	find = func(n string) string {
		if root[n] == "" || root[n] == n {
			return n
		}
		root[n] = find(root[n])
		return root[n]
	}
	for _, one := range w.wires {
		root[find(one.From)] = find(one.To)
	}
	for g := range w.s.GPUs {
		if name := "gpu" + strconv.Itoa(g); find(name) != find("gpu0") {
			return fmt.Errorf("has no link between gpu0 and %s", name)
		}
	}
	for n := range w.near.nics {
		if name := "nic" + strconv.Itoa(n); find(name) != find("gpu0") {
			return fmt.Errorf("has no link between gpu0 and NIC %s",
				w.s.Nodes[w.s.NICs[w.near.nics[n]]].Name)
		}
	}
	return nil
}
