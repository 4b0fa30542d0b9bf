package measured

import (
	"bytes"
	"fmt"
	"math"
	"regexp"

	"collsim/collective"
	"collsim/internal/diag"
	"collsim/unit"
)

// Of holds the facts that all rows of a table share. Those that a file does not state are zero.
type Of struct {
	File                string
	Kind                collective.Kind
	Algorithm, Protocol string // as spelt in the file
	Type, Op            string // as spelt in the file; Op is "" or "none" where nothing is reduced
	Ranks, Nodes        int
	// PerProcess counts the GPUs of a process.
	PerProcess int
}

// Row is a measured time of one call, out of place or in place.
type Row struct {
	Of
	Line    int        // from 1; in JSON the number of the result
	Size    unit.Bytes // as in nccl-tests: for all_gather and its like the whole vector
	Count   int64      // elements
	Root    int        // −1 if there is none
	InPlace bool       // false for a table that does not state it
	Time    unit.Time  // above 0
	Spread  unit.Time  // between the quartiles, if the table has them
	// AlgBW and BusBW are as printed, in GB/s of 10⁹; 0 if missing. AlgStep and BusStep are half a
	// unit of their last printed digits.
	AlgBW, BusBW, AlgStep, BusStep float64
	// Wrong is as printed: the number of wrong elements or, in older versions, the largest error.
	// −1 if it was not checked.
	Wrong float64
}

// Table holds rows that measure the same over sizes, in the order of the file. Several may have the
// same size.
type Table struct {
	Of
	Rows []Row
}

// Read returns the rows of a table. Text that begins with a bracket is JSON, text whose first line
// is a header with commas is CSV, any other is a log. Errors are *ParseError.
func Read(file string, text []byte) ([]Row, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	trimmed := bytes.TrimSpace(text)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[' && !isLog(trimmed)):
		return readJSON(file, text)
	case header().Match(bytes.TrimSpace(first)):
		return readCSV(file, text)
	}
	return readLog(file, text)
}

// isLog reports whether a text begins with a tag of mpirun, "[1,0]<", rather than with JSON.
func isLog(text []byte) bool {
	return regexp.MustCompile(`^\[\d+,\d+\]\S|^\[[^\]{"]*\]\s*[^\s,]`).Match(text)
}

// header matches names with commas between them.
func header() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][\w .-]*(,[\w .-]+)+$`) }

// Tables groups rows by the facts that they share, in their order.
func Tables(rows []Row) []Table {
	var all []Table
	place := map[Of]int{}
	for _, r := range rows {
		at, known := place[r.Of]
		if !known {
			at = len(all)
			place[r.Of] = at
			all = append(all, Table{Of: r.Of})
		}
		all[at].Rows = append(all[at].Rows, r)
	}
	return all
}

// ReadTables returns the rows of a file as tables.
func ReadTables(file string, text []byte) ([]Table, error) {
	rows, err := Read(file, text)
	return Tables(rows), err
}

// At returns the rows in place, or out of place.
func (t *Table) At(inPlace bool) []Row {
	var rows []Row
	for _, r := range t.Rows {
		if r.InPlace == inPlace {
			rows = append(rows, r)
		}
	}
	return rows
}

// BusFactor returns the range in which the ratio of busbw to algbw is, within the printed digits,
// for all rows. The ratio depends on the collective and the number of ranks alone. ok is false
// where the table has no such columns, or contradicts itself.
func (t *Table) BusFactor() (low, high float64, ok bool) {
	low, high = 0, math.Inf(1)
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.AlgBW <= r.AlgStep || r.BusBW <= 0 {
			continue
		}
		low = max(low, (r.BusBW-r.BusStep)/(r.AlgBW+r.AlgStep))
		high = min(high, (r.BusBW+r.BusStep)/(r.AlgBW-r.AlgStep))
		ok = true
	}
	return low, high, ok && low <= high
}

// ParseError describes an error in a table, its line, and the column where it is known.
type ParseError = diag.Problem

// columnName names a column, from 1, for an error; in CSV a field is a column.
func columnName(n int) string { return fmt.Sprintf("column %d", n) }

// quoted shortens and quotes what an error repeats of a table; nothing stays nothing.
func quoted(value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf("%.60q", value)
}
