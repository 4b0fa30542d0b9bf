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

// tablesCSV holds public tables of nccl-tests beside simulations of their machines, a line for each
// size. The test of docs/fidelity-nccl.md writes it.
//
//go:embed tables.csv
var tablesCSV string

// TableRow is one size of a public table of nccl-tests, beside the simulation of the machine.
type TableRow struct {
	Table, Machine string
	Nodes, Ranks   int
	Algorithm      string // NCCL's; "auto" where the library chose
	Bytes          unit.Bytes
	// Microseconds of a call: measured, simulated in a loop of calls, and by NCCL's own cost model
	// (0: the model does not cover this kind).
	Measured, Simulated, Model float64
	// Calibrated is the simulated time with figures fitted to another table of the machine, From; 0
	// where there is none.
	Calibrated float64
	From       string
}

// Error returns |predicted / measured − 1|.
func (r *TableRow) Error(predicted float64) float64 { return math.Abs(predicted/r.Measured - 1) }

// columns lists the columns of tables.csv.
var columns = []string{"table", "machine", "nodes", "ranks", "algorithm", "size_bytes",
	"measured_us", "simulated_us", "model_us", "calibrated_us", "calibrated_from"}

// Tables returns all rows of public tables, in the order of docs/fidelity-nccl.md. Callers must not
// change them.
var Tables = sync.OnceValue(func() []TableRow {
	rows, err := parseTables(tablesCSV)
	if err != nil {
		panic(err) // a test reads the file
	}
	return rows
})

// parseTables reads tables.csv.
func parseTables(text string) ([]TableRow, error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], columns) {
		return nil, fmt.Errorf("the columns %v are expected", columns)
	}
	var rows []TableRow
	for i, line := range lines[1:] {
		var figures [7]float64
		for k, at := range []int{2, 3, 5, 6, 7, 8, 9} {
			if figures[k], err = strconv.ParseFloat(line[at], 64); err != nil {
				return nil, fmt.Errorf("line %d: %s = %q: a number is expected", i+2, columns[at],
					line[at])
			}
		}
		rows = append(rows, TableRow{line[0], line[1], int(figures[0]), int(figures[1]), line[4],
			unit.Bytes(figures[2]), figures[3], figures[4], figures[5], figures[6], line[10]})
	}
	return rows, nil
}

// SizeClass is a range of sizes: from the UpTo of the class before it to below its own.
type SizeClass struct {
	UpTo unit.Bytes
	Name string
}

// SizeClasses returns the ranges of sizes for which errors are summed up.
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
// REQUIRES: n > 0.
func NearestRank(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1]
}

// Known sums up the errors of simulations of a machine against its public tables, at sizes of a
// class.
type Known struct {
	Tables      int // number of tables of the machine, on one node or on several
	Median, P90 float64
}

// KnownError returns the errors of simulations of a named machine against its public tables. These
// are tables of one node or of several, at sizes of the class of n. If there are none, Tables is 0.
func KnownError(machine string, several bool, n unit.Bytes) Known {
	return knownErrors()[tablesOf{machine, several, ClassOf(n)}]
}

// tablesOf is the key of the rows of public tables that a Known sums up.
type tablesOf struct {
	machine string
	several bool
	class   int
}

// knownErrors computes the Known of every key.
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

// ClassError returns the typical error of simulations of NCCL at sizes of the class of n, on one
// node or on several. It is the median, over public tables, of each table's median error.
func ClassError(several bool, n unit.Bytes) float64 {
	at := 0
	if several {
		at = 1
	}
	return classErrors()[at][ClassOf(n)]
}

// classErrors computes ClassError for one node and for several, by class. Every class has tables.
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
