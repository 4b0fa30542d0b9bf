package prose

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrap: lines have their width, what follows begins below, numbers stay with their units, and
// a word that is too long has a line of its own.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text        string
		width       int
		first, next string
		want        []string
	}{
		{"", 10, "", "  ", []string{""}},
		{"", 10, "# ", "  ", []string{"#"}},
		{"one two three", 10, "", "  ", []string{"one two", "  three"}},
		{"one  two\nthree ", 20, "# ", "# ", []string{"# one two three"}},
		{"one 12345678 two", 10, "", "", []string{"one", "12345678", "two"}},
		{"abc 99.9 % of it", 10, "- ", "  ", []string{"- abc", "  99.9 %", "  of it"}},
		{"at 1 GB/s", 6, "", "", []string{"at", "1 GB/s"}},
		{"µµµµ µµµµ", 9, "", "", []string{"µµµµ µµµµ"}},
		{"averylongword x", 5, "", " ", []string{"averylongword", " x"}},
	} {
		require.Equal(t, c.want, Wrap(c.text, c.width, c.first, c.next), c.text)
	}
	require.Equal(t, []string{"# a b   c", "#   d"},
		Fill([]string{"a b", "c", "d"}, "   ", 10, "# ", "#   "))
}

// TestTable: columns are as wide as their widest cell, the first one makes up the total, and a row
// of one cell is a line of its own.
func TestTable(t *testing.T) {
	require.Equal(t, `#  size   time  what
#   (B)
  a line that is its own
      1  1.234  ± x
     22 123456
`, Table{Widths: []int{5, 7, -2}, Total: 20, Marked: 2, Rows: [][]string{{"size", "time", "what"},
		{"(B)", "", ""}, {"  a line that is its own"}, {"1", "1.234", "± x"},
		{"22", "123456", ""}}}.String())
	require.Equal(t, "# a\n 10\n", Table{Widths: []int{2}, Marked: 1,
		Rows: [][]string{{"a"}, {"10"}}}.String())
	require.Empty(t, Table{}.String())
	require.Equal(t, "#\n", Table{Marked: 1, Rows: [][]string{nil}}.String())
}

// TestMarkdown: cells are as wide in the text as on the page.
func TestMarkdown(t *testing.T) {
	require.Equal(t, `| name |  µs |
| ---- | --: |
`, Markdown("lr", [][]string{{"name", "µs"}}))
}
