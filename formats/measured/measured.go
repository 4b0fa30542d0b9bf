package measured

import (
	"bytes"
	"fmt"
	"math"
	"regexp"

	"collsim/collective"
	"collsim/unit"
)

// Of holds what all rows of a table have in common. What a file does not say is zero.
type Of struct {
	File                string
	Kind                collective.Kind
	Algorithm, Protocol string // as the file calls them
	Type, Op            string // as the file writes them; Op is "" or "none" where nothing is reduced
	Ranks, Nodes        int
	// PerProcess counts the GPUs of a process.
	PerProcess int
}

// Row is a measured time of one call, out of place or in place.
type Row struct {
	Of
	Line    int        // from 1; of JSON the number of the result
	Size    unit.Bytes // as nccl-tests counts it: for all_gather and its like the whole vector
	Count   int64      // elements
	Root    int        // −1 if there is none
	InPlace bool       // a table that does not say so is out of place
	Time    unit.Time  // above 0
	Spread  unit.Time  // between the quartiles, if the table has them
	// AlgBW and BusBW are as printed, in GB/s of 10⁹; 0 if not there. AlgStep and BusStep are half a
	// unit of their last printed digits.
	AlgBW, BusBW, AlgStep, BusStep float64
	// Wrong is as printed: elements that were wrong, or the largest error, in older versions. −1 if
	// nobody has looked.
	Wrong float64
}

// Table holds rows that measure the same over sizes, in the order of the file: of one size there
// may be several.
type Table struct {
	Of
	Rows []Row
}

// Read returns the rows of a table. Text that begins with a bracket is JSON, text whose first line
// is a header with commas is CSV, any other is a log. An error is a *ParseError.
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

// isLog reports whether a text that begins with a bracket does so with a tag of mpirun, "[1,0]<".
func isLog(text []byte) bool {
	return regexp.MustCompile(`^\[\d+,\d+\]\S|^\[[^\]{"]*\]\s*[^\s,]`).Match(text)
}

// header matches names with commas between them.
func header() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][\w .-]*(,[\w .-]+)+$`) }

// Tables groups rows by what they measure, in their order.
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

// BusFactor returns between which numbers all rows have the ratio of busbw to algbw, as far as
// what is printed tells: it depends on the collective and the number of ranks alone. ok is false
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

// ParseError says what is wrong with a table, and where.
type ParseError struct {
	File         string
	Line, Column int // from 1; of a CSV file Column is the field's number; 0 for the whole line
	Value        string
	Text         string // what was expected
}

// Error is one line: file, place, value, what was expected.
func (e *ParseError) Error() string {
	place := fmt.Sprintf("%s:%d", e.File, e.Line)
	if e.Column > 0 {
		place += fmt.Sprintf(":%d", e.Column)
	}
	return fmt.Sprintf("measured: %s: %.60q: %s", place, e.Value, e.Text)
}
