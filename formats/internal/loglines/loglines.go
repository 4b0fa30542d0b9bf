// Package loglines takes from the lines of a log what launchers and loggers have added.
package loglines

import (
	"regexp"
	"strings"
)

// Times that launchers and loggers write before a line.
const (
	isoTime = `[\[(]?20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\])]?:?`
	mpiTime = `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d \d{4}`
)

// Cleaner takes from lines what others have added; what remains keeps its columns.
type Cleaner struct{ colour, date, tag, tagDate, before *regexp.Regexp }

// New returns a Cleaner that knows colours, dates, tags of mpirun, and before a line: times, the
// rank of srun -l, mpiexec or torchrun, the pod of kubectl, the service of docker.
func New() Cleaner {
	re := regexp.MustCompile
	return Cleaner{
		colour:  re(`\x1b\[[0-9;?]*[A-Za-z]`),
		date:    re(`(^|\s)` + isoTime + `(\s|$)`),
		tag:     re(`<std(out|err|diag)>:`),
		tagDate: re(mpiTime + `$`),
		before: re(`^\s*(?:(?:` + mpiTime + `|\d\d:\d\d:\d\d(?:[.,]\d+)?)|(\d+:|\[\d+\]` +
			`|\[(?:rank|default)\d+\]:|\[pod/[^\]]+\]|[\w.-]+ +\|))(?:\s|$)`),
	}
}

// Piece holds the part of a line that a process has written, with blanks before it. Who names the
// process as launchers do, "[1,0]"; it is empty where none has.
type Piece struct{ Who, Text string }

// Pieces splits a line at the tags of mpirun, which stand within it where a process wrote it in
// pieces, and blanks all that is none of the process's. It looks first for bytes that all of a kind
// have.
func (c *Cleaner) Pieces(line string) (all []Piece) {
	line = strings.ReplaceAll(strings.ToValidUTF8(line, "?"), "\r", " ")
	if strings.Contains(line, "\x1b") {
		line = c.colour.ReplaceAllStringFunc(line, blanks)
	}
	if strings.Contains(line, "20") {
		line = c.date.ReplaceAllStringFunc(line, blanks)
	}
	who, from := "", 0
	for _, at := range c.tag.FindAllStringIndex(line, -1) {
		text := line[from:at[0]]
		start, tagged := c.tagAt(text)
		if strings.TrimSpace(text[:start]) != "" {
			all = append(all, c.piece(who, blanks(line[:from])+text[:start]))
		}
		who, from = tagged, at[1]
	}
	return append(all, c.piece(who, blanks(line[:from])+line[from:]))
}

// tagAt returns where a tag of mpirun begins that a text ends with, "[1,0]" with the time before
// it, and whom it names.
func (c *Cleaner) tagAt(text string) (start int, who string) {
	start = len(text)
	if open := strings.LastIndexByte(text, '['); open >= 0 && strings.HasSuffix(text, "]") &&
		!strings.ContainsAny(text[open:], " \t") {
		start, who = open, text[open:]
	}
	if start > 0 && text[start-1] >= '0' && text[start-1] <= '9' {
		if date := c.tagDate.FindStringIndex(text[:start]); date != nil {
			start = date[0]
		}
	}
	return start, who
}

// piece blanks the prefixes of a piece.
func (c *Cleaner) piece(who, text string) Piece {
	for {
		at := c.before.FindStringSubmatchIndex(text)
		if at == nil || strings.TrimSpace(text[:at[1]]) == "" {
			return Piece{who, text}
		}
		if named := len(at) - 2; at[named] >= 0 {
			who += text[at[named]:at[named+1]]
		}
		text = blanks(text[:at[1]]) + text[at[1]:]
	}
}

func blanks(text string) string { return strings.Repeat(" ", len(text)) }
