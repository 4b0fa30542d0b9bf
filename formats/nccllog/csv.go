package nccllog

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"collsim/unit"
)

// ReadCSV reads a table with a header. Its columns are, in any order: collective, size_bytes,
// count and type; ranks (or nranks); then redop, time_us_oop, algbw_oop, busbw_oop, time_us_ip,
// algbw_ip, busbw_ip and wrong, as nccl-tests measures; or algo, median_us, min_us, p10_us, p90_us
// and samples, as micro-benchmarks of MPI do. Times are microseconds, bandwidths GB/s; an empty
// field is not there. Rows of different collectives, algorithms, types, operators or ranks are
// different tables.
func ReadCSV(file string, text []byte) ([]Table, error) {
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
	if len(c.tables.all) == 0 {
		return nil, &ParseError{File: file, Line: 1, Text: "no row follows the header"}
	}
	return c.tables.all, nil
}

// maxTableRanks is how many ranks a table may say that there were.
const maxTableRanks = 1 << 20

type csvReader struct {
	file   string
	csv    *csv.Reader
	names  []string
	tables tables
}

// broken is what encoding/csv says, with its place.
func (c *csvReader) broken(err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return &ParseError{File: c.file, Line: at.Line, Column: at.Column, Text: at.Err.Error()}
	}
	return &ParseError{File: c.file, Line: 1, Text: err.Error()}
}

func (c *csvReader) header() error {
	names, err := c.csv.Read()
	if err != nil {
		return c.broken(err)
	}
	const known = " collective ranks size_bytes count type redop algo time_us_oop algbw_oop " +
		"busbw_oop time_us_ip algbw_ip busbw_ip wrong median_us min_us p10_us p90_us samples "
	seen := " "
	for i, written := range names {
		name := written
		if name == "nranks" {
			name, names[i] = "ranks", "ranks"
		}
		if strings.ContainsAny(name, " ") || !strings.Contains(known, " "+name+" ") ||
			strings.Contains(seen, " "+name+" ") {
			return &ParseError{File: c.file, Line: 1, Column: i + 1, Value: written,
				Text: "each of these columns is expected once at most:" + strings.TrimRight(known, " ")}
		}
		seen += name + " "
	}
	for _, need := range []string{"collective", "size_bytes"} {
		if !strings.Contains(seen, " "+need+" ") {
			return &ParseError{File: c.file, Line: 1, Text: "there is no column " + need}
		}
	}
	if !strings.Contains(seen, " time_us_") && !strings.Contains(seen, " median_us ") {
		return &ParseError{File: c.file, Line: 1,
			Text: "there is none of the columns time_us_oop, time_us_ip and median_us"}
	}
	c.names = names
	return nil
}

func (c *csvReader) row(record []string) error {
	line, _ := c.csv.FieldPos(0)
	as := Table{File: c.file}
	r := Row{Line: line, Root: -1, Out: Timing{Wrong: -1}, In: Timing{Wrong: -1}}
	var low, high unit.Time
	for i, text := range record {
		if text == "" {
			continue
		}
		if err := c.field(c.names[i], text, &as, &r, [2]*unit.Time{&low, &high}); err != nil {
			return &ParseError{File: c.file, Line: line, Column: i + 1, Value: text, Text: err.Error()}
		}
	}
	if low > high && high > 0 {
		return &ParseError{File: c.file, Line: line, Text: "p10_us is above p90_us"}
	}
	if high > 0 && low > 0 { // of normal times: the quartiles are 1.349 σ apart, these 2.563
		r.Out.Spread = unit.Time(float64(high-low) * 1.349 / 2.563)
	}
	if as.Kind == 0 {
		return &ParseError{File: c.file, Line: line, Text: "a collective is expected"}
	}
	c.tables.add(as, r)
	return nil
}

// field puts a field where it belongs.
func (c *csvReader) field(name, text string, as *Table, r *Row, spread [2]*unit.Time) (err error) {
	n := int64(0)
	switch name {
	case "collective":
		if as.Kind = kindOf(text); as.Kind == 0 {
			return errors.New("a collective is expected")
		}
	case "algo":
		as.Algorithm = text
	case "redop":
		as.Op = text
	case "type":
		as.Type = text
	case "ranks":
		if n, err = whole(text); err == nil && (n < 1 || n > maxTableRanks) {
			err = fmt.Errorf("a number of ranks from 1 to %d is expected", maxTableRanks)
		}
		as.Ranks = int(n)
	case "size_bytes":
		n, err = whole(text)
		r.Size = unit.Bytes(n)
	case "count":
		r.Count, err = whole(text)
	case "time_us_oop", "median_us":
		r.Out.Time, err = microseconds(text)
	case "time_us_ip":
		r.In.Time, err = microseconds(text)
	case "p10_us":
		*spread[0], err = microseconds(text)
	case "p90_us":
		*spread[1], err = microseconds(text)
	case "algbw_oop":
		r.Out.AlgBW, err = number(text)
		r.Out.AlgStep = step(text)
	case "algbw_ip":
		r.In.AlgBW, err = number(text)
		r.In.AlgStep = step(text)
	case "busbw_oop":
		r.Out.BusBW, err = number(text)
		r.Out.Step = step(text)
	case "busbw_ip":
		r.In.BusBW, err = number(text)
		r.In.Step = step(text)
	case "wrong":
		r.Out.Wrong, err = number(text)
		r.In.Wrong = r.Out.Wrong
	default: // min_us, samples
		_, err = number(text)
	}
	return err
}
