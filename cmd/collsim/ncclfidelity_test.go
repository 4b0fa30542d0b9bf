package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/fidelity"
	"collsim/internal/tier"
	"collsim/run"
	"collsim/unit"
)

// What docs/fidelity-nccl.md begins with.
const aboutNCCLFidelity = `# How far simulations of NCCL are from measured tables

<!-- go test -tags long ./cmd/collsim -run NCCLFidelity -timeout 60m -update writes it -->

Each row is a public table of nccl-tests, held against a simulation of a machine's name and nodes
alone, and of the version of NCCL where the table states one from 2.18 on: nccl:auto where the
library chose, or the algorithm that its run forced. Nothing is calibrated. An error is |predicted /
measured - 1|; a cell is its median over the sizes of a class, then its 90th percentile (the
ceil(0.9 n)-th of n). Predicted is call_ps, the time of a call in a loop of 20
([benchmark](benchmark.md)), by one process for all GPUs of a node where the table says so. NCCL's
model is what its own cost table says of the same way (tuning.cc), without the host.

Sizes are nccl-tests'. Of every table each third size is simulated, from its first on. Where the
figures come from: hops and bases of protocols and rates of channels were read in NCCL's source
([devices.md](devices.md#nccls-protocols)); rates of links and NICs and hops of fabrics stand in the
rows of the machines, with the table that they were derived from ([machines.md](machines.md)); what
a process for all GPUs costs a GPU is the median of twelve tables ([benchmark.md](benchmark.md)). No
figure was chosen for one row here.
`

// ncclTable is a public table of nccl-tests, and the machine that it was measured on.
type ncclTable struct {
	table, machine string
	nodes, ranks   int
	algorithm      string // without "nccl:"
	process        string // of [benchmark]
	why            string // it misses
}

// How processes drive GPUs (benchmark.processes).
const (
	perGPU = "per-gpu"
	oneFor = "one"
)

func ncclTables() []ncclTable {
	const old = "NCCL of 2021 (2.8 to 2.10): LL at half of today's rate and other thresholds"
	const mid = "64 KiB to 16 MiB over several nodes: NCCL itself corrects trees and rings there"
	return []ncclTable{
		{"h100x8-p5-allreduce", "p5", 1, 8, "auto", perGPU, ""},
		{"h100x8-voltagepark-allreduce", "voltagepark-h100", 1, 8, "auto", oneFor, ""},
		{"h100x4-slice-allreduce", "dgx-h100", 1, 4, "auto", oneFor, ""},
		{"h100x4-slice-ring-allreduce", "dgx-h100", 1, 4, "ring", oneFor, ""},
		{"h100x4-slice-nvls-allreduce", "dgx-h100", 1, 4, "nvls", oneFor, ""},
		{"h100x2-slice-ring-allreduce", "dgx-h100", 1, 2, "ring", oneFor, ""},
		{"h100x2-slice-nvls-allreduce", "dgx-h100", 1, 2, "nvls", oneFor, ""},
		{"b300x8-allreduce-default", "dgx-b300", 1, 8, "auto", oneFor, ""},
		{"b200x8-p6-allreduce-1n", "p6-b200", 1, 8, "auto", perGPU, "NCCL 2.27.7 in torch with " +
			"AWS's tuner: 39 us at all sizes below 1 MiB"},
		{"b200x2-1n-nvlink-allgather", "dgx-b200", 1, 2, "auto", perGPU, "two GPUs reach 579 of " +
			"the 682 GB/s that eight do"},
		{"gb200x8-oci-allreduce", "gb200-nvl72", 1, 8, "auto", perGPU, "a hop between hosts of a " +
			"rack takes 1.0 us and not NVLink's 0.6"},
		{"alps/alps-gh200-allreduce-001n", "gh200-4", 1, 4, "auto", perGPU, ""},
		{"a100x8-sxm40-superbench-allreduce", "dgx-a100-40", 1, 8, "auto", oneFor, old},
		{"a100x8-sxm40-superbench-allgather", "dgx-a100-40", 1, 8, "auto", oneFor, old},
		{"a100x8-sxm40-superbench-reducescatter", "dgx-a100-40", 1, 8, "auto", oneFor, old},
		{"a100x8-sxm40-superbench-broadcast", "dgx-a100-40", 1, 8, "auto", oneFor, old},
		{"a100x8-sxm40-superbench-reduce", "dgx-a100-40", 1, 8, "auto", oneFor, old},
		{"a100x8-sxm40-superbench-alltoall", "dgx-a100-40", 1, 8, "p2p", oneFor, ""},
		{"a100x8-ndv4-nccl-allreduce", "nd-v4", 1, 8, "auto", perGPU, old},
		{"a100x4-sxm-stanage-allreduce", "hgx-a100-4", 1, 4, "auto", oneFor, "NCCL 2.12"},
		{"v100x12-dgx2-allreduce", "dgx-2", 1, 12, "auto", oneFor, "NCCL of 2020"},
		{"v100x12-dgx2-broadcast", "dgx-2", 1, 12, "auto", oneFor, "NCCL of 2020"},
		{"rtx4090x4-p2p-allreduce", "pcie-rtx4090-4", 1, 4, "auto", oneFor, ""},
		{"v100x4-pcie-bessemer-nccl242-cu101-allreduce", "pcie-v100-4", 1, 4, "auto", oneFor, ""},
		{"a100x4-pcie-sm02-allreduce", "pcie-4-host", 1, 4, "auto", oneFor, "its source marks the " +
			"machine as unhealthy"},
		{"alps/alps-gh200-allreduce-002n", "alps", 2, 8, "auto", perGPU, mid},
		{"alps/alps-gh200-allreduce-004n", "alps", 4, 16, "auto", perGPU, mid},
		{"alps/alps-gh200-allreduce-008n", "alps", 8, 32, "auto", perGPU, mid},
		{"h100x16-p5-allreduce", "p5", 2, 16, "auto", perGPU, mid},
		{"h100x16-nebius-allreduce", "nebius-h100", 2, 16, "auto", perGPU, mid},
		{"a100x16-p4de-allreduce", "p4de", 2, 16, "auto", perGPU, mid},
		{"a100x16-p4d-ring-allreduce", "p4d", 2, 16, "ring", perGPU, mid},
		{"a100x16-oci-bm-gpu48-allreduce", "oci-a100", 2, 16, "auto", perGPU, mid},
		{"h100x16-a3high-tcpx-allgather", "a3-high", 2, 16, "auto", perGPU, "TCPX: 1 ms flat to 32 " +
			"MiB, which is no hop"},
		{"h200x16-a3ultra-allgather", "a3-ultra", 2, 16, "auto", perGPU, mid},
		{"gb300x8-gcp-a4xmax-allgather", "a4x-max", 2, 8, "auto", perGPU, mid},
		{"h100x32-voltagepark-allgather", "voltagepark-h100", 4, 32, "auto", perGPU, mid},
		{"h100x32-voltagepark-reduce", "voltagepark-h100", 4, 32, "auto", perGPU, mid},
		{"t4x2-g4dn-efa-allreduce", "g4dn", 2, 2, "auto", perGPU, ""},
		{"mn5/mn5-h100-ring-04n", "mn5", 4, 16, "ring", perGPU, mid},
		{"mn5/mn5-h100-ring-08n", "mn5", 8, 32, "ring", perGPU, mid},
		{"mn5/mn5-h100-tree-04n", "mn5", 4, 16, "tree", perGPU, mid},
		{"mn5/mn5-h100-tree-08n", "mn5", 8, 32, "tree", perGPU, mid},
	}
}

// measuredRow is a size of a table and how long a call took.
type measuredRow struct {
	bytes int64
	us    float64
}

// readTable returns the kind and the rows of a table, out of place where it has that.
func readTable(t *testing.T, path string) (kind string, rows []measuredRow) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	column := func(name string) int { return slices.Index(all[0], name) }
	for _, row := range all[1:] {
		kind = row[column("collective")]
		bytes, err := strconv.ParseInt(row[column("size_bytes")], 10, 64)
		require.NoError(t, err)
		text := row[column("time_us_oop")]
		if text == "" {
			text = row[column("time_us_ip")]
		}
		if us, err := strconv.ParseFloat(text, 64); err == nil && us > 0 && bytes > 0 {
			rows = append(rows, measuredRow{bytes, us})
		}
	}
	if kind == "alltoall" {
		kind = "all_to_all"
	}
	return kind, rows
}

// simulate holds each third size of a table against its simulation.
func (n *ncclTable) simulate(t *testing.T, dir string) (rows []fidelity.TableRow) {
	kind, measured := readTable(t, filepath.Join(dir, n.table+".csv"))
	text := fmt.Sprintf("topology.preset = %q\ntopology.nodes = %d\ntopology.ranks = %d\n"+
		"check.numbers = false\ncheck.proof = false\nbenchmark.calls = 20\nbenchmark.processes = %q\n"+
		"collective.kind = %q\ncollective.algorithm = %q\n", n.machine, n.nodes, n.ranks, n.process,
		kind, "nccl:"+n.algorithm) + versionOf(t, filepath.Join(dir, n.table+".toml"))
	for i, row := range measured {
		if i%3 != 0 {
			continue
		}
		s, err := run.Load("nccl.toml", []byte(text+fmt.Sprintf("collective.bytes = \"%d B\"\n",
			row.bytes)), run.LoadOptions{})
		require.NoError(t, err, n.table)
		report, err := s.Run(context.Background(), run.RunOptions{})
		require.NoError(t, err, n.table)
		r := report.Results[0]
		us := func(t unit.Time) float64 { // in hundredths, as they are written
			return math.Round(float64(t)/float64(unit.Microsecond)*100) / 100
		}
		rows = append(rows, fidelity.TableRow{Table: n.table, Machine: n.machine, Nodes: n.nodes,
			Ranks: n.ranks, Algorithm: n.algorithm, Bytes: unit.Bytes(row.bytes), Measured: row.us,
			Simulated: us(r.PerCall()), Model: us(r.Picked.Time)})
	}
	return rows
}

// versionOf returns the key of a scenario for the version of NCCL that a table was measured with,
// as the file beside it states; none where it states no number, or one older than those known here.
func versionOf(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^nccl_version = "(2\.(\d+)\.\d+)`).FindSubmatch(text)
	if m == nil {
		return ""
	}
	if minor, err := strconv.Atoi(string(m[2])); err != nil || minor < 18 {
		return ""
	}
	return fmt.Sprintf("nccl.version = %q\n", m[1])
}

// spread prints the median of errors and their 90th percentile.
func spread(errors []float64) string {
	if len(errors) == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f / %.0f", 100*fidelity.NearestRank(errors, 0.5),
		100*fidelity.NearestRank(errors, 0.9))
}

// TestNCCLFidelity simulates all public tables again, where these lie beside the repository and
// COLLSIM_FIDELITY is set, as that takes minutes, and holds fidelity's tables to them.
func TestNCCLFidelity(t *testing.T) {
	dir := filepath.Join(repository(t), "..", "shared", "nccl-data")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the public tables are not beside the repository")
	}
	if !tier.Long || !*update && os.Getenv("COLLSIM_FIDELITY") == "" {
		t.Skip("COLLSIM_FIDELITY is not set, or it is not the long tier")
	}
	var rows []fidelity.TableRow
	for _, n := range ncclTables() {
		rows = append(rows, n.simulate(t, dir)...)
	}
	text := fidelity.FormatTables(rows)
	if *update {
		path := filepath.Join(repository(t), "fidelity", "tables.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		document(t, rows, true)
		return
	}
	require.Equal(t, strings.Split(fidelity.FormatTables(fidelity.Tables()), "\n"),
		strings.Split(text, "\n"))
}

// TestNCCLFidelityDocument holds docs/fidelity-nccl.md to fidelity's tables.
func TestNCCLFidelityDocument(t *testing.T) {
	if *update && tier.Long {
		t.Skip("TestNCCLFidelity writes it")
	}
	document(t, fidelity.Tables(), *update)
}

// document compares docs/fidelity-nccl.md with what rows come to, or writes it.
func document(t *testing.T, rows []fidelity.TableRow, write bool) {
	path := filepath.Join(repository(t), "docs", "fidelity-nccl.md")
	text := aboutNCCLFidelity + fidelityTables(rows)
	if write {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(before), "\n"), strings.Split(text, "\n"),
		"go test ./cmd/collsim -run NCCLFidelityDocument -update rewrites it")
}

// fidelityTables has a row for every table, those of one node first, and what they come to.
func fidelityTables(rows []fidelity.TableRow) string {
	classes := fidelity.SizeClasses()
	byTable := map[string][]fidelity.TableRow{}
	for _, r := range rows {
		byTable[r.Table] = append(byTable[r.Table], r)
	}
	var b strings.Builder
	for _, several := range []bool{false, true} {
		title := map[bool]string{false: "One node", true: "Several nodes"}[several]
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		header := "| table | machine | GPUs |"
		for _, c := range classes {
			header += " " + c.Name + " | NCCL's model |"
		}
		fmt.Fprintf(&b, "%s why it misses |\n|%s\n", header, strings.Repeat("---|", 4+2*len(classes)))
		var medians, models [4][]float64
		for _, n := range ncclTables() {
			if (n.nodes > 1) != several {
				continue
			}
			var simulated, model [4][]float64
			for _, r := range byTable[n.table] {
				class := fidelity.ClassOf(r.Bytes)
				simulated[class] = append(simulated[class], r.Error(r.Simulated))
				if r.Model > 0 {
					model[class] = append(model[class], r.Error(r.Model))
				}
			}
			fmt.Fprintf(&b, "| %s | `%s` | %d × %d |", n.table, n.machine, n.nodes, n.ranks/n.nodes)
			for c := range classes {
				fmt.Fprintf(&b, " %s | %s |", spread(simulated[c]), spread(model[c]))
				if len(simulated[c]) > 0 {
					medians[c] = append(medians[c], fidelity.NearestRank(simulated[c], 0.5))
				}
				if len(model[c]) > 0 {
					models[c] = append(models[c], fidelity.NearestRank(model[c], 0.5))
				}
			}
			fmt.Fprintf(&b, " %s |\n", n.why)
		}
		b.WriteString("| median of the medians | | |")
		for c := range classes {
			fmt.Fprintf(&b, " **%.0f** | %.0f |", 100*fidelity.NearestRank(medians[c], 0.5),
				100*fidelity.NearestRank(models[c], 0.5))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
