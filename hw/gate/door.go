package gate

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patience bounds the whole handshake, however slowly the peer sends.
const patience = 5 * time.Second

// MaxUnproven bounds the unauthenticated connections that a door keeps. Beyond it the oldest is
// closed: a peer with the secret finishes before an attacker can open so many.
const MaxUnproven = 256

// A Door accepts connections, and admits those whose peer knows the secret of a run.
type Door struct {
	Listener net.Listener
	Secret   Secret
	Run      Run
	Expected func(Claim) bool
	// Enter takes over a connection that has proven its claim, in a goroutine of its own. Serve
	// waits for it.
	Enter func(net.Conn, Claim)

	mu       sync.Mutex
	unproven []net.Conn // oldest first
	closing  bool
	turned   atomic.Int64
}

// Turned returns the number of refused connections.
func (d *Door) Turned() int64 { return d.turned.Load() }

// Serve accepts connections until the listener is closed. It returns when no goroutine of it runs.
func (d *Door) Serve() {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		conn, err := d.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil { // too many open files, or the dialer has gone
			time.Sleep(time.Millisecond)
			continue
		}
		d.keep(conn)
		running.Go(func() { d.admit(conn) })
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = true
	for _, conn := range d.unproven {
		conn.Close()
	}
}

// keep adds an unauthenticated connection.
func (d *Door) keep(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.unproven) >= MaxUnproven {
		d.unproven[0].Close()
		d.unproven = slices.Delete(d.unproven, 0, 1)
	}
	d.unproven = append(d.unproven, conn)
}

// forget removes a connection that was authenticated or closed. It returns false if the door has
// dropped it already.
func (d *Door) forget(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.Index(d.unproven, conn)
	if at >= 0 {
		d.unproven = slices.Delete(d.unproven, at, at+1)
	}
	return at >= 0 && !d.closing
}

// admit authenticates a connection and passes it to Enter, or closes it.
func (d *Door) admit(conn net.Conn) {
	conn.SetDeadline(time.Now().Add(patience))
	claim, err := Admit(conn, d.Secret, d.Run, d.Expected)
	if kept := d.forget(conn); err != nil || !kept {
		if !errors.Is(err, ErrUnwanted) { // such a peer knows the secret
			d.turned.Add(1)
		}
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	d.Enter(conn, claim)
}

// Knock dials and authenticates. It dials again if it gets no answer, since a door may be crowded
// or not served yet. The context bounds all of it.
func Knock(ctx context.Context, dial func(context.Context) (net.Conn, error), s Secret, c Claim) (
	net.Conn, Run, error) {
	for {
		conn, err := dial(ctx)
		if err != nil {
			return nil, Run{}, err
		}
		run, err := enter(ctx, conn, s, c)
		if err == nil {
			return conn, run, nil
		}
		conn.Close()
		if !unanswered(err) || ctx.Err() != nil {
			return nil, run, err
		}
		select {
		case <-ctx.Done():
			return nil, run, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// enter runs Enter within a context, bounded by the acceptor's patience.
func enter(ctx context.Context, conn net.Conn, s Secret, c Claim) (Run, error) {
	conn.SetDeadline(time.Now().Add(patience))
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	run, err := Enter(conn, s, c)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	return run, err
}

// unanswered reports whether the other side has closed a connection, or sent nothing.
func unanswered(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
