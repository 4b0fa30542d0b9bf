package perfetto

import (
	"encoding/binary"
	"math"
	"strings"
)

// message is a protobuf message in the making: fields are appended to it. The encoding is described
// at https://protobuf.dev/programming-guides/encoding/.
type message []byte

// Wire types: how the bytes behind a field's tag are to be read.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

func (m message) tag(field, wire int) message {
	return binary.AppendUvarint(m, uint64(field)<<3|uint64(wire))
}

// uint appends a field of any whole number type; that of a negative int64 is uint64(v).
func (m message) uint(field int, v uint64) message {
	return binary.AppendUvarint(m.tag(field, wireVarint), v)
}

func (m message) fixed64(field int, v uint64) message {
	return binary.LittleEndian.AppendUint64(m.tag(field, wireFixed64), v)
}

func (m message) double(field int, v float64) message {
	return m.fixed64(field, math.Float64bits(v))
}

func (m message) bytes(field int, v []byte) message {
	m = binary.AppendUvarint(m.tag(field, wireBytes), uint64(len(v)))
	return append(m, v...)
}

func (m message) string(field int, v string) message {
	return m.bytes(field, []byte(strings.ToValidUTF8(v, "\uFFFD")))
}
