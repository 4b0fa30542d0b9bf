package measured

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/unit"
)

// readLog reads the output of a program of nccl-tests or rccl-tests, within any log. A row has
// size, count and type; then redop and root, or one of them, or none (versions before 2.11, by the
// collective). Then come time in microseconds, algbw and busbw in GB/s and the number of wrong
// elements, out of place and, if measured, in place. Per-iteration statistics add four more to
// each. Tags of mpirun and time stamps around a row are ignored; anything else in a row that is not
// a number is a *ParseError.
//
// The kind is that of the last program named before the rows. The ranks, and their nodes and
// processes, are those listed before them.
func readLog(file string, text []byte) ([]Row, error) {
	l := logReader{file: file}
	for line := range strings.Lines(string(text)) {
		l.line++
		if err := l.read(words(line)); err != nil {
			return nil, err
		}
	}
	if len(l.rows) == 0 {
		return nil, &ParseError{File: file, Line: l.line,
			Text: "no row of an nccl-tests table is in it: size, count, type, …, time, algbw, busbw"}
	}
	return l.rows, nil
}

type logReader struct {
	file      string
	line      int
	head      Of
	hosts     map[string]bool
	processes map[string]bool // by host and process id
	measure   bool            // the current table has rows: a rank listed now begins another
	rows      []Row
}

// word is a word of a line and its column, from 1.
type word struct {
	text   string
	column int
}

// words splits a line. A tag of mpirun that is joined to the next word is a word of its own.
func words(line string) (all []word) {
	line = strings.ToValidUTF8(line, "?")
	at := 0
	for _, text := range strings.FieldsFunc(line, blank) {
		at += strings.Index(line[at:], text)
		if cut := strings.Index(text, ">:"); cut > 0 && text[0] == '[' && cut+2 < len(text) {
			all = append(all, word{text[:cut+2], at + 1})
			all = append(all, word{text[cut+2:], at + cut + 3})
		} else {
			all = append(all, word{text, at + 1})
		}
		at += len(text)
	}
	return all
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

func (l *logReader) read(line []word) error {
	if row := rowOf(line); row != nil {
		return l.row(row)
	}
	l.listed(line)
	for _, w := range line {
		name := w.text[strings.LastIndexByte(w.text, '/')+1:]
		if program, ok := strings.CutSuffix(name, "_perf"); ok && kindOf(program) != 0 {
			l.begin()
			l.head.Kind = kindOf(program)
		}
	}
	return nil
}

// begin starts a run before its first row.
func (l *logReader) begin() {
	if l.measure || l.hosts == nil {
		l.head, l.measure = Of{File: l.file}, false
		l.hosts, l.processes = map[string]bool{}, map[string]bool{}
	}
}

// listed reads "# Rank 3 Group 0 Pid 37301 on node0 device 1 …".
func (l *logReader) listed(line []word) {
	for i := range line {
		if i+2 >= len(line) || line[i].text != "#" || line[i+1].text != "Rank" {
			continue
		}
		rank, err := strconv.Atoi(line[i+2].text)
		if err != nil || rank < 0 || rank >= maxRanks {
			continue
		}
		kind := l.head.Kind
		l.begin()
		l.head.Kind = kind
		l.head.Ranks = max(l.head.Ranks, rank+1)
		after := func(name string) string {
			for j := i + 3; j+1 < len(line); j++ {
				if line[j].text == name {
					return line[j+1].text
				}
			}
			return ""
		}
		if host := after("on"); host != "" {
			l.hosts[host] = true
			l.processes[host+" "+after("Pid")] = true
			l.head.spread(len(l.hosts), len(l.processes))
		}
	}
}

// spread sets the nodes, and the GPUs of a process, if ranks are evenly distributed.
func (o *Of) spread(nodes, processes int) {
	o.Nodes, o.PerProcess = nodes, 0
	if processes > 0 && o.Ranks%processes == 0 {
		o.PerProcess = o.Ranks / processes
	}
}

// rowOf returns the part of a line that is a row, nil if there is none. At the beginning of a line
// two of size, count and type are enough for a row, so that a damaged row is reported.
func rowOf(line []word) []word {
	if len(line) > 0 && strings.HasPrefix(line[0].text, "[") && strings.HasSuffix(line[0].text, ">:") {
		line = line[1:]
	}
	for i := 0; i+6 < len(line); i++ {
		like := 0
		for j, is := range []func(string) bool{digits, digits, isType} {
			if is(line[i+j].text) {
				like++
			}
		}
		if like == 3 || i == 0 && like == 2 && strings.Contains(line[len(line)-1].text+
			line[len(line)-2].text+line[len(line)-3].text, ".") {
			return line[i:]
		}
	}
	return nil
}

func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// row parses a row by its number of words.
func (l *logReader) row(line []word) error {
	if n := len(line); n > 2 && strings.Count(line[n-2].text, "-") == 2 &&
		strings.Count(line[n-1].text, ":") == 2 {
		line = line[:n-2] // report_timestamps
	}
	lead, body, bodies := layout(len(line))
	if lead == 0 {
		return l.fail(line[len(line)-1], fmt.Sprintf("a row has 7 to 9, 11 to 13 or 19 to 21 fields; "+
			"this one has %d", len(line)))
	}
	r := Row{Of: l.head, Line: l.line, Root: -1}
	r.File, r.Type = l.file, line[2].text
	if err := l.lead(line[:lead], &r); err != nil {
		return err
	}
	for place := range bodies {
		if err := l.timing(line[lead+place*body:][:body], place == 1, r); err != nil {
			return err
		}
	}
	l.measure = true
	return nil
}

// layout splits a row of n words: the words before its times, the words of a measurement, and the
// number of measurements.
func layout(n int) (lead, body, bodies int) {
	for _, b := range [][2]int{{4, 2}, {4, 1}, {8, 2}} {
		if lead := n - b[0]*b[1]; lead >= 3 && lead <= 5 {
			return lead, b[0], b[1]
		}
	}
	return 0, 0, 0
}

// lead parses size, count, type, redop and root.
func (l *logReader) lead(line []word, r *Row) error {
	size, err := whole64(line[0].text)
	if err != nil {
		return l.fail(line[0], err.Error())
	}
	if r.Count, err = whole64(line[1].text); err != nil {
		return l.fail(line[1], err.Error())
	}
	if !isType(line[2].text) {
		return l.fail(line[2], "a data type is expected")
	}
	r.Size = unit.Bytes(size)
	for _, w := range line[3:] {
		if root, err := strconv.Atoi(w.text); err == nil {
			if root < -1 {
				return l.fail(w, "a root, or -1 for none, is expected")
			}
			r.Root = root
		} else if r.Op != "" || strings.Trim(w.text, "abcdefghijklmnopqrstuvwxyz") != "" {
			return l.fail(w, "an operator and a root are expected")
		} else {
			r.Op = w.text
		}
	}
	return nil
}

// timing parses time, algbw, busbw and the number of wrong elements. Statistics must be numbers,
// and are not used.
func (l *logReader) timing(line []word, inPlace bool, r Row) (err error) {
	if line[0].text == "N/A" {
		return nil
	}
	r.InPlace = inPlace
	if r.Time, err = microseconds(line[0].text); err != nil {
		return l.fail(line[0], err.Error())
	}
	for i, v := range []*float64{&r.AlgBW, &r.BusBW, &r.Wrong} {
		w := line[i+1]
		if i == 2 && (w.text == "N/A" || strings.TrimLeft(w.text, "-") == "nan") {
			*v = -1
		} else if *v, err = number(w.text); err != nil {
			return l.fail(w, err.Error())
		}
	}
	r.AlgStep, r.BusStep = step(line[1].text), step(line[2].text)
	for _, w := range line[4:] {
		if _, err = number(w.text); err != nil {
			return l.fail(w, err.Error())
		}
	}
	l.rows = append(l.rows, r)
	return nil
}

func (l *logReader) fail(w word, text string) error {
	return &ParseError{File: l.file, Line: l.line, Key: columnName(w.column), Value: quoted(w.text),
		Text: text}
}
