package main

import (
	"context"
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
	"collsim/formats/measured"
	"collsim/internal/tier"
	"collsim/machine"
	"collsim/run"
	"collsim/unit"
)

// What docs/fidelity-nccl.md begins with.
const aboutNCCLFidelity = `# How far simulations of NCCL are from measured tables

<!-- go test -tags long ./cmd/collsim -run NCCLFidelity -timeout 60m -update writes it -->

Each row is a public table of nccl-tests, held against a simulation of a machine's name and nodes
alone, and of the version of NCCL where the table states one from 2.18 on: nccl:auto where the
library chose, or the algorithm that its run forced. Nothing is calibrated, but in the columns of
that name: there the machine's figures are fitted to *another* table of it, of another collective
where there is one ([calibrate --machine](calibration.md#nccl-on-a-machine-of-yours)). Over several
nodes that may make it worse: a fit of one shape or number of nodes says little of another.

An error is |predicted / measured - 1|; a cell is its median over the sizes of a class, then its
90th percentile (the
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

// sources are tables of the same machine, of another collective or else of another run, to which
// its figures are fitted for the calibrated columns.
func sources() map[string]ncclTable {
	const a100 = "a100x8-sxm40-superbench-"
	of := func(table, machine string, nodes, ranks int, algorithm, process string) ncclTable {
		return ncclTable{table, machine, nodes, ranks, algorithm, process, ""}
	}
	dgx := of(a100+"allreduce", "dgx-a100-40", 1, 8, "auto", oneFor)
	return map[string]ncclTable{
		a100 + "allgather":     dgx,
		a100 + "reducescatter": dgx,
		a100 + "broadcast":     dgx,
		a100 + "reduce":        dgx,
		a100 + "alltoall":      dgx,
		a100 + "allreduce":     of(a100+"allgather", "dgx-a100-40", 1, 8, "auto", oneFor),
		"v100x12-dgx2-allreduce": of("v100x12-dgx2-broadcast", "dgx-2", 1, 12, "auto",
			oneFor),
		"v100x12-dgx2-broadcast": of("v100x12-dgx2-allreduce", "dgx-2", 1, 12, "auto",
			oneFor),
		"h100x4-slice-allreduce": of("h100x4-slice-eager229-allreduce", "dgx-h100", 1, 4,
			"auto", oneFor),
		"h100x4-slice-ring-allreduce": of("h100x4-slice-allreduce", "dgx-h100", 1, 4, "auto",
			oneFor),
		"h100x4-slice-nvls-allreduce": of("h100x2-slice-nvls-allreduce", "dgx-h100", 1, 2,
			"nvls", oneFor),
		"h100x2-slice-ring-allreduce": of("h100x4-slice-ring-allreduce", "dgx-h100", 1, 4,
			"ring", oneFor),
		"v100x4-pcie-bessemer-nccl242-cu101-allreduce": of(
			"v100x4-pcie-bessemer-nccl283-cu1102-allreduce", "pcie-v100-4", 1, 4, "auto", oneFor),
		"alps/alps-gh200-allreduce-002n": of("alps/alps-gh200-allreduce-004n", "alps", 4, 16,
			"auto", perGPU),
		"alps/alps-gh200-allreduce-004n": of("alps/alps-gh200-allreduce-002n", "alps", 2, 8,
			"auto", perGPU),
		"alps/alps-gh200-allreduce-008n": of("alps/alps-gh200-allreduce-004n", "alps", 4, 16,
			"auto", perGPU),
		"h100x16-p5-allreduce": of("h100x16-p5-allreduce-2023", "p5", 2, 16, "auto", perGPU),
		"a100x16-oci-bm-gpu48-allreduce": of("a100x16-oci-b48-allreduce", "oci-a100", 2, 16,
			"auto", perGPU),
		"h100x32-voltagepark-allgather": of("h100x32-voltagepark-reduce", "voltagepark-h100", 4,
			32, "auto", perGPU),
		"h100x32-voltagepark-reduce": of("h100x32-voltagepark-allgather", "voltagepark-h100", 4,
			32, "auto", perGPU),
		"t4x2-g4dn-efa-allreduce": of("t4x2-g4dn-efa2-allreduce", "g4dn", 2, 2, "auto", perGPU),
		"mn5/mn5-h100-ring-04n":   of("mn5/mn5-h100-tree-04n", "mn5", 4, 16, "tree", perGPU),
		"mn5/mn5-h100-ring-08n":   of("mn5/mn5-h100-ring-04n", "mn5", 4, 16, "ring", perGPU),
		"mn5/mn5-h100-tree-04n":   of("mn5/mn5-h100-ring-04n", "mn5", 4, 16, "ring", perGPU),
		"mn5/mn5-h100-tree-08n":   of("mn5/mn5-h100-tree-04n", "mn5", 4, 16, "tree", perGPU),
	}
}

// read reads a table, out of place where it has that.
func (n *ncclTable) read(t *testing.T, dir string) (*measured.Table, []measured.Row) {
	text, err := os.ReadFile(filepath.Join(dir, n.table+".csv"))
	require.NoError(t, err)
	tables, err := measured.ReadTables(n.table, text)
	require.NoError(t, err)
	require.Len(t, tables, 1)
	rows := tables[0].At(false)
	if len(rows) == 0 {
		rows = tables[0].At(true)
	}
	return &tables[0], slices.DeleteFunc(rows, func(r measured.Row) bool { return r.Size == 0 })
}

// calibrated is the text of the machine with figures fitted to the table.
func (n *ncclTable) calibrated(t *testing.T, dir string) []byte {
	table, rows := n.read(t, dir)
	m, err := machine.Find(n.machine)
	require.NoError(t, err)
	o := run.NCCLOptions{Machine: m, Nodes: n.nodes, Process: n.process,
		Set: versionOf(t, filepath.Join(dir, n.table+".toml"))}
	o.Ranks, o.Algorithm, o.Place = n.ranks, n.algorithm, "out"
	if rows[0].InPlace {
		o.Place = "in"
	}
	f, err := run.FitNCCL([]*measured.Table{table}, o)
	require.NoError(t, err, n.table)
	return []byte(f.Text())
}

// simulate holds each third size of a table against its simulation, by the machine's name and with
// figures fitted to another table.
func (n *ncclTable) simulate(t *testing.T, dir string, fitted map[string][]byte) (
	rows []fidelity.TableRow) {
	table, sizes := n.read(t, dir)
	from, isCalibrated := sources()[n.table]
	if isCalibrated && fitted[from.table] == nil {
		fitted[from.table] = from.calibrated(t, dir)
	}
	us := func(t unit.Time) float64 { // in hundredths, as they are written
		return math.Round(float64(t)/float64(unit.Microsecond)*100) / 100
	}
	set := versionOf(t, filepath.Join(dir, n.table+".toml"))
	for i, row := range sizes {
		if i%3 != 0 {
			continue
		}
		r := n.once(t, fmt.Sprintf("preset = %q", n.machine), table, row.Size, nil, set)
		one := fidelity.TableRow{Table: n.table, Machine: n.machine, Nodes: n.nodes,
			Ranks: n.ranks, Algorithm: n.algorithm, Bytes: row.Size, Measured: us(row.Time),
			Simulated: us(r.PerCall()), Model: us(r.Picked.Time)}
		if isCalibrated {
			one.From = from.table
			one.Calibrated = us(n.once(t, "file = \"mine.toml\"", table, row.Size,
				fitted[from.table], set).PerCall())
		}
		rows = append(rows, one)
	}
	return rows
}

// once simulates a size of a table.
func (n *ncclTable) once(t *testing.T, on string, table *measured.Table, size unit.Bytes,
	mine []byte, set []string) *run.Result {
	o := run.LoadOptions{Set: set}
	if mine != nil {
		o.Read = func(string, unit.Bytes) ([]byte, error) { return mine, nil }
	}
	s, err := run.Load("nccl.toml", []byte(fmt.Sprintf("[topology]\n%s\nnodes = %d\nranks = %d\n"+
		"[check]\nnumbers = false\nproof = false\n[benchmark]\ncalls = 20\nprocesses = %q\n"+
		"[collective]\nkind = %q\nalgorithm = %q\nbytes = \"%d B\"\n", on, n.nodes, n.ranks, n.process,
		table.Kind, "nccl:"+n.algorithm, size)), o)
	require.NoError(t, err, n.table)
	report, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err, n.table)
	return report.Results[0]
}

// versionOf returns the key of a scenario for the version of NCCL that a table was measured with,
// as the file beside it states; none where it states no number, or one older than those known here.
func versionOf(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^nccl_version = "(2\.(\d+)\.\d+)`).FindSubmatch(text)
	if m == nil {
		return nil
	}
	if minor, err := strconv.Atoi(string(m[2])); err != nil || minor < 18 {
		return nil
	}
	return []string{fmt.Sprintf("nccl.version=%s", m[1])}
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
	fitted := map[string][]byte{}
	for _, n := range ncclTables() {
		rows = append(rows, n.simulate(t, dir, fitted)...)
	}
	text := formatTables(rows)
	if *update {
		path := filepath.Join(repository(t), "fidelity", "tables.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		document(t, rows, true)
		return
	}
	require.Equal(t, strings.Split(formatTables(fidelity.Tables()), "\n"),
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
			header += " " + c.Name + " | calibrated | NCCL's model |"
		}
		fmt.Fprintf(&b, "%s calibrated from | why it misses |\n|%s\n", header,
			strings.Repeat("---|", 5+3*len(classes)))
		var medians, models, others [4][]float64
		for _, n := range ncclTables() {
			if (n.nodes > 1) != several {
				continue
			}
			var simulated, calibrated, model [4][]float64
			for _, r := range byTable[n.table] {
				class := fidelity.ClassOf(r.Bytes)
				simulated[class] = append(simulated[class], r.Error(r.Simulated))
				if r.Model > 0 {
					model[class] = append(model[class], r.Error(r.Model))
				}
				if r.Calibrated > 0 {
					calibrated[class] = append(calibrated[class], r.Error(r.Calibrated))
				}
			}
			fmt.Fprintf(&b, "| %s | `%s` | %d × %d |", n.table, n.machine, n.nodes, n.ranks/n.nodes)
			for c := range classes {
				fmt.Fprintf(&b, " %s | %s | %s |", spread(simulated[c]), spread(calibrated[c]),
					spread(model[c]))
				if len(calibrated[c]) > 0 {
					others[c] = append(others[c], fidelity.NearestRank(calibrated[c], 0.5))
				}
				if len(simulated[c]) > 0 {
					medians[c] = append(medians[c], fidelity.NearestRank(simulated[c], 0.5))
				}
				if len(model[c]) > 0 {
					models[c] = append(models[c], fidelity.NearestRank(model[c], 0.5))
				}
			}
			from := ""
			if rows := byTable[n.table]; len(rows) > 0 {
				from = rows[0].From
			}
			fmt.Fprintf(&b, " %s | %s |\n", from, n.why)
		}
		b.WriteString("| median of the medians | | |")
		for c := range classes {
			calibrated := ""
			if len(others[c]) > 0 {
				calibrated = fmt.Sprintf("%.0f", 100*fidelity.NearestRank(others[c], 0.5))
			}
			fmt.Fprintf(&b, " **%.0f** | %s | %.0f |", 100*fidelity.NearestRank(medians[c], 0.5),
				calibrated, 100*fidelity.NearestRank(models[c], 0.5))
		}
		b.WriteString(" | |\n")
	}
	return b.String()
}
