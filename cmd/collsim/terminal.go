package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	tty "golang.org/x/term"

	"collsim/internal/prose"
)

// columnsOf returns the width of the terminal that a stream writes to: 80 where it is none.
func columnsOf(w io.Writer) int {
	if s, ok := w.(*stream); ok {
		w = s.w
	}
	if f, ok := w.(*os.File); ok && terminal(w) {
		if n, _, err := tty.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// shorten leaves out the middle of a text that is longer than width.
func shorten(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width || width < 1 {
		return text
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// fit shortens the name of a point so that it and what stands around it fit a line of a terminal; a
// width of 0 is without bounds.
func fit(before, name, after string, width int) string {
	if width == 0 {
		return before + name + after
	}
	const least = 8 // letters that still name it
	left := width - 1 - utf8.RuneCountInString(before+after)
	line := before + shorten(name, max(left, least)) + after
	return shorten(line, width-1)
}

// helpOf returns the help of a command below the first, wrapped to a width.
func helpOf(cmd *cobra.Command, width int) string {
	width = min(width, 100)
	var b strings.Builder
	about := cmd.Long
	if about == "" {
		about = strings.ToUpper(cmd.Short[:1]) + cmd.Short[1:] + "."
	}
	for _, line := range prose.Wrap(about, width, "", "") {
		b.WriteString(line + "\n")
	}
	b.WriteString("\nUsage:\n  " + cmd.UseLine() + "\n")
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	if flags := cmd.LocalFlags().FlagUsagesWrapped(width); flags != "" {
		b.WriteString("\nFlags:\n" + flags)
	}
	return b.String()
}
