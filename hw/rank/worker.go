package rank

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/internal/input"
	"collsim/internal/memory"
	"collsim/unit"
)

// Worker is who holds ranks, and does with them what the coordinator says.
type Worker struct {
	Clock
	channel channel[order, report]
	local   net.Addr // of the socket; nil within the coordinator's process
	at      Rendezvous
	run     gate.Run
	pace    atomic.Int64  // between two beats, in nanoseconds
	timeout atomic.Int64  // of the job
	away    bool          // the coordinator is another process, and beats
	news    atomic.Int64  // how often something has come of it
	lost    atomic.Bool   // nothing came for long
	hurry   chan struct{} // the pace has changed
	backend Backend
	orders  chan order   // holds the one that it works on
	phase   atomic.Int32 // a phase
	ranks   bool         // it has some of the job
	first   int          // rank of the job
	err     error        // why the worker has ended
	free    func() (memory.Free, bool)
}

func newWorker(c channel[order, report], clock Clock) *Worker {
	w := &Worker{Clock: clock, channel: c, hurry: make(chan struct{}, 1), orders: make(chan order, 1),
		free: memory.Read}
	w.pace.Store(int64(paceOf(time.Second)))
	w.timeout.Store(int64(hw.DefaultTimeout))
	return w
}

// paceOf is how often a worker says that it lives.
func paceOf(timeout time.Duration) time.Duration {
	return min(max(timeout/8, time.Millisecond), time.Second)
}

// Come makes this process the worker of a rendezvous: it goes to the coordinator, again and again
// until that is there, has it prove that it knows the secret, and says who it is. It is a worker of
// use when it serves.
func Come(ctx context.Context, r Rendezvous) (*Worker, error) {
	if r.Timeout == 0 {
		r.Timeout = hw.DefaultTimeout
	}
	clock := StartClock()
	conn, run, err := dial(ctx, r)
	if err != nil {
		return nil, err
	}
	return introduce(conn, run, r, clock)
}

// introduce says who has entered.
func introduce(conn net.Conn, run gate.Run, r Rendezvous, clock Clock) (*Worker, error) {
	c := newWire[order, report](conn, maxOrder())
	c.alone, c.patience = true, func() time.Duration { return r.Timeout }
	w := newWorker(c, clock)
	w.local, w.at, w.first, w.run = conn.LocalAddr(), r, r.Worker, run
	w.away, c.heard = true, func() { w.news.Add(1) }
	name, _ := os.Hostname()
	err := w.channel.send(&report{Kind: reportHello, Hello: &hello{Worker: r.Worker,
		Process: os.Getpid(), Machine: machine(), Host: name, Wall: clock.since.UnixNano(),
		Order: byteOrder()}})
	if err != nil {
		conn.Close()
		return nil, coordinatorError("write", err)
	}
	return w, nil
}

// maxOrder is how long a message of the coordinator may be: no longer than this machine could keep.
func maxOrder() int64 {
	if free, ok := memory.Read(); ok {
		return free.Bytes
	}
	return maxMessage
}

// dial goes to the coordinator. When the time is over it tells why nobody was there, rather than
// that the last attempt had no time.
func dial(ctx context.Context, r Rendezvous) (net.Conn, gate.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	claim := gate.Claim{Service: gate.Coordination, From: int32(r.Worker), To: -1}
	conn, run, err := gate.Knock(ctx, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		var why error
		for {
			conn, err := d.DialContext(ctx, r.Network, r.Address)
			if err == nil {
				return conn, nil
			}
			// The attempt may know that the time is over before ctx does.
			if why == nil || ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
				why = err
			}
			select {
			case <-ctx.Done():
				return nil, why
			case <-time.After(50 * time.Millisecond):
			}
		}
	}, r.Secret, claim)
	if errors.Is(err, gate.ErrUnwanted) {
		err = fmt.Errorf("%d: %w", r.Worker, err)
	}
	if err != nil {
		return nil, run, coordinatorError("dial", err)
	}
	return conn, run, nil
}

// coordinatorError is the loss of the coordinator.
func coordinatorError(call string, err error) *hw.Error {
	e := CallError(-1, call, err)
	e.Text = "the coordinator: " + e.Text
	return e
}

// machine tells apart what numbers of processes are of: the machine since it was started and its
// namespace of processes, where the system tells them, for one may have several host names; else
// the host's name.
func machine() string {
	booted, _ := input.Limit{}.File("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	if len(booted) == 0 || space == "" {
		host, _ := os.Hostname()
		return host
	}
	return strings.TrimSpace(string(booted)) + " " + space
}

// LocalAddr is the address by which this machine reaches the coordinator.
func (w *Worker) LocalAddr() net.Addr { return w.local }

// Run is the run that the worker is in, as the coordinator has proven it.
func (w *Worker) Run() gate.Run { return w.run }

// Close leaves a coordinator whom the worker has not served.
func (w *Worker) Close() { w.channel.close() }

// Failed tells the coordinator what this worker has met. It will be posted what to do. An error
// that is no *hw.Error and no *hw.Missing is posted as one of its first rank.
func (w *Worker) Failed(err error) {
	r := &report{Kind: reportFailed}
	if !errors.As(err, &r.Fault) && !errors.As(err, &r.Missing) {
		r.Fault = &hw.Error{Call: "execute", Code: "error", Rank: w.first, Lane: -1, Step: -1,
			Text: err.Error()}
	}
	w.channel.send(r)
}

// Serve has the backend do what the coordinator says until that needs it no more, and closes it.
// Its error is what has ended the run of all workers, that the coordinator was lost, or the cause
// of the context's end.
func (w *Worker) Serve(ctx context.Context, p Backend, ready Ready) error {
	w.backend = p
	serving, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(serving, w.channel.close)
	var running sync.WaitGroup
	if w.channel.send(&report{Kind: reportReady, Ready: &ready}) == nil {
		running.Go(func() { w.beat(serving) })
	}
	if w.away {
		running.Go(func() { w.watch(serving) })
	}
	running.Go(func() {
		defer close(w.orders)
		defer cancel()
		if err := w.listen(ctx); err != nil {
			p.Stop(err)
			w.err = err
		}
	})
	for o := range w.orders {
		w.do(serving, &o)
	}
	cancel()
	running.Wait()
	stop()
	w.channel.close()
	closing := p.Close()
	if w.err == nil {
		return closing
	}
	if e := (*orphaned)(nil); errors.As(w.err, &e) && w.at.Network == "unix" {
		os.Remove(w.at.Address) // the coordinator cannot clear up any more: the last worker does
		os.Remove(filepath.Dir(w.at.Address))
	}
	return w.err
}

// orphaned is the error of a worker whose coordinator was lost.
type orphaned struct{ fault *hw.Error }

// Error is the error itself.
func (e *orphaned) Error() string { return e.fault.Error() }

// Unwrap is the error itself.
func (e *orphaned) Unwrap() error { return e.fault }

// beat tells every now and then that the worker lives, and how far it has come.
func (w *Worker) beat(ctx context.Context) {
	for {
		r := &report{Kind: reportBeat, Status: Status{Progress: w.backend.Status().Progress}}
		if w.channel.send(r) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-w.hurry: // there is another timeout
		case <-time.After(time.Duration(w.pace.Load())):
		}
	}
}

// maxSilence is after how many timeouts without a word of the coordinator a worker ends.
const maxSilence = 4

// watch ends the connection to a coordinator that is not heard of any more. It counts what it has
// waited, and looks at no clock, so that a worker that was stopped, or had no processor for long,
// hears first what has come meanwhile.
func (w *Worker) watch(ctx context.Context) {
	last, silent := w.news.Load(), time.Duration(0)
	for silent < maxSilence*time.Duration(w.timeout.Load()) {
		pace := paceOf(time.Duration(w.timeout.Load()))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pace):
		}
		silent += pace
		if now := w.news.Load(); now != last {
			last, silent = now, 0
		}
	}
	w.lost.Store(true)
	w.channel.close()
}

// silence is the error of a coordinator that is not heard of any more.
func (w *Worker) silence() *hw.Error {
	return &hw.Error{Call: "beat", Code: "timeout", Rank: -1, Lane: -1, Step: -1,
		Text: fmt.Sprintf("the coordinator: not heard of for %v",
			maxSilence*time.Duration(w.timeout.Load()))}
}

// listen hears the coordinator, until that says bye or what has failed, or is lost.
func (w *Worker) listen(ctx context.Context) error {
	for {
		var o order
		if err := w.channel.receive(&o); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			if w.lost.Load() {
				return &orphaned{w.silence()}
			}
			return &orphaned{coordinatorError("read", err)}
		}
		switch o.Kind {
		case orderBeat:
		case orderPing:
			w.channel.send(&report{Kind: reportPong, Clock: w.Now()})
		case orderWhy:
			w.channel.send(&report{Kind: reportStatus, Status: w.backend.Status()})
		case orderAbort:
			return o.Fault
		case orderBye:
			return nil
		default: // the coordinator sends the next of these when this one is answered
			if err := w.take(o); err != nil {
				return coordinatorError("read", err)
			}
		}
	}
}

// take has an order carried out, if it is the time for that. It never waits: the end of a run must
// be heard.
func (w *Worker) take(o order) error {
	now := phase(w.phase.Load())
	if err := now.takes(o.Kind, w.ranks); err != nil {
		return err
	}
	if o.Kind == orderJob {
		w.ranks = len(o.Part.Mine) > 0
	}
	w.phase.Store(int32(working))
	w.orders <- o
	return nil
}

// do does a part of a job and reports.
func (w *Worker) do(ctx context.Context, o *order) {
	var r report
	var err error
	switch o.Kind {
	case orderJob:
		r.Kind = reportPrepared
		err = w.prepare(ctx, o.Part)
	case orderReset:
		r.Kind, err = reportPrepared, w.backend.Reset(o.Epoch)
	case orderGo:
		r.Kind = reportDone
		r.Measured, err = w.backend.Execute()
	case orderFinish:
		r.Kind = reportResult
		r.Outputs, err = w.backend.Finish()
	}
	if err != nil {
		w.phase.Store(int32(failed))
		if ctx.Err() == nil { // else it leaves, and whom it was waiting for is not to blame
			w.Failed(err)
		}
		return
	}
	w.phase.Store(int32(after(o.Kind)))
	w.channel.send(&r)
}

// holds says that a part takes more memory than there is here, nil if not. What is in the
// coordinator's process is its caller's to ask for.
func (w *Worker) holds(p *Part) error {
	s, err := p.Schedule()
	if err != nil || s == nil || w.local == nil {
		return err
	}
	need := int64(0)
	for i, rank := range p.Mine {
		need += hw.Alone(s, rank) - int64(len(p.Inputs[i]))
	}
	const little = 1 << 20 // not worth asking for: the system's files take longer than a small job
	if need <= little {
		return nil
	}
	free, known := w.free()
	if !known || need <= free.Bytes {
		return nil
	}
	return &hw.Error{Call: "memory", Code: "too little", Rank: w.first, Lane: -1, Step: -1,
		Text: fmt.Sprintf("%v is needed: %v has %v left", unit.Bytes(need), free,
			unit.Bytes(free.Bytes))}
}

// prepare has the backend take up a part of a job; from now on its timeout counts.
func (w *Worker) prepare(ctx context.Context, p *Part) error {
	w.pace.Store(int64(paceOf(p.Env.Timeout)))
	w.timeout.Store(int64(p.Env.Timeout))
	select {
	case w.hurry <- struct{}{}:
	default:
	}
	if len(p.Mine) > 0 {
		w.first = p.Mine[0]
	}
	if err := w.holds(p); err != nil {
		return err
	}
	return w.backend.Prepare(ctx, p)
}
