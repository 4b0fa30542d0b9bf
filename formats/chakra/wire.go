package chakra

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Protobuf as far as it is needed: https://protobuf.dev/programming-guides/encoding/. Fields that
// the schema does not have, or has with another wire type, are refused.

// maxMessage bounds a message, in bytes.
const maxMessage = 64 << 20

// Wire types.
const (
	varint  = 0
	fixed64 = 1
	block   = 2
	fixed32 = 5
)

var (
	errVarint = errors.New("a number that has no end or more than 64 bits")
	errShort  = errors.New("a field that is longer than its message")
)

// nextMessage reads a message with its length before it; io.EOF where the file ends.
func nextMessage(in *bufio.Reader, into *bytes.Buffer) error {
	if _, err := in.Peek(1); err != nil {
		return err
	}
	n, err := binary.ReadUvarint(in)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends in a message's length")
	case err != nil:
		return err
	case n > maxMessage:
		return fmt.Errorf("a message of %d bytes; at most %d are possible", n, maxMessage)
	}
	into.Reset()
	if m, err := io.CopyN(into, in, int64(n)); errors.Is(err, io.EOF) {
		return fmt.Errorf("a message of %d bytes, but the file ends after %d of them", n, m)
	} else if err != nil {
		return err
	}
	return nil
}

// field is a field of a message: its number, wire type, and value or bytes.
type field struct {
	number, wire int
	value        uint64
	bytes        []byte
}

// eachField calls f with the fields of a message. types are their wire types by number, as digits;
// "p" is a repeated varint, packed or not, "." a field that the schema does not have.
func eachField(b []byte, types string, f func(field) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errVarint
		}
		b = b[n:]
		x := field{number: int(min(tag>>3, math.MaxInt32)), wire: int(tag & 7)}
		want := byte('.')
		if x.number < len(types) {
			want = types[x.number]
		}
		if int(want-'0') != x.wire && (want != 'p' || x.wire != varint && x.wire != block) {
			return fmt.Errorf("field %d of wire type %d is none of the schema", x.number, x.wire)
		}
		switch x.wire {
		case varint:
			if x.value, n = binary.Uvarint(b); n <= 0 {
				return errVarint
			}
			b = b[n:]
		case fixed64, fixed32:
			if n = 8; x.wire == fixed32 {
				n = 4
			}
			if len(b) < n {
				return errShort
			}
			if x.value = uint64(binary.LittleEndian.Uint32(b)); n == 8 {
				x.value = binary.LittleEndian.Uint64(b)
			}
			b = b[n:]
		case block:
			size, n := binary.Uvarint(b)
			if n <= 0 {
				return errVarint
			}
			if b = b[n:]; size > uint64(len(b)) {
				return errShort
			}
			x.bytes, b = b[:size], b[size:]
		}
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// numbers appends the values of a repeated varint.
func numbers(to []uint64, x field) ([]uint64, error) {
	if x.wire == varint {
		return append(to, x.value), nil
	}
	for b := x.bytes; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return to, errVarint
		}
		to, b = append(to, v), b[n:]
	}
	return to, nil
}
