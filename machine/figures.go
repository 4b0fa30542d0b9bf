package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/unit"
)

// kind is a row of the table of figures.
type kind struct {
	name, about string
	set         func(m *Machine, text string) error
	// of reports whether a machine has this figure, given those before it; nil: all have it.
	of func(m *Machine) bool
}

// kinds lists the figures of a machine, fitted ones last.
func kinds() []kind {
	list := required()
	for _, f := range fitted() {
		list = append(list, f.kind)
	}
	return list
}

// required lists the figures that a machine's file must have.
func required() []kind {
	listed := func(m *Machine) bool { return m.Joined == byWires }
	plain := func(m *Machine) bool { return !listed(m) }
	wired := func(kind string) func(m *Machine) bool {
		return func(m *Machine) bool { return m.lacksRate(kind) }
	}
	return []kind{
		{"device", "every GPU", text(func(m *Machine) *string { return &m.Device }), nil},
		{"gpus", "GPUs of a node", whole(func(m *Machine) *int { return &m.GPUs }), nil},
		{"joined", "what joins the GPUs of a node",
			oneOf(func(m *Machine) *string { return &m.Joined }, "switch", "full-mesh", byWires), nil},
		{"wires", "the links of a node that are listed", setWires, listed},
		{"link_rate", "what one NVLink or xGMI among the wires reaches, each way",
			setWireRate("nvlink"), wired("nvlink")},
		{"pcie_rate", "what a PCIe link among the wires reaches, each way", setWireRate("pcie"),
			wired("pcie")},
		{"cpu_rate", "what the link between two processors reaches, each way", setWireRate("cpu"),
			wired("cpu")},
		{"gpu_rate", "what a GPU reaches to all others of its node together, each way",
			rate(func(m *Machine) *unit.Rate { return &m.Rate }), plain},
		{"gpu_latency", "of a link in a node", setLatency, nil},
		{"multicast", "whether the switch in a node copies and adds up", setMulticast, nil},
		{"nics", "NICs of a node", whole(func(m *Machine) *int { return &m.NICs }), nil},
		{"nic_rate", "of a NIC, by its data sheet",
			rate(func(m *Machine) *unit.Rate { return &m.NICRate }), nil},
		{"nic_share", "what of that is reached, on so many nodes and more", setShares, nil},
		{"near", "which NIC a GPU is close to", text(func(m *Machine) *string { return &m.Near }),
			nil},
		{"cpus", "processors of a node", text(func(m *Machine) *string { return &m.CPUs }), nil},
		{"fabric", "the network between nodes", text(func(m *Machine) *string { return &m.Fabric }),
			nil},
		{"joins", "the preset that stands for that network", oneOf(
			func(m *Machine) *string { return &m.Joins }, "rails", "switch", "fat-tree"), nil},
		{"hop", "from a NIC to another, with the step of the GPU that sends",
			duration(func(m *Machine) *unit.Time { return &m.Hop }), nil},
		{"library", "the collective library of the GPUs' maker",
			oneOf(func(m *Machine) *string { return &m.Library }, "nccl", "rccl"), nil},
		{"plugin_latency", "what the network's plugin reports to NCCL as its latency; 0 s: nothing",
			duration(func(m *Machine) *unit.Time { return &m.PluginLatency }),
			func(m *Machine) bool { return m.Library == "nccl" }},
		{"env", "what the operator sets for it", text(func(m *Machine) *string { return &m.Env }),
			nil},
		{"tuner", "the tuner plugin there that decides in place of NCCL's own model",
			text(func(m *Machine) *string { return &m.Tuner }),
			func(m *Machine) bool { return m.Library == "nccl" }},
	}
}

// text makes a setter of a text.
func text(of func(*Machine) *string) func(*Machine, string) error {
	return func(m *Machine, s string) error {
		*of(m) = s
		return nil
	}
}

// oneOf makes a setter of one of several words.
func oneOf(of func(*Machine) *string, words ...string) func(*Machine, string) error {
	return func(m *Machine, s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("one of %s is expected", strings.Join(words, ", "))
		}
		*of(m) = s
		return nil
	}
}

// maxWhole bounds the GPUs, and the NICs, of a node.
const maxWhole = 4096

// whole makes a setter of a whole number.
func whole(of func(*Machine) *int) func(*Machine, string) error {
	return func(m *Machine, s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxWhole {
			return fmt.Errorf("a whole number from 1 to %d is expected", maxWhole)
		}
		*of(m) = n
		return nil
	}
}

// rate makes a setter of a rate.
func rate(of func(*Machine) *unit.Rate) func(*Machine, string) error {
	return func(m *Machine, s string) (err error) {
		*of(m), err = unit.ParseRate(s)
		if err == nil && *of(m) <= 0 {
			err = fmt.Errorf("a rate above zero is expected")
		}
		return err
	}
}

// duration makes a setter of a time.
func duration(of func(*Machine) *unit.Time) func(*Machine, string) error {
	return func(m *Machine, s string) (err error) {
		*of(m), err = unit.ParseTime(s)
		return err
	}
}

// setMulticast parses yes or no.
func setMulticast(m *Machine, s string) error {
	if m.Multicast = s == "yes"; s != "yes" && s != "no" {
		return fmt.Errorf("yes or no is expected")
	}
	return nil
}

// setShares parses "95 %", or "4: 90 %, 8: 85 %".
func setShares(m *Machine, s string) error {
	m.Shares = nil
	for _, part := range strings.Split(s, ",") {
		nodes, share, many := strings.Cut(part, ":")
		n := 1
		if !many {
			share = nodes
		} else {
			var err error
			if n, err = strconv.Atoi(strings.TrimSpace(nodes)); err != nil || n < 1 {
				return fmt.Errorf("nodes and a share, such as 4: 90 %%, are expected")
			}
		}
		of, err := unit.ParseShare(strings.TrimSpace(share))
		if err != nil {
			return err
		}
		if last := len(m.Shares) - 1; last >= 0 && m.Shares[last].Nodes >= n {
			return fmt.Errorf("numbers of nodes that rise are expected")
		}
		m.Shares = append(m.Shares, Share{n, of})
	}
	return nil
}
