package report

import (
	"slices"
	"sync"

	"collsim/run"
)

// Column describes one fact of a result in every output: JSON, CSV and the table.
type Column struct {
	Key      string // in JSON, a path through nested objects: "bounds.latency_ps"
	Form     Form   // of its values in JSON; zero: any
	Optional bool   // left out of JSON where it has no value; other columns are null there
	CSV      string // its name in CSV
	Place    int    // group in CSV: columns are sorted by it, and 0 is the last group
	asInGo   bool   // CSV spells numbers as Go does, 1e-07, where JSON has 1e-7

	Heading, Unit string // in the table
	Width         int    // least width there, with the blank before it
	// Shown reports whether the table of a group has the column, by the group's first result. Nil:
	// it always has.
	Shown func(*run.Result) bool

	Value func(*run.Result) Value
	// Set takes in a value that a line of JSON has, and that is not null. Nil: the value follows from
	// the point and other columns.
	Set func(*run.Result, Value)
	// Print formats the cell of the table; nil formats Value. A column without a value prints N/A
	// in any case.
	Print func(*run.Result) string
}

// Layout is a list of columns in their order. A column without Key is left out of JSON, one without
// CSV of CSV, one without Heading of the table.
type Layout []Column

// Columns lists all columns of a result, in the order of JSON. A program adds a column of its own
// by append(report.Columns(), mine).Table(r), and likewise for JSON and CSV.
func Columns() Layout { return slices.Clone(columns()) }

// columns makes the list once.
var columns = sync.OnceValue(func() Layout {
	return slices.Concat(pointColumns(), timeColumns(), boundColumns(), proofColumns(),
		numberColumns(), numericsColumns(), limitColumns(), measuredColumns(), furtherColumns(),
		callColumns(), pickedColumns(), loggedColumns(), knownColumns())
})

// fact extracts the value of a column from a result.
type fact = func(*run.Result) Value

// both makes a column with one name in JSON and CSV.
func both(f field[run.Result]) Column {
	c := inJSON(f)
	c.CSV, c.Place = f.name, 1
	return c
}

// inJSON makes a column of JSON alone.
func inJSON(f field[run.Result]) Column {
	return Column{Key: f.name, Form: f.form, Optional: f.optional, Value: f.value, Set: f.set}
}

// inCSV makes a column of CSV alone.
func inCSV(place int, name string, of fact) Column {
	return Column{CSV: name, Place: place, Value: of}
}

// only makes a column of the table alone; headed then names it.
func only(of fact) Column { return Column{Value: of} }

// csv puts a column of JSON into CSV.
func (c Column) csv(place int, name string) Column {
	c.Place, c.CSV = place, name
	return c
}

// headed puts a column into the table.
func (c Column) headed(heading, unit string, width int) Column {
	c.Heading, c.Unit, c.Width = heading, unit, width
	return c
}

// shown puts a column only into the tables of some groups.
func (c Column) shown(in func(*run.Result) bool) Column {
	c.Shown = in
	return c
}

// printed gives a column another format in the table.
func (c Column) printed(text func(*run.Result) string) Column {
	c.Print = text
	return c
}

// inGo makes CSV spell numbers as Go does.
func (c Column) inGo() Column {
	c.asInGo = true
	return c
}
