package report

import (
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
)

// Table prints reports as lines of 80 columns where that is possible: nccl-tests' first nine
// columns in its order, then %bound, the time that no schedule beats as a share of the time. All
// else is behind a #. With more than one algorithm a table of times follows, size × algorithm.
func Table(reports ...*run.Report) string { return Columns().Table(reports...) }

// Table is the same with these columns.
func (l Layout) Table(reports ...*run.Report) string {
	l = slices.DeleteFunc(slices.Clone(l), func(c Column) bool { return c.Heading == "" })
	var b strings.Builder
	var results []*run.Result
	for i, r := range reports {
		if i > 0 {
			b.WriteString("\n")
		}
		l.section(r, &b)
		results = append(results, r.Results...)
	}
	numericsTable(&b, results)
	b.WriteString("#\n")
	writeLines(&b, "# ", append(summary(results), skipLines(reports)...))
	for _, r := range reports {
		if line := nextLine(r); line != "" {
			b.WriteString("# " + line + "\n")
		}
	}
	return b.String()
}

// section prints one report without what is summed up over all.
func (l Layout) section(r *run.Report, b *strings.Builder) {
	writeHead(b, r.Scenario)
	for i, section := range split(r.Results, sectionOf) {
		axes := axesText(section[0].Point, true)
		if i > 0 || axes != "" {
			b.WriteString("#\n")
		}
		if axes != "" {
			comment(b, axes)
		}
		writeMachine(b, section[0])
		for _, variant := range split(section, variant) {
			for _, group := range split(variant, heading) {
				b.WriteString("#\n")
				comment(b, heading(group[0]))
				table := l.table(group)
				table.Marked, table.Total = 2, prose.Columns
				b.WriteString(table.String())
			}
			writeMatrix(b, variant)
		}
	}
}

// missing stands where there is no value, as in nccl-tests.
const missing = "N/A"

// table is results under the headings of columns, none of which is behind a #.
func (l Layout) table(results []*run.Result) prose.Table {
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
