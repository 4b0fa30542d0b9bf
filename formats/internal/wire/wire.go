// Package wire reads and writes protobuf messages by the numbers of their fields, without generated
// code. Formats that others define by a .proto file are read and written through it. protowire
// encodes the fields; this package words the errors, since the texts of protobuf's own errors
// differ from build to build. The package knows no format.
package wire

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message is an encoded message, to which fields are appended.
type Message []byte

// Uint appends a field of any whole number type; that of a negative int64 is uint64(v).
func (m Message) Uint(field int, v uint64) Message {
	return varint(m.tag(field, protowire.VarintType), v)
}

// Fixed64 appends a number of 8 bytes.
func (m Message) Fixed64(field int, v uint64) Message {
	return protowire.AppendFixed64(m.tag(field, protowire.Fixed64Type), v)
}

// Double appends a float64.
func (m Message) Double(field int, v float64) Message {
	return m.Fixed64(field, math.Float64bits(v))
}

// Bytes appends bytes, or another message.
func (m Message) Bytes(field int, v []byte) Message {
	return append(varint(m.tag(field, protowire.BytesType), uint64(len(v))), v...)
}

// Text appends a string. Invalid UTF-8 is replaced, since readers refuse it.
func (m Message) Text(field int, v string) Message {
	return m.Bytes(field, []byte(strings.ToValidUTF8(v, "\uFFFD")))
}

func (m Message) tag(field int, wire protowire.Type) Message {
	return varint(m, protowire.EncodeTag(protowire.Number(field), wire))
}

// varint appends a number. One byte, the common case, needs no call of protowire.
func varint(m Message, v uint64) Message {
	if v < 0x80 {
		return append(m, byte(v))
	}
	return protowire.AppendVarint(m, v)
}

// Field is a field of a message: its number, wire type, and value or bytes.
type Field struct {
	Number int
	Value  uint64
	Bytes  []byte
	wire   protowire.Type
}

var (
	errVarint = errors.New("a number that has no end or more than 64 bits")
	errShort  = errors.New("a field that is longer than its message")
)

// Each calls f with the fields of a message. types has a digit for each field number, its wire
// type; "p" is a repeated varint, packed or not, and "." an unknown field. A field that is unknown
// or has another wire type is refused.
func Each(b []byte, types string, f func(Field) error) error {
	for len(b) > 0 {
		tag, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return errVarint
		}
		b = b[n:]
		x := Field{Number: int(min(tag>>3, math.MaxInt32)), wire: protowire.Type(tag & 7)}
		want := byte('.')
		if x.Number < len(types) {
			want = types[x.Number]
		}
		if !allows(want, x.wire) {
			return fmt.Errorf("field %d of wire type %d is none of the schema", x.Number, x.wire)
		}
		if n = x.consume(b); n < 0 {
			return x.wrong(b)
		}
		b = b[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// allows reports whether a field with such a digit may have a wire type.
func allows(want byte, wire protowire.Type) bool {
	if want == 'p' {
		return wire == protowire.VarintType || wire == protowire.BytesType
	}
	return int(want-'0') == int(wire)
}

// consume decodes the value at the front and returns its length; below 0 it is malformed.
func (x *Field) consume(b []byte) (n int) {
	switch x.wire {
	case protowire.VarintType:
		x.Value, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		x.Value, n = protowire.ConsumeFixed64(b)
	case protowire.Fixed32Type:
		var value uint32
		value, n = protowire.ConsumeFixed32(b)
		x.Value = uint64(value)
	case protowire.BytesType:
		x.Bytes, n = protowire.ConsumeBytes(b)
	}
	return n
}

// wrong returns the reason why consume failed.
func (x *Field) wrong(b []byte) error {
	if _, n := protowire.ConsumeVarint(b); n < 0 &&
		(x.wire == protowire.VarintType || x.wire == protowire.BytesType) {
		return errVarint
	}
	return errShort
}

// Numbers appends the values of a repeated varint.
func (x *Field) Numbers(to []uint64) ([]uint64, error) {
	if x.wire == protowire.VarintType {
		return append(to, x.Value), nil
	}
	for b := x.Bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return to, errVarint
		}
		to, b = append(to, v), b[n:]
	}
	return to, nil
}
