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
	"collsim/hw/gate"
	"collsim/hw/rank"
)

// mesh is a rank's sockets to those that it talks with: one for each, made when a job first needs
// it and kept for the next. Of two ranks the higher dials.
type mesh struct {
	number  int32
	door    *gate.Door // at which higher ranks arrive
	stopped atomic.Bool
	accepts sync.WaitGroup

	epoch   atomic.Uint32
	rank    atomic.Pointer[participant] // of the repetition
	sockets map[int32]*socket           // does not change while a repetition runs
	failed  func(error)                 // told of every socket that ends by itself
	closed  sync.Once

	mu       sync.Mutex
	accepted map[int32]net.Conn // not yet asked for
	news     chan struct{}      // holds one: something was accepted
}

// newMesh returns the mesh of a rank, and opens its door; failed is told of every socket that ends
// by itself.
func newMesh(number int, d *gate.Door, failed func(error)) *mesh {
	m := &mesh{number: int32(number), door: d, sockets: map[int32]*socket{}, failed: failed,
		accepted: map[int32]net.Conn{}, news: make(chan struct{}, 1)}
	d.Expected = func(c gate.Claim) bool {
		return c.Service == gate.Data && c.To == m.number && c.From > m.number
	}
	d.Enter = m.accept
	m.accepts.Go(d.Serve)
	return m
}

// playing is the rank in a repetition, nil if that has ended.
func (m *mesh) playing(epoch uint32) *participant {
	if epoch != m.epoch.Load() {
		return nil
	}
	return m.rank.Load()
}

// accept takes in a rank that has dialed.
func (m *mesh) accept(conn net.Conn, claim gate.Claim) {
	m.mu.Lock()
	if old := m.accepted[claim.From]; old != nil {
		old.Close()
	}
	m.accepted[claim.From] = conn
	m.mu.Unlock()
	select {
	case m.news <- struct{}{}:
	default:
	}
}

// dial goes to a rank of this run.
func (m *mesh) dial(ctx context.Context, p *rank.Peer) (net.Conn, error) {
	claim := gate.Claim{Service: gate.Data, From: m.number, To: p.Rank}
	conn, run, err := gate.Knock(ctx, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, m.door.Listener.Addr().Network(), p.Address)
	}, m.door.Secret, claim)
	if err == nil && run != m.door.Run {
		conn.Close()
		err = errors.New("it is of another run")
	}
	if err != nil {
		return nil, rank.CallError(int(p.Rank), "dial", err)
	}
	return conn, nil
}

// connect makes the sockets that are not there yet.
func (m *mesh) connect(ctx context.Context, peers []rank.Peer, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, p := range peers {
		if p.Rank >= m.number || m.sockets[p.Rank] != nil {
			continue
		}
		conn, err := m.dial(ctx, &p)
		if err != nil {
			return err
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
	m.door.Listener.Close()
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
