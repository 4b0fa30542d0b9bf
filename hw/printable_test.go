package hw

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestPrintable: what a terminal acts upon is written out; what is printable stays as it is.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"rank 3: größer als 2 µs \\n": "rank 3: größer als 2 µs \\n",
		"\x1b]0;owned\x07\x1b[2J":     `\x1b]0;owned\a\x1b[2J`,
		"a\nb\tc\rd\u2028\u202e":      `a\nb\tc\rd\u2028\u202e`,
		"\xff\xfe\u009b31m":           `\xff\xfe\u009b31m`,
	} {
		require.Equal(t, want, Printable(text))
		require.Equal(t, want, Printable(want))
	}
	long := Printable(strings.Repeat("\x00", 1<<20))
	require.Less(t, len(long), maxPrintable+20)
	require.True(t, strings.HasSuffix(long, `\x00…`))
	require.True(t, utf8.ValidString(long))
}
