package arrays

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/dtype"
)

// Array is a tensor: of a file, or to be written into one.
type Array struct {
	Name string     // of the tensor; a .npy has none
	Type dtype.Type // 0 where the file does not say: void elements, which are only so wide; bool

	// Width is the size of an element in bytes. In an array to be written it may be 0 if Type says
	// it.
	Width int

	Shape []int64 // sizes of the axes; no axes: a single element
	Data  []byte  // little-endian, last axis fastest; nil in what File.Arrays lists

	Stored string // how its file spells the type: "<f4", "<V2", "BF16"; not used in writing
	truth  bool   // a bool, of one byte
}

// Error says what is wrong with a file, or with what is to be written into it.
type Error struct {
	File   string
	Tensor string // its name, or empty where the whole file is meant
	Text   string // what was found, and what is expected
	Err    error  // what it comes from, or nil
}

// Error returns one line: package, file, tensor, what was found, what is expected.
func (e *Error) Error() string {
	where := e.File
	if e.Tensor != "" {
		where += fmt.Sprintf(": tensor %.60q", e.Tensor)
	}
	return "arrays: " + where + ": " + e.Text
}

// Unwrap returns what the error comes from: an fs.ErrNotExist, for example.
func (e *Error) Unwrap() error { return e.Err }

// in returns an error as one of a file and a tensor; what an *Error says already, stays.
func in(file, tensor string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Text: err.Error(), Err: err}
	}
	named := *e
	if named.File == "" {
		named.File = file
	}
	if named.Tensor == "" {
		named.Tensor = tensor
	}
	return &named
}

func failed(format string, args ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, args...)}
}

// Count returns the number of elements.
func (a *Array) Count() int64 {
	n := int64(1)
	for _, s := range a.Shape {
		n *= s
	}
	return n
}

// As returns the array as one of type t. Its bits stay as they are: t must be the array's type, or
// the array hold integers or void elements of t's width, whose bits are then taken for t's. A bool
// is an integer of 8 bits. Any other type is an *Error that names both.
func (a *Array) As(t dtype.Type) (Array, error) {
	as := *a
	as.Type, as.Width, as.truth = t, t.Width(), false
	width := a.Width
	if a.Type != 0 {
		width = a.Type.Width()
	}
	container := width == t.Width() && !a.Type.IsFloat()
	if a.truth {
		container = t == dtype.Int8 || t == dtype.Uint8
	}
	if a.Type == t || container {
		return as, nil
	}
	err := failed("holds %s; %s is expected, or an integer or void of %s",
		a.typeText(), t, bytesText(int64(t.Width())))
	err.Tensor = a.Name
	return Array{}, err
}

// typeText returns the type with the file's name for it: `float32 ("<f4")`.
func (a *Array) typeText() string {
	text := a.Type.String()
	switch {
	case a.truth:
		text = "bool"
	case a.Type == 0:
		text = "void of " + bytesText(int64(a.Width))
	}
	if a.Stored != "" && a.Stored != text {
		text += fmt.Sprintf(" (%q)", a.Stored)
	}
	return text
}

// maxAxes is NumPy's own limit (NPY_MAXDIMS in NumPy 2).
const maxAxes = 64

// sizeOf returns the bytes of a shape's elements, or an error where no file can hold them: negative
// axes, too many, or a product beyond 63 bits, even if another axis is 0.
func sizeOf(shape []int64, width int) (int64, error) {
	if len(shape) > maxAxes {
		return 0, failed("has %d axes; at most %d are expected", len(shape), maxAxes)
	}
	size, empty := int64(width), false
	for _, s := range shape {
		switch {
		case s < 0:
			return 0, failed("has shape %s; axes of 0 or more are expected", shapeText(shape))
		case s == 0:
			empty = true
		case size > math.MaxInt64/s:
			return 0, failed("has shape %s, which is beyond 2⁶³ bytes", shapeText(shape))
		default:
			size *= s
		}
	}
	if empty {
		return 0, nil
	}
	if size > math.MaxInt {
		return 0, failed("has shape %s, which this machine cannot address", shapeText(shape))
	}
	return size, nil
}

// checked returns an array to be written with its Width, or what is wrong with it.
func (a *Array) checked() (Array, error) {
	c := *a
	switch {
	case c.truth: // it was read as bool; 0 and 1 stay what they are
		c.Type, c.Width, c.truth = dtype.Uint8, 1, false
	case c.Type != 0 && !c.Type.Valid():
		return c, in("", c.Name, failed("has type %s, which does not exist", c.Type))
	case c.Type != 0:
		c.Width = c.Type.Width()
	case !slices.Contains(voidWidths(), c.Width):
		return c, in("", c.Name, failed("has neither a type nor a width of 1, 2, 4 or 8 bytes"))
	}
	size, err := sizeOf(c.Shape, c.Width)
	if err == nil && size != int64(len(c.Data)) {
		err = failed("has %s of data; its shape %s of %s needs %d", bytesText(int64(len(c.Data))),
			shapeText(c.Shape), c.typeText(), size)
	}
	return c, in("", c.Name, err)
}

// voidWidths are the widths of the types.
func voidWidths() []int { return []int{1, 2, 4, 8} }

// shapeText returns a shape as Python prints it: (), (3,), (2, 3).
func shapeText(shape []int64) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, s := range shape {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", s)
	}
	if len(shape) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return b.String()
}

func bytesText(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
