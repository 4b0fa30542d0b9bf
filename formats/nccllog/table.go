package nccllog

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/unit"
)

// Table is a published table of times of one collective over sizes.
type Table struct {
	File      string
	Kind      collective.Kind // 0 if the file does not say
	Algorithm string          // as the file calls it, "" if it does not
	Type, Op  string          // as the file writes them; Op is "" or "none" where nothing is reduced
	Ranks     int             // 0 if the file does not say; a file may have tables of several
	Rows      []Row           // in the order of the file, of one size there may be several
}

// Row is a line of a table.
type Row struct {
	Line  int
	Size  unit.Bytes // as nccl-tests counts it: for all_gather and its like the whole vector
	Count int64      // elements
	Root  int        // −1 if there is none
	// Out is out of place, In in place. A table without the two has all in Out.
	Out, In Timing
}

// Timing is a measured time; its Time is 0 where a row has none.
type Timing struct {
	Time   unit.Time
	Spread unit.Time // between the quartiles, if the table tells anything of the kind
	// AlgBW and BusBW are as printed, in GB/s of 10⁹; 0 if not there. AlgStep and Step are half a
	// unit of their last printed digits.
	AlgBW, BusBW, AlgStep, Step float64
	// Wrong is as printed: elements that were wrong, or the largest error, in older versions. −1 if
	// nobody has looked.
	Wrong float64
}

// Read reads a table of whatever form: text whose first line is a header with commas is ReadCSV's,
// any other ReadLog's.
func Read(file string, text []byte) ([]Table, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if header().Match(bytes.TrimSpace(first)) {
		return ReadCSV(file, text)
	}
	return ReadLog(file, text)
}

// header is names with commas between them.
func header() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][\w .-]*(,[\w .-]+)+$`) }

// BusFactor is between which numbers all rows have the ratio of busbw to algbw, as far as what is
// printed tells: it depends on the collective and the number of ranks alone. ok is false where the
// table has no such columns, or contradicts itself.
func (t *Table) BusFactor() (low, high float64, ok bool) {
	low, high = 0, math.Inf(1)
	for i := range t.Rows {
		for _, v := range []*Timing{&t.Rows[i].Out, &t.Rows[i].In} {
			if v.AlgBW <= v.AlgStep || v.BusBW <= 0 {
				continue
			}
			low = max(low, (v.BusBW-v.Step)/(v.AlgBW+v.AlgStep))
			high = min(high, (v.BusBW+v.Step)/(v.AlgBW-v.AlgStep))
			ok = true
		}
	}
	return low, high, ok && low <= high
}

// ParseError is what is wrong with a table, and where.
type ParseError struct {
	File         string
	Line, Column int // from 1; of a CSV file Column is the field's number; 0 for the whole line
	Value        string
	Text         string // what was expected
}

// Error is one line: file, place, value, what was expected.
func (e *ParseError) Error() string {
	place := fmt.Sprintf("%s:%d", e.File, e.Line)
	if e.Column > 0 {
		place += fmt.Sprintf(":%d", e.Column)
	}
	return fmt.Sprintf("nccllog: %s: %.60q: %s", place, e.Value, e.Text)
}

// kindOf is the collective of a name in tables and of programs of nccl-tests; 0 if it is none.
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

// dataTypes are nccl-tests' names of types, old and new, and those of rccl-tests.
const dataTypes = " int8 char uint8 int16 uint16 int32 int uint32 int64 uint64 half float16 " +
	"float float32 double float64 bfloat16 f8e4m3 f8e5m2 fp8_e4m3 fp8_e5m2 "

func isType(text string) bool { return strings.Contains(dataTypes, " "+text+" ") }

// maxTime bounds what a table may say: sums of very many stay below unit.Forever.
const maxTime = 1e6 * float64(unit.Second)

// number reads a decimal number of at least 0.
func number(text string) (float64, error) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, fmt.Errorf("a number is expected")
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) {
		return 0, fmt.Errorf("a number of at least 0 is expected")
	}
	return v, nil
}

// microseconds reads a time above 0.
func microseconds(text string) (unit.Time, error) {
	v, err := number(text)
	t := math.Round(v * float64(unit.Microsecond))
	if err != nil || t < 1 || t > maxTime {
		return 0, fmt.Errorf("a time above 0 in microseconds is expected")
	}
	return unit.Time(t), nil
}

// whole reads a number of bytes or of elements.
func whole(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 || v > int64(1024*unit.TiB) {
		return 0, fmt.Errorf("a whole number from 0 to 2^50 is expected")
	}
	return v, nil
}

// step is half a unit of the last digit of a printed decimal number. Of four decimals that end in
// 00 there were two: nccl-tests prints two, and somebody has filled them up.
func step(text string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	if len(decimals) == 4 {
		decimals = strings.TrimSuffix(decimals, "00")
	}
	power, _ := strconv.Atoi(exponent)
	return 0.5 * math.Pow10(power-len(decimals))
}

// tables collects rows by what they measure, in the order of the file.
type tables struct {
	all []Table
}

func (t *tables) add(as Table, row Row) {
	for i := range t.all {
		a := &t.all[i]
		if a.Kind == as.Kind && a.Algorithm == as.Algorithm && a.Type == as.Type && a.Op == as.Op &&
			a.Ranks == as.Ranks {
			a.Rows = append(a.Rows, row)
			return
		}
	}
	as.Rows = []Row{row}
	t.all = append(t.all, as)
}
