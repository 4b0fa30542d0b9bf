package rank

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"collsim/hw/gate"
)

// A Mesh connects the participants of a run, at most once a pair. Participants are numbered; of a
// pair, the higher number dials. Its users define what the connections carry.
type Mesh struct {
	number  int32
	door    *gate.Door // where higher numbers connect
	serving sync.WaitGroup
	ended   context.Context
	end     context.CancelFunc

	mu       sync.Mutex
	accepted map[int32]net.Conn // not yet asked for
	news     chan struct{}      // holds one: something was accepted
}

// NewMesh returns the mesh of a participant and starts to accept connections.
func NewMesh(number int, l net.Listener, secret gate.Secret, run gate.Run) *Mesh {
	m := &Mesh{number: int32(number), accepted: map[int32]net.Conn{}, news: make(chan struct{}, 1),
		door: &gate.Door{Listener: l, Secret: secret, Run: run}}
	m.ended, m.end = context.WithCancel(context.Background())
	m.door.Expected = func(c gate.Claim) bool {
		return c.Service == gate.Data && c.To == m.number && c.From > m.number
	}
	m.door.Enter = m.accept
	m.serving.Go(m.door.Serve)
	return m
}

// ListenForPeers listens for peers of a worker: at a path beside the coordinator's socket, or at
// the local address of the worker's connection to the coordinator.
func ListenForPeers(r Rendezvous, local net.Addr) (net.Listener, error) {
	address := filepath.Join(filepath.Dir(r.Address), strconv.Itoa(r.Worker))
	if r.Network == "tcp" {
		host, _, err := net.SplitHostPort(local.String())
		if err != nil {
			return nil, err
		}
		address = net.JoinHostPort(host, "0")
	}
	l, err := Listen(r.Network, address)
	if err != nil {
		return nil, CallError(r.Worker, "listen", err)
	}
	return l, nil
}

// accept stores the connection of a peer that has dialed.
func (m *Mesh) accept(conn net.Conn, claim gate.Claim) {
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

// dial connects to a peer of this run.
func (m *Mesh) dial(ctx context.Context, p *Peer) (net.Conn, error) {
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
		return nil, CallError(int(p.Rank), "dial", err)
	}
	return conn, nil
}

// Connect calls add with a connection to each of some peers. It ends early when the mesh is closed.
func (m *Mesh) Connect(ctx context.Context, peers []Peer, timeout time.Duration,
	add func(peer int32, conn net.Conn)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for i := range peers {
		p := &peers[i]
		if p.Rank >= m.number {
			continue
		}
		conn, err := m.dial(ctx, p)
		if err != nil {
			return err
		}
		add(p.Rank, conn)
	}
	for i := range peers {
		if p := &peers[i]; p.Rank > m.number && m.ended.Err() == nil {
			conn, err := m.await(ctx, p.Rank)
			if err != nil {
				return err
			}
			if conn != nil {
				add(p.Rank, conn)
			}
		}
	}
	return nil
}

// await waits for the connection of a peer that dials; nil when the mesh is closed.
func (m *Mesh) await(ctx context.Context, peer int32) (net.Conn, error) {
	for {
		m.mu.Lock()
		conn := m.accepted[peer]
		delete(m.accepted, peer)
		m.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		select {
		case <-m.ended.Done():
			return nil, nil
		case <-ctx.Done():
			return nil, CallError(int(peer), "accept", ctx.Err())
		case <-m.news:
		}
	}
}

// Close closes the connections that nothing has asked for, and returns when no goroutine of the
// mesh runs.
func (m *Mesh) Close() {
	m.end()
	m.door.Listener.Close()
	m.serving.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, conn := range m.accepted {
		conn.Close()
	}
}

// Turned returns the number of refused connections.
func (m *Mesh) Turned() int64 { return m.door.Turned() }
