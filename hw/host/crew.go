package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/unit"
)

// crew is the ranks that are processes of their own, as the coordinator sees them.
type crew struct {
	listener net.Listener
	dir      string // of the sockets' names, "" for none
	since    time.Time
	hands    []*hand
	events   chan event
	serving  context.Context // until the crew is dismissed
	stop     context.CancelFunc
	running  sync.WaitGroup
	epoch    uint32
	moved    time.Time // when anything last made progress
	progress int64
	timeout  time.Duration
	patience atomic.Int64 // the timeout, for writes
	slots    int          // of the schedule that is played
}

// hand is one rank.
type hand struct {
	rank     int
	channel  *channel // nil until it has come
	process  *process // nil if it was started by hand
	hello    hello
	offset   unit.Time // what its clock is behind the coordinator's
	skew     unit.Time // how far that may be wrong
	heard    atomic.Int64
	progress atomic.Int64
	ended    atomic.Bool // it says nothing more
}

// event is what the coordinator hears of a rank: a report, or that it is lost.
type event struct {
	rank    int
	report  report
	channel *channel // of a rank that has come
	lost    *hw.Error
	process bool // its process has ended: nothing tells more
}

// muster starts the ranks and returns when all have come.
func muster(ctx context.Context, c *Config, ranks int, timeout time.Duration) (*crew, error) {
	w := &crew{since: time.Now(), events: make(chan event, 64), timeout: timeout}
	w.patience.Store(int64(timeout))
	w.serving, w.stop = context.WithCancel(context.Background())
	err := w.listen(c)
	if err != nil {
		return nil, err
	}
	for rank := range ranks {
		w.hands = append(w.hands, &hand{rank: rank})
	}
	var announced []Rendezvous
	for rank, h := range w.hands {
		r := Rendezvous{Network: w.listener.Addr().Network(), Address: w.address(c), Rank: rank}
		if r.Host = c.hostOf(rank, ranks); !local(r.Host) {
			announced = append(announced, r)
			continue
		}
		if h.process, err = launch(r); err != nil {
			w.dismiss(nil)
			return nil, err
		}
		w.running.Go(func() { w.exited(h) })
	}
	w.running.Go(w.accept)
	if len(announced) > 0 {
		c.Announce(announced)
	}
	if _, err := w.await(ctx, reportHello, w.hands); err != nil {
		w.dismiss(fault(err))
		return nil, err
	}
	if err := w.synchronize(ctx); err != nil {
		w.dismiss(fault(err))
		return nil, err
	}
	return w, nil
}

// listen opens the rendezvous.
func (w *crew) listen(c *Config) (err error) {
	network, address := "tcp", c.Listen
	switch {
	case c.Transport == Unix:
		if w.dir, err = os.MkdirTemp("", "collsim"); err != nil {
			return fmt.Errorf("host: a directory for sockets: %w", err)
		}
		network, address = "unix", filepath.Join(w.dir, "c")
	case address == "":
		address = "127.0.0.1:0"
	}
	if w.listener, err = listenAt(network, address); err != nil {
		if w.dir != "" {
			os.RemoveAll(w.dir)
		}
		return &hw.Error{Call: "listen", Code: code(err), Rank: -1, Lane: -1, Step: -1,
			Text: err.Error()}
	}
	return nil
}

// address is where ranks find the coordinator: the host as Config gives it, and the port.
func (w *crew) address(c *Config) string {
	at := w.listener.Addr().String()
	if !c.reachable() {
		return at
	}
	host, _, _ := net.SplitHostPort(c.Listen)
	_, port, _ := net.SplitHostPort(at)
	return net.JoinHostPort(host, port)
}

// accept takes in the ranks that come.
func (w *crew) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.running.Go(func() { w.receive(conn) })
	}
}

// receive hears what one who has come has to say, until that ends. The first must be who it is.
func (w *crew) receive(conn net.Conn) {
	defer conn.Close()
	ear := &ear{Conn: conn, patience: &w.patience}
	c := newChannel(ear)
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	var r report
	if err := c.in.Decode(&r); err != nil || r.Hello == nil || r.Hello.Rank < 0 ||
		r.Hello.Rank >= len(w.hands) {
		return
	}
	conn.SetReadDeadline(time.Time{})
	h := w.hands[r.Hello.Rank]
	if !h.heard.CompareAndSwap(0, time.Now().UnixNano()) {
		return // another one has come already
	}
	defer h.ended.Store(true)
	ear.hand = h
	stop := context.AfterFunc(w.serving, func() { conn.SetDeadline(time.Now().Add(grace)) })
	defer stop()
	for {
		if r.Kind == reportBeat {
			h.progress.Store(r.Progress)
		} else {
			w.tell(event{rank: h.rank, report: r, channel: c})
		}
		r = report{}
		if err := c.in.Decode(&r); err != nil {
			w.tell(event{rank: h.rank, lost: peerError(int32(h.rank), "read", err)})
			return
		}
	}
}

// tell tells the coordinator, if it still listens.
func (w *crew) tell(e event) {
	select {
	case w.events <- e:
	case <-w.serving.Done():
	}
}

// exited tells that the process of a rank has ended.
func (w *crew) exited(h *hand) {
	<-h.process.done
	code, text := h.process.state()
	w.tell(event{rank: h.rank, process: true, lost: &hw.Error{Call: "process", Code: code,
		Rank: h.rank, Lane: -1, Step: -1, Text: text}})
}

// ear is the coordinator's side of a socket. What comes shows that the rank lives, also in the
// middle of a long report; what goes must go on within the timeout.
type ear struct {
	net.Conn
	hand     *hand // set when it is known
	patience *atomic.Int64
}

// Read notes that something was heard.
func (e *ear) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if e.hand != nil && n > 0 {
		e.hand.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// Write writes a piece at a time.
func (e *ear) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		var m int
		e.Conn.SetWriteDeadline(time.Now().Add(time.Duration(e.patience.Load())))
		m, err = e.Conn.Write(b[:min(len(b), piece)])
		n, b = n+m, b[m:]
	}
	return n, err
}
