package report

import (
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// Table prints reports as lines of 80 columns where that is possible. The columns are nccl-tests'
// first nine in its order, then %bound, the lower bound as a share of the time. With a benchmark
// the time is that of a call of its loop, and the last column has the time of one call alone. All
// other lines are behind a #. With several algorithms a table of times follows, size × algorithm.
func Table(reports ...*run.Report) string { return Columns().Table(reports...) }

// Table does what the function Table does, with the columns of l.
func (l Layout) Table(reports ...*run.Report) string {
	var b strings.Builder
	s := l.Stream(func(text string) { b.WriteString(text) })
	for _, r := range reports {
		s.Begin(r.Scenario)
		for _, result := range r.Results {
			s.add(result)
		}
		s.End(r)
	}
	s.Close()
	return b.String()
}

// missing stands for a missing value, as in nccl-tests.
const missing = "N/A"

// table arranges results under the headings of columns.
func (l Layout) table(results []*run.Result) prose.Table {
	l = slices.DeleteFunc(slices.Clone(l), func(c Column) bool {
		return c.Shown != nil && !c.Shown(results[0])
	})
	rows, width := make([][]string, 2+len(results)), make([]int, len(l))
	for i, c := range l {
		rows[0], rows[1] = append(rows[0], c.Heading), append(rows[1], c.Unit)
		width[i] = max(c.Width, 1)
		for j, r := range results {
			rows[2+j] = append(rows[2+j], c.cell(r))
		}
	}
	return prose.Table{Widths: width, Rows: rows}
}

// cell returns the cell of a result in the table.
func (c Column) cell(r *run.Result) string {
	switch v := c.Value(r); {
	case v.kind == isNull:
		return missing
	case c.Print != nil:
		return c.Print(r)
	default:
		return v.String()
	}
}
