package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"collsim/run"
	"collsim/unit"
)

// CSV writes a line for each result of all reports, under a line of names. Its columns are the
// scenario and those with a CSV name. Programs follow the results of their report, with the kind
// "program". Their cells are empty in columns of collectives; if there are programs, their own
// columns follow all others. Values are spelt as in JSON, and null is empty. A text that a
// spreadsheet would take for a formula has an apostrophe before it.
func CSV(reports ...*run.Report) ([]byte, error) { return Columns().CSV(reports...) }

// CSV does what the function CSV does, with the columns of l.
func (l Layout) CSV(reports ...*run.Report) ([]byte, error) {
	names, l := l.inCSV()
	programs := slices.ContainsFunc(reports, func(r *run.Report) bool { return len(r.Programs) > 0 })
	var further []programColumn
	if programs {
		further = programColumns()
	}
	for _, c := range further {
		names = append(names, c.name)
	}
	lines := [][]string{names}
	for _, r := range reports {
		for _, result := range r.Results {
			line := l.csvLine(r.Scenario, result)
			lines = append(lines, append(line, make([]string, len(further))...))
		}
		for _, result := range r.Programs {
			line := []string{harmless(r.Scenario.File)}
			for _, c := range l {
				line = append(line, c.spell(c.ofProgram(result)))
			}
			for _, c := range further {
				line = append(line, c.value(result).String())
			}
			lines = append(lines, line)
		}
	}
	return csvOf(lines)
}

// inCSV returns the names of the columns of CSV, and the columns in their order.
func (l Layout) inCSV() (names []string, ordered Layout) {
	l = slices.DeleteFunc(slices.Clone(l), func(c Column) bool { return c.CSV == "" })
	slices.SortStableFunc(l, func(a, b Column) int { return cmp.Compare(a.place(), b.place()) })
	names = []string{"scenario"}
	for _, c := range l {
		names = append(names, c.CSV)
	}
	return names, l
}

// csvLine returns the cells of a result.
func (l Layout) csvLine(s *run.Scenario, r *run.Result) []string {
	line := append(make([]string, 0, 1+len(l)), harmless(s.File))
	for _, c := range l {
		line = append(line, c.spelt(r))
	}
	return line
}

// CSVStream returns a function that writes the line of a result, as CSV has it where there are no
// programs; it has written the names. An error is that of writing.
func CSVStream(w io.Writer) (take func(*run.Scenario, *run.Result) error, err error) {
	names, l := columns().inCSV()
	out := csv.NewWriter(w)
	line := func(cells []string) error {
		if err := out.Write(cells); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
	return func(s *run.Scenario, r *run.Result) error { return line(l.csvLine(s, r)) }, line(names)
}

// place returns the sort key of a column in CSV. Place 0 wraps around to the largest key, the last.
func (c Column) place() uint { return uint(c.Place) - 1 } // 0 is last

// spelt returns the cell of a result in CSV.
func (c Column) spelt(r *run.Result) string { return c.spell(c.Value(r)) }

// spell returns a value as CSV spells it.
func (c Column) spell(v Value) string {
	switch {
	case c.asInGo && v.kind == isNumber:
		return fmt.Sprint(v.number)
	case v.kind == isText, v.kind == isList, v.kind == isObject:
		return harmless(v.String())
	}
	return v.String()
}

// harmless escapes a text that a spreadsheet would take for a formula (CSV injection, OWASP), with
// an apostrophe before it. A text that begins with an apostrophe gets one too: a reader that
// removes one then has the original. A lone - is no formula.
func harmless(text string) string {
	if text != "" && text != "-" && strings.ContainsRune("=+-@\t\r\n'", rune(text[0])) {
		return "'" + text
	}
	return text
}

// LinksCSV writes a line for every link of every result that was run with RunOptions.Links, under a
// line of names. busy is the share of the result's time that the link's bytes take at its full
// bandwidth; it is empty where the run has no time.
func LinksCSV(reports ...*run.Report) ([]byte, error) {
	lines := [][]string{{"scenario", "id", "link", "from", "to", "bytes", "busy_ps", "busy"}}
	add := func(s *run.Scenario, id string, took unit.Time, links []run.LinkUse) {
		for _, l := range links {
			share := ""
			if took > 0 {
				share = fmt.Sprint(float64(l.Busy) / float64(took))
			}
			lines = append(lines, []string{harmless(s.File), harmless(id), harmless(l.Name),
				harmless(l.From), harmless(l.To), fmt.Sprint(int64(l.Bytes)), fmt.Sprint(int64(l.Busy)),
				share})
		}
	}
	for _, r := range reports {
		for _, result := range r.Results {
			add(r.Scenario, result.Point.ID, result.Time, result.Links)
		}
		for _, result := range r.Programs {
			add(r.Scenario, result.Point.ID, result.Time, result.Links)
		}
	}
	return csvOf(lines)
}

func csvOf(lines [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.WriteAll(lines)
	return b.Bytes(), err
}
