package npy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// parseDescr parses NumPy's name of a type: byte order, kind, width.
func (h *header) parseDescr(v literal) error {
	if v.kind == '[' || v.kind == '(' {
		return tensor.Failed("holds a structured type, %.60q; numbers are expected", v.text)
	}
	if v.kind != 's' {
		return tensor.Failed("its descr is %.40q; the name of a type in quotes is expected", v.text)
	}
	h.array.Stored = v.text
	// Some programs write names that NumPy does not have. Only the canonical ones are accepted:
	// "float" is NumPy's float64.
	for _, t := range dtype.All() {
		if t.String() == v.text {
			h.array.Type, h.array.Width = t, t.Width()
			return nil
		}
	}
	order, code := splitOrder(v.text)
	if code == "" {
		return tensor.Failed("its descr is %.40q; a type as in \"<f4\" is expected", v.text)
	}
	kind, digits := code[0], code[1:]
	width, err := strconv.Atoi(digits)
	if err != nil || digits != strconv.Itoa(width) {
		width = -1
	}
	what := kindText(kind)
	numbers := strings.IndexByte("biufcV", kind) >= 0
	if what == "" || numbers && width < 0 || digits != "" && !isDigit(digits[0]) {
		return tensor.Failed("its descr is %.40q; a type as in \"<f4\" is expected", v.text)
	}
	h.array.Type, h.array.Width = typeOf(kind, width), width
	void := kind == 'V' && slices.Contains(tensor.Widths(), width)
	if h.array.Type == 0 && !void {
		if numbers {
			what += " of " + tensor.BytesText(int64(width))
		}
		return tensor.Failed("holds %s (%q); floats, integers, bool, complex numbers of 8 or 16 bytes,"+
			" or void of 1, 2, 4 or 8 bytes are expected", what, v.text)
	}
	// NumPy's own void has no byte order, and its descr is "|V2"; ml_dtypes' bfloat16 has one.
	h.big = order == '>'
	return nil
}

// splitOrder splits the byte order off a name. None and '=' mean the reader's: little-endian.
func splitOrder(name string) (order byte, code string) {
	if name != "" && (name[0] == '<' || name[0] == '>' || name[0] == '|' || name[0] == '=') {
		return name[0], name[1:]
	}
	return '=', name
}

// typeOf returns the type of a kind and a width, or 0. A float of one byte is not NumPy's own:
// ml_dtypes registers float8_e5m2, and no other, under that kind.
func typeOf(kind byte, width int) dtype.Type {
	var types []dtype.Type
	switch kind {
	case 'f':
		types = []dtype.Type{dtype.Float8E5M2, dtype.Float16, dtype.Float32, dtype.Float64}
	case 'i':
		types = []dtype.Type{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}
	case 'b':
		types = []dtype.Type{dtype.Bool}
	case 'c':
		types = []dtype.Type{dtype.Complex64, dtype.Complex128}
	case 'u':
		types = []dtype.Type{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}
	}
	for _, t := range types {
		if t.Width() == width {
			return t
		}
	}
	return 0
}

// kindText names NumPy's letter of a kind, "" if it is unknown.
func kindText(kind byte) string {
	switch kind {
	case 'b':
		return "bool"
	case 'i', 'u':
		return "integers"
	case 'f':
		return "floats"
	case 'c':
		return "complex numbers"
	case 'S', 'a':
		return "byte strings"
	case 'U', 'T':
		return "text"
	case 'O':
		return "Python objects"
	case 'M':
		return "dates"
	case 'm':
		return "durations"
	case 'V':
		return "void"
	}
	return ""
}

// descrOf returns the descr of an array: ml_dtypes' for types that NumPy lacks. Only float8_e5m2
// differs: NumPy can save ml_dtypes' "<f1" but not load it.
func descrOf(a *tensor.Array) string {
	letter := "V"
	switch t := a.Type; t {
	case 0, dtype.BFloat16, dtype.Float8E4M3, dtype.Float8E5M2:
	default:
		switch {
		case t == dtype.Bool:
			letter = "b"
		case t.IsComplex():
			letter = "c"
		case t.IsFloat():
			letter = "f"
		case t.Signed():
			letter = "i"
		default:
			letter = "u"
		}
	}
	order := "<"
	if a.Width == 1 && letter != "V" || a.Type == 0 {
		order = "|"
	}
	return fmt.Sprintf("%s%s%d", order, letter, a.Width)
}
