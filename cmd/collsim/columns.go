package main

import (
	"strings"
	"unicode/utf8"

	"collsim/internal/prose"
)

// listWidth is the width of lists, and leastText what the last column has of it at least: where
// there is less, and not all fit, the last cells have lines of their own.
const (
	listWidth = 100
	leastText = 48
)

// columns lays blocks of rows out: the cells of a block below one another, the last one of each row
// broken into lines.
func columns(blocks [][][]string) string {
	own := false
	for _, rows := range blocks {
		width := cellWidths(rows)
		for _, row := range rows {
			head := utf8.RuneCountInString(headOf(row, width))
			fits := head+utf8.RuneCountInString(row[len(row)-1]) <= listWidth
			own = own || !fits && listWidth-head < leastText
		}
	}
	var b strings.Builder
	for _, rows := range blocks {
		width := cellWidths(rows)
		for _, row := range rows {
			head := headOf(row, width)
			next := strings.Repeat(" ", utf8.RuneCountInString(head))
			if own {
				b.WriteString(strings.TrimRight(head, " ") + "\n")
				head, next = "    ", "    "
			}
			for _, line := range prose.Wrap(row[len(row)-1], listWidth, head, next) {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

// cellWidths returns the widths of all columns; the last cell of a row has none.
func cellWidths(rows [][]string) (width []int) {
	for _, row := range rows {
		for c, cell := range row[:len(row)-1] {
			if c == len(width) {
				width = append(width, 0)
			}
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	return width
}

// headOf lays out a row without its last cell.
func headOf(row []string, width []int) string {
	head := ""
	for c, cell := range row[:len(row)-1] {
		head += cell + strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell)+2)
	}
	return head
}
