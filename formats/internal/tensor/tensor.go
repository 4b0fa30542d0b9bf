// Package tensor holds what readers and writers of tensors in files share: the tensor, its errors,
// the beginnings of the formats, and reading with bounded memory. It knows no header.
package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/dtype"
)

// Array is a tensor in a file, or to be written into one.
type Array struct {
	Name string // of the tensor; a .npy has none
	// 0 where the file does not say: void elements, which have only a width
	Type dtype.Type

	// Width is the size of an element in bytes. It may be 0 in an array to be written whose Type is
	// set.
	Width int

	Shape []int64 // sizes of the axes; no axes: a single element
	Data  []byte  // little-endian, last axis fastest; nil in the list of File.Arrays

	Stored string // the file's name of the type: "<f4", "<V2", "BF16"; not used in writing
}

// Error describes an error in a file, or in tensors that are to be written.
type Error struct {
	File   string
	Tensor string // its name, or empty if the error concerns the whole file
	Text   string // what was found, and what is expected
	Err    error  // the cause, or nil
}

// Error returns one line: package, file, tensor, what was found, what is expected.
func (e *Error) Error() string {
	where := e.File
	if e.Tensor != "" {
		where += fmt.Sprintf(": tensor %.60q", e.Tensor)
	}
	return where + ": " + e.Text
}

// Unwrap returns the cause: an fs.ErrNotExist, for example.
func (e *Error) Unwrap() error { return e.Err }

// In adds a file and a tensor to an error; those that an *Error already has stay.
func In(file, tensor string, err error) error {
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

// Failed makes an Error without a place, which In adds.
func Failed(format string, args ...any) *Error {
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

// As returns the array as one of type t, with the same bits. t must be the array's type, or the
// array must hold integers or void elements of t's width, whose bits then are of type t. A bool is
// an integer of 8 bits. Any other type is an *Error that names both.
func (a *Array) As(t dtype.Type) (Array, error) {
	as := *a
	as.Type, as.Width = t, t.Width()
	width := a.Width
	if a.Type != 0 {
		width = a.Type.Width()
	}
	container := width == t.Width() && !a.Type.IsFloat()
	if a.Type == dtype.Bool {
		container = t == dtype.Int8 || t == dtype.Uint8
	}
	if a.Type == t || container {
		return as, nil
	}
	err := Failed("holds %s; %s is expected, or an integer or void of %s",
		TypeText(a), t, BytesText(int64(t.Width())))
	err.Tensor = a.Name
	return Array{}, err
}

// TypeText returns the type with the file's name for it: `float32 ("<f4")`.
func TypeText(a *Array) string {
	text := a.Type.String()
	switch {
	case a.Type == 0:
		text = "void of " + BytesText(int64(a.Width))
	}
	if a.Stored != "" && a.Stored != text {
		text += fmt.Sprintf(" (%q)", a.Stored)
	}
	return text
}

// CheckBools returns an error unless all elements are 0 or 1, as those of bools must be: what other
// bytes mean, programs do not agree on.
func CheckBools(data []byte) error {
	for i, b := range data {
		if b > 1 {
			return Failed("element %d is %d; 0 or 1 is expected of a bool", i, b)
		}
	}
	return nil
}

// maxAxes is NumPy's own limit (NPY_MAXDIMS in NumPy 2).
const maxAxes = 64

// Size returns the bytes of a shape's elements, or an error where no file can hold them: negative
// axes, too many, or a product beyond 63 bits, even if another axis is 0.
func Size(shape []int64, width int) (int64, error) {
	if len(shape) > maxAxes {
		return 0, Failed("has %d axes; at most %d are expected", len(shape), maxAxes)
	}
	size, empty := int64(width), false
	for _, s := range shape {
		switch {
		case s < 0:
			return 0, Failed("has shape %s; axes of 0 or more are expected", ShapeText(shape))
		case s == 0:
			empty = true
		case size > math.MaxInt64/s:
			return 0, Failed("has shape %s, which is beyond 2⁶³ bytes", ShapeText(shape))
		default:
			size *= s
		}
	}
	if empty {
		return 0, nil
	}
	if size > math.MaxInt {
		return 0, Failed("has shape %s, which this machine cannot address", ShapeText(shape))
	}
	return size, nil
}

// Checked checks an array to be written and returns it with its Width.
func Checked(a *Array) (Array, error) {
	c := *a
	switch {
	case c.Type != 0 && !c.Type.Valid():
		return c, In("", c.Name, Failed("has type %s, which does not exist", c.Type))
	case c.Type != 0:
		c.Width = c.Type.Width()
	case !slices.Contains(Widths(), c.Width):
		return c, In("", c.Name, Failed("has neither a type nor a width of 1, 2, 4 or 8 bytes"))
	}
	size, err := Size(c.Shape, c.Width)
	if err == nil && c.Type == dtype.Bool {
		err = CheckBools(c.Data)
	}
	if err == nil && size != int64(len(c.Data)) {
		err = Failed("has %s of data; its shape %s of %s needs %d", BytesText(int64(len(c.Data))),
			ShapeText(c.Shape), TypeText(&c), size)
	}
	return c, In("", c.Name, err)
}

// Widths lists the possible widths of a type in bytes.
func Widths() []int { return []int{1, 2, 4, 8} }

// ShapeText returns a shape as Python prints it: (), (3,), (2, 3).
func ShapeText(shape []int64) string {
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

// BytesText formats a number of bytes: "1 byte", "3 bytes".
func BytesText(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
