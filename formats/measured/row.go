package measured

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/unit"
)

// A row of nccl-tests has size, count and type; then redop and root, or one of them, or none
// (versions before 2.11, by the collective). Then come time in microseconds, algbw and busbw in
// GB/s and the number of wrong elements, out of place and, if measured, in place. Per-iteration
// statistics add four more to each.

// rowOf returns what stands before a row, and the row with all that follows it; nil if there is
// none. At the beginning of a line two of size, count and type are enough for a row, so that a
// damaged row is reported.
func rowOf(line []word) (prefix, row []word) {
	for i := 0; i+2 < len(line); i++ {
		if alike(line[i:]) == 3 {
			return line[:i], line[i:]
		}
	}
	if n := len(line); n >= 7 && alike(line) == 2 &&
		strings.Contains(line[n-1].text+line[n-2].text+line[n-3].text, ".") {
		return nil, line
	}
	return nil, nil
}

// alike counts which of the first three words are as size, count and type are.
func alike(line []word) (n int) {
	for i, is := range []func(string) bool{digits, digits, isType} {
		if is(line[i].text) {
			n++
		}
	}
	return n
}

// fieldsOf returns the words at the beginning of a line that are fields of a row, after so many
// before. The last may be a number that other text runs into.
func fieldsOf(line []word, before int) []word {
	for i, w := range line {
		at := before + i
		if isNumber(w.text) || at == 2 && isType(w.text) || at == 3 && isOp(w.text) {
			continue
		}
		fields := line[:i]
		if number := gluedNumber(w.text); number != "" {
			w.text = number
			fields = append(slices.Clip(fields), w)
		}
		return fields
	}
	return line
}

func isOp(text string) bool { return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == "" }

// mostFields bounds the fields of a row.
const mostFields = 5 + 2*8

// layout splits a row: the words before its times, the words of a measurement, and the number of
// measurements, 0 where there is none.
type layout struct{ lead, body, bodies int }

// layoutOf returns the layout of a row of n words.
func layoutOf(n int) layout {
	for _, b := range [][2]int{{4, 2}, {4, 1}, {8, 2}} {
		if lead := n - b[0]*b[1]; lead >= 3 && lead <= 5 {
			return layout{lead, b[0], b[1]}
		}
	}
	return layout{}
}

// row parses a row by its number of words.
func (l *logReader) row(line []word) (rows []Row, err *ParseError) {
	has := layoutOf(len(line))
	if has.bodies == 0 {
		return nil, l.fail(line[len(line)-1], fmt.Sprintf("a row has 7 to 9, 11 to 13 or 19 to 21 "+
			"fields; this one has %d", len(line)))
	}
	r := Row{Of: l.head, Line: line[0].line, Root: -1}
	r.File, r.Type = l.file, line[2].text
	if err := l.lead(line[:has.lead], &r); err != nil {
		return nil, err
	}
	for place := range has.bodies {
		one := r
		one.InPlace = place == 1
		err := l.timing(line[has.lead+place*has.body:][:has.body], &one)
		if err != nil {
			return nil, err
		}
		if one.Time > 0 {
			rows = append(rows, one)
		}
	}
	return rows, nil
}

// lead parses size, count, type, redop and root.
func (l *logReader) lead(line []word, r *Row) *ParseError {
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
		} else if r.Op != "" || !isOp(w.text) {
			return l.fail(w, "an operator and a root are expected")
		} else {
			r.Op = w.text
		}
	}
	return nil
}

// timing parses time, algbw, busbw and the number of wrong elements; the time is 0 if it was not
// measured. Statistics must be numbers, and are not used.
func (l *logReader) timing(line []word, r *Row) *ParseError {
	if line[0].text == "N/A" {
		return nil
	}
	at, err := microseconds(line[0].text)
	if err != nil {
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
	r.Time = at
	return nil
}

// fail returns the error of a word.
func (l *logReader) fail(w word, text string) *ParseError {
	return l.problem(w.line, columnName(w.column), w.text, text)
}
