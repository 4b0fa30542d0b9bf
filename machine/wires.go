package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/topology"
	"collsim/unit"
)

// byWires is the Joined of a machine with wires.
const byWires = "wires"

// Wire is a bundle of equal links inside a node, usable in both directions at once.
type Wire struct {
	From, To string // "gpu0", "nic0"; all other names are switches: "pcie0", "cpu1", "nvswitch"
	Kind     string // a name of WireKinds
	Count    int    // parallel links, 1 or more
	Rate     unit.Rate
	Latency  unit.Time
}

// WireKinds lists the kinds of Wire: "nvlink", "xgmi" and "c2c" connect GPUs (and NVSwitches),
// "pcie" connects GPUs, NICs and PCIe switches with their host, "cpu" connects two processors.
func WireKinds() []string { return []string{"nvlink", "xgmi", "c2c", "pcie", "cpu"} }

// Lengths of wires. They make the shortest path between two GPUs the one that NCCL takes
// (src/graph/paths.cc): over NVLink, with at most one GPU between, else over PCIe and the host,
// without other GPUs. Two NVLinks (64) are shorter than PCIe between two GPUs (66 plus the host, at
// most 29). That is shorter than three NVLinks (96), or than an NVLink and then PCIe (98).
const (
	lengthOfNVLink = 32
	lengthOfPCIe   = 33 // at a GPU
	lengthInHost   = 1
)

// length returns the wire's length for the choice of routes. The wire between a GPU and its NIC is
// as short as possible, since all routes of the GPU to other nodes use it.
func (w *Wire) length() int {
	switch {
	case w.Kind != "pcie" && w.Kind != "cpu":
		return lengthOfNVLink
	case isNumbered(w.From, "nic") || isNumbered(w.To, "nic"):
		return lengthInHost
	case isNumbered(w.From, "gpu") || isNumbered(w.To, "gpu"):
		return lengthOfPCIe
	}
	return lengthInHost
}

// isNumbered reports whether a name is the word and a number.
func isNumbered(name, word string) bool {
	digits, ok := strings.CutPrefix(name, word)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// nics lists the NICs of the first gpus GPUs of a node, by number. It leaves out a NIC whose wires
// all lead to other GPUs.
func (m *Machine) nics(gpus int) []string {
	joined := map[string]bool{} // whether the NIC has a wire that is left
	for _, w := range m.Wires {
		for _, ends := range [][2]string{{w.From, w.To}, {w.To, w.From}} {
			if isNumbered(ends[0], "nic") {
				joined[ends[0]] = joined[ends[0]] || number(ends[1], "gpu") < gpus
			}
		}
	}
	var names []string
	for i := range len(joined) {
		if name := "nic" + strconv.Itoa(i); joined[name] {
			names = append(names, name)
		}
	}
	return names
}

// links returns the wires of the first gpus GPUs of a node, for package topology.
func (m *Machine) links(gpus int) []topology.Wire {
	var links []topology.Wire
	nics := m.nics(gpus)
	for _, w := range m.Wires {
		from, to := w.From, w.To
		if number(from, "gpu") >= gpus || number(to, "gpu") >= gpus {
			continue
		}
		for i, name := range nics { // renumbered
			switch name {
			case w.From:
				from = "nic" + strconv.Itoa(i)
			case w.To:
				to = "nic" + strconv.Itoa(i)
			}
		}
		links = append(links, topology.Wire{From: from, To: to, Bandwidth: w.Rate,
			Latency: w.Latency, Both: true, Length: w.length()})
	}
	return links
}

// number returns the number in a name such as "gpu3", −1 for any other name.
func number(name, word string) int {
	if !isNumbered(name, word) {
		return -1
	}
	n, err := strconv.Atoi(name[len(word):])
	if err != nil {
		return -1
	}
	return n
}

// wired returns the largest rate of any GPU's wires: NVLinks or the like if there are any, else
// PCIe.
func (m *Machine) wired() (most unit.Rate) {
	for _, kinds := range [][]string{sameFigure("nvlink"), sameFigure("pcie")} {
		sums := map[string]unit.Rate{}
		for _, w := range m.Wires {
			for _, end := range []string{w.From, w.To} {
				if isNumbered(end, "gpu") && slices.Contains(kinds, w.Kind) &&
					!isNumbered(w.From, "nic") && !isNumbered(w.To, "nic") {
					sums[end] += w.Rate
					most = max(most, sums[end])
				}
			}
		}
		if most > 0 {
			return most
		}
	}
	return most
}

// bundles counts the wires by kind: "16 nvlink, 12 pcie, 1 cpu", without those to NICs.
func (m *Machine) bundles() string {
	var kinds []string
	for _, kind := range WireKinds() {
		n := 0
		for _, w := range m.Wires {
			if w.Kind == kind && !isNumbered(w.From, "nic") && !isNumbered(w.To, "nic") {
				n++
			}
		}
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return strings.Join(kinds, " + ")
}

// mostLinks bounds the parallel links of a wire.
const mostLinks = 1024

// setWires parses "gpu0 gpu1 nvlink, gpu0 gpu3 nvlink 2, gpu0 gpu4 xgmi 4 at 147.8 GB/s": two ends,
// a kind, their number (1 if absent), and their achieved rate together if it is not number times
// the rate of one.
func setWires(m *Machine, s string) error {
	m.Wires = nil
	for _, one := range strings.Split(s, ",") {
		ends, reached, at := strings.Cut(one, " at ")
		words := strings.Fields(ends)
		if len(words) == 3 {
			words = append(words, "1")
		}
		if len(words) != 4 || !slices.Contains(WireKinds(), words[2]) {
			return fmt.Errorf("%.60q: two ends, one of %s, and how many are expected, such as "+
				"gpu0 gpu3 nvlink 2", strings.TrimSpace(one), strings.Join(WireKinds(), ", "))
		}
		w := Wire{From: words[0], To: words[1], Kind: words[2]}
		var err error
		if w.Count, err = strconv.Atoi(words[3]); err != nil || w.Count < 1 || w.Count > mostLinks {
			return fmt.Errorf("%.60q: 1 to %d links are expected", strings.TrimSpace(one), mostLinks)
		}
		if at {
			if err := rate(func(*Machine) *unit.Rate { return &w.Rate })(m, reached); err != nil {
				return err
			}
		}
		m.Wires = append(m.Wires, w)
	}
	return nil
}

// lacksRate reports whether a wire of that kind, or of one that shares its figure, has no rate yet.
func (m *Machine) lacksRate(kind string) bool {
	return slices.ContainsFunc(m.Wires, func(w Wire) bool {
		return w.Rate == 0 && slices.Contains(sameFigure(kind), w.Kind)
	})
}

// sameFigure lists the kinds of wire that share the figure of a kind: link_rate, pcie_rate or
// cpu_rate.
func sameFigure(kind string) []string {
	if kind == "pcie" || kind == "cpu" {
		return []string{kind}
	}
	return []string{"nvlink", "xgmi", "c2c"}
}

// setWireRate makes a setter of the rate of one link, for the wires of a kind that have none.
func setWireRate(kind string) func(*Machine, string) error {
	return func(m *Machine, s string) error {
		var one unit.Rate
		if err := rate(func(*Machine) *unit.Rate { return &one })(m, s); err != nil {
			return err
		}
		for i := range m.Wires {
			w := &m.Wires[i]
			if w.Rate == 0 && slices.Contains(sameFigure(kind), w.Kind) {
				w.Rate = one * unit.Rate(w.Count)
			}
		}
		return nil
	}
}

// setLatency parses the latency of each link. A link to a NIC has none, since that is part of the
// hop to another node.
func setLatency(m *Machine, s string) error {
	err := duration(func(m *Machine) *unit.Time { return &m.Latency })(m, s)
	for i := range m.Wires {
		if w := &m.Wires[i]; !isNumbered(w.From, "nic") && !isNumbered(w.To, "nic") {
			w.Latency = m.Latency
		}
	}
	return err
}
