package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/scenarios"
)

// grid holds the cells of a table: first the head, then rows that begin with labels.
type grid struct {
	labels int // number of cells at the left that are labels
	rows   [][]string
}

// cells collects the values of results by row and column; columns has those with any result.
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

// grid arranges results in rows and columns. Cells without a result (interrupted, or left out) have
// the text blank, and a row or column of such cells alone is dropped. With raw, labels are spelt
// for a program.
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

// labels returns the labels of a row, at least one.
func (p *Pivot) labels(o pointOf, raw bool) (list []string) {
	for _, d := range p.down {
		list = append(list, d.of(o).spelt(raw))
	}
	if len(list) == 0 {
		list = []string{p.heading}
	}
	return list
}

// spelt returns the label for a program (raw) or for a reader.
func (l label) spelt(raw bool) string {
	if raw {
		return harmless(l.raw)
	}
	return l.text
}

// caption describes the table.
func (p *Pivot) caption() string {
	text := p.heading + " across " + p.across.name
	if len(p.fixed) > 0 {
		text += ": " + strings.Join(p.fixed, ", ")
	}
	return text
}

// Text prints reports of the pivot's scenarios as Table does, with the pivot in place of the rows.
// All other lines are behind a #. N/A stands for a result without a value, - for no result. Columns
// that do not fit follow in further blocks of lines.
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

// write prints the grid in blocks of as many columns as fit.
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

// Markdown writes the table alone, under its caption.
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

// CSV writes the table alone. The head has the names of keys and the values across; cells without a
// value are empty.
func (p *Pivot) CSV(reports ...*run.Report) ([]byte, error) {
	return csvOf(p.grid(reports, "", true).rows)
}
