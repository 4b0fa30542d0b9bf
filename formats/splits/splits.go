// Package splits reads a table of whole numbers from a .npy, JSON or CSV, distinguished by content.
// Such a table has, for example, the block sizes of an all_to_allv, written by the router of an MoE
// layer. The package knows neither ranks nor collectives.
package splits

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
	"collsim/formats/npy"
	"collsim/unit"
)

// maxNumbers bounds a table: that of 4,096 ranks.
const maxNumbers = 1 << 24

// maxText bounds CSV and JSON.
const maxText = 256 * unit.MiB

// Read returns the rows of a table; an array of one axis is one row. Numbers are at least 0.
func Read(text []byte) ([][]int64, error) {
	if bytes.HasPrefix(text, []byte("\x93NUMPY")) {
		return fromNPY(text)
	}
	if int64(len(text)) > int64(maxText) {
		return nil, fmt.Errorf("has %d bytes; at most %v of CSV or JSON are expected", len(text), maxText)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 {
		return nil, fmt.Errorf("is empty; a table of whole numbers is expected")
	} else if trimmed[0] == '[' || trimmed[0] == '{' {
		return fromJSON(trimmed)
	}
	return fromCSV(string(text))
}

// fromNPY reads an array of integers with one or two axes.
func fromNPY(text []byte) ([][]int64, error) {
	parts, err := npy.Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		var wrong *tensor.Error
		if errors.As(err, &wrong) {
			return nil, errors.New(wrong.Text) // the caller adds the file's name
		}
		return nil, err
	}
	a := parts[0].Array
	axes := len(a.Shape)
	if a.Type == 0 || a.Type == dtype.Bool || a.Type.IsFloat() || axes < 1 || axes > 2 {
		return nil, fmt.Errorf("is an array of %s with %d axes; integers with one or two axes are "+
			"expected", a.Stored, axes)
	}
	rows, columns := int64(1), a.Shape[axes-1]
	if axes == 2 {
		rows = a.Shape[0]
	}
	if rows > maxNumbers || columns > maxNumbers || rows*columns > maxNumbers {
		return nil, tooMany()
	}
	data, err := parts[0].Read()
	if err != nil {
		return nil, err
	}
	table := make([][]int64, rows)
	for i := range table {
		table[i] = make([]int64, columns)
		for j := range table[i] {
			n, ok := integer(a.Type, data)
			if !ok || n < 0 {
				return nil, negative(i, j)
			}
			table[i][j], data = n, data[a.Width:]
		}
	}
	return table, nil
}

// integer reads the first element of little-endian data; false if it exceeds an int64.
func integer(t dtype.Type, data []byte) (int64, bool) {
	switch t {
	case dtype.Int8:
		return int64(int8(data[0])), true
	case dtype.Uint8:
		return int64(data[0]), true
	case dtype.Int16:
		return int64(int16(binary.LittleEndian.Uint16(data))), true
	case dtype.Uint16:
		return int64(binary.LittleEndian.Uint16(data)), true
	case dtype.Int32:
		return int64(int32(binary.LittleEndian.Uint32(data))), true
	case dtype.Uint32:
		return int64(binary.LittleEndian.Uint32(data)), true
	}
	n := int64(binary.LittleEndian.Uint64(data))
	return n, t == dtype.Int64 || n >= 0
}

// fromJSON reads [[1, 2], [3, 4]], or [1, 2] as one row.
func fromJSON(text []byte) ([][]int64, error) {
	var rows [][]int64
	if err := json.Unmarshal(text, &rows); err != nil {
		var row []int64
		if json.Unmarshal(text, &row) != nil {
			return nil, fmt.Errorf("is no JSON of the form [[1, 2], [3, 4]], whole numbers in rows")
		}
		rows = [][]int64{row}
	}
	numbers := 0
	for i, row := range rows {
		if numbers += len(row); numbers > maxNumbers {
			return nil, tooMany()
		}
		for j, n := range row {
			if n < 0 {
				return nil, negative(i, j)
			}
		}
	}
	return rows, nil
}

// fromCSV reads one row a line, with commas, semicolons, tabs or blanks between its numbers. Empty
// lines and those that begin with # are skipped.
func fromCSV(text string) ([][]int64, error) {
	var rows [][]int64
	numbers, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.FieldsFunc(line, func(r rune) bool {
			return strings.ContainsRune(",; \t", r)
		})
		row := make([]int64, len(fields))
		for j, field := range fields {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d has %.20q; a whole number is expected", number, field)
			}
			if n < 0 {
				return nil, negative(len(rows), j)
			}
			row[j] = n
		}
		if numbers += len(row); numbers > maxNumbers {
			return nil, tooMany()
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("has no numbers; a row a line is expected")
	}
	return rows, nil
}

func tooMany() error { return fmt.Errorf("has more than %d numbers", maxNumbers) }

func negative(row, column int) error {
	return fmt.Errorf("row %d, column %d is below 0, or too large for an element count", row, column)
}
