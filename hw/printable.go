package hw

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPrintable bounds the length of Printable's result, in bytes.
const maxPrintable = 4096

// Printable makes foreign text safe to display. Control characters and invalid bytes are escaped as
// in a Go string; long text is cut. Printable text stays as it is.
func Printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		if b.Len() > maxPrintable-utf8.UTFMax {
			return b.String() + "…"
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i])+0x100, 16)[1:])
		} else if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}
