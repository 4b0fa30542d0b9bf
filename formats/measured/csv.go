package measured

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// readCSV reads a table with a header. A column is a fact of the row, such as size_bytes, or a
// measurement: time_us_oop and time_us_ip are nccl-tests' two places, and median_us is a
// micro-benchmark's. In a wide table a column is named after a collective or an algorithm, with
// "_us" behind. Other columns are left out with a note; an empty field is missing.
func readCSV(file string, text []byte) (*Data, error) {
	return newCSV(file, text).read()
}

// isCSV reports whether the first line is a header: names, with a column's among them, or as many
// as the fields of the next line.
func isCSV(text []byte) bool {
	header, rest, _ := strings.Cut(string(text), "\n")
	header = strings.TrimSpace(header)
	if !regexp.MustCompile(`^["A-Za-z_#][^,<>:]*(,[^,<>:]+)+$`).MatchString(header) {
		return false
	}
	next, _, _ := strings.Cut(rest, "\n")
	return strings.Count(header, ",") == strings.Count(next, ",") ||
		slices.ContainsFunc(strings.Split(header, ","), func(name string) bool {
			c, _ := columnOf(name)
			return c.set != nil
		})
}

// csvReader reads a table with these columns.
type csvReader struct {
	reading
	csv     *csv.Reader
	columns []column
	of      Of
	isOurs  bool // columns that only a simulation has are no news
}

func newCSV(file string, text []byte) *csvReader {
	r := csv.NewReader(strings.NewReader(string(text)))
	r.TrimLeadingSpace = true
	return &csvReader{reading: reading{file: file}, csv: r, of: Of{File: file}}
}

// read reads the whole table.
func (c *csvReader) read() (*Data, error) {
	if err := c.header(); err != nil {
		return nil, err
	}
	for {
		fields, err := c.csv.Read()
		if errors.Is(err, io.EOF) {
			return c.done(1, "no time follows the header")
		} else if err != nil {
			c.refuse(c.broken(err))
		} else if err := c.row(fields); err != nil {
			c.refuse(err)
		}
	}
}

// wrong returns the error of a field.
func (c *csvReader) wrong(line, column int, value, text string) *ParseError {
	return c.problem(line, columnName(column), value, text)
}

// broken gives an error of encoding/csv its place in the file.
func (c *csvReader) broken(err error) *ParseError {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return c.wrong(at.Line, at.Column, "", at.Err.Error())
	}
	return c.problem(1, "", "", err.Error())
}

// header reads the names of the columns.
func (c *csvReader) header() error {
	written, err := c.csv.Read()
	if err != nil {
		return c.broken(err)
	}
	var names, unknown []string
	for i, w := range written {
		col, note := columnOf(w)
		if col.set == nil && note == "" {
			col = wideColumn(w)
		}
		switch {
		case col.set == nil && note == "":
			unknown = append(unknown, strings.TrimSpace(w))
		case note != "":
			c.note(1, fmt.Sprintf("column %q %s", w, note))
		case slices.Contains(names, col.name) && strings.HasPrefix(col.name, "time_us_"):
			c.note(1, fmt.Sprintf("column %q is left out: an earlier one has the time", w))
			col.set = nil
		case slices.Contains(names, col.name):
			return c.wrong(1, i+1, w, "each column is expected once")
		}
		names, c.columns = append(names, col.name), append(c.columns, col)
	}
	if len(unknown) > 0 && !c.isOurs {
		c.note(1, "columns that are not known are left out: "+strings.Join(unknown, ", "))
	}
	isTime := func(name string) bool {
		return strings.HasPrefix(name, "time_us_") || strings.HasPrefix(name, "wide ")
	}
	switch {
	case !slices.Contains(names, "size_bytes"):
		return c.problem(1, "", "", "there is no column of the size, such as size_bytes")
	case !slices.ContainsFunc(names, isTime):
		return c.problem(1, "", "", "there is no column of times, such as time_us, time_us_oop, "+
			"time_us_ip, median_us, latency_ms, or a collective's or an algorithm's NAME_us")
	}
	return nil
}

// wideColumn returns the column of times of a collective or an algorithm, NAME_us.
func wideColumn(written string) column {
	of, ok := strings.CutSuffix(written, "_us")
	if !ok || of == "" || strings.ContainsAny(of, " .") {
		return column{}
	}
	return column{"wide " + of, func(r *record, s string) (err error) {
		one := Row{Of: Of{Kind: kindOf(of)}}
		if one.Kind == 0 {
			one.Algorithm = of
		}
		one.Time, err = microseconds(s)
		r.wide = append(r.wide, one)
		return err
	}}
}

// row parses a line.
func (c *csvReader) row(fields []string) *ParseError {
	line, _ := c.csv.FieldPos(0)
	r := record{common: Row{Of: c.of, Line: line, Root: -1, Wrong: -1}}
	for i, text := range fields {
		if text == "" || c.columns[i].set == nil {
			continue
		}
		if err := c.columns[i].set(&r, text); err != nil {
			return c.wrong(line, i+1, text, err.Error())
		}
	}
	if r.low > r.high && r.high > 0 {
		return c.problem(line, "", "", "p10_us is above p90_us")
	}
	isKind := func(col column) bool { return col.name == "collective" }
	if r.common.Kind == 0 && slices.ContainsFunc(c.columns, isKind) {
		return c.problem(line, "", "", "a collective is expected")
	}
	c.Rows = append(c.Rows, r.rows()...)
	return nil
}
