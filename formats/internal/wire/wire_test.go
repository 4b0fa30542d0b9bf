package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEncoding pins bytes that protobuf's guide to its encoding gives.
func TestEncoding(t *testing.T) {
	require.Equal(t, Message{0x08, 0x96, 0x01}, Message(nil).Uint(1, 150))
	require.Equal(t, Message("\x12\x07testing"), Message(nil).Text(2, "testing"))
	require.Equal(t, Message("\x1a\x03\x08\x96\x01"), Message(nil).Bytes(3, Message(nil).Uint(1, 150)))
	require.Equal(t, Message("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		Message(nil).Uint(1, math.MaxUint64-1))
	require.Equal(t, Message("\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"), Message(nil).Double(2, 1))
	require.Equal(t, Message("\x0a\x05a\uFFFDb"), Message(nil).Text(1, "a\xffb"))
}

// TestEach reads what was written, field by field, and refuses what the schema does not have.
func TestEach(t *testing.T) {
	m := Message(nil).Uint(1, 1<<63).Fixed64(2, 7).Text(3, "x").Uint(4, 3).Bytes(4, []byte{1, 0x96, 1})
	m = append(m, 5<<3|5, 1, 0, 0, 0)
	shown, repeated := "", []uint64(nil)
	require.NoError(t, Each(m, ".012p5", func(x Field) (err error) {
		shown += fmt.Sprintf("%d %d %q\n", x.Number, x.Value, x.Bytes)
		if x.Number == 4 {
			repeated, err = x.Numbers(repeated)
		}
		return err
	}))
	require.Equal(t, "1 9223372036854775808 \"\"\n2 7 \"\"\n3 0 \"x\"\n4 3 \"\"\n"+
		"4 0 \"\\x01\\x96\\x01\"\n5 1 \"\"\n", shown)
	require.Equal(t, []uint64{3, 1, 150}, repeated)
	stop := fmt.Errorf("stop")
	require.Equal(t, stop, Each(m, ".012p5", func(Field) error { return stop }))
}

func TestErrors(t *testing.T) {
	long := binary.AppendUvarint(nil, math.MaxUint64)
	long[len(long)-1] = 2 // 65 bits
	for _, c := range []struct {
		message, types, want string
	}{
		{"\x80", ".0", errVarint.Error()},
		{string(long), ".0", errVarint.Error()},
		{"\x08\x80", ".0", errVarint.Error()},
		{"\x08" + string(long), ".0", errVarint.Error()},
		{"\x0a\x80", ".2", errVarint.Error()},
		{"\x0a\x02x", ".2", errShort.Error()},
		{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", ".2", errShort.Error()},
		{"\x09\x01\x02", ".1", errShort.Error()},
		{"\x0d\x01\x02", ".5", errShort.Error()},
		{"\x0a\x80\x80", ".p", errVarint.Error()},
		{"\x0a\x02\x01\x80", ".p", errVarint.Error()},
		{"\x08\x01", "..", "field 1 of wire type 0 is none of the schema"},
		{"\x10\x01", ".0", "field 2 of wire type 0 is none of the schema"},
		{"\x00\x01", ".0", "field 0 of wire type 0 is none of the schema"},
		{"\x0b\x01", ".p", "field 1 of wire type 3 is none of the schema"},
		{string(binary.AppendUvarint(nil, math.MaxUint64)), ".0",
			"field 2147483647 of wire type 7 is none of the schema"},
	} {
		err := Each([]byte(c.message), c.types, func(x Field) error {
			_, err := x.Numbers(nil)
			return err
		})
		require.EqualError(t, err, c.want, "%q", c.message)
	}
}
