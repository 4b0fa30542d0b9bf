package dtype

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/nearest"
)

// Type is a number format. The zero value is no format.
type Type uint8

// The formats, floats first, in the order in which All lists them.
const (
	Float64    Type = iota + 1
	Float32         // IEEE 754 binary32
	Float16         // IEEE 754 binary16
	BFloat16        // the upper half of a binary32
	Float8E4M3      // OCP 8-bit float: 4 bits of exponent, 3 of mantissa, no infinities
	Float8E5M2      // OCP 8-bit float: 5 bits of exponent, 2 of mantissa
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Bool       // one byte, 0 or 1
	Complex64  // two float32: the real part, then the imaginary one
	Complex128 // two float64
)

// info holds the properties of a type.
type info struct {
	name    string // torch's
	nccl    string // the "type" column of nccl-tests
	width   int    // bytes
	bits    int    // of the significand, or of an integer without its sign; 1 of a bool
	kind    kind
	aliases string // other names that Parse accepts, separated by blanks
}

type kind uint8

const (
	floating kind = iota
	signed
	unsigned
	logical
	complexes
)

// table is indexed by Type; nothing assigns to it.
var table = [...]info{
	Float64:    {"float64", "double", 8, 53, floating, "f64 fp64 double"},
	Float32:    {"float32", "float", 4, 24, floating, "f32 fp32 float"},
	Float16:    {"float16", "half", 2, 11, floating, "f16 fp16 half"},
	BFloat16:   {"bfloat16", "bfloat16", 2, 8, floating, "bf16"},
	Float8E4M3: {"float8_e4m3fn", "f8e4m3", 1, 4, floating, "e4m3 f8e4m3 float8_e4m3 fp8_e4m3 e4m3fn"},
	Float8E5M2: {"float8_e5m2", "f8e5m2", 1, 3, floating, "e5m2 f8e5m2 fp8_e5m2"},
	Int8:       {"int8", "int8", 1, 7, signed, "i8"},
	Int16:      {"int16", "int16", 2, 15, signed, "i16"},
	Int32:      {"int32", "int32", 4, 31, signed, "i32"},
	Int64:      {"int64", "int64", 8, 63, signed, "i64"},
	Uint8:      {"uint8", "uint8", 1, 8, unsigned, "u8"},
	Uint16:     {"uint16", "uint16", 2, 16, unsigned, "u16"},
	Uint32:     {"uint32", "uint32", 4, 32, unsigned, "u32"},
	Uint64:     {"uint64", "uint64", 8, 64, unsigned, "u64"},
	Bool:       {"bool", "bool", 1, 1, logical, "bool8 pred"},
	Complex64:  {"complex64", "complex64", 8, 24, complexes, "c64 cfloat"},
	Complex128: {"complex128", "complex128", 16, 53, complexes, "c128 cdouble"},
}

// All returns every type, in the order of the constants.
func All() []Type {
	all := make([]Type, 0, len(table)-1)
	for t := Float64; t <= Complex128; t++ {
		all = append(all, t)
	}
	return all
}

// Valid reports whether t is one of the constants.
func (t Type) Valid() bool { return t >= Float64 && t <= Complex128 }

// String returns PyTorch's name without the "torch.": "float32", "float8_e4m3fn".
func (t Type) String() string {
	if !t.Valid() {
		return fmt.Sprintf("dtype.Type(%d)", uint8(t))
	}
	return table[t].name
}

// NCCL returns the name in nccl-tests' type column: "float", "half", "f8e4m3". NCCL has no 16-bit
// integers, no bool and no complex numbers; theirs are PyTorch's names.
//
// For the zero Type, which a barrier has, it is empty; Width is then 0, IsFloat, IsComplex and
// Signed are false. Other invalid types make all five panic.
func (t Type) NCCL() string { return t.info().nccl }

// Width returns the size of one element in bytes.
func (t Type) Width() int { return t.info().width }

// IsFloat reports whether t is a floating-point format, or a complex one, which has two of them.
func (t Type) IsFloat() bool { return t.IsComplex() || t != 0 && t.info().kind == floating }

// IsComplex reports whether an element of t is a real and an imaginary part.
func (t Type) IsComplex() bool { return t != 0 && t.info().kind == complexes }

// Component returns the type of the real and of the imaginary part of a complex type; any other
// type itself.
func (t Type) Component() Type {
	switch t {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return t
}

// Components returns the number of numbers that an element of t is made of: 2 of a complex one,
// else 1.
func (t Type) Components() int {
	if t.IsComplex() {
		return 2
	}
	return 1
}

// Signed reports whether t has negative values: all floats, complex ones, and the int types.
func (t Type) Signed() bool {
	return t != 0 && t.info().kind != unsigned && t.info().kind != logical
}

func (t Type) info() *info {
	if t == 0 {
		return &info{}
	}
	if !t.Valid() {
		panic("dtype: not a valid type: " + t.String())
	}
	return &table[t]
}

// ParseError reports a text that is not the name of a type.
type ParseError struct {
	Value   string   // the text
	Nearest []string // the canonical names it resembles; empty if none
}

// Error returns one line: package, offending value, and the nearest names, or else all of them.
func (e *ParseError) Error() string {
	names := e.Nearest
	hint := "nearest"
	if len(names) == 0 {
		hint = "one of"
		for _, t := range All() {
			names = append(names, t.String())
		}
	}
	return fmt.Sprintf("%.40q is not a data type; %s: %s",
		e.Value, hint, strings.Join(names, ", "))
}

// Parse returns the type with a name: PyTorch's, nccl-tests' or a usual short one (f32, fp32, bf16,
// e4m3 …). '-' and '_' are equal; case matters. An unknown name is a *ParseError.
func Parse(name string) (Type, error) {
	plain := strings.ReplaceAll(name, "-", "_")
	for _, t := range All() {
		if plain == t.String() {
			return t, nil
		}
		for _, alias := range strings.Fields(table[t].aliases) {
			if plain == alias {
				return t, nil
			}
		}
	}
	return 0, &ParseError{Value: name, Nearest: resembling(plain)}
}

// resembling returns the canonical names of up to three types that have a spelling near to name.
func resembling(name string) []string {
	var spellings, names []string
	owner := func(spelling string) string {
		t, err := Parse(spelling)
		if err != nil {
			panic("dtype: a name of the table does not parse: " + spelling)
		}
		return t.String()
	}
	for _, t := range All() {
		spellings = append(spellings, t.String())
		spellings = append(spellings, strings.Fields(table[t].aliases)...)
	}
	for _, s := range nearest.To(name, spellings, len(spellings)) {
		if n := owner(s); len(names) < 3 && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
