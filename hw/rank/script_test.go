package rank

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// script is bytes that decide what a hostile end does; behind its end all are 0.
type script struct{ left []byte }

func (s *script) next() (b byte) {
	if len(s.left) > 0 {
		b, s.left = s.left[0], s.left[1:]
	}
	return b
}

// some are up to so many bytes of the script itself.
func (s *script) some(n int) []byte {
	n = min(n, len(s.left))
	b := s.left[:n]
	s.left = s.left[n:]
	return b
}

// stream is one direction of a connection in memory. What is written never waits for who reads.
type stream struct {
	mu     sync.Mutex
	data   []byte
	closed bool
	due    time.Time
	wake   chan struct{} // holds one: something has changed
}

func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take is what is there, or an error; neither if there is nothing yet.
func (s *stream) take(b []byte) (n int, due time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = copy(b, s.data)
	s.data = s.data[n:]
	switch {
	case n > 0:
	case s.closed:
		err = io.EOF
	case !s.due.IsZero() && !time.Now().Before(s.due):
		err = os.ErrDeadlineExceeded
	}
	return n, s.due, err
}

// end is one end of a connection in memory, which may damage what is written to it.
type end struct {
	net.Conn
	in, out *stream
	bend    func([]byte) []byte // of the next write; nil leaves it as it is
}

func newEnds() (a, b *end) {
	x, y := &stream{wake: make(chan struct{}, 1)}, &stream{wake: make(chan struct{}, 1)}
	return &end{in: x, out: y}, &end{in: y, out: x}
}

func (e *end) Read(b []byte) (int, error) {
	for {
		n, due, err := e.in.take(b)
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
		var late <-chan time.Time
		if !due.IsZero() {
			timer := time.NewTimer(time.Until(due))
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-e.in.wake:
		case <-late:
		}
	}
}

func (e *end) Write(b []byte) (n int, err error) {
	said := b
	if e.bend != nil && len(b) > 0 {
		said, e.bend = e.bend(append([]byte{}, b...)), nil
	}
	e.out.change(func() {
		if n = len(b); e.out.closed {
			n, err = 0, io.ErrClosedPipe
			return
		}
		e.out.data = append(e.out.data, said...)
	})
	return n, err
}

func (e *end) Close() error {
	e.in.change(func() { e.in.closed, e.in.data = true, nil })
	e.out.change(func() { e.out.closed = true })
	return nil
}

func (e *end) SetDeadline(t time.Time) error { return e.SetReadDeadline(t) }

func (e *end) SetReadDeadline(t time.Time) error {
	e.in.change(func() { e.in.due = t })
	return nil
}

func (e *end) SetWriteDeadline(time.Time) error { return nil }

func (e *end) LocalAddr() net.Addr { return &net.TCPAddr{} }

// crooked has the next write of an end be damaged as the script says.
func (s *script) crooked(e *end) {
	how, at, by := s.next(), int(s.next()), s.next()
	e.bend = func(b []byte) []byte {
		at %= len(b)
		switch how % 5 {
		case 0:
			b[at] ^= by
		case 1:
			b = b[:at]
		case 2:
			b = append(b[:at:at], b[at+1:]...)
		case 3:
			b = append(b, b[at:]...)
		case 4:
			b[len(b)-1-at] ^= by
		}
		return b
	}
}

// port is a listener in memory.
type port struct {
	come   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPort() *port { return &port{come: make(chan net.Conn), closed: make(chan struct{})} }

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.come:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *port) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *port) Addr() net.Addr { return &net.TCPAddr{} }

// dial is nil where the port is closed.
func (p *port) dial() *end {
	a, b := newEnds()
	select {
	case p.come <- b:
		return a
	case <-p.closed:
		return nil
	}
}
