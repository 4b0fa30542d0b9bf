package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/scenarios"
)

// grid is the cells of a table, under a head, behind the labels of rows.
type grid struct {
	labels int // how many cells from the left are labels
	rows   [][]string
}

// cells are what results have, by row and column; columns are those that have any.
func (p *Pivot) cells(reports []*run.Report, raw bool) (cells map[string]map[string]string,
	columns map[string]bool) {
	cells, columns = map[string]map[string]string{}, map[string]bool{}
	put := func(s *run.Scenario, of *scenarios.Point, cell string) {
		o := pointOf{s, of}
		row, column := p.row(o), p.across.of(o).raw
		if cells[row] == nil {
			cells[row] = map[string]string{}
		}
		cells[row][column], columns[column] = cell, true
	}
	for _, r := range reports {
		for _, result := range r.Results {
			put(r.Scenario, result.Point, p.cell(result, raw))
		}
		for _, result := range r.Programs {
			put(r.Scenario, result.Point.Point, p.programCell(result, raw))
		}
	}
	return cells, columns
}

// grid puts results in their places. What has none (interrupted, or left out) is told by blank, and
// a row or column of nothing else is left out. A program reads raw labels.
func (p *Pivot) grid(reports []*run.Report, blank string, raw bool) grid {
	cells, columns := p.cells(reports, raw)
	g := grid{labels: max(1, len(p.down))}
	var head, order []string
	for _, d := range p.down {
		head = append(head, d.name)
	}
	if len(p.down) == 0 {
		head = []string{p.across.name}
	}
	for _, o := range p.points {
		if l := p.across.of(o); columns[l.raw] && !slices.Contains(order, l.raw) {
			order, head = append(order, l.raw), append(head, l.spelt(raw))
		}
	}
	g.rows = [][]string{head}
	seen := map[string]bool{}
	for _, o := range p.points {
		key := p.row(o)
		if seen[key] || cells[key] == nil {
			continue
		}
		seen[key] = true
		row := p.labels(o, raw)
		for _, column := range order {
			text, there := cells[key][column]
			switch {
			case !there:
				text = blank
			case text == "" && !raw:
				text = missing
			}
			row = append(row, text)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// labels are those of a row, at least one.
func (p *Pivot) labels(o pointOf, raw bool) (list []string) {
	for _, d := range p.down {
		list = append(list, d.of(o).spelt(raw))
	}
	if len(list) == 0 {
		list = []string{p.heading}
	}
	return list
}

// spelt is a label for a program, or for a reader.
func (l label) spelt(raw bool) string {
	if raw {
		return harmless(l.raw)
	}
	return l.text
}

// caption is what the table is of.
func (p *Pivot) caption() string {
	text := p.heading + " across " + p.across.name
	if len(p.fixed) > 0 {
		text += ": " + strings.Join(p.fixed, ", ")
	}
	return text
}

// Text prints reports of the pivot's scenarios as Table does, but with the pivot in place of the
// rows: all else is behind a #, N/A is what has no value, - what has no result. Of columns that do
// not fit, more lines follow.
func (p *Pivot) Text(reports ...*run.Report) string {
	var b strings.Builder
	for _, r := range reports {
		writeHead(&b, r.Scenario)
		if sections := split(r.Results, sectionOf); len(sections) == 1 {
			writeMachine(&b, sections[0][0])
		}
	}
	b.WriteString("#\n")
	writeLines(&b, "", prose.Wrap(p.caption(), prose.Columns, "# ", "#   "))
	p.grid(reports, "-", false).write(&b)
	writeSummary(&b, reports)
	return b.String()
}

// write prints blocks of as many columns as fit.
func (g grid) write(b *strings.Builder) {
	wide := func(column int) (n int) {
		for _, row := range g.rows {
			n = max(n, utf8.RuneCountInString(row[column]))
		}
		return n
	}
	labels := 0
	for column := range g.labels {
		labels += 2 + wide(column)
	}
	for from := g.labels; from < len(g.rows[0]); {
		if from > g.labels {
			b.WriteString("#\n")
		}
		width, to := labels, from
		for ; to < len(g.rows[0]); to++ {
			if width += 2 + wide(to); width > prose.Columns && to > from {
				break
			}
		}
		table := prose.Table{Marked: 1}
		for column := range g.labels + to - from {
			if table.Widths = append(table.Widths, -1); column >= g.labels {
				table.Widths[column] = 2 + wide(from+column-g.labels)
			}
		}
		for _, row := range g.rows {
			table.Rows = append(table.Rows, slices.Concat(row[:g.labels], row[from:to]))
		}
		b.WriteString(table.String())
		from = to
	}
}

// Markdown is the table alone, under a line that says what it is of.
func (p *Pivot) Markdown(reports ...*run.Report) string {
	g := p.grid(reports, "", false)
	for _, row := range g.rows {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
	}
	sides := strings.Repeat("l", g.labels) + strings.Repeat("r", len(g.rows[0])-g.labels)
	return strings.ReplaceAll(p.caption(), "|", `\|`) + "\n\n" + prose.Markdown(sides, g.rows)
}

// CSV is the table alone: under the names of keys and the values across, a line a row. What has no
// value or no result is empty.
func (p *Pivot) CSV(reports ...*run.Report) ([]byte, error) {
	return csvOf(p.grid(reports, "", true).rows)
}
