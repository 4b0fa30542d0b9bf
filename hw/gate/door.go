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

// patience is how long who has come may take to prove that it is expected: all of it, however
// slowly it speaks.
const patience = 5 * time.Second

// MaxUnproven is how many connections a door keeps that have proven nothing yet. Of more, the
// oldest is closed: who knows the secret needs less time than it takes to open so many.
const MaxUnproven = 256

// Door accepts connections, and lets in those that know the secret of a run.
type Door struct {
	Listener net.Listener
	Secret   Secret
	Run      Run
	Expected func(Claim) bool
	// Enter takes a connection over that has proven its claim, in a goroutine of its own. Serve
	// returns after it.
	Enter func(net.Conn, Claim)

	mu       sync.Mutex
	unproven []net.Conn // oldest first
	closing  bool
	turned   atomic.Int64
}

// Turned is how many connections were turned away.
func (d *Door) Turned() int64 { return d.turned.Load() }

// Serve accepts connections until the listener is closed. It returns when nothing of it runs.
func (d *Door) Serve() {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		conn, err := d.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil { // too many open files, or who has dialed is gone
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

// keep notes a connection that has proven nothing.
func (d *Door) keep(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.unproven) >= MaxUnproven {
		d.unproven[0].Close()
		d.unproven = slices.Delete(d.unproven, 0, 1)
	}
	d.unproven = append(d.unproven, conn)
}

// forget takes note that a connection has proven its claim or was closed; false if the door does
// not keep it any more.
func (d *Door) forget(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.Index(d.unproven, conn)
	if at >= 0 {
		d.unproven = slices.Delete(d.unproven, at, at+1)
	}
	return at >= 0 && !d.closing
}

func (d *Door) admit(conn net.Conn) {
	conn.SetDeadline(time.Now().Add(patience))
	claim, err := Admit(conn, d.Secret, d.Run, d.Expected)
	if kept := d.forget(conn); err != nil || !kept {
		if !errors.Is(err, ErrUnwanted) { // which knows the secret
			d.turned.Add(1)
		}
		conn.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	d.Enter(conn, claim)
}

// Knock enters where a dialed connection leads. A door that is crowded, or that nobody serves yet,
// may not answer: then it is dialed again. The context bounds all of it.
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

// enter is Enter within a context, and not for longer than who accepts has patience.
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

// unanswered reports whether the other side has closed a connection, or said nothing.
func unanswered(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
