package ncclxml

import (
	"collsim/formats/system"

	"fmt"
	"strconv"
	"strings"

	"collsim/internal/prose"
	"collsim/machine"
	"collsim/unit"
)

// Attributes that Write adds to NCCL's, and NCCL ignores: the measured rate of a link, where it
// differs from NCCL's estimate; a PCIe switch that only groups the GPUs near a NIC; and the NUMA
// domains that a processor has a link to, where these are not all.
const (
	reached   = "reached"
	dissolved = "dissolved"
	peersOf   = "peers"
)

// extras reads the additions of Write about the whole machine, and names the machine.
func (f *file) extras() error {
	x, at := &f.facts, f.root.at
	x.File = f.name
	x.Name = system.BaseName(f.name)
	x.About = fmt.Sprintf("%s × %s, of an NCCL topology file", strconv.Itoa(len(f.gpus)), x.Device)
	if name := at["name"]; name != "" {
		x.About += ", " + strconv.Quote(shortened(name))
	}
	x.CPUs = fmt.Sprintf("%s: %s", prose.Plural(len(f.cpus), "NUMA domain"), x.CPUs)
	x.Fabric, x.Joins, x.Multicast = at["fabric"], at["joins"], at["multicast"]
	x.Joined = at["joined"]
	if x.Fabric == "" {
		x.NICFabric = func(nic int) string { return f.fabrics[nic] }
		f.source("fabric", "by the PCI class, the vendor or the name of its NICs")
	}
	for _, t := range []struct {
		key string
		of  *unit.Time
	}{{"hop", &x.Hop}, {"gpu_latency", &x.Latency}, {"pcie_latency", &x.PCIeLatency},
		{"cpu_latency", &x.CPULatency}} {
		if at[t.key] == "" {
			continue
		}
		var err error
		if *t.of, err = unit.ParseTime(at[t.key]); err != nil {
			return f.wrong(f.root, "<system %s=%.40q>: %v", t.key, at[t.key], err)
		}
	}
	if at["gpu_rate"] != "" {
		rate, err := unit.ParseRate(at["gpu_rate"])
		if err != nil {
			return f.wrong(f.root, "<system gpu_rate=%.40q>: %v", at["gpu_rate"], err)
		}
		x.Rate = rate
	}
	return f.shares(at["nic_share"])
}

// shares parses "95 %", or "4: 90 %, 8: 85 %".
func (f *file) shares(text string) error {
	if text == "" {
		return nil
	}
	f.source("nic_share", f.name)
	for _, part := range strings.Split(text, ",") {
		nodes, of, ok := strings.Cut(part, ":")
		n, err := 1, error(nil)
		if !ok {
			of = nodes
		} else if n, err = strconv.Atoi(strings.TrimSpace(nodes)); err != nil || n < 1 {
			return f.wrong(f.root, "<system nic_share=%.40q>: nodes and a share are expected", text)
		}
		share, err := unit.ParseShare(strings.TrimSpace(of))
		if err != nil {
			return f.wrong(f.root, "<system nic_share=%.40q>: %v", text, err)
		}
		f.facts.Shares = append(f.facts.Shares, machine.Share{Nodes: n, Of: share})
	}
	return nil
}

// shortened cuts a long text, for quotation.
func shortened(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
