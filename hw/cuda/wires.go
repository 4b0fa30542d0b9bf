package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/hw/rank"
)

// A wires connects a machine with the machines that its ranks communicate with. There is one
// connection to each, made at first use and kept for later jobs. A frame carries a crossing: the
// repetition's number, the crossing's number, and as many bytes as planned. A frame that
// contradicts the plan ends the run before its bytes are read.
type wires struct {
	doors  *rank.Mesh
	failed func(error)             // called with the error of every lost connection
	wrap   func(net.Conn) net.Conn // for tests: wraps every connection; nil: none
	moved  atomic.Int64            // pieces received, for progress

	mu      sync.Mutex // guards the following
	all     map[int32]net.Conn
	closed  bool
	epoch   uint32
	mail    *mail // of the repetition; nil between repetitions
	come    []bool
	running sync.WaitGroup
	once    sync.Once
}

const (
	wireHead  = 16      // repetition, number of the crossing, size of the bytes
	wirePiece = 1 << 18 // bytes read at a time: every piece is progress
)

// connect makes the connections that are missing.
func (w *wires) connect(ctx context.Context, peers []rank.Peer, timeout time.Duration) error {
	w.mu.Lock()
	missing := slices.DeleteFunc(slices.Clone(peers), func(p rank.Peer) bool {
		return w.all[p.Rank] != nil
	})
	w.mu.Unlock()
	return w.doors.Connect(ctx, missing, timeout, w.add)
}

// add starts to read from a machine.
func (w *wires) add(peer int32, conn net.Conn) {
	if w.wrap != nil {
		conn = w.wrap(conn)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		conn.Close()
		return
	}
	w.all[peer] = conn
	w.running.Go(func() { w.lost(peer, "read", w.read(peer, conn)) })
}

// begin begins a repetition; a nil mail ends them.
func (w *wires) begin(m *mail, epoch uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mail, w.epoch = m, epoch
	if m != nil {
		w.come = make([]bool, len(m.crossings))
	}
}

// read receives the frames of a machine until the connection ends.
func (w *wires) read(peer int32, conn net.Conn) error {
	head := make([]byte, wireHead)
	for {
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		epoch, number := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
		c, err := w.expected(peer, epoch, number, int64(binary.LittleEndian.Uint64(head[8:])))
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		for b := c.bytes; len(b) > 0; {
			n := min(len(b), wirePiece)
			if _, err := io.ReadFull(conn, b[:n]); err != nil {
				return err
			}
			w.moved.Add(1)
			b = b[n:]
		}
		w.arrived(c, epoch)
	}
}

// expected returns the crossing of a frame, or an error if it is not of the plan. It returns nil
// for a late receipt of an earlier repetition. All other crossings arrive before their repetition
// ends.
func (w *wires) expected(peer int32, epoch, number uint32, size int64) (*crossing, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if (epoch != w.epoch || w.mail == nil) && size == 0 {
		return nil, nil
	}
	if epoch != w.epoch || w.mail == nil || int64(number) >= int64(len(w.mail.crossings)) {
		return nil, malformed(peer, "crossing %d of repetition %d, in repetition %d", number, epoch,
			w.epoch)
	}
	c := &w.mail.crossings[number]
	switch {
	case c.from != peer || c.flag == nil:
		return nil, malformed(peer, "crossing %d, which is from machine %d to %d", number, c.from, c.to)
	case size != c.size:
		return nil, malformed(peer, "crossing %d with %d bytes instead of %d", number, size, c.size)
	case w.come[number]:
		return nil, malformed(peer, "crossing %d once more", number)
	}
	w.come[number] = true
	return c, nil
}

// arrived sets a crossing's flag, which streams wait for. It does so only while the repetition
// runs, since the flag's memory is freed later.
func (w *wires) arrived(c *crossing, epoch uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moved.Add(1)
	if epoch == w.epoch && w.mail != nil {
		c.flag.Store(1)
	}
}

// malformed returns the error of an invalid frame.
func malformed(peer int32, format string, args ...any) *hw.Error {
	return &hw.Error{Call: "read", Code: "malformed", Rank: -1, Lane: -1, Step: -1,
		Text: fmt.Sprintf("machine %d: ", peer) + fmt.Sprintf(format, args...)}
}

// send sends this machine's crossings to another machine, as their flags are set, until all are
// sent.
func (w *wires) send(ctx context.Context, peer int32, lanes [][]int) error {
	w.mu.Lock()
	conn, m, epoch := w.all[peer], w.mail, w.epoch
	w.mu.Unlock()
	if conn == nil {
		return fmt.Errorf("there is no connection to machine %d", peer)
	}
	const longest = time.Millisecond
	head, pause := make([]byte, wireHead), 10*time.Microsecond
	for len(lanes) > 0 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		moved := false
		for i, list := range lanes {
			for len(list) > 0 && m.crossings[list[0]].flag.Load() != 0 {
				c := &m.crossings[list[0]]
				binary.LittleEndian.PutUint32(head, epoch)
				binary.LittleEndian.PutUint32(head[4:], uint32(list[0]))
				binary.LittleEndian.PutUint64(head[8:], uint64(c.size))
				parts := net.Buffers{head, c.bytes}
				if _, err := parts.WriteTo(conn); err != nil {
					return w.lost(peer, "write", err)
				}
				w.moved.Add(1)
				list, moved = list[1:], true
			}
			lanes[i] = list
		}
		lanes = slices.DeleteFunc(lanes, func(list []int) bool { return len(list) == 0 })
		if pause = min(2*pause, longest); moved {
			pause = 10 * time.Microsecond
		} else {
			time.Sleep(pause)
		}
	}
	return nil
}

// lost fails the run because of a machine, and returns the reason.
func (w *wires) lost(peer int32, call string, err error) error {
	var e *hw.Error
	if !errors.As(err, &e) {
		e = rank.CallError(-1, call, fmt.Errorf("machine %d: %w", peer, err))
	}
	w.mu.Lock()
	closed := w.closed
	w.mu.Unlock()
	if !closed {
		w.failed(e)
	}
	return e
}

// close closes all connections, and returns when no goroutine of them runs.
func (w *wires) close() { w.once.Do(w.end) }

// end closes the connections and waits.
func (w *wires) end() {
	w.doors.Close()
	w.mu.Lock()
	w.closed = true
	all := slices.Collect(maps.Values(w.all))
	w.mu.Unlock()
	for _, conn := range all {
		conn.Close()
	}
	w.running.Wait()
}
