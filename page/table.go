package page

import (
	"fmt"
	"html/template"
	"math"

	"collsim/report"
)

// Table is a table with a row for each result, say. By script it can be sorted, and filtered by its
// keys; where two keys vary it is a heat map, too.
type Table struct {
	Columns []report.GridColumn
	Heat    bool // offer a heat map
}

// mostRows is the most rows of a table. Of more, rows at equal distances are shown.
const mostRows = 2000

// Rows returns the number of rows.
func (t *Table) Rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return len(t.Columns[0].Texts)
}

// Sampled returns the table, or one with few enough of its rows, and a note that says so.
func (t *Table) Sampled() (*Table, string) {
	n := t.Rows()
	if n <= mostRows {
		return t, ""
	}
	s := &Table{Heat: t.Heat}
	for _, c := range t.Columns {
		texts, values := c.Texts, c.Values
		c.Texts, c.Values = nil, nil
		for i := range mostRows {
			at := i * n / mostRows
			c.Texts = append(c.Texts, texts[at])
			if values != nil {
				c.Values = append(c.Values, values[at])
			}
		}
		s.Columns = append(s.Columns, c)
	}
	return s, fmt.Sprintf("%d of %d rows are shown, at equal distances: --only chooses others",
		mostRows, n)
}

// Shown lists the columns that are not hidden.
func (t *Table) Shown() (list []report.GridColumn) {
	for _, c := range t.Columns {
		if !c.Hidden {
			list = append(list, c)
		}
	}
	return list
}

// Lines lists the rows of the columns that are not hidden, as the template reads them.
func (t *Table) Lines() [][]cell {
	lines := make([][]cell, t.Rows())
	for _, c := range t.Shown() {
		for i, text := range c.Texts {
			one := cell{Text: text}
			if c.Values != nil {
				one.Class = "n"
			}
			if c.Bar && !math.IsNaN(c.Values[i]) {
				one.Bar = template.CSS(fmt.Sprintf("--bar:%.1f%%", 100*min(max(c.Values[i], 0), 1)))
			}
			lines[i] = append(lines[i], one)
		}
	}
	return lines
}

type cell struct {
	Text, Class string
	Bar         template.CSS
}

type tableData struct {
	Heat    bool         `json:"heat"`
	Columns []columnData `json:"columns"`
}

// columnData has numbers as they are. Texts are indices of the list of those that differ.
type columnData struct {
	Name    string     `json:"name"`
	Unit    string     `json:"unit,omitempty"`
	Key     bool       `json:"key,omitempty"`
	Hidden  bool       `json:"hidden,omitempty"`
	Low     bool       `json:"low,omitempty"`
	Values  []*float64 `json:"values,omitempty"`
	Texts   []string   `json:"texts,omitempty"`   // those that differ, in the order of their first
	Indices []int      `json:"indices,omitempty"` // of Texts, by row
}

func (t *Table) data() *tableData {
	d := &tableData{Heat: t.Heat, Columns: []columnData{}}
	for _, c := range t.Columns {
		one := columnData{Name: c.Name, Unit: c.Unit, Key: c.Key, Hidden: c.Hidden, Low: c.Low}
		for _, v := range c.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				one.Values = append(one.Values, nil)
				continue
			}
			one.Values = append(one.Values, &v)
		}
		if c.Values == nil || c.Key {
			place := map[string]int{}
			for _, text := range c.Texts {
				at, known := place[text]
				if !known {
					at = len(one.Texts)
					place[text] = at
					one.Texts = append(one.Texts, text)
				}
				one.Indices = append(one.Indices, at)
			}
		}
		d.Columns = append(d.Columns, one)
	}
	return d
}
