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

// wires joins a machine with the others that its ranks talk with: one connection for each, made
// when a job first needs it and kept for the next. A frame on it is a crossing: its repetition and
// number, and the bytes that the plan has for it. What is not of the plan ends the run before it is
// read.
type wires struct {
	doors  *rank.Mesh
	failed func(error)             // told of every connection that ends by itself
	wrap   func(net.Conn) net.Conn // makes of a connection what is used; nil: nothing else
	moved  atomic.Int64            // pieces that have come, a part of progress

	mu      sync.Mutex // of what follows
	all     map[int32]net.Conn
	closed  bool
	epoch   uint32
	mail    *mail // of the repetition; nil: there is none
	come    []bool
	running sync.WaitGroup
	once    sync.Once
}

const (
	wireHead  = 16      // the repetition, the number of the crossing, the size of what follows
	wirePiece = 1 << 18 // how much is read at a time: every piece is progress
)

// connect makes the connections that are not there yet.
func (w *wires) connect(ctx context.Context, peers []rank.Peer, timeout time.Duration) error {
	w.mu.Lock()
	missing := slices.DeleteFunc(slices.Clone(peers), func(p rank.Peer) bool {
		return w.all[p.Rank] != nil
	})
	w.mu.Unlock()
	return w.doors.Connect(ctx, missing, timeout, w.add)
}

// add begins to hear a machine.
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

// begin begins a repetition; nil ends them.
func (w *wires) begin(m *mail, epoch uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mail, w.epoch = m, epoch
	if m != nil {
		w.come = make([]bool, len(m.crossings))
	}
}

// read takes in what a machine sends, until the connection ends.
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

// expected is the crossing that a frame is, nil of one that says of a repetition that has ended
// that a message was read. Others have all come before a repetition ends.
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

// arrived has streams see that a crossing has come, if its repetition goes on: its memory is there
// as long as that.
func (w *wires) arrived(c *crossing, epoch uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moved.Add(1)
	if epoch == w.epoch && w.mail != nil {
		c.flag.Store(1)
	}
}

func malformed(peer int32, format string, args ...any) *hw.Error {
	return &hw.Error{Call: "read", Code: "malformed", Rank: -1, Lane: -1, Step: -1,
		Text: fmt.Sprintf("machine %d: ", peer) + fmt.Sprintf(format, args...)}
}

// send sends a machine what begins here, as the GPUs get to it, until all is sent.
func (w *wires) send(ctx context.Context, peer int32, lanes [][]int) error {
	w.mu.Lock()
	conn, m, epoch := w.all[peer], w.mail, w.epoch
	w.mu.Unlock()
	if conn == nil {
		return fmt.Errorf("cuda: there is no connection to machine %d", peer)
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

// lost has the run fail because of a machine, and returns why.
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

// close ends all connections, and returns when nothing of them runs.
func (w *wires) close() { w.once.Do(w.end) }

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
