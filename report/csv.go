package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"collsim/run"
	"collsim/unit"
)

// CSV writes a line for each result of all reports under a line of names: the scenario and the
// columns that have a name there. Programs follow the results of their report, of the kind
// "program"; what only collectives have is nothing there, and what only programs have stands in
// columns behind all others, if there are any. Values are spelt as in JSON; null is nothing. A
// text that a spreadsheet would take for a formula has an apostrophe before it.
func CSV(reports ...*run.Report) ([]byte, error) { return Columns().CSV(reports...) }

// CSV is the same in these columns.
func (l Layout) CSV(reports ...*run.Report) ([]byte, error) {
	l = slices.DeleteFunc(slices.Clone(l), func(c Column) bool { return c.CSV == "" })
	slices.SortStableFunc(l, func(a, b Column) int { return cmp.Compare(a.place(), b.place()) })
	names := []string{"scenario"}
	for _, c := range l {
		names = append(names, c.CSV)
	}
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
			line := []string{harmless(r.Scenario.File)}
			for _, c := range l {
				line = append(line, c.spelt(result))
			}
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

// place is where a column stands in CSV.
func (c Column) place() uint { return uint(c.Place) - 1 } // 0 is last

// spelt is what CSV has of a result.
func (c Column) spelt(r *run.Result) string { return c.spell(c.Value(r)) }

// spell is what CSV has of a value.
func (c Column) spell(v Value) string {
	switch {
	case c.asInGo && v.kind == isNumber:
		return fmt.Sprint(v.number)
	case v.kind == isText, v.kind == isList, v.kind == isObject:
		return harmless(v.String())
	}
	return v.String()
}

// harmless is a text that a spreadsheet takes as one: behind an apostrophe if it begins with what
// begins a formula there (CSV injection, OWASP), or with an apostrophe, so that whoever takes away
// the first of a text that begins with one has what was meant. A lone - is no formula.
func harmless(text string) string {
	if text != "" && text != "-" && strings.ContainsRune("=+-@\t\r\n'", rune(text[0])) {
		return "'" + text
	}
	return text
}

// LinksCSV writes a line for every link of every result that was run with RunOptions.Links, under
// a line of names. busy is the share of the result's time for which the link would have been at
// work at its full bandwidth; it is empty where there was no time.
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
