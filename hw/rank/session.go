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

// A session is the coordinator's view of its workers, from their start to their end.
type session struct {
	config   *Config
	listener net.Listener
	secret   gate.Secret
	door     *gate.Door // nil if no process connects
	dir      string     // directory of the socket, "" for none
	clock    Clock
	members  []*member
	events   chan event
	serving  context.Context // until the session is closed
	stop     context.CancelFunc
	running  sync.WaitGroup
	epoch    uint32
	still    time.Duration // waited since the last progress
	progress int64
	timeout  time.Duration
	patience atomic.Int64 // the timeout, for senders
	slots    int          // of the job's schedule
}

// A member is one worker.
type member struct {
	worker   int
	mine     []int // its ranks of the job
	here     bool  // in this process
	channel  channel[report, order]
	came     bool // channel and hello are set
	hello    hello
	ready    *Ready    // nil until it is ready
	offset   unit.Time // added to its clock gives the coordinator's
	skew     unit.Time // error bound of offset
	heard    atomic.Int64
	last     int64         // heard, when last looked at
	silence  time.Duration // waited since then
	progress atomic.Int64
	silent   atomic.Bool // sends nothing more
}

// An event is what the coordinator learns of a worker: a report, a lost connection, or its end.
type event struct {
	worker  int
	report  report
	channel channel[report, order] // of a worker that has connected
	lost    *lost
	ended   *Ended
}

// grace is the time that workers have to end by themselves, and that the coordinator waits for a
// better explanation of a failure.
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

// newSession returns a session that has started no worker.
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

// setTimeout sets the timeout of the job.
func (s *session) setTimeout(t time.Duration) {
	s.timeout = t
	s.patience.Store(int64(t))
}

// start starts the workers, and waits until all are ready.
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

// gather accepts workers, and returns when all are ready and their clocks are known.
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

// startHere starts the workers in this process, with its clock.
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

// listen opens the socket that workers connect to. The caller closes the session, which removes it.
func (s *session) listen() (err error) {
	network, address := s.config.Network, s.config.Listen
	switch {
	case network == "unix":
		if s.dir, err = os.MkdirTemp("", "collsim"); err != nil {
			return fmt.Errorf("a directory for sockets: %w", err)
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

// Listen opens a socket. It listens at all addresses of this machine only if they are named, as in
// "0.0.0.0:7000". Multipath TCP, Go's default, is off: its own buffers would take in more of a
// message than the receiver has read.
func Listen(network, address string) (net.Listener, error) {
	if host, _, err := net.SplitHostPort(address); network == "tcp" && err == nil && host == "" {
		return nil, fmt.Errorf("%q names no address of this machine", address)
	}
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), network, address)
}

// address returns the address for workers: the host of Config.Listen, and the port.
func (s *session) address() string {
	at := s.listener.Addr().String()
	if s.config.Network != "tcp" || !Reachable(s.config.Listen) {
		return at
	}
	host, _, _ := net.SplitHostPort(s.config.Listen)
	_, port, _ := net.SplitHostPort(at)
	return net.JoinHostPort(host, port)
}

// expects reports whether a claim belongs to a worker that has not connected yet.
func (s *session) expects(c gate.Claim) bool {
	return c.Service == gate.Coordination && c.To == -1 && c.From >= 0 &&
		int(c.From) < len(s.members) && s.members[c.From].heard.Load() == 0
}

// turned returns the number of connections that could not authenticate.
func (s *session) turned() int64 {
	if s.door == nil {
		return 0
	}
	return s.door.Turned()
}

// admit reads a worker's introduction, and then its reports. It closes the connection if the
// introduction is late, or if the worker is known already.
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
		return // keep the deadline of the session's end
	}
	w.allow(maxOther)
	w.patience = func() time.Duration { return time.Duration(s.patience.Load()) }
	w.heard = func() { m.heard.Store(time.Now().UnixNano()) }
	heard := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { s.beat(w, heard) })
	s.hear(m, w, r)
	close(heard)
	conn.Close() // a beat may wait for a peer that is gone
	beating.Wait()
}

// beat sends a worker beats that show that the coordinator lives, until heard is closed. Beats are
// sent between jobs, too.
func (s *session) beat(c channel[report, order], heard <-chan struct{}) {
	for {
		select {
		case <-heard:
			return
		case <-time.After(paceOf(time.Duration(s.patience.Load()))):
		}
		if c.send(&order{Kind: orderBeat}) != nil {
			c.close() // part of a message may have been sent
			return
		}
	}
}

// hear forwards a worker's reports, from r on, until its connection ends. Every report shows that
// the worker lives, even in the middle of a long one.
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
				return // the session has ended, and will not say so to this worker
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

// rank returns the first rank on the worker; without a job, the worker's number.
func (m *member) rank() int {
	if len(m.mine) > 0 {
		return m.mine[0]
	}
	return m.worker
}

// post sends an event to the coordinator. It reports whether the session still listens.
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

// meet stores the introduction of a worker that has connected.
func (s *session) meet(e *event) {
	m := s.members[e.worker]
	m.channel, m.came, m.hello = e.channel, true, *e.report.Hello
}

// meetLast stores the introductions that still wait in the queue. These workers then get the final
// order like all others.
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

// fault converts an error to the one that all workers receive.
func fault(err error) *hw.Error {
	var e *hw.Error
	if errors.As(err, &e) {
		return e
	}
	return &hw.Error{Call: "run", Code: "ended", Rank: -1, Lane: -1, Step: -1, Text: err.Error()}
}

// close ends all workers: with a fault, or because the work is done. It kills those that do not end
// within the grace. When it returns, none is left on this machine.
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

// at returns the worker of a rank, −1 if there is none.
func (s *session) at(rank int) int {
	for _, m := range s.members {
		if m.rank() <= rank && rank < m.rank()+max(len(m.mine), 1) {
			return m.worker
		}
	}
	return -1
}
