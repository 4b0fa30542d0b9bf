package prose

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text at its blanks into lines of at most width, with what stands before the first
// and before the others. A number stays with its unit.
func Wrap(text string, width int, first, next string) []string {
	var words []string
	for _, word := range strings.Fields(text) {
		if n := len(words); n > 0 && slices.Contains([]string{"%", "GB/s"}, word) {
			words[n-1] += " " + word
		} else {
			words = append(words, word)
		}
	}
	return Fill(words, " ", width, first, next)
}

// Fill puts parts with a gap between them on lines of at most width, with what stands before the
// first and before the others. A part that is too long has a line of its own.
func Fill(parts []string, gap string, width int, first, next string) (lines []string) {
	line, empty := first, true
	for _, part := range parts {
		if !empty && utf8.RuneCountInString(line+gap+part) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line, empty = next, true
		}
		if !empty {
			line += gap
		}
		line, empty = line+part, false
	}
	return append(lines, strings.TrimRight(line, " "))
}
