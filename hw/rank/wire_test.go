package rank

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw"
)

// fakeConn has been sent some bytes, and keeps what is written to it.
type fakeConn struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (c *fakeConn) Read(b []byte) (int, error)         { return c.in.Read(b) }
func (c *fakeConn) Write(b []byte) (int, error)        { return c.out.Write(b) }
func (c *fakeConn) SetWriteDeadline(t time.Time) error { return nil }

// sent are messages as they go over a socket.
func sent(t testing.TB, all ...*report) []byte {
	t.Helper()
	c := &fakeConn{}
	w := newWire[order, report](c, maxMessage)
	for _, r := range all {
		require.NoError(t, w.send(r))
	}
	return c.out.Bytes()
}

// TestWire: messages of any size come as they were sent, whatever pieces the socket makes of them;
// every frame says that the other side lives.
func TestWire(t *testing.T) {
	for _, size := range []int{0, 1, maxFrame - 40, maxFrame, maxFrame + 1, 3*maxFrame + 17} {
		first := report{Kind: reportResult, Outputs: [][]byte{bytes.Repeat([]byte{7}, size), {1, 2}}}
		second := report{Kind: reportFailed, Fault: &hw.Error{Call: "read", Code: "EOF", Rank: 3}}
		text := sent(t, &first, &second, &report{Kind: reportBeat, Status: Status{Progress: 9}})
		heard := 0
		w := newWire[report, order](&fakeConn{in: oneByOne{bytes.NewReader(text)}}, maxMessage)
		w.heard = func() { heard++ }
		var got report
		require.NoError(t, w.receive(&got))
		require.Equal(t, first.Kind, got.Kind)
		require.Equal(t, [][]byte{{1, 2}}, got.Outputs[1:])
		require.True(t, bytes.Equal(first.Outputs[0], got.Outputs[0]))
		require.NotZero(t, heard)
		got = report{}
		require.NoError(t, w.receive(&got))
		require.Equal(t, second.Fault, got.Fault)
		got = report{}
		require.NoError(t, w.receive(&got))
		require.EqualValues(t, 9, got.Status.Progress)
		require.ErrorIs(t, w.receive(&got), io.EOF)
	}
}

// oneByOne reads little at a time.
type oneByOne struct{ io.Reader }

func (r oneByOne) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), 1000)]) }

// TestWireBounds: what is longer than its reader allows is not read, and neither is nonsense.
func TestWireBounds(t *testing.T) {
	long := sent(t, &report{Outputs: [][]byte{make([]byte, 3*maxFrame)}})
	w := newWire[report, order](&fakeConn{in: bytes.NewReader(long)}, maxFrame+10)
	require.ErrorIs(t, w.receive(&report{}), errLong)
	require.LessOrEqual(t, w.taken, int64(2*maxFrame), "of the next frame only its length is read")
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\n\r\n": "a frame of 542393671 bytes",
		"\x00\x00\x00\x00":       "a frame of 0 bytes",
		"\x01\x00":               "unexpected EOF",
		"\x05\x00\x00\x00\x01":   "unexpected EOF",
	} {
		w := newWire[report, order](&fakeConn{in: bytes.NewReader([]byte(text))}, maxMessage)
		require.EqualError(t, w.receive(&report{}), want)
	}
	one := sent(t, &report{Kind: reportBeat})
	binary.LittleEndian.PutUint32(one, uint32(len(one)-4+1))
	w = newWire[report, order](&fakeConn{in: bytes.NewReader(append(one, 0))}, maxMessage)
	require.ErrorContains(t, w.receive(&report{}), "1 bytes behind a message")
}

// FuzzWire: no bytes make a reader panic, wait or take more than it allows.
func FuzzWire(f *testing.F) {
	f.Add(sent(f, &report{Kind: reportHello, Hello: &hello{Worker: 1, Host: "a"}}))
	f.Add(sent(f, &report{Kind: reportDone, Measured: []Measurement{{Start: 1, End: 2}}}))
	f.Add([]byte{4, 0, 0, 0, 3, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, text []byte) {
		w := newWire[report, order](&fakeConn{in: bytes.NewReader(text)}, 1<<12)
		for range 10 {
			if w.receive(&report{}) != nil {
				break
			}
		}
		require.LessOrEqual(t, w.taken, int64(1<<12+maxFrame))
	})
}
