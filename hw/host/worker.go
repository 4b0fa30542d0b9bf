package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/unit"
)

// Rendezvous is how a rank finds the others: what the command line that starts one by hand needs.
type Rendezvous struct {
	Host    string // the machine that it is meant for, for people
	Network string // "tcp" or "unix"
	Address string // of the coordinator
	Rank    int
	// Timeout bounds the wait for a coordinator that is not there yet; hw.DefaultTimeout if 0.
	Timeout time.Duration
}

// environment is how Child knows that it is one.
const environment = "COLLSIM_HOST_RANK"

// Environ is what to add to the environment of this very program so that Child makes it this rank:
// a "key=value" as of os.Environ. The timeout is not part of it.
func (r Rendezvous) Environ() string {
	return fmt.Sprintf("%s=%d %s %s", environment, r.Rank, r.Network, r.Address)
}

// Child does the work of a rank if this process was started for that, and returns the code to exit
// with. The main of a program that uses this package, and the TestMain of a test, must call it
// before anything else.
func Child() (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), " ", 3)
	if len(words) != 3 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // the coordinator gets it too, and knows what to do
	rank, err := strconv.Atoi(words[0])
	if err != nil {
		return 2, true
	}
	r := Rendezvous{Network: words[1], Address: words[2], Rank: rank}
	if err := Worker(context.Background(), r); err != nil {
		return 1, true
	}
	return 0, true
}

// Worker is a rank: it goes to the rendezvous and plays what the coordinator says, until that needs
// it no more. Its error is what has ended the run at all ranks, or that the coordinator was lost.
func Worker(ctx context.Context, r Rendezvous) error {
	if r.Timeout == 0 {
		r.Timeout = hw.DefaultTimeout
	}
	since := time.Now()
	conn, err := dial(ctx, r)
	if err != nil {
		return err
	}
	listener, err := listen(r, conn)
	if err != nil {
		conn.Close()
		return err
	}
	w := &worker{rank: r.Rank, channel: newChannel(conn), since: since,
		hurry: make(chan struct{}, 1)}
	w.pace.Store(int64(paceOf(r.Timeout)))
	w.mesh = newMesh(int32(r.Rank), listener, w.failed)
	ctx, w.cancel = context.WithCancel(ctx)
	w.ctx = ctx
	defer w.close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := w.introduce(listener.Addr().String()); err != nil {
		return coordinatorError("write", err)
	}
	w.tasks.Go(w.beat)
	err = w.obey()
	if w.orphaned && r.Network == "unix" {
		w.mesh.listener.Close() // the coordinator cannot clear up any more: the last rank does
		os.Remove(r.Address)
		os.Remove(filepath.Dir(r.Address))
	}
	return err
}

// dial goes to the coordinator, again and again until it is there.
func dial(ctx context.Context, r Rendezvous) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, r.Network, r.Address)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, coordinatorError("dial", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// listen opens where peers reach this rank: beside the coordinator's socket, or at the address by
// which this machine reaches the coordinator.
func listen(r Rendezvous, conn net.Conn) (net.Listener, error) {
	address := filepath.Join(filepath.Dir(r.Address), fmt.Sprintf("%d", r.Rank))
	if r.Network == "tcp" {
		host, _, err := net.SplitHostPort(conn.LocalAddr().String())
		if err != nil {
			return nil, err
		}
		address = net.JoinHostPort(host, "0")
	}
	l, err := listenAt(r.Network, address)
	if err != nil {
		return nil, &hw.Error{Call: "listen", Code: code(err), Rank: r.Rank, Lane: -1, Step: -1,
			Text: err.Error()}
	}
	return l, nil
}

// listenAt opens a socket. Go's listeners ask for multipath TCP, whose own buffers would take in
// more of a message than its receiver has read.
func listenAt(network, address string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), network, address)
}

// coordinatorError is the loss of the coordinator.
func coordinatorError(call string, err error) error {
	return &hw.Error{Call: call, Code: code(err), Rank: -1, Lane: -1, Step: -1,
		Text: "the coordinator: " + err.Error()}
}

// worker is a rank that is a process of its own.
type worker struct {
	*channel
	ctx    context.Context
	cancel context.CancelFunc
	rank   int
	since  time.Time
	mesh   *mesh
	stock  stock
	tasks  sync.WaitGroup

	pace   atomic.Int64  // between two beats
	hurry  chan struct{} // the pace has changed
	player *player

	orphaned bool // the coordinator was lost
}

func (w *worker) close() {
	w.cancel()
	w.conn.Close()
	if p := w.mesh.player.Load(); p != nil {
		p.fail(context.Canceled)
	}
	w.mesh.close()
	w.tasks.Wait()
}

func (w *worker) introduce(address string) error {
	name, _ := os.Hostname()
	return w.send(report{Kind: reportHello, Hello: &hello{Rank: w.rank, Address: address,
		Wall: unit.Time(w.since.UnixNano()), Order: byteOrder(), Host: name,
		RanOn: hw.Here("host", w.conn.LocalAddr().Network())}})
}

// beat tells every now and then that the rank lives, and how far it has come.
func (w *worker) beat() {
	for {
		r := report{Kind: reportBeat}
		if p := w.mesh.player.Load(); p != nil {
			r.Progress = p.progress()
		}
		if w.send(r) != nil {
			return
		}
		select {
		case <-w.ctx.Done():
			return
		case <-w.hurry: // there is another timeout
		case <-time.After(time.Duration(w.pace.Load())):
		}
	}
}

// paceOf is how often a rank says that it lives.
func paceOf(timeout time.Duration) time.Duration {
	return min(max(timeout/8, time.Millisecond), time.Second)
}

// failed tells the coordinator what this rank has met. It will be told what to do.
func (w *worker) failed(e *hw.Error) { w.send(report{Kind: reportFailed, Fault: e}) }

// obey does what the coordinator says.
func (w *worker) obey() error {
	for {
		var o order
		if err := w.in.Decode(&o); err != nil {
			if cause := context.Cause(w.ctx); cause != nil {
				return cause
			}
			w.orphaned = true
			return coordinatorError("read", err)
		}
		switch o.Kind {
		case orderPing:
			w.send(report{Kind: reportPong, Clock: w.now()})
		case orderWhy:
			r := report{Kind: reportWaits}
			if p := w.mesh.player.Load(); p != nil {
				r.Waits = p.waits()
			}
			w.send(r)
		case orderAbort:
			return o.Fault
		case orderBye:
			return nil
		default: // the coordinator sends the next of these when this one is answered
			w.tasks.Go(func() { w.do(&o) })
		}
	}
}

func (w *worker) now() unit.Time { return unit.Time(time.Since(w.since)) * unit.Nanosecond }

// do does a part of a job and reports.
func (w *worker) do(o *order) {
	var r report
	var err error
	switch o.Kind {
	case orderJob:
		err = w.prepare(o)
		r.Kind = reportReady
	case orderReset:
		if o.Keep {
			w.player.keep()
		}
		w.reset(o.Epoch)
		r.Kind = reportReady
	case orderGo:
		gate := make(chan struct{})
		close(gate)
		r.Kind = reportDone
		r.Start, r.End, err = w.player.play(gate)
		r.Sent, r.Got = w.player.messages()
	case orderFinish:
		if o.Keep {
			w.player.keep()
		}
		r.Kind, r.Output = reportResult, w.player.output()
		r.Recording = w.player.recording()
		w.mesh.player.Store(nil)
	default:
		err = fmt.Errorf("host: order %d is none", o.Kind)
	}
	if err == nil {
		w.send(r)
		return
	}
	var e *hw.Error
	if !errors.As(err, &e) {
		e = &hw.Error{Call: "play", Code: "error", Rank: w.rank, Lane: -1, Step: -1, Text: err.Error()}
	}
	w.failed(e)
}

// prepare makes the rank ready for a job's first repetition.
func (w *worker) prepare(o *order) error {
	t := o.Job
	w.pace.Store(int64(paceOf(t.Env.Timeout)))
	select {
	case w.hurry <- struct{}{}:
	default:
	}
	s, err := parse(t.Text, t.Ranks)
	if err != nil {
		return err
	}
	p := newPlayer(s, w.rank, t.Env.Slots)
	p.net, p.stock, p.input, p.since = &sockets{w.mesh}, &w.stock, t.Input, w.since
	p.iterations, p.tracing, p.dirty = t.Env.Iterations, t.Env.Trace, t.Dirty
	if err := w.mesh.connect(w.ctx, t.Peers, t.Env.Timeout); err != nil {
		return err
	}
	w.player = p
	w.reset(o.Epoch)
	return nil
}

// reset makes the rank ready for a repetition; no other rank begins it before all are.
func (w *worker) reset(epoch uint32) {
	w.player.reset()
	w.mesh.player.Store(w.player)
	w.mesh.epoch.Store(epoch)
}
