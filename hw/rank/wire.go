package rank

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// All bytes of a job that come from another process are read here.
//
// A message is a gob, split into frames. A frame is four bytes, little-endian, with the length of
// what follows, at most maxFrame. A message ends at the end of a frame. A message longer than its
// reader allows ends the connection before it is read; so does an invalid one (check.go).

const (
	// maxFrame is also the unit of writing: each frame written is progress.
	maxFrame = 1 << 18
	// maxIntroduction bounds the first message of a connection, and maxOther those without data of
	// a job. The job bounds the others (longest).
	maxIntroduction = 1 << 16
	maxOther        = 1 << 20
	maxMessage      = 1 << 33 // where no bound is known
)

// Reasons why a connection ends.
var (
	errLong  = errors.New("a message is longer than expected")
	errAgain = errors.New("an introduction of who is known")
)

// A wire is a connection to another process.
type wire[In, Out any] struct {
	conn  net.Conn
	limit atomic.Int64 // of a message
	heard func()       // called whenever bytes have arrived
	// patience bounds the time to send a frame; 0 is for ever.
	patience func() time.Duration
	// alone is set if no watchdog looks after the connection. Within a message, each frame must
	// then arrive within the patience.
	alone bool

	in    *bufio.Reader
	left  int   // of the frame
	taken int64 // of the message
	gobs  *gob.Decoder

	mu    sync.Mutex // guards the following
	frame []byte     // the next one, after room for its length
	out   *gob.Encoder
}

// newWire returns the wire on a connection; limit bounds a message that it receives, in bytes.
func newWire[In, Out any](conn net.Conn, limit int64) *wire[In, Out] {
	w := &wire[In, Out]{conn: conn, heard: func() {}, in: bufio.NewReaderSize(conn, 1<<16),
		frame: make([]byte, 4, 1<<12), patience: func() time.Duration { return 0 }}
	w.limit.Store(limit)
	w.gobs, w.out = gob.NewDecoder(frameReader[In, Out]{w}), gob.NewEncoder(frameWriter[In, Out]{w})
	return w
}

func (w *wire[In, Out]) close() { w.conn.Close() }

func (w *wire[In, Out]) allow(bytes int64) { w.limit.Store(bytes) }

// receive waits for a message and checks it.
func (w *wire[In, Out]) receive(m *In) error {
	w.taken = 0
	if err := w.gobs.Decode(m); err != nil {
		return err
	}
	if w.left > 0 {
		return fmt.Errorf("%d bytes behind a message", w.left)
	}
	if c, ok := any(m).(interface{ check() error }); ok {
		return c.check()
	}
	return nil
}

// send sends a message. It may be called from several goroutines.
func (w *wire[In, Out]) send(m *Out) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.out.Encode(m); err != nil {
		return err
	}
	return w.flush()
}

// flush sends the frame, if it is not empty.
func (w *wire[In, Out]) flush() error {
	n := len(w.frame) - 4
	if n == 0 {
		return nil
	}
	binary.LittleEndian.PutUint32(w.frame, uint32(n))
	if p := w.patience(); p > 0 {
		w.conn.SetWriteDeadline(time.Now().Add(p))
	}
	_, err := w.conn.Write(w.frame)
	w.frame = w.frame[:4]
	return err
}

// A frameWriter splits what is written to it into frames.
type frameWriter[In, Out any] struct{ *wire[In, Out] }

// Write implements io.Writer.
func (w frameWriter[In, Out]) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		m := min(len(b)-n, maxFrame-(len(w.frame)-4))
		w.frame = append(w.frame, b[n:n+m]...)
		if n += m; len(w.frame)-4 == maxFrame {
			err = w.flush()
		}
	}
	return n, err
}

// A frameReader joins the contents of frames.
type frameReader[In, Out any] struct{ *wire[In, Out] }

// begin reads the length of the next frame, unless one is being read.
func (w frameReader[In, Out]) begin() error {
	if w.left > 0 {
		return nil
	}
	if w.alone {
		w.conn.SetReadDeadline(w.due())
	}
	var b [4]byte
	if _, err := io.ReadFull(w.in, b[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n == 0 || n > maxFrame {
		return fmt.Errorf("a frame of %d bytes", n)
	}
	if w.taken += int64(n); w.taken > w.limit.Load() {
		return errLong
	}
	if w.left = int(n); w.alone && w.taken == int64(n) {
		w.conn.SetReadDeadline(w.due())
	}
	return nil
}

// due returns the deadline of the next frame; none before a message has begun.
func (w frameReader[In, Out]) due() (t time.Time) {
	if p := w.patience(); p > 0 && w.taken > 0 {
		t = time.Now().Add(p)
	}
	return t
}

// Read implements io.Reader.
func (w frameReader[In, Out]) Read(b []byte) (n int, err error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	n, err = w.in.Read(b[:min(len(b), w.left)])
	if w.left -= n; n > 0 {
		w.heard()
	}
	return n, err
}

// ReadByte implements io.ByteReader, so that the decoder reads no further than its message.
func (w frameReader[In, Out]) ReadByte() (byte, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	b, err := w.in.ReadByte()
	if err == nil {
		w.left--
		w.heard()
	}
	return b, err
}
