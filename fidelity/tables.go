package fidelity

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"collsim/unit"
)

// tablesCSV has public tables of nccl-tests beside simulations of their machines, a line a size.
// The test of docs/fidelity-nccl.md writes it.
//
//go:embed tables.csv
var tablesCSV string

// TableRow is a size of a public table of nccl-tests, beside a simulation by the machine's name.
type TableRow struct {
	Table, Machine string
	Nodes, Ranks   int
	Algorithm      string // of NCCL's: "auto" where the library chose
	Bytes          unit.Bytes
	// Microseconds of a call: measured, simulated in a loop of calls, and by NCCL's own cost model (0:
	// it has none of this kind).
	Measured, Simulated, Model float64
	// Calibrated is simulated with figures that were fitted to another table of the machine, From; 0
	// where there is none.
	Calibrated float64
	From       string
}

// Error returns |predicted / measured − 1|.
func (r *TableRow) Error(predicted float64) float64 { return math.Abs(predicted/r.Measured - 1) }

// columns are those of tables.csv.
var columns = []string{"table", "machine", "nodes", "ranks", "algorithm", "size_bytes",
	"measured_us", "simulated_us", "model_us", "calibrated_us", "calibrated_from"}

// Tables returns all rows that are known, in the order of docs/fidelity-nccl.md. They are the
// caller's to read only.
var Tables = sync.OnceValue(func() []TableRow {
	rows, err := parseTables(tablesCSV)
	if err != nil {
		panic(err) // a test reads the file
	}
	return rows
})

// parseTables reads what FormatTables writes.
func parseTables(text string) ([]TableRow, error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], columns) {
		return nil, fmt.Errorf("fidelity: the columns %v are expected", columns)
	}
	var rows []TableRow
	for i, line := range lines[1:] {
		var figures [7]float64
		for k, at := range []int{2, 3, 5, 6, 7, 8, 9} {
			if figures[k], err = strconv.ParseFloat(line[at], 64); err != nil {
				return nil, fmt.Errorf("fidelity: line %d: %s = %q: a number is expected", i+2, columns[at],
					line[at])
			}
		}
		rows = append(rows, TableRow{line[0], line[1], int(figures[0]), int(figures[1]), line[4],
			unit.Bytes(figures[2]), figures[3], figures[4], figures[5], figures[6], line[10]})
	}
	return rows, nil
}

// FormatTables writes rows as CSV.
func FormatTables(rows []TableRow) string {
	var b strings.Builder
	b.WriteString(strings.Join(columns, ",") + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%s,%s,%d,%d,%s,%d,%v,%.2f,%.2f,%.2f,%s\n", r.Table, r.Machine, r.Nodes, r.Ranks,
			r.Algorithm, r.Bytes, r.Measured, r.Simulated, r.Model, r.Calibrated, r.From)
	}
	return b.String()
}

// SizeClass is a range of sizes: those below UpTo that no class before it has.
type SizeClass struct {
	UpTo unit.Bytes
	Name string
}

// SizeClasses returns the ranges of sizes by which errors are summed up.
func SizeClasses() []SizeClass {
	return []SizeClass{{64 * unit.KiB, "< 64 KiB"}, {unit.MiB, "64 KiB to 1 MiB"},
		{16 * unit.MiB, "1 to 16 MiB"}, {math.MaxInt64, "from 16 MiB"}}
}

// ClassOf returns the index of the class of a size.
func ClassOf(n unit.Bytes) int {
	return slices.IndexFunc(SizeClasses(), func(c SizeClass) bool { return n < c.UpTo })
}

// NearestRank returns the ⌈q·n⌉-th of n values in ascending order, the first for q = 0.
//
// REQUIRES: there are some.
func NearestRank(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1]
}

// Known says how far simulations of a machine were from its public tables at sizes of a class.
type Known struct {
	Tables      int // of the machine, on one node or on several
	Median, P90 float64
}

// KnownError returns how far simulations of a named machine, on one node or on several, were from
// public tables at sizes of the class of n. Where they have none of the class, it has no tables.
func KnownError(machine string, several bool, n unit.Bytes) Known {
	return knownErrors()[tablesOf{machine, several, ClassOf(n)}]
}

// tablesOf names the rows of public tables that a Known sums up.
type tablesOf struct {
	machine string
	several bool
	class   int
}

// knownErrors sums up all tables.
var knownErrors = sync.OnceValue(func() map[tablesOf]Known {
	type sums struct {
		tables []string
		errors []float64
	}
	var order []tablesOf
	rows := map[tablesOf]*sums{}
	for _, r := range Tables() {
		of := tablesOf{r.Machine, r.Nodes > 1, ClassOf(r.Bytes)}
		if rows[of] == nil {
			rows[of], order = &sums{}, append(order, of)
		}
		s := rows[of]
		s.errors = append(s.errors, r.Error(r.Simulated))
		if !slices.Contains(s.tables, r.Table) {
			s.tables = append(s.tables, r.Table)
		}
	}
	all := map[tablesOf]Known{}
	for _, of := range order {
		s := rows[of]
		all[of] = Known{len(s.tables), NearestRank(s.errors, 0.5), NearestRank(s.errors, 0.9)}
	}
	return all
})

// ClassError returns how far simulations of NCCL are off at sizes of the class of n, on one node or
// on several: of each public table the median of its errors, and of these the median.
func ClassError(several bool, n unit.Bytes) float64 {
	at := 0
	if several {
		at = 1
	}
	return classErrors()[at][ClassOf(n)]
}

// classErrors are those of one node and of several, by class, each of which has
// tables.
var classErrors = sync.OnceValue(func() (all [2][]float64) {
	for at := range all {
		for class := range SizeClasses() {
			var order []string
			byTable := map[string][]float64{}
			for _, r := range Tables() {
				if (r.Nodes > 1) == (at == 1) && ClassOf(r.Bytes) == class {
					if byTable[r.Table] == nil {
						order = append(order, r.Table)
					}
					byTable[r.Table] = append(byTable[r.Table], r.Error(r.Simulated))
				}
			}
			var medians []float64
			for _, table := range order {
				medians = append(medians, NearestRank(byTable[table], 0.5))
			}
			all[at] = append(all[at], NearestRank(medians, 0.5))
		}
	}
	return all
})
