package measured

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/formats/internal/loglines"
)

// readLog reads the output of a program of nccl-tests or rccl-tests, within any log. A row is one
// of row.go. Its program may have printed it in pieces, with lines of other processes between them.
//
// The kind is that of the last program named before the rows. The ranks, and their nodes and
// processes, are those listed before them, or else those of the library's own lines.
func readLog(file string, text []byte) (*Data, error) {
	l := logReader{Cleaner: loglines.New(), library: newLibrary()}
	l.file, l.hint = file, "forms that are read: "+formNames()
	for line := range strings.Lines(string(text)) {
		l.line++
		for _, p := range l.Pieces(line) {
			l.read(p)
		}
	}
	l.settle()
	l.Facts = l.library.Facts
	l.Facts.Ranks = cmp.Or(l.Facts.Ranks, l.head.Ranks)
	l.Facts.Nodes = cmp.Or(l.Facts.Nodes, l.head.Nodes)
	l.number()
	l.noteRuns()
	return l.done(l.line, "no row of an nccl-tests table is in it: size, count, type, …, time, "+
		"algbw, busbw")
}

// logReader reads a log line by line.
type logReader struct {
	reading
	loglines.Cleaner
	library   library
	line      int
	head      Of
	hosts     map[string]bool
	processes map[string]bool // by host and process id
	measure   bool            // the current table has rows: a rank listed now begins another
	fields    int             // of a row, as the heading or the row before has them; 0: not known
	open      *openRow
}

// openRow holds a row to which later lines of the same process may add words, since programs print
// rows in pieces.
type openRow struct {
	who           string // the process
	prefix, words []word
	pieces        int         // of lines
	err           *ParseError // why the words are no row, once they are enough for one
}

// read reads a line, or a piece of one.
func (l *logReader) read(p loglines.Piece) {
	text, message, isLibrary := l.library.cut(p.Text, l.hosts)
	if isLibrary {
		l.library.read(message)
	}
	all := words(l.line, text)
	if prefix, row := rowOf(all); row != nil {
		l.settle()
		l.begin()
		l.open = &openRow{who: p.Who, prefix: prefix, words: row, pieces: 1}
		l.try(isLibrary)
		return
	}
	if l.open != nil && l.open.who == p.Who && l.goesOn(all) {
		return
	}
	l.heading(all)
	l.listed(all)
	for _, w := range all {
		name := w.text[strings.LastIndexByte(w.text, '/')+1:]
		if program, ok := strings.CutSuffix(name, "_perf"); ok && kindOf(program) != 0 {
			l.settle()
			l.start()
			l.head.Kind = kindOf(program)
		}
	}
}

// try adds the row that was opened if the line has all of it. What follows the first word that is
// no field, or a line of the library, is dropped, since the row may go on.
func (l *logReader) try(isCut bool) {
	o := l.open
	n := len(o.words)
	rows, err := l.row(o.words)
	if n >= l.fields {
		o.err = err
	}
	fields := fieldsOf(o.words, 0)
	switch {
	case err != nil && len(fields) >= 3 && len(fields) < n:
		o.words = fields
	case err == nil && n >= l.fields && (!isCut || l.fields > 0):
		l.add(rows, n)
	case err != nil && (len(fields) < 3 || n >= l.fields && layoutOf(n).bodies > 0):
		l.settle()
	}
}

// goesOn adds the words of a line to the open row if they can be nothing else.
func (l *logReader) goesOn(line []word) bool {
	if !samePrefix(l.open.prefix, line) {
		return false
	}
	line = line[len(l.open.prefix):]
	fields := fieldsOf(line, len(l.open.words))
	isAll := len(fields) >= len(line) || len(fields) > 0 && len(fields[len(fields)-1].text) <
		len(line[len(fields)-1].text)
	n := len(l.open.words) + len(fields)
	if len(fields) == 0 || !isAll || n > mostFields {
		return false
	}
	l.open.words = append(slices.Clip(l.open.words), fields...)
	l.open.pieces++
	if rows, err := l.row(l.open.words); err == nil && n == l.fields {
		l.add(rows, n)
	}
	return true
}

// settle ends the open row: it is added if it is whole, and refused if not.
func (l *logReader) settle() {
	o := l.open
	if o == nil {
		return
	}
	l.open = nil
	n := len(o.words)
	rows, err := l.row(o.words)
	switch {
	case err != nil && o.err != nil && o.pieces == 1:
		l.refuse(o.err)
	case n < l.fields && layoutOf(n).lead != layoutOf(l.fields).lead:
		l.refuse(l.fail(o.words[0], fmt.Sprintf("a row of %d fields is expected; this one has %d",
			l.fields, n)))
	case err != nil:
		l.refuse(err)
	default:
		l.add(rows, n)
	}
}

// add adds the times of a row of n fields.
func (l *logReader) add(rows []Row, n int) {
	for _, r := range rows {
		if r.Ranks == 0 && l.library.stated > 0 {
			r.Ranks, r.Nodes = l.library.Ranks, l.library.Nodes
		}
		r.Choice = l.library.choice(&r)
		l.Rows = append(l.Rows, r)
	}
	l.fields, l.measure, l.open = max(l.fields, n), true, nil
}

// start starts a run before its first row.
func (l *logReader) start() {
	if l.measure || l.hosts == nil {
		l.head, l.measure, l.fields = Of{File: l.file}, false, 0
		l.hosts, l.processes = map[string]bool{}, map[string]bool{}
		l.library.choices, l.library.stated = map[call]Choice{}, 0
	}
}

// begin starts a run where none has been started.
func (l *logReader) begin() {
	if l.hosts == nil {
		l.start()
	}
}

// heading reads "#  size  count  type  redop  root  time …", which has the fields of a row, and the
// version of the library.
func (l *logReader) heading(line []word) {
	for i, w := range line {
		if code, ok := strings.CutPrefix(w.text, "nccl-library="); ok {
			l.library.Version = versionOf(atoi(code))
		}
		if w.text != "#" || i+7 >= len(line) || line[i+1].text != "size" || line[i+2].text != "count" {
			continue
		}
		l.settle()
		n := len(line) - i - 1
		if strings.Contains(line[len(line)-1].text, "stamp") {
			n--
		}
		if layoutOf(n).bodies > 0 {
			l.fields = n
		}
	}
}
