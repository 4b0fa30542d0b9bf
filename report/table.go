package report

import (
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// Table prints reports as lines of 80 columns where that is possible: nccl-tests' first nine
// columns in its order, then %bound, the time that no schedule beats as a share of the time. Of a
// benchmark the time is that of a call of its loop, and the time of one call alone is last. All
// else is behind a #. With more than one algorithm a table of times follows, size × algorithm.
func Table(reports ...*run.Report) string { return Columns().Table(reports...) }

// Table is the same with these columns.
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

// missing stands where there is no value, as in nccl-tests.
const missing = "N/A"

// table is results under the headings of columns, none of which is behind a #.
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

// cell is what the table has of a result.
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
