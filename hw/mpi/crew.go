package mpi

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

// grace is how long ranks and mpirun have to end by themselves, and how long the coordinator waits
// for mpirun to say which rank was lost.
const grace = 2 * time.Second

// crew is the ranks, as the coordinator sees them.
type crew struct {
	launcher *process
	listener net.Listener
	dir      string // of the socket's name, "" for none
	machine  string // this one
	since    time.Time
	hands    []*hand
	events   chan event
	serving  context.Context // until the crew is dismissed
	stop     context.CancelFunc
	running  sync.WaitGroup
	moved    time.Time // when anything last made progress
	progress int64
	timeout  time.Duration
	slots    int
}

// hand is one rank.
type hand struct {
	rank     int
	channel  *channel // nil until it has come
	hello    hello
	offset   unit.Time // what its clock is behind the coordinator's
	skew     unit.Time // how far that may be wrong
	heard    atomic.Int64
	progress atomic.Int64
}

// event is what the coordinator hears of a rank: a report, or that it is lost. A rank of −1 is
// mpirun, which has ended.
type event struct {
	rank    int
	report  report
	channel *channel // of a rank that has come
	lost    error
}

// muster starts the ranks and returns when all have initialized MPI.
func muster(ctx context.Context, c *Config, ranks int, timeout time.Duration) (*crew, error) {
	if _, err := load(c.Library); err != nil {
		return nil, err
	}
	w := &crew{since: time.Now(), events: make(chan event, 64),
		timeout: max(timeout, hw.DefaultTimeout)}
	w.serving, w.stop = context.WithCancel(context.Background())
	for rank := range ranks {
		w.hands = append(w.hands, &hand{rank: rank})
	}
	w.machine = machine()
	if err := w.start(c, ranks); err != nil {
		w.dismiss(false)
		return nil, err
	}
	w.running.Go(w.accept)
	w.running.Go(func() {
		select {
		case <-w.launcher.done:
			w.tell(event{rank: -1, lost: fmt.Errorf("mpi: %s has ended: %v: %s", c.launcher(),
				w.launcher.cmd.ProcessState, w.launcher.said())})
		case <-w.serving.Done():
		}
	})
	if _, err := w.await(ctx, reportReady, ranks); err != nil {
		w.dismiss(false)
		return nil, err
	}
	if err := w.synchronize(ctx); err != nil {
		w.dismiss(false)
		return nil, err
	}
	return w, nil
}

// start opens the socket and runs mpirun.
func (w *crew) start(c *Config, ranks int) error {
	start := func() (err error) {
		if err := w.listen(c); err != nil {
			return err
		}
		at := w.listener.Addr()
		w.launcher, err = launch(c, at.Network()+" "+at.String()+" "+c.Library, ranks)
		return err
	}
	if c.Start == nil {
		return start()
	}
	return c.Start(ranks, start)
}

// listen opens the socket that ranks come to.
func (w *crew) listen(c *Config) (err error) {
	network, address := "tcp", c.Listen
	if address == "" {
		if w.dir, err = os.MkdirTemp("", "collsim"); err != nil {
			return fmt.Errorf("mpi: a directory for a socket: %w", err)
		}
		network, address = "unix", filepath.Join(w.dir, "c")
	}
	if w.listener, err = net.Listen(network, address); err != nil {
		return fmt.Errorf("mpi: %w", err) // dismiss removes the directory
	}
	return nil
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
	stop := context.AfterFunc(w.serving, func() { conn.Close() })
	defer stop()
	c := newChannel(conn)
	var r report
	if err := c.in.Decode(&r); err != nil || r.Hello == nil || r.Hello.Rank < 0 ||
		r.Hello.Rank >= len(w.hands) {
		return
	}
	h := w.hands[r.Hello.Rank]
	for {
		h.heard.Store(time.Now().UnixNano())
		if r.Kind == reportBeat {
			h.progress.Store(r.Progress)
		} else {
			w.tell(event{rank: h.rank, report: r, channel: c})
		}
		r = report{}
		if err := c.in.Decode(&r); err != nil {
			w.tell(event{rank: h.rank, lost: &hw.Error{Call: "read", Code: "EOF", Rank: h.rank,
				Lane: -1, Step: -1, Text: "the rank is lost"}})
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

// broken reports whether a rank was lost since the last job.
func (w *crew) broken() bool {
	for {
		select {
		case e := <-w.events:
			if e.lost != nil || e.report.Kind == reportFailed {
				return true
			}
		default:
			return false
		}
	}
}

// dismiss ends all ranks and mpirun: those of a crew that is well are asked to, others are killed
// where they are on this machine. When it returns, nothing of them is left here.
func (w *crew) dismiss(well bool) {
	for _, h := range w.hands {
		switch {
		case h.channel == nil:
		case well:
			h.channel.conn.SetWriteDeadline(time.Now().Add(grace))
			h.channel.send(order{Kind: orderBye})
		case h.hello.Machine == w.machine:
			kill(h.hello.Process)
		}
	}
	if !well {
		w.stop() // the sockets of those on other machines end, and so do they
	}
	if w.launcher != nil {
		w.launcher.end()
	}
	for _, h := range w.hands {
		if h.channel != nil && h.hello.Machine == w.machine {
			h.bury()
		}
	}
	w.stop()
	if w.listener != nil {
		w.listener.Close()
	}
	w.running.Wait()
	if w.dir != "" {
		os.RemoveAll(w.dir)
	}
}

// bury kills the process of a rank of this machine, if it has not ended, and waits until it has: a
// process takes a moment to end even so, and mpirun doesn't wait for that.
func (h *hand) bury() {
	for since := time.Now(); !ended(h.hello.Process) && time.Since(since) < grace; {
		kill(h.hello.Process)
		time.Sleep(time.Millisecond)
	}
}

// ranOn is what the ranks say that they run on: rank 0's, and all hosts if there are several.
func (w *crew) ranOn(ranks int) hw.RanOn {
	on := w.hands[0].hello.RanOn
	var hosts []string
	for _, h := range w.hands[:ranks] {
		if n := len(hosts); n == 0 || hosts[n-1] != h.hello.Host {
			hosts = append(hosts, h.hello.Host)
		}
	}
	if len(hosts) > 1 {
		on.Hosts = hosts
	}
	return on
}
