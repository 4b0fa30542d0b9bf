package host

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/hw/rank"
)

// A mesh holds a rank's sockets to the ranks that it communicates with. There is one to each, made
// at first use and kept for later jobs.
type mesh struct {
	number  int32
	doors   *rank.Mesh
	stopped atomic.Bool

	epoch   atomic.Uint32
	rank    atomic.Pointer[participant] // of the repetition
	sockets map[int32]*socket           // constant while a repetition runs
	failed  func(error)                 // called with the error of every lost socket
	closed  sync.Once

	mu sync.Mutex // guards sockets between repetitions
}

// newMesh returns the mesh of a rank; failed is called with the error of every lost socket.
func newMesh(number int, doors *rank.Mesh, failed func(error)) *mesh {
	return &mesh{number: int32(number), doors: doors, sockets: map[int32]*socket{}, failed: failed}
}

// executing returns the rank in a repetition, nil if that has ended.
func (m *mesh) executing(epoch uint32) *participant {
	if epoch != m.epoch.Load() {
		return nil
	}
	return m.rank.Load()
}

// connect makes the sockets that are missing.
func (m *mesh) connect(ctx context.Context, peers []rank.Peer, timeout time.Duration) error {
	missing := slices.DeleteFunc(slices.Clone(peers), func(p rank.Peer) bool {
		return m.sockets[p.Rank] != nil
	})
	return m.doors.Connect(ctx, missing, timeout, m.add)
}

// add starts to serve the socket of a peer.
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

// lost fails the run because of a peer, and returns the reason.
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

// close closes all sockets, and returns when no goroutine of them runs.
func (m *mesh) close() { m.closed.Do(m.end) }

// end closes the sockets and waits.
func (m *mesh) end() {
	m.doors.Close()
	m.mu.Lock()
	m.stopped.Store(true)
	links := slices.Collect(maps.Values(m.sockets))
	m.mu.Unlock()
	for _, k := range links {
		k.close()
	}
}
