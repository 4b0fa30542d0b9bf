package rank

import (
	"io"
	"sync"
)

// A channel carries messages between a worker and its coordinator, in order. It is a wire between
// two processes, or a pipe within one.
type channel[In, Out any] interface {
	receive(*In) error
	send(*Out) error
	allow(bytes int64) // bounds the messages received from now on
	close()
}

// A pipe is one end of a channel within a process. Messages are passed by reference: a sender must
// not touch one that it has sent.
type pipe[In, Out any] struct {
	in     <-chan *In
	out    chan<- *Out
	closed chan struct{} // of both ends
	once   *sync.Once
}

// newPipe returns the ends of the coordinator and of the worker.
func newPipe() (*pipe[report, order], *pipe[order, report]) {
	orders, reports := make(chan *order, 1), make(chan *report, 1)
	closed, once := make(chan struct{}), &sync.Once{}
	return &pipe[report, order]{reports, orders, closed, once},
		&pipe[order, report]{orders, reports, closed, once}
}

// receive returns a pending message before it reports that the pipe is closed.
func (p *pipe[In, Out]) receive(m *In) error {
	select {
	case got := <-p.in:
		*m = *got
		return nil
	default:
	}
	select {
	case got := <-p.in:
		*m = *got
		return nil
	case <-p.closed:
		return io.EOF
	}
}

// send waits until the other end has room.
func (p *pipe[In, Out]) send(m *Out) error {
	select {
	case p.out <- m:
		return nil
	case <-p.closed:
		return io.ErrClosedPipe
	}
}

// allow does nothing: a message within a process needs no bound.
func (p *pipe[In, Out]) allow(int64) {}

func (p *pipe[In, Out]) close() { p.once.Do(func() { close(p.closed) }) }
