package rank

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/unit"
)

// session is the workers of a coordinator from their start to their end, as it sees them.
type session struct {
	config   *Config
	listener net.Listener
	secret   gate.Secret
	door     *gate.Door // nil if no process comes
	dir      string     // of the socket's name, "" for none
	clock    Clock
	members  []*member
	events   chan event
	serving  context.Context // until the session is closed
	stop     context.CancelFunc
	running  sync.WaitGroup
	epoch    uint32
	still    time.Duration // waited since anything last made progress
	progress int64
	timeout  time.Duration
	patience atomic.Int64 // the timeout, for sending
	slots    int          // of the schedule that is executed
}

// member is one worker.
type member struct {
	worker   int
	mine     []int // the ranks of the job that are on it
	here     bool  // it is in this process
	channel  channel[report, order]
	came     bool // channel and hello are there
	hello    hello
	ready    *Ready    // nil until it is
	offset   unit.Time // what its clock is behind the coordinator's
	skew     unit.Time // how far that may be wrong
	heard    atomic.Int64
	last     int64         // heard, when that was last looked at
	silence  time.Duration // waited since that
	progress atomic.Int64
	silent   atomic.Bool // it says nothing more
}

// event is what the coordinator hears of a worker: a report, or that it is lost or has ended.
type event struct {
	worker  int
	report  report
	channel channel[report, order] // of a worker that has come
	lost    *lost
	ended   *Ended
}

// grace is how long workers have to end by themselves, and how long the coordinator waits for a
// better explanation of a fault.
const grace = 500 * time.Millisecond

// open starts workers and returns when all are ready.
func open(ctx context.Context, c *Config, workers int, timeout time.Duration) (*session, error) {
	s := newSession(c, workers, timeout)
	if err := s.start(ctx); err != nil {
		s.close(fault(err))
		return nil, err
	}
	return s, nil
}

// newSession has started nobody.
func newSession(c *Config, workers int, timeout time.Duration) *session {
	s := &session{config: c, clock: StartClock(), events: make(chan event, 64), secret: c.Secret}
	if s.secret.None() {
		s.secret = gate.NewSecret()
	}
	s.serving, s.stop = context.WithCancel(context.Background())
	s.setTimeout(max(timeout, c.Startup))
	for worker := range workers {
		s.members = append(s.members, &member{worker: worker})
	}
	return s
}

func (s *session) setTimeout(t time.Duration) {
	s.timeout = t
	s.patience.Store(int64(t))
}

// start starts the workers, and gathers them.
func (s *session) start(ctx context.Context) (err error) {
	begin := func() error {
		if err := s.listen(); err != nil {
			return err
		}
		r := Rendezvous{Network: s.listener.Addr().Network(), Address: s.address(), Secret: s.secret}
		return s.config.Launch.Start(r, len(s.members), func(e Ended) {
			s.post(event{worker: e.Worker, ended: &e})
		})
	}
	switch {
	case s.config.Here != nil:
		s.startHere()
	case s.config.Within != nil:
		err = s.config.Within(len(s.members), begin)
	default:
		err = begin()
	}
	if err != nil {
		return err
	}
	return s.gather(ctx)
}

// gather lets workers in, and returns when all are ready and their clocks are known.
func (s *session) gather(ctx context.Context) error {
	if s.listener != nil {
		s.door = &gate.Door{Listener: s.listener, Secret: s.secret, Run: gate.NewRun(),
			Expected: s.expects, Enter: s.admit}
		s.running.Go(s.door.Serve)
	}
	if _, err := s.await(ctx, reportReady, s.members); err != nil {
		return err
	}
	return s.synchronize(ctx)
}

// startHere starts workers in this process, with its clock.
func (s *session) startHere() {
	for _, m := range s.members {
		here, there := newPipe()
		m.here, m.came, m.channel = true, true, here
		m.hello = hello{Worker: m.worker, Process: os.Getpid(), Order: byteOrder()}
		m.heard.Store(time.Now().UnixNano())
		w := newWorker(there, s.clock)
		backend := s.config.Here(s.clock)
		s.running.Go(func() { w.Serve(context.Background(), backend, Ready{RanOn: s.config.RanOn}) })
		s.running.Go(func() { s.hear(m, here, report{}) })
	}
}

// listen opens the socket that workers come to. Whoever closes the session removes what it leaves.
func (s *session) listen() (err error) {
	network, address := s.config.Network, s.config.Listen
	switch {
	case network == "unix":
		if s.dir, err = os.MkdirTemp("", "collsim"); err != nil {
			return fmt.Errorf("hw: a directory for sockets: %w", err)
		}
		address = filepath.Join(s.dir, "c")
	case address == "":
		address = "127.0.0.1:0"
	}
	if s.listener, err = Listen(network, address); err != nil {
		return CallError(-1, "listen", err)
	}
	return nil
}

// Listen opens a socket, at all addresses of this machine only if they are named, as in
// "0.0.0.0:7000". Go's listeners ask for multipath TCP, whose own buffers would take in more of a
// message than its receiver has read.
func Listen(network, address string) (net.Listener, error) {
	if host, _, err := net.SplitHostPort(address); network == "tcp" && err == nil && host == "" {
		return nil, fmt.Errorf("%q names no address of this machine", address)
	}
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), network, address)
}

// address is where workers find the coordinator: the host as Config gives it, and the port.
func (s *session) address() string {
	at := s.listener.Addr().String()
	if s.config.Network != "tcp" || !Reachable(s.config.Listen) {
		return at
	}
	host, _, _ := net.SplitHostPort(s.config.Listen)
	_, port, _ := net.SplitHostPort(at)
	return net.JoinHostPort(host, port)
}

// expects reports whether a claim is that of a worker that has not come.
func (s *session) expects(c gate.Claim) bool {
	return c.Service == gate.Coordination && c.To == -1 && c.From >= 0 &&
		int(c.From) < len(s.members) && s.members[c.From].heard.Load() == 0
}

// turned is how many connections have proven nothing.
func (s *session) turned() int64 {
	if s.door == nil {
		return 0
	}
	return s.door.Turned()
}

// admit hears which worker has come, and then what that has to say. One that does not say so at
// once, or is known already, is sent away.
func (s *session) admit(conn net.Conn, claim gate.Claim) {
	defer conn.Close()
	stop := context.AfterFunc(s.serving, func() { conn.SetDeadline(time.Now().Add(grace)) })
	defer stop()
	w := newWire[report, order](conn, maxIntroduction)
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	var r report
	if err := w.receive(&r); err != nil || r.Hello == nil || r.Hello.Worker != int(claim.From) {
		return
	}
	conn.SetReadDeadline(time.Time{})
	m := s.members[r.Hello.Worker]
	if !m.heard.CompareAndSwap(0, time.Now().UnixNano()) || s.serving.Err() != nil {
		return // the deadline of the session's end is not to be put off
	}
	w.allow(maxOther)
	w.patience = func() time.Duration { return time.Duration(s.patience.Load()) }
	w.heard = func() { m.heard.Store(time.Now().UnixNano()) }
	heard := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { s.beat(w, heard) })
	s.hear(m, w, r)
	close(heard)
	conn.Close() // a beat may wait for who is gone
	beating.Wait()
}

// beat tells a worker every now and then that the coordinator is there, also while that has no job
// for it, until nothing is heard of the worker any more.
func (s *session) beat(c channel[report, order], heard <-chan struct{}) {
	for {
		select {
		case <-heard:
			return
		case <-time.After(paceOf(time.Duration(s.patience.Load()))):
		}
		if c.send(&order{Kind: orderBeat}) != nil {
			c.close() // half a message may be on its way
			return
		}
	}
}

// hear tells what a worker says, from this report on, until that ends. What comes shows that it
// lives, also in the middle of a long report.
func (s *session) hear(m *member, c channel[report, order], r report) {
	defer m.silent.Store(true)
	for {
		switch r.Kind {
		case 0:
		case reportBeat:
			m.progress.Store(r.Status.Progress)
		default:
			posted := s.post(event{worker: m.worker, report: r, channel: c})
			if !posted && r.Kind == reportHello {
				return // whom nobody tells of the end any more need not wait for that
			}
		}
		r = report{}
		if err := c.receive(&r); err != nil {
			s.post(event{worker: m.worker, lost: &lost{"read", err}})
			return
		}
		if r.Kind == reportHello {
			s.post(event{worker: m.worker, lost: &lost{"read", errAgain}})
			return
		}
		m.heard.Store(time.Now().UnixNano())
	}
}

// rank is the first on the worker; without a job, the worker's number.
func (m *member) rank() int {
	if len(m.mine) > 0 {
		return m.mine[0]
	}
	return m.worker
}

// post tells the coordinator, if it still listens.
func (s *session) post(e event) bool {
	select {
	case <-s.serving.Done():
		return false
	default:
	}
	select {
	case s.events <- e:
		return true
	case <-s.serving.Done():
		return false
	}
}

// meet notes a worker that has come.
func (s *session) meet(e *event) {
	m := s.members[e.worker]
	m.channel, m.came, m.hello = e.channel, true, *e.report.Hello
}

// meetLast notes those that have come and that nobody has awaited any more: they are posted of the
// end like all others, and need not find out.
func (s *session) meetLast() {
	for {
		select {
		case e := <-s.events:
			if e.report.Kind == reportHello {
				s.meet(&e)
			}
		default:
			return
		}
	}
}

// broken reports whether a worker was lost since the last job.
func (s *session) broken() bool {
	for {
		select {
		case e := <-s.events:
			if e.lost != nil || e.ended != nil || e.report.Kind == reportFailed {
				return true
			}
		default:
			return false
		}
	}
}

// fault is an error as all workers are posted of it.
func fault(err error) *hw.Error {
	var e *hw.Error
	if errors.As(err, &e) {
		return e
	}
	return &hw.Error{Call: "run", Code: "ended", Rank: -1, Lane: -1, Step: -1, Text: err.Error()}
}

// close ends all workers: with a fault, or because there is nothing more to do. Those that have not
// ended soon are ended. When it returns, nothing of them is left on this machine.
func (s *session) close(fault *hw.Error) {
	o, lost := order{Kind: orderBye}, -1
	if fault != nil {
		o = order{Kind: orderAbort, Fault: fault}
		if fault.Rank >= 0 && fault.Code == "timeout" {
			lost = s.at(fault.Rank)
		}
	}
	var processes []int
	here := machine()
	s.meetLast()
	for _, m := range s.members {
		if !m.came {
			continue
		}
		if m.hello.Machine == here && m.hello.Process > 1 {
			processes = append(processes, m.hello.Process)
		}
		if !m.silent.Load() {
			m.channel.send(&o)
		}
	}
	s.stop()
	if s.listener != nil {
		s.listener.Close()
	}
	if s.config.Launch != nil {
		s.config.Launch.Stop(processes, lost, min(grace, s.timeout/4))
	}
	s.running.Wait()
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// at is the worker that a rank is on, −1 if there is none.
func (s *session) at(rank int) int {
	for _, m := range s.members {
		if m.rank() <= rank && rank < m.rank()+max(len(m.mine), 1) {
			return m.worker
		}
	}
	return -1
}
