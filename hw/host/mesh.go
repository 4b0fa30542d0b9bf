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

// mesh is a rank's sockets to those that it talks with: one for each, made when a job first needs
// it and kept for the next.
type mesh struct {
	number  int32
	doors   *rank.Mesh
	stopped atomic.Bool

	epoch   atomic.Uint32
	rank    atomic.Pointer[participant] // of the repetition
	sockets map[int32]*socket           // does not change while a repetition runs
	failed  func(error)                 // told of every socket that ends by itself
	closed  sync.Once

	mu sync.Mutex // of sockets, when they are added or closed
}

// newMesh returns the mesh of a rank; failed is told of every socket that ends by itself.
func newMesh(number int, doors *rank.Mesh, failed func(error)) *mesh {
	return &mesh{number: int32(number), doors: doors, sockets: map[int32]*socket{}, failed: failed}
}

// executing is the rank in a repetition, nil if that has ended.
func (m *mesh) executing(epoch uint32) *participant {
	if epoch != m.epoch.Load() {
		return nil
	}
	return m.rank.Load()
}

// connect makes the sockets that are not there yet.
func (m *mesh) connect(ctx context.Context, peers []rank.Peer, timeout time.Duration) error {
	missing := slices.DeleteFunc(slices.Clone(peers), func(p rank.Peer) bool {
		return m.sockets[p.Rank] != nil
	})
	return m.doors.Connect(ctx, missing, timeout, m.add)
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
	m.doors.Close()
	m.mu.Lock()
	m.stopped.Store(true)
	links := slices.Collect(maps.Values(m.sockets))
	m.mu.Unlock()
	for _, k := range links {
		k.close()
	}
}
