package report

import (
	"slices"

	"collsim/run"
)

// Column is one fact of a result, wherever it is written.
type Column struct {
	Key      string // in JSON, behind those of the objects that it is in: "bounds.latency_ps"
	Optional bool   // left out of JSON where it is nothing; others are null there
	CSV      string // its name in CSV
	Place    int    // in CSV behind the columns of a lower one; 0: behind all that have one
	asInGo   bool   // CSV has numbers as in 1e-07, where JSON has 1e-7

	Heading, Unit string // in the table
	Width         int    // there, at least; with the blank before it
	// Shown says of the first result of a group whether the table has the column; nil: it has.
	Shown func(*run.Result) bool

	Value func(*run.Result) Value
	// Print is what the table has, where that is not Value's text. Nothing is N/A in any case.
	Print func(*run.Result) string
}

// Layout is columns in their order. One without a Key is not in JSON, one without a name for CSV is
// not there, one without a Heading not in the table.
type Layout []Column

// Columns are all facts of a result, in the order of JSON. Whoever has one more to show writes
// append(report.Columns(), mine).Table(r), and likewise JSON and CSV.
func Columns() Layout {
	return slices.Concat(pointColumns(), timeColumns(), boundColumns(), proofColumns(),
		numberColumns(), numericsColumns(), limitColumns(), measuredColumns(), furtherColumns(),
		callColumns(), pickedColumns(), knownColumns())
}

// fact is what a column has of a result.
type fact = func(*run.Result) Value

// both is a column that JSON and CSV call alike.
func both(name string, of fact) Column { return Column{Key: name, CSV: name, Place: 1, Value: of} }

// inJSON is a column of JSON alone.
func inJSON(key string, of fact) Column { return Column{Key: key, Value: of} }

// inCSV is a column of CSV alone.
func inCSV(place int, name string, of fact) Column {
	return Column{CSV: name, Place: place, Value: of}
}

// only is a column of a table alone, which headed names.
func only(of fact) Column { return Column{Value: of} }

// optional leaves a column out where it is nothing.
func (c Column) optional() Column {
	c.Optional = true
	return c
}

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

// shown has a column in the table of some groups alone.
func (c Column) shown(in func(*run.Result) bool) Column {
	c.Shown = in
	return c
}

// printed gives a column another text in the table.
func (c Column) printed(text func(*run.Result) string) Column {
	c.Print = text
	return c
}

// inGo has numbers in CSV as Go spells them.
func (c Column) inGo() Column {
	c.asInGo = true
	return c
}
