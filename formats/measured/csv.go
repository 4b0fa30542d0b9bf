package measured

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/unit"
)

// readCSV reads a table with a header. A column is a fact of the row, such as size_bytes, or a
// measurement. time_us_oop and time_us_ip are nccl-tests' two places, and median_us is a
// micro-benchmark's. In a wide table a column is named after a collective or an algorithm, with
// "_us" behind. Times are microseconds, bandwidths GB/s; an empty field is missing.
func readCSV(file string, text []byte) ([]Row, error) {
	r := csv.NewReader(strings.NewReader(string(text)))
	c := csvReader{file: file, csv: r}
	if err := c.header(); err != nil {
		return nil, err
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, c.broken(err)
		}
		if err := c.row(record); err != nil {
			return nil, err
		}
	}
	if len(c.rows) == 0 {
		return nil, &ParseError{File: file, Line: 1, Text: "no time follows the header"}
	}
	return c.rows, nil
}

// csvReader reads a table with these columns.
type csvReader struct {
	file  string
	csv   *csv.Reader
	names []string
	rows  []Row
}

// fact is a column that describes the measurement or its quality.
type fact struct {
	name string // and its synonyms, with blanks between them
	set  func(r *csvRow, text string) error
}

// csvRow is a line of a table: the facts that its measurements share, and those of both places.
type csvRow struct {
	common    Row
	place     [2]Row
	low, high unit.Time // deciles
	wide      []Row
}

// facts lists the columns that are known by name.
func facts() []fact {
	text := func(of func(r *Row) *string) func(*csvRow, string) error {
		return func(r *csvRow, s string) error {
			*of(&r.common) = s
			return nil
		}
	}
	whole := func(of func(r *Row) *int, what string) func(*csvRow, string) error {
		return func(r *csvRow, s string) error {
			n, err := whole64(s)
			if err != nil || n < 1 || n > maxRanks {
				return fmt.Errorf("a number of %s from 1 to %d is expected", what, maxRanks)
			}
			*of(&r.common) = int(n)
			return nil
		}
	}
	list := []fact{
		{"collective", func(r *csvRow, s string) error {
			if r.common.Kind = kindOf(s); r.common.Kind == 0 {
				return errors.New("a collective is expected")
			}
			return nil
		}},
		{"ranks nranks", whole(func(r *Row) *int { return &r.Ranks }, "ranks")},
		{"nodes", whole(func(r *Row) *int { return &r.Nodes }, "nodes")},
		{"size_bytes", func(r *csvRow, s string) error {
			n, err := whole64(s)
			r.common.Size = unit.Bytes(n)
			return err
		}},
		{"count", func(r *csvRow, s string) (err error) {
			r.common.Count, err = whole64(s)
			return err
		}},
		{"type", text(func(r *Row) *string { return &r.Type })},
		{"redop", text(func(r *Row) *string { return &r.Op })},
		{"algo", text(func(r *Row) *string { return &r.Algorithm })},
		{"proto", text(func(r *Row) *string { return &r.Protocol })},
		{"wrong", func(r *csvRow, s string) (err error) {
			r.common.Wrong, err = number(s)
			return err
		}},
	}
	return slices.Concat(list, timeFacts(0, "oop"), timeFacts(1, "ip"), spreadFacts())
}

// spreadFacts lists the columns of MPI micro-benchmarks.
func spreadFacts() []fact {
	return []fact{
		{"median_us", func(r *csvRow, s string) (err error) {
			r.place[0].Time, err = microseconds(s)
			return err
		}},
		{"p10_us", func(r *csvRow, s string) (err error) {
			r.low, err = microseconds(s)
			return err
		}},
		{"p90_us", func(r *csvRow, s string) (err error) {
			r.high, err = microseconds(s)
			return err
		}},
		{"min_us", onlyNumber}, {"samples", onlyNumber},
	}
}

// onlyNumber checks a number that is not used.
func onlyNumber(_ *csvRow, s string) error {
	_, err := number(s)
	return err
}

// timeFacts lists the columns of one place in nccl-tests' tables.
func timeFacts(place int, suffix string) []fact {
	return []fact{
		{"time_us_" + suffix, func(r *csvRow, s string) (err error) {
			r.place[place].Time, err = microseconds(s)
			return err
		}},
		{"algbw_" + suffix, func(r *csvRow, s string) (err error) {
			r.place[place].AlgBW, err = number(s)
			r.place[place].AlgStep = step(s)
			return err
		}},
		{"busbw_" + suffix, func(r *csvRow, s string) (err error) {
			r.place[place].BusBW, err = number(s)
			r.place[place].BusStep = step(s)
			return err
		}},
	}
}

// factOf returns the column with a name; false if there is none.
func factOf(name string) (fact, bool) {
	all := facts()
	i := slices.IndexFunc(all, func(f fact) bool {
		return slices.Contains(strings.Fields(f.name), name)
	})
	if i < 0 {
		return fact{}, false
	}
	return all[i], true
}

// wrong returns the error of a field.
func (c *csvReader) wrong(line, column int, value, text string) error {
	return &ParseError{File: c.file, Line: line, Key: columnName(column), Value: quoted(value),
		Text: text}
}

// broken gives an error of encoding/csv its place in the file.
func (c *csvReader) broken(err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return c.wrong(at.Line, at.Column, "", at.Err.Error())
	}
	return &ParseError{File: c.file, Line: 1, Text: err.Error()}
}

// header reads the names of the columns.
func (c *csvReader) header() error {
	names, err := c.csv.Read()
	if err != nil {
		return c.broken(err)
	}
	times := false
	for i, written := range names {
		name := written
		if f, known := factOf(written); known {
			name, _, _ = strings.Cut(f.name, " ")
		} else if !isWide(name) {
			return c.wrong(1, i+1, written, columns())
		}
		if slices.Contains(c.names, name) {
			return c.wrong(1, i+1, written, "each column is expected once")
		}
		c.names = append(c.names, name)
		times = times || isWide(name) || strings.HasPrefix(name, "time_us_") || name == "median_us"
	}
	switch {
	case !slices.Contains(c.names, "size_bytes"):
		return &ParseError{File: c.file, Line: 1, Text: "there is no column size_bytes"}
	case !times:
		return &ParseError{File: c.file, Line: 1,
			Text: "there is none of the columns time_us_oop, time_us_ip, median_us and NAME_us"}
	}
	return nil
}

// columns lists the known columns for an error.
func columns() string {
	var names []string
	for _, f := range facts() {
		first, _, _ := strings.Cut(f.name, " ")
		names = append(names, first)
	}
	return "a column is expected: " + strings.Join(names, " ") +
		", or a collective's or an algorithm's NAME_us"
}

// isWide reports whether a column of a wide table has times of a collective or an algorithm.
func isWide(name string) bool {
	of, ok := strings.CutSuffix(name, "_us")
	return ok && of != "" && !strings.ContainsAny(of, " .")
}

// row parses a line.
func (c *csvReader) row(record []string) error {
	line, _ := c.csv.FieldPos(0)
	r := csvRow{common: Row{Of: Of{File: c.file}, Line: line, Root: -1, Wrong: -1}}
	for i, text := range record {
		if text == "" {
			continue
		}
		if err := r.field(c.names[i], text); err != nil {
			return c.wrong(line, i+1, text, err.Error())
		}
	}
	if r.low > r.high && r.high > 0 {
		return &ParseError{File: c.file, Line: line, Text: "p10_us is above p90_us"}
	}
	if r.common.Kind == 0 && slices.Contains(c.names, "collective") {
		return &ParseError{File: c.file, Line: line, Text: "a collective is expected"}
	}
	c.rows = append(c.rows, r.rows()...)
	return nil
}

// field parses one field of a line.
func (r *csvRow) field(name, text string) error {
	if f, known := factOf(name); known {
		return f.set(r, text)
	}
	of := strings.TrimSuffix(name, "_us")
	one := Row{Of: Of{Kind: kindOf(of)}}
	if one.Kind == 0 {
		one.Algorithm = of
	}
	var err error
	one.Time, err = microseconds(text)
	r.wide = append(r.wide, one)
	return err
}

// rows returns the measurements of a line that have a time.
func (r *csvRow) rows() (all []Row) {
	for i, p := range r.place {
		one := r.common
		one.InPlace, one.Time = i == 1, p.Time
		one.AlgBW, one.BusBW, one.AlgStep, one.BusStep = p.AlgBW, p.BusBW, p.AlgStep, p.BusStep
		if i == 0 && r.high > 0 && r.low > 0 {
			// In a normal distribution the quartiles are 1.349 σ apart, the deciles 2.563.
			one.Spread = unit.Time(float64(r.high-r.low) * 1.349 / 2.563)
		}
		if one.Time > 0 {
			all = append(all, one)
		}
	}
	for _, w := range r.wide {
		one := r.common
		one.Time = w.Time
		if w.Kind != 0 {
			one.Kind = w.Kind
		} else {
			one.Algorithm = w.Algorithm
		}
		all = append(all, one)
	}
	return all
}

// kindOf returns the collective with a name in tables or among programs of nccl-tests; 0 if there
// is none.
func kindOf(name string) collective.Kind {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	if name == "bcast" {
		name = "broadcast"
	}
	for _, k := range collective.Kinds() {
		if strings.ReplaceAll(k.String(), "_", "") == name {
			return k
		}
	}
	return 0
}
