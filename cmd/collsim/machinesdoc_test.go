package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/machine"
	"collsim/run"
)

// What docs/machines.md begins with.
const aboutMachines = `# Machines

<!-- go test -tags long ./cmd/collsim -run MachinesDocument -update writes it -->

Three lines name a machine, and are a whole scenario's network and device:

    [topology]
    preset = "dgx-h100"
    nodes = 4

"collsim list machines" has all of them with the source of every figure, and "collsim init
--machine dgx-h100 --nodes 4" prints the keys that the name stands for. A key that a scenario
gives wins over the machine's: topology.network.preset, device.preset, [[topology.link]] and all
others. topology.ranks is of all nodes together: without nodes they are as many nodes as these
take, and fewer than a node has are part of one.

Rates are what somebody has reached, where that is known: what the three largest sizes of a table
of nccl-tests grow by, so that latency drops out. What a data sheet has is for information.
Figures that nobody publishes are assumed, and say why. What a NIC reaches belongs to the network
between the nodes, and falls with nodes where somebody has seen that. A hop of that network is one
figure, which calls take; what its plugin reports to NCCL (plugin_latency) is another, by which
NCCL chooses.

A machine is one file of plain data in package machine (data/NAME.toml): one more file is one
more machine. Your own is a file of that form that the scenario names, alone or like another one:

    [topology]
    file = "mine.toml"
    nodes = 4

    # mine.toml
    about = "half a DGX H100, with slower NICs"
    like = "dgx-h100"
    gpus = { is = "4", source = "nvidia-smi" }
    nic_rate = { is = "200 Gbit/s", source = "ibstat" }

A file may have what was fitted to times measured on the machine, as "collsim calibrate --machine"
writes it ([calibration.md](calibration.md#nccl-on-a-machine-of-yours)): ring_ll, tree_simple and so
on are figures of NCCL's protocols by shape ("base 7 us, nvlink 600 ns, rate 10 GB/s": those of
[[device.protocol]]), multimem_efficiency is the device's, issue and issue_message are those of
[benchmark].

Where a node is neither one switch nor a link from each GPU to each other, its wires are listed:
joined is "wires", and wires is "gpu0 gpu1 nvlink 2, gpu0 pcie0 pcie, pcie0 cpu0 pcie, gpu0 nic0
pcie, …": two ends, a kind (nvlink, xgmi, c2c, pcie, cpu), how many links, and, after "at", what
they reach together where that is not so many times link_rate, pcie_rate or cpu_rate. Names are
gpu0, nic0, …; all others are switches. A message between two GPUs goes as NCCL's would: over
NVLinks, through one other GPU at most, else over PCIe and the processors; one to another node
leaves by the NIC that the GPU has a wire to, or else by the nearest.

What is simpler than the machine: several NICs of a GPU are one that is as fast; on machines that
are not listed by wires a NIC is as near to its GPU as a wire without latency, and PCIe and
processors carry nothing; fabrics with adaptive routing are one switch.
`

// measuredAt is the best all_reduce of 1 GiB, or of the largest size below, that a public table of
// nccl-tests has on a machine, in GB/s of bus bandwidth, and by what it was where that is known.
type measuredAt struct {
	machine      string
	nodes, ranks int
	busbw        float64
	bytes        string
	table, by    string
}

// What carried a table: NVLink SHARP, or a ring by NCCL_ALGO, which is then simulated.
const (
	nvls   = "NVLS"
	byRing = "ring, forced"
)

func measuredTables() []measuredAt {
	return []measuredAt{
		{"dgx-2", 1, 12, 123, "1 GiB", "v100x12-dgx2-allreduce", ""},
		{"dgx-a100-40", 1, 8, 230, "1 GiB", "a100x8-sxm40-superbench-allreduce", ""},
		{"dgx-a100", 1, 8, 229, "1 GiB", "a100x8-stas-allreduce", ""},
		{"dgx-h100", 1, 8, 469, "1 GiB", "h100x8-voltagepark-allreduce", nvls},
		{"dgx-h100", 1, 4, 354, "1 GiB", "h100x4-slice-ring-allreduce", ""},
		{"dgx-b200", 1, 8, 723, "1 GiB", "b200x8-p6-allreduce-1n", nvls},
		{"dgx-b300", 1, 8, 732, "1 GiB", "b300x8-allreduce-default", nvls},
		{"gb200-nvl72", 1, 8, 739, "1 GiB", "gb200x8-oci-allreduce", nvls},
		{"gh200-4", 1, 4, 338, "1 GiB", "alps/alps-gh200-allreduce-001n", ""},
		{"alps", 2, 8, 155, "1 GiB", "alps/alps-gh200-allreduce-002n", ""},
		{"alps", 4, 16, 91, "1 GiB", "alps/alps-gh200-allreduce-004n", ""},
		{"alps", 8, 32, 92, "1 GiB", "alps/alps-gh200-allreduce-008n", ""},
		{"p5", 2, 16, 442, "1 GiB", "h100x16-p5-allreduce", nvls + "Tree"},
		{"nebius-h100", 2, 16, 446, "1 GiB", "h100x16-nebius-allreduce", nvls + "Tree"},
		{"p4de", 2, 16, 77, "1 GiB", "a100x16-p4de-allreduce", ""},
		{"p4d", 2, 16, 29, "1 GiB", "a100x16-p4d-ring-allreduce", byRing},
		{"oci-a100", 2, 16, 222, "1 GiB", "a100x16-oci-bm-gpu48-allreduce", ""},
		{"p6-b200", 4, 32, 362, "1 GiB", "b200x8-p6-allreduce-4n", ""},
		{"mn5", 4, 16, 90, "1 GiB", "mn5/mn5-h100-ring-04n", ""},
		{"mn5", 8, 32, 84, "1 GiB", "mn5/mn5-h100-ring-08n", ""},
		{"mn5", 16, 64, 75, "1 GiB", "mn5/mn5-h100-ring-16n", ""},
		{"dgx-1v", 2, 16, 54.1, "512 MiB", "v100x16-dgx1-2n-allreduce", ""},
		{"hgx-a100-4", 1, 4, 206.5, "128 MiB", "a100x4-sxm-stanage-allreduce", ""},
		{"g4dn", 2, 2, 3.11, "1 GiB", "t4x2-g4dn-efa-allreduce", ""},
		{"pcie-4-host", 1, 4, 5.2, "128 MiB", "a100x4-pcie-sm02-allreduce", ""},
		{"pcie-rtx4090-4", 1, 4, 25.3, "1 GiB", "rtx4090x4-p2p-allreduce", ""},
		{"pcie-v100-4", 1, 4, 11.2, "128 MiB", "v100x4-pcie-bessemer-nccl242-cu101-allreduce", ""},
		{"mi355x-8", 1, 8, 403, "1 GiB", "mi355x8-vultr-allreduce", ""},
	}
}

// TestMachinesDocument holds docs/machines.md to the catalogue, and in the long tier to simulations
// beside measured tables, each by the machine's name and nodes alone.
func TestMachinesDocument(t *testing.T) {
	path := filepath.Join(repository(t), "docs", "machines.md")
	before, err := os.ReadFile(path)
	if !*update {
		require.NoError(t, err)
	}
	text := aboutMachines + machineTable()
	if !tier.Long {
		require.True(t, strings.HasPrefix(string(before), text),
			"go test -tags long ./cmd/collsim -run MachinesDocument -update rewrites it")
		return
	}
	text += measuredText(t) + filesText(t, string(before))
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	require.Equal(t, strings.Split(string(before), "\n"), strings.Split(text, "\n"),
		"go test -tags long ./cmd/collsim -run MachinesDocument -update rewrites it")
}

// machineTable has a row for every machine.
func machineTable() string {
	var b strings.Builder
	b.WriteString("\n## All machines\n\n" +
		"| machine | node | of its data sheet | NICs, what one reaches on 2 nodes | between nodes |\n" +
		"|---|---|---|---|---|\n")
	for _, m := range machine.Catalogue() {
		sheet := ""
		for _, f := range m.Figures {
			switch f.Name {
			case "gpu_rate":
				sheet = f.Sheet + " a GPU"
			case "link_rate", "pcie_rate":
				if sheet == "" {
					sheet = f.Sheet + " a link"
				}
			}
		}
		node := fmt.Sprintf("%d × `%s`, %s of %v", m.GPUs, m.Device, m.Joined, m.Link())
		if m.Wires != nil {
			node = fmt.Sprintf("%d × `%s`, %d wires, %v a GPU", m.GPUs, m.Device, len(m.Wires), m.Link())
		}
		reports := ""
		if m.PluginLatency > 0 {
			reports = fmt.Sprintf(", NCCL is told %v", m.PluginLatency)
		}
		fmt.Fprintf(&b, "| `%s`: %s | %s | %s | %d × %v of %v | %s as %s, hop %v%s |\n", m.Name,
			m.About, node, sheet, m.NICs, m.NICReached(2), m.NICRate, m.Fabric, m.Joins, m.Hop, reports)
	}
	return b.String()
}

// measuredText lays simulations beside measured tables.
func measuredText(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`
## Beside measured tables

The best all_reduce that public tables of nccl-tests have, and the fastest that is simulated from
a machine's name, its nodes and ranks alone. Rates of nodes come from these tables or their
neighbours, algorithms, channels and everything else do not. Tables that NVLS or NVLSTree carried
are marked. A table of a forced ring is held to a ring.

| machine | nodes | GPUs | bytes | table | measured GB/s | by | simulated GB/s | algorithm | off |
|---|---|---|---|---|---|---|---|---|---|
`)
	within := 0
	for _, m := range measuredTables() {
		algorithm := "fastest"
		if m.by == byRing {
			algorithm = "ring"
		}
		s, err := run.Load("machines.toml", []byte(fmt.Sprintf("topology.preset = %q\n"+
			"topology.nodes = %d\ntopology.ranks = %d\ncheck.numbers = false\ncheck.proof = false\n"+
			"collective.kind = \"all_reduce\"\ncollective.bytes = %q\ncollective.algorithm = %q\n",
			m.machine, m.nodes, m.ranks, m.bytes, algorithm)), run.LoadOptions{})
		require.NoError(t, err, m.machine)
		report, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err, m.machine)
		r := report.Results[0]
		busbw, _ := r.BusBW()
		off := busbw/m.busbw - 1
		if math.Abs(off) <= 0.15 {
			within++
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s | %s | %.1f | %s | %.1f | %v | %+.0f %% |\n", m.machine,
			m.nodes, m.ranks, m.bytes, m.table, m.busbw, m.by, busbw, r.Algorithm, 100*off)
	}
	fmt.Fprintf(&b, "\n%d of %d are within 15 %%. The table of two DGX-1V does not say its "+
		"hardware;\ntwo trees between two nodes can reach twice what a ring does, 46 GB/s, and "+
		"NCCL of that\ntime came to 1.2 times as much.\n", within, len(measuredTables()))
	return b.String()
}
