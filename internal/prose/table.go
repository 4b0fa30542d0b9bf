package prose

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Columns is the width of a terminal.
const Columns = 80

// Table lays cells out in columns. A row of one cell among others of several is a line of its own.
type Table struct {
	// Widths has the least width of each column; a wider cell widens it. A positive width is
	// flush right and has the blank before the cell; a negative one is flush left, with two
	// blanks before it.
	Widths []int
	Total  int // the first column, flush right, takes what the others leave of it
	Marked int // so many rows from the top begin with a #, in the blank of the first column
	Rows   [][]string
}

// String lays the table out, a line a row.
func (t Table) String() string {
	var b strings.Builder
	width := t.widths()
	for i, row := range t.Rows {
		line := ""
		for c, cell := range row {
			if t.whole(row) {
				line = cell
			} else {
				line += pad(cell, width[c])
			}
		}
		if i < t.Marked {
			line = "#" + strings.TrimPrefix(line, " ")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// widths returns the widths of the columns, for all cells.
func (t Table) widths() []int {
	width, rest := slices.Clone(t.Widths), t.Total
	for c := len(width) - 1; c >= 0; c-- {
		if c == 0 {
			width[0] = max(width[0], rest)
		}
		for _, row := range t.Rows {
			if t.whole(row) {
				continue
			}
			if n := utf8.RuneCountInString(row[c]); width[c] > 0 {
				width[c] = max(width[c], 1+n)
			} else {
				width[c] = min(width[c], -2-n)
			}
		}
		rest -= max(width[c], -width[c])
	}
	return width
}

// whole reports whether a row is a line of its own.
func (t Table) whole(row []string) bool { return len(row) == 1 && len(t.Widths) > 1 }

// pad fills a cell to the width of its column.
func pad(cell string, width int) string {
	blanks := max(width, -width) - utf8.RuneCountInString(cell)
	if width > 0 {
		return strings.Repeat(" ", blanks) + cell
	}
	return "  " + cell + strings.Repeat(" ", blanks-2)
}

// Markdown writes rows under the first one as a table of Markdown. Each column is flush left (l)
// or right (r), and as wide in the text as it is on the page.
func Markdown(sides string, rows [][]string) string {
	width := make([]int, len(sides))
	for _, row := range rows {
		for c, cell := range row {
			width[c] = max(width[c], utf8.RuneCountInString(cell), len("--:"))
		}
	}
	rule := make([]string, len(sides))
	for c, side := range sides {
		rule[c] = strings.Repeat("-", width[c])
		if side == 'r' {
			rule[c] = rule[c][1:] + ":"
		}
	}
	var b strings.Builder
	for _, row := range slices.Insert(slices.Clone(rows), 1, rule) {
		for c, cell := range row {
			blanks := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if sides[c] == 'r' {
				cell, blanks = blanks+cell, ""
			}
			b.WriteString("| " + cell + blanks + " ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}
