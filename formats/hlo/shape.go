package hlo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
)

// shape is the shape of an array or of a tuple.
type shape struct {
	elem  string           // "f32"; "token" and "opaque" have no elements; empty for a tuple
	dims  collective.Shape // in the order of the instruction's axes
	major []int            // axes in memory order, outermost first
	host  bool             // in the host's memory: memory space 5
	tuple []shape
}

// bits returns the bits of an element, by XLA's names of types (xla_data.proto, PrimitiveType).
func bits(elem string) int64 {
	switch elem {
	case "token", "opaque":
		return 0
	case "s1", "u1":
		return 1
	case "s2", "u2":
		return 2
	case "s4", "u4", "f4e2m1fn":
		return 4
	case "pred", "s8", "u8", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz",
		"f8e4m3fnuz", "f8e3m4", "f8e8m0fnu":
		return 8
	case "s16", "u16", "f16", "bf16":
		return 16
	case "s32", "u32", "f32":
		return 32
	case "s64", "u64", "f64", "c64":
		return 64
	case "c128":
		return 128
	}
	return -1
}

// typeOf returns our type for an element of collectives and matmuls, and the number of our elements
// in it: two for complex numbers.
func typeOf(elem string) (t dtype.Type, perElement int64) {
	switch elem {
	case "f64":
		return dtype.Float64, 1
	case "f32":
		return dtype.Float32, 1
	case "f16":
		return dtype.Float16, 1
	case "bf16":
		return dtype.BFloat16, 1
	case "f8e4m3fn":
		return dtype.Float8E4M3, 1
	case "f8e5m2":
		return dtype.Float8E5M2, 1
	case "s8":
		return dtype.Int8, 1
	case "s16":
		return dtype.Int16, 1
	case "s32":
		return dtype.Int32, 1
	case "s64":
		return dtype.Int64, 1
	case "u8", "pred":
		return dtype.Uint8, 1
	case "u16":
		return dtype.Uint16, 1
	case "u32":
		return dtype.Uint32, 1
	case "u64":
		return dtype.Uint64, 1
	case "c64":
		return dtype.Float32, 2
	case "c128":
		return dtype.Float64, 2
	}
	return 0, 0
}

// bytes returns the bytes of all arrays of a shape.
func (s *shape) bytes() int64 {
	if s.elem != "" {
		return (s.dims.Elements()*bits(s.elem) + 7) / 8
	}
	total := int64(0)
	for i := range s.tuple {
		total = min(total+s.tuple[i].bytes(), collective.MaxElements)
	}
	return total
}

// arrays lists the arrays of a shape.
func (s *shape) arrays() (list []*shape) {
	if s.elem != "" {
		return []*shape{s}
	}
	for i := range s.tuple {
		list = append(list, s.tuple[i].arrays()...)
	}
	return list
}

// slice returns the tensor of a part of an array with these lengths, its axes in memory order.
func (s *shape) slice(lengths []int64) (Tensor, error) {
	part := *s
	if part.dims = lengths; len(lengths) != len(s.dims) {
		return Tensor{}, fmt.Errorf("a slice of %d axes of an array of %d", len(lengths), len(s.dims))
	}
	for axis, n := range lengths {
		if n > s.dims[axis] {
			return Tensor{}, fmt.Errorf("a slice of length %d on axis %d of %v", n, axis, s.dims)
		}
	}
	return part.tensor()
}

// tensor returns the tensor of an array, its axes in memory order.
func (s *shape) tensor() (t Tensor, err error) {
	per := int64(0)
	if t.Type, per = typeOf(s.elem); per == 0 {
		return t, fmt.Errorf("%s is no type that a collective or a dot is read of", s.elem)
	}
	for _, axis := range s.major {
		t.Shape = append(t.Shape, s.dims[axis])
	}
	if per > 1 || len(t.Shape) == 0 {
		t.Shape = append(t.Shape, per)
	}
	return t, nil
}

// maxAxes bounds the axes of an array, maxNested the depth of a tuple.
const (
	maxAxes   = 64
	maxNested = 32
)

// shape parses a shape: f32[8,16]{1,0}, f32[], or (f32[8]{0}, (s32[], token[])).
func (p *parser) shape() (shape, error) { return p.nested(0) }

func (p *parser) nested(depth int) (s shape, err error) {
	if p.peek() != '(' {
		return p.array()
	}
	if depth == maxNested {
		return s, p.fail(p.line, "tuples in tuples, more than %d deep", maxNested)
	}
	line := p.line
	p.step(1)
	for p.skip(true); !p.accept(")"); p.skip(true) {
		if p.pos == len(p.text) {
			return s, p.fail(line, "a tuple that opens here is not closed")
		}
		if len(s.tuple) > 0 {
			if !p.accept(",") {
				return s, p.fail(p.line, "a comma or ) is expected in a tuple, not %s", p.next())
			}
			p.skip(true)
		}
		of, err := p.nested(depth + 1)
		if err != nil {
			return s, err
		}
		s.tuple = append(s.tuple, of)
	}
	return s, nil
}

// array parses the shape of an array.
func (p *parser) array() (s shape, err error) {
	line := p.line
	if s.elem, err = p.name("a shape"); err != nil {
		return s, err
	}
	if bits(s.elem) < 0 && p.peek() == '(' {
		return s, p.fail(line, "%s( where a shape is expected: texts whose instructions have shapes are "+
			"read", s.elem)
	}
	if bits(s.elem) < 0 {
		return s, p.fail(line, "%.40q is no type of XLA: f32, bf16, s32, pred and others are", s.elem)
	}
	if !p.accept("[") {
		return s, p.fail(p.line, "%s: [ and its lengths are expected, not %s", s.elem, p.next())
	}
	text, err := p.value()
	if err != nil {
		return s, err
	}
	for more := text != ""; more; {
		if text == "?" {
			return s, p.fail(line, "%s[?]: a length, or a bound as <=8, is expected", s.elem)
		}
		length, isBound := strings.CutPrefix(text, "<=")
		p.bounded = p.bounded || isBound
		n, err := strconv.ParseInt(length, 10, 64)
		if err != nil || n < 0 {
			return s, p.fail(line, "%s[%.40s]: lengths are expected", s.elem, text)
		}
		s.dims = append(s.dims, n)
		if more = p.accept(","); more {
			if text, err = p.value(); err != nil {
				return s, err
			}
		}
	}
	if !p.accept("]") {
		return s, p.fail(p.line, "%s: ] is expected, not %s", s.elem, p.next())
	}
	if len(s.dims) > maxAxes {
		return s, p.fail(line, "%d axes; at most %d are possible", len(s.dims), maxAxes)
	}
	room := int64(collective.MaxElements) / max(bits(s.elem)*2, 1)
	for _, n := range s.dims {
		if room /= max(n, 1); room == 0 {
			return s, p.fail(line, "%s[%v] is too large", s.elem, s.dims)
		}
	}
	return s, p.layout(&s, line)
}

// layout parses {1,0} or {1,0:T(8,128)}: axes, the innermost first. Without it the last axis is the
// innermost.
func (p *parser) layout(s *shape, line int) error {
	for axis := range s.dims {
		s.major = append(s.major, axis)
	}
	if !p.accept("{") {
		return nil
	}
	from := p.pos
	for !p.accept("}") {
		if p.pos == len(p.text) || p.peek() == '\n' {
			return p.fail(line, "a layout that is not closed")
		}
		if _, err := p.value(); err != nil {
			return err
		}
		if c := p.peek(); c == ',' {
			p.step(1)
		} else if c != '}' {
			return p.fail(line, "a layout as {1,0} is expected")
		}
	}
	text, properties, _ := strings.Cut(p.text[from:p.pos-1], ":")
	s.host = strings.Contains(properties, "S(5)")
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	axes, err := wholes(text)
	if err != nil || len(axes) != len(s.dims) {
		return p.fail(line, "layout {%s} of %d axes: as many numbers are expected", text, len(s.dims))
	}
	slices.Reverse(axes)
	for i, axis := range axes {
		if axis >= int64(len(s.dims)) || slices.Contains(axes[:i], axis) {
			return p.fail(line, "layout {%s} of %d axes: each of them once is expected", text, len(s.dims))
		}
		s.major[i] = int(axis)
	}
	return nil
}

// wholes parses whole numbers with commas between them.
func wholes(text string) (list []int64, err error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(word), 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%.40q: a whole number is expected", word)
		}
		list = append(list, int64(n))
	}
	return list, nil
}
