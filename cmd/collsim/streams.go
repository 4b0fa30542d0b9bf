package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// stream is standard output, and remembers the first error that it gave.
type stream struct {
	w   io.Writer
	err error
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// print writes a text for people: a table, a note, an error. Names come from files of others, so
// it escapes characters that would command a terminal. The exit code has an error of standard
// output; an error of standard error is ignored, since there is no other place to report it.
func (a *app) print(w io.Writer, text string) { _, _ = io.WriteString(w, harmless(text)) }

// printJSON writes JSON. It has no such characters but in strings, where they can be spelt out.
func (a *app) printJSON(w io.Writer, text []byte) {
	_, _ = io.WriteString(w, spelt(string(text), func(r rune) string {
		return fmt.Sprintf(`\u%04x`, r)
	}))
}

// printData writes what a program reads as it is, unless a terminal would.
func (a *app) printData(text []byte) {
	if terminal(a.stdout.w) {
		a.print(a.out, string(text))
		return
	}
	_, _ = a.out.Write(text)
}

// harmless spells out what a terminal would act on: control characters but for line ends and tabs,
// and those that turn the direction of text.
func harmless(text string) string {
	return spelt(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) string {
		if r <= 0x7F {
			return fmt.Sprintf(`\x%02x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// spelt replaces what a terminal would act on.
func spelt(text string, as func(rune) string) string {
	if !strings.ContainsFunc(text, commands) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if commands(r) {
			b.WriteString(as(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// commands reports whether a terminal may act on a character: C0 and C1, and what Unicode has for
// the direction of text.
func commands(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	}
	return r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E ||
		r >= 0x2066 && r <= 0x2069
}
