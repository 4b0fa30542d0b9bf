package host

import (
	"context"
	"encoding/binary"
	"errors"
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

// mesh is a rank's sockets to those that it talks with: one for each, made when a job first needs
// it and kept for the next. Of two ranks the higher dials.
type mesh struct {
	number   int32
	listener net.Listener
	stopped  atomic.Bool
	accepts  sync.WaitGroup

	epoch   atomic.Uint32
	rank    atomic.Pointer[participant] // of the repetition
	sockets map[int32]*socket           // does not change while a repetition runs
	failed  func(error)                 // told of every socket that ends by itself
	closed  sync.Once

	mu       sync.Mutex
	accepted map[int32]net.Conn // not yet asked for
	news     chan struct{}      // holds one: something was accepted
}

func newMesh(number int32, l net.Listener, failed func(error)) *mesh {
	m := &mesh{number: number, listener: l, sockets: map[int32]*socket{}, failed: failed,
		accepted: map[int32]net.Conn{}, news: make(chan struct{}, 1)}
	m.accepts.Go(m.accept)
	return m
}

// playing is the rank in a repetition, nil if that has ended.
func (m *mesh) playing(epoch uint32) *participant {
	if epoch != m.epoch.Load() {
		return nil
	}
	return m.rank.Load()
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
func (m *mesh) connect(ctx context.Context, peers []rank.Peer, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, p := range peers {
		if p.Rank >= m.number || m.sockets[p.Rank] != nil {
			continue
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, m.listener.Addr().Network(), p.Address)
		if err == nil {
			_, err = conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(m.number)))
		}
		if err != nil {
			return rank.CallError(int(p.Rank), "dial", err)
		}
		m.add(p.Rank, conn)
	}
	for _, p := range peers {
		for p.Rank > m.number && m.sockets[p.Rank] == nil && !m.stopped.Load() {
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
				return rank.CallError(int(p.Rank), "accept", ctx.Err())
			case <-m.news:
			}
		}
	}
	return nil
}

// add begins to talk with a rank.
func (m *mesh) add(peer int32, conn net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped.Load() {
		conn.Close()
		return
	}
	m.sockets[peer] = newLink(m, peer, conn)
	m.sockets[peer].start()
}

// lost has the run fail because of a peer, and returns why.
func (m *mesh) lost(peer int32, call string, err error) error {
	var e *hw.Error
	if !errors.As(err, &e) {
		e = rank.CallError(int(peer), call, err)
	}
	if m.stopped.Load() {
		return e
	}
	if p := m.rank.Load(); p != nil {
		p.fail(e)
	}
	m.failed(e)
	return e
}

// close ends all sockets, and returns when nothing of them runs.
func (m *mesh) close() { m.closed.Do(m.end) }

func (m *mesh) end() {
	m.listener.Close()
	m.accepts.Wait()
	m.mu.Lock()
	m.stopped.Store(true)
	for _, conn := range m.accepted {
		conn.Close()
	}
	links := slices.Collect(maps.Values(m.sockets))
	m.mu.Unlock()
	for _, k := range links {
		k.close()
	}
}
