package device

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/unit"
)

// Unit is the unit of a figure.
type Unit uint8

// The units.
const (
	InTime   Unit = iota + 1 // a duration
	InRate                   // bytes per second
	InBytes                  // a size
	InNumber                 // a whole number
	InFlag                   // true or false
	InShare                  // part of a whole
	InFLOPS                  // operations per second
	InHertz                  // cycles per second
	InTile                   // rows x columns of a result
)

var unitNames = [...]string{"", "time", "rate", "size", "whole number", "true or false", "share",
	"FLOP/s", "frequency", "rows x columns"}

// String names the unit for people.
func (u Unit) String() string { return unitNames[u] }

// Figure is a row of the table: a figure of devices. Scenario keys, errors, lists and documents
// derive from it.
type Figure struct {
	Name    string // "overhead"
	Unit    Unit
	About   string // a sentence
	Example string // a value as a user writes it
	// Key is the scenario key that sets it, or empty if no simulation uses it yet.
	Key string
	// OfMessage says that it may depend on the size of messages, in [[device.range]].
	OfMessage bool
	// OfGPU says that it belongs to the GPU model: it is used only where there are SMs.
	OfGPU bool
	// Least and Most bound the values that a user may write, in the smallest unit; Want states this
	// in an error. A rate with a key may also be unlimited.
	Least, Most int64
	Want        string

	of func(*Device) any // pointer to the field of a device: *unit.Time, *int, …
}

// Find returns the figure with a name. The name must be one of the table; Find panics otherwise.
func Find(name string) Figure {
	for _, f := range rows() {
		if f.Name == name {
			return f
		}
	}
	panic("device: no figure of the name " + name)
}

// Print formats the device's figure as its type does.
func (f Figure) Print(d *Device) string {
	switch p := f.of(d).(type) {
	case *int:
		return strconv.Itoa(*p)
	case *bool:
		return strconv.FormatBool(*p)
	case fmt.Stringer:
		return p.String()
	}
	panic("device: a figure of no known type: " + f.Name)
}

// Same reports whether two devices have the same figure.
func (f Figure) Same(a, b *Device) bool { return f.Print(a) == f.Print(b) }

// value returns the figure in its smallest unit; for a flag 1 or 0, for a tile its elements.
func (f Figure) value(d *Device) int64 {
	switch p := f.of(d).(type) {
	case *unit.Time:
		return int64(*p)
	case *unit.Rate:
		return int64(*p)
	case *unit.Bytes:
		return int64(*p)
	case *unit.Share:
		return int64(*p)
	case *FLOPS:
		return int64(*p)
	case *Hertz:
		return int64(*p)
	case *int:
		return int64(*p)
	case *Tile:
		return p.Rows * p.Columns
	case *bool:
		if *p {
			return 1
		}
		return 0
	}
	panic("device: a figure of no known type: " + f.Name)
}

// Set parses a text and stores the figure in the device.
func (f Figure) Set(d *Device, text string) (err error) {
	switch p := f.of(d).(type) {
	case *unit.Time:
		*p, err = unit.ParseTime(text)
	case *unit.Rate:
		*p, err = unit.ParseRate(text)
	case *unit.Bytes:
		*p, err = unit.ParseBytes(text)
	case *unit.Share:
		*p, err = unit.ParseShare(text)
	case *FLOPS:
		*p, err = parseFLOPS(text)
	case *Hertz:
		*p, err = parseHertz(text)
	case *int:
		*p, err = strconv.Atoi(text)
	case *bool:
		*p, err = strconv.ParseBool(text)
	case *Tile:
		*p, err = parseTile(text)
	}
	if err != nil {
		return fmt.Errorf("%s = %q: %s such as %s is expected", f.Name, text, f.Unit, f.Example)
	}
	return nil
}

// Assign stores a parsed figure in the device: a value of the figure's type, an int64 for a whole
// number, or a text as for Set.
func (f Figure) Assign(d *Device, value any) error {
	switch p := f.of(d).(type) {
	case *unit.Time:
		*p = value.(unit.Time)
	case *unit.Rate:
		*p = value.(unit.Rate)
	case *unit.Bytes:
		*p = value.(unit.Bytes)
	case *unit.Share:
		*p = value.(unit.Share)
	case *int:
		*p = int(value.(int64))
	case *bool:
		*p = value.(bool)
	default:
		return f.Set(d, value.(string))
	}
	return nil
}

// check returns an error if a device's figure is invalid. A number may be 0 if the device does not
// use it. Only times and shares have an upper bound here: times are added up.
func (f Figure) check(d *Device) error {
	v, least := f.value(d), f.Least
	if f.Unit == InNumber || f.Unit == InShare && v == 0 { // not given
		least = 0
	}
	if v < least || v > f.Most && (f.Unit == InTime || f.Unit == InShare) {
		return fmt.Errorf("%s = %s: %s is expected", f.Name, f.Print(d), f.Want)
	}
	return nil
}

// FLOPS is a number of operations per second, on floats or on integers.
type FLOPS int64

// Hertz is a number of cycles per second.
type Hertz int64

// Both are spelt like rates, with another unit.
const (
	flopsName = "FLOP/s"
	hertzName = "Hz"
	bytesName = "B/s"
)

// String returns such as "989.4 TFLOP/s".
func (x FLOPS) String() string {
	return strings.ReplaceAll(unit.Rate(x).String(), bytesName, flopsName)
}

// String returns such as "1.83 GHz".
func (x Hertz) String() string {
	return strings.ReplaceAll(unit.Rate(x).String(), bytesName, hertzName)
}

func parseFLOPS(text string) (FLOPS, error) {
	r, err := parseCounted(text, flopsName)
	return FLOPS(r), err
}

func parseHertz(text string) (Hertz, error) {
	r, err := parseCounted(text, hertzName)
	return Hertz(r), err
}

func parseCounted(text, name string) (unit.Rate, error) {
	head, ok := strings.CutSuffix(text, name)
	if !ok {
		return 0, fmt.Errorf("%q: a number of %s is expected", text, name)
	}
	return unit.ParseRate(head + bytesName)
}

// Tile is the part of a matmul's result that one block computes.
type Tile struct{ Rows, Columns int64 }

// String returns such as "128x256".
func (t Tile) String() string { return fmt.Sprintf("%dx%d", t.Rows, t.Columns) }

func parseTile(text string) (t Tile, err error) {
	rows, columns, _ := strings.Cut(text, "x")
	if t.Rows, err = strconv.ParseInt(rows, 10, 32); err == nil {
		t.Columns, err = strconv.ParseInt(columns, 10, 32)
	}
	return t, err
}
