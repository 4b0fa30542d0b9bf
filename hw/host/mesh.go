package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"collsim/hw"
)

// mesh is a rank's sockets to those that it talks with: one for each, made when a job first needs
// it and kept for the next. Of two ranks the higher dials.
type mesh struct {
	rank     int32
	listener net.Listener
	stopped  atomic.Bool
	accepts  sync.WaitGroup

	epoch  atomic.Uint32
	player atomic.Pointer[player]
	links  map[int32]*link // does not change while a repetition runs
	failed func(*hw.Error) // told of every socket that ends by itself

	mu       sync.Mutex
	accepted map[int32]net.Conn // not yet asked for
	news     chan struct{}      // holds one: something was accepted
}

func newMesh(rank int32, l net.Listener, failed func(*hw.Error)) *mesh {
	m := &mesh{rank: rank, listener: l, links: map[int32]*link{}, failed: failed,
		accepted: map[int32]net.Conn{}, news: make(chan struct{}, 1)}
	m.accepts.Go(m.accept)
	return m
}

// playing is the player of a repetition, nil if that has ended.
func (m *mesh) playing(epoch uint32) *player {
	if epoch != m.epoch.Load() {
		return nil
	}
	return m.player.Load()
}

// accept takes in ranks that dial. Who does not say at once which rank it is, is sent away.
func (m *mesh) accept() {
	for {
		conn, err := m.listener.Accept()
		if err != nil {
			return
		}
		var b [4]byte
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.ReadFull(conn, b[:]); err != nil {
			conn.Close()
			continue
		}
		conn.SetDeadline(time.Time{})
		m.mu.Lock()
		if old := m.accepted[int32(binary.LittleEndian.Uint32(b[:]))]; old != nil {
			old.Close()
		}
		m.accepted[int32(binary.LittleEndian.Uint32(b[:]))] = conn
		m.mu.Unlock()
		select {
		case m.news <- struct{}{}:
		default:
		}
	}
}

// connect makes the sockets that are not there yet.
func (m *mesh) connect(ctx context.Context, peers []peer, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, p := range peers {
		if p.Rank >= m.rank || m.links[p.Rank] != nil {
			continue
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, m.listener.Addr().Network(), p.Address)
		if err == nil {
			_, err = conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(m.rank)))
		}
		if err != nil {
			return peerError(p.Rank, "dial", err)
		}
		m.add(p.Rank, conn)
	}
	for _, p := range peers {
		for p.Rank > m.rank && m.links[p.Rank] == nil && !m.stopped.Load() {
			m.mu.Lock()
			conn := m.accepted[p.Rank]
			delete(m.accepted, p.Rank)
			m.mu.Unlock()
			if conn != nil {
				m.add(p.Rank, conn)
				continue
			}
			select {
			case <-ctx.Done():
				return peerError(p.Rank, "accept", ctx.Err())
			case <-m.news:
			}
		}
	}
	return nil
}

// add begins to talk with a rank.
func (m *mesh) add(rank int32, conn net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped.Load() {
		conn.Close()
		return
	}
	m.links[rank] = newLink(m, rank, conn)
	m.links[rank].start()
}

// lost has the run fail because of a peer, and returns why.
func (m *mesh) lost(rank int32, call string, err error) error {
	var e *hw.Error
	if !errors.As(err, &e) {
		e = peerError(rank, call, err)
	}
	if m.stopped.Load() {
		return e
	}
	if p := m.player.Load(); p != nil {
		p.fail(e)
	}
	m.failed(e)
	return e
}

// close ends all sockets, and returns when nothing of them runs.
func (m *mesh) close() {
	m.listener.Close()
	m.accepts.Wait()
	m.mu.Lock()
	m.stopped.Store(true)
	for _, conn := range m.accepted {
		conn.Close()
	}
	links := slices.Collect(maps.Values(m.links))
	m.mu.Unlock()
	for _, k := range links {
		k.close()
	}
}

// peerError is what became of a call that concerns a peer.
func peerError(rank int32, call string, err error) *hw.Error {
	return &hw.Error{Call: call, Code: code(err), Rank: int(rank), Lane: -1, Step: -1,
		Text: err.Error()}
}

// code is the name of what a call has returned.
func code(err error) string {
	var no syscall.Errno
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, net.ErrClosed):
		return "closed"
	case !errors.As(err, &no):
		return "error"
	}
	for _, known := range []struct {
		no   syscall.Errno
		name string
	}{{syscall.ECONNRESET, "ECONNRESET"}, {syscall.EPIPE, "EPIPE"},
		{syscall.ECONNREFUSED, "ECONNREFUSED"}, {syscall.ENOENT, "ENOENT"},
		{syscall.EHOSTUNREACH, "EHOSTUNREACH"}, {syscall.ENETUNREACH, "ENETUNREACH"},
		{syscall.ETIMEDOUT, "ETIMEDOUT"}, {syscall.EADDRINUSE, "EADDRINUSE"},
		{syscall.EADDRNOTAVAIL, "EADDRNOTAVAIL"}, {syscall.EMFILE, "EMFILE"},
		{syscall.EACCES, "EACCES"}} {
		if no == known.no {
			return known.name
		}
	}
	return fmt.Sprintf("errno %d", int(no))
}
