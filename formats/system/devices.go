package system

import (
	"fmt"
	"slices"
	"strings"

	"collsim/device"
	"collsim/unit"
)

// Model adds to a device the number of its NVLinks (AMD: xGMI links), NCCL's rate for one, and the
// way in which boards connect its GPUs.
type Model struct {
	Name  string // of package device
	SM    int    // NVIDIA's compute capability, "90" for 9.0; 0 of AMD's
	GCN   string // AMD's architecture; empty of NVIDIA's
	Links int    // of a GPU; 0 if it has none, or the model does not determine it
	// Board is the connection of all GPUs of a board: "switch", "full-mesh". It is empty where the
	// model does not determine it: bridges, and the cubes and rings of V100 and MI250X.
	Board string
}

// models lists the models of package device. Numbers of links are those of NVIDIA's data sheets
// (rate of all over rate of one) and of AMD's.
func models() []Model {
	return []Model{
		{"v100-16gb", 70, "", 6, ""}, {"v100-32gb", 70, "", 6, ""}, {"v100-pcie", 70, "", 0, ""},
		{"t4", 75, "", 0, ""}, {"rtx-2080ti", 75, "", 2, ""},
		{"a100-40gb", 80, "", 12, "switch"}, {"a100-80gb", 80, "", 12, "switch"},
		{"a100-64gb", 80, "", 12, "switch"}, {"a100-pcie", 80, "", 12, ""},
		{"a10g", 86, "", 0, ""}, {"rtx-4090", 89, "", 0, ""},
		{"h100-sxm", 90, "", 18, "switch"}, {"h100-64gb", 90, "", 18, "switch"},
		{"h100-pcie", 90, "", 12, ""}, {"h200", 90, "", 18, "switch"}, {"gh200", 90, "", 18, "switch"},
		{"b200", 100, "", 18, "switch"}, {"gb200", 100, "", 18, "switch"},
		{"b300", 103, "", 18, "switch"}, {"gb300", 103, "", 18, "switch"},
		{"mi250x", 0, "gfx90a", 0, ""}, {"mi300x", 0, "gfx942", 7, "full-mesh"},
		{"mi355x", 0, "gfx950", 7, "full-mesh"},
	}
}

// ModelOf returns the model of a device. A device that is not listed has no links of its own.
func ModelOf(name string) Model {
	for _, m := range models() {
		if m.Name == name {
			return m
		}
	}
	return Model{Name: name}
}

// IsAMD reports whether the links are xGMI.
func (m *Model) IsAMD() bool { return m.GCN != "" }

// Link returns the rate that NCCL or RCCL assumes for one of the links.
func (m *Model) Link() unit.Rate {
	if m.IsAMD() {
		return XGMIRate(m.GCN)
	}
	return NVLinkRate(m.SM)
}

// NVLinkRate returns NCCL's rate for an NVLink of a compute capability, such as 90 (src/graph/
// topo.h, ncclTopoNVLinkBw).
func NVLinkRate(sm int) unit.Rate {
	switch {
	case sm >= 100:
		return rateUnit * 401 / 10
	case sm >= 90:
		return rateUnit * 206 / 10
	case sm == 86:
		return 12 * rateUnit
	case sm >= 60 && sm < 70:
		return 18 * rateUnit
	}
	return 20 * rateUnit
}

// XGMIRate returns RCCL's rate for an xGMI link of an architecture: "gfx90a", or 910 as in its
// older files (src/graph/topo.h of RCCL, ncclTopoXGMISpeed).
func XGMIRate(gcn string) unit.Rate {
	switch {
	case strings.HasPrefix(gcn, "gfx90a"), gcn == "910":
		return 36 * rateUnit
	case strings.HasPrefix(gcn, "gfx94"), strings.HasPrefix(gcn, "gfx95"), gcn == "940":
		return 48 * rateUnit
	}
	return 24 * rateUnit
}

// card is a PCI device that is a GPU.
type card struct {
	vendor, id int
	name       string // after pci.ids
	device     string // of package device; empty: it has no figures there
	links      int    // if different from the device's
}

// The PCI vendors whose GPUs are supported.
const (
	nvidia = 0x10de
	amd    = 0x1002
)

// cards lists PCI ids, with their names in the PCI ID database (pci.ids, 2026). A variant maps to
// the device with its memory and board.
func cards() []card {
	return []card{
		{nvidia, 0x1db0, "V100 SXM2 16GB", "v100-16gb", 0},
		{nvidia, 0x1db1, "V100 SXM2 16GB", "v100-16gb", 0},
		{nvidia, 0x1df5, "V100 SXM2 16GB", "v100-16gb", 0},
		{nvidia, 0x1db2, "V100 DGXS 16GB", "v100-16gb", 0},
		{nvidia, 0x1db5, "V100 SXM2 32GB", "v100-32gb", 0},
		{nvidia, 0x1db7, "V100 DGXS 32GB", "v100-32gb", 0},
		{nvidia, 0x1db8, "V100 SXM3 32GB", "v100-32gb", 0},
		{nvidia, 0x1db4, "V100 PCIe 16GB", "v100-pcie", 0},
		{nvidia, 0x1db6, "V100 PCIe 32GB", "v100-pcie", 0},
		{nvidia, 0x1df6, "V100S PCIe 32GB", "v100-pcie", 0},
		{nvidia, 0x1eb8, "T4", "t4", 0},
		{nvidia, 0x1e04, "RTX 2080 Ti", "rtx-2080ti", 0},
		{nvidia, 0x1e07, "RTX 2080 Ti", "rtx-2080ti", 0},
		{nvidia, 0x20b0, "A100 SXM4 40GB", "a100-40gb", 0},
		{nvidia, 0x20b2, "A100 SXM4 80GB", "a100-80gb", 0},
		{nvidia, 0x20b3, "A100 SXM 64GB", "a100-64gb", 0},
		{nvidia, 0x20bd, "A800 SXM4 40GB", "a100-40gb", 8},
		{nvidia, 0x20f3, "A800 SXM4 80GB", "a100-80gb", 8},
		{nvidia, 0x20b1, "A100 PCIe 40GB", "a100-pcie", 0},
		{nvidia, 0x20f1, "A100 PCIe 40GB", "a100-pcie", 0},
		{nvidia, 0x20b5, "A100 PCIe 80GB", "a100-pcie", 0},
		{nvidia, 0x20f5, "A800 PCIe 80GB", "a100-pcie", 8},
		{nvidia, 0x2237, "A10G", "a10g", 0},
		{nvidia, 0x2684, "RTX 4090", "rtx-4090", 0},
		{nvidia, 0x2330, "H100 SXM5 80GB", "h100-sxm", 0},
		{nvidia, 0x2338, "H100 SXM5 96GB", "h100-sxm", 0},
		{nvidia, 0x2339, "H100 SXM5 94GB", "h100-sxm", 0},
		{nvidia, 0x2324, "H800 SXM5 80GB", "h100-sxm", 8},
		{nvidia, 0x2337, "H100 SXM5 64GB", "h100-64gb", 0},
		{nvidia, 0x2331, "H100 PCIe", "h100-pcie", 0},
		{nvidia, 0x2335, "H200 SXM 141GB", "h200", 0},
		{nvidia, 0x2342, "GH200 120GB / 480GB", "gh200", 0},
		{nvidia, 0x2901, "B200", "b200", 0},
		{nvidia, 0x2941, "GB200", "gb200", 0},
		{nvidia, 0x3182, "B300 SXM6", "b300", 0},
		{nvidia, 0x31c2, "GB300", "gb300", 0},
		{nvidia, 0x31c3, "GB300", "gb300", 0},
		{amd, 0x7408, "MI250X", "mi250x", 0},
		{amd, 0x740c, "MI250X or MI250", "mi250x", 0},
		{amd, 0x74a1, "MI300X", "mi300x", 0},
		{amd, 0x74b5, "MI300X of a virtual machine", "mi300x", 0},
		{amd, 0x75a3, "MI355X", "mi355x", 0},
		// GPUs that package device lacks: the error names them.
		{nvidia, 0x15f9, "P100 SXM2", "", 0}, {nvidia, 0x20b7, "A30", "", 0},
		{nvidia, 0x2204, "RTX 3090", "", 0}, {nvidia, 0x2230, "RTX A6000", "", 0},
		{nvidia, 0x2235, "A40", "", 0}, {nvidia, 0x2236, "A10", "", 0},
		{nvidia, 0x26b9, "L40S", "", 0}, {nvidia, 0x27b8, "L4", "", 0},
		{nvidia, 0x2329, "H20", "", 0}, {nvidia, 0x2321, "H100 NVL", "", 0},
		{nvidia, 0x233b, "H200 NVL", "", 0}, {nvidia, 0x2b85, "RTX 5090", "", 0},
		{amd, 0x66a0, "MI50 or MI60", "", 0}, {amd, 0x66a1, "MI50", "", 0},
		{amd, 0x738c, "MI100", "", 0}, {amd, 0x738e, "MI100", "", 0}, {amd, 0x740f, "MI210", "", 0},
		{amd, 0x74a0, "MI300A", "", 0}, {amd, 0x74a2, "MI308X", "", 0}, {amd, 0x74a5, "MI325X", "", 0},
	}
}

// Card returns the name of a GPU by its PCI ids, and the device with its figures, empty if there is
// none. links is not 0 if it has fewer than the device.
func Card(vendor, id int) (name, device string, links int) {
	for _, c := range cards() {
		if c.vendor == vendor && c.id == id {
			return c.name, c.device, c.links
		}
	}
	return "", "", 0
}

// CardOf returns the PCI ids of a device; false if it has none.
func CardOf(device string) (vendor, id int, ok bool) {
	i := slices.IndexFunc(cards(), func(c card) bool { return c.device == device })
	if i < 0 {
		return 0, 0, false
	}
	return cards()[i].vendor, cards()[i].id, true
}

// IsGPUMaker reports whether a PCI vendor makes supported GPUs.
func IsGPUMaker(vendor int) bool { return vendor == nvidia || vendor == amd }

// Device returns a device by name, or an error that names the key of a scenario, device.preset. why
// is the reason for which the file does not determine it.
func Device(name, why string) (device.Device, error) {
	if name == "" {
		return device.Device{}, fmt.Errorf("%s: device.preset must name the GPU, such as \"h100-sxm\" "+
			"or \"mi300x\"", why)
	}
	d, err := device.Lookup(name)
	if err != nil {
		return device.Device{}, fmt.Errorf("device.preset: %w", err)
	}
	return d, nil
}

// PCIeRate returns NCCL's rate for 16 lanes of a device's PCIe: three quarters of the raw rate (12
// GB/s for generation 3; src/graph/topo.cc, kvDictPciGen).
func PCIeRate(d device.Device) unit.Rate {
	if d.GPU.PCIe <= 0 || d.GPU.PCIe == unit.Unlimited {
		return 12 * rateUnit
	}
	return d.GPU.PCIe / 4 * 3
}
