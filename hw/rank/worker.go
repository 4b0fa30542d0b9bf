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

// A Worker holds ranks, and carries out the coordinator's orders for them.
type Worker struct {
	Clock
	channel channel[order, report]
	local   net.Addr // of the socket; nil within the coordinator's process
	at      Rendezvous
	run     gate.Run
	pace    atomic.Int64  // between two beats, in nanoseconds
	timeout atomic.Int64  // of the job
	away    bool          // the coordinator is another process, and sends beats
	news    atomic.Int64  // number of messages from it
	lost    atomic.Bool   // nothing has come for long
	hurry   chan struct{} // signals a new pace
	backend Backend
	orders  chan order   // at most one, the next or the current
	phase   atomic.Int32 // a phase
	ranks   bool         // it has ranks of the job
	first   int          // of its ranks
	err     error        // that ended the worker
	free    func() (memory.Free, bool)
}

// newWorker returns a worker that has not been introduced.
func newWorker(c channel[order, report], clock Clock) *Worker {
	w := &Worker{Clock: clock, channel: c, hurry: make(chan struct{}, 1), orders: make(chan order, 1),
		free: memory.Read}
	w.pace.Store(int64(paceOf(time.Second)))
	w.timeout.Store(int64(hw.DefaultTimeout))
	return w
}

// paceOf returns the interval between a worker's beats.
func paceOf(timeout time.Duration) time.Duration {
	return min(max(timeout/8, time.Millisecond), time.Second)
}

// Come connects this process to a coordinator as a worker. It retries until the coordinator
// listens, authenticates it by the secret, and introduces itself. The worker takes jobs once it
// serves.
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

// introduce sends a worker's hello over an authenticated connection.
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

// maxOrder bounds a message of the coordinator in bytes: by the memory that is free here.
func maxOrder() int64 {
	if free, ok := memory.Read(); ok {
		return free.Bytes
	}
	return maxMessage
}

// dial connects to the coordinator. On timeout it reports why earlier attempts failed, rather than
// that the last one had no time.
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
			// DialContext may notice the deadline before ctx does.
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

// coordinatorError returns the error of a lost coordinator.
func coordinatorError(call string, err error) *hw.Error {
	e := CallError(-1, call, err)
	e.Text = "the coordinator: " + e.Text
	return e
}

// machine identifies the scope of process numbers: the boot of the machine, and its PID namespace.
// A machine may have several host names, so they only serve where Linux's files are missing.
func machine() string {
	booted, _ := input.Limit{}.File("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	if len(booted) == 0 || space == "" {
		host, _ := os.Hostname()
		return host
	}
	return strings.TrimSpace(string(booted)) + " " + space
}

// LocalAddr returns the address by which this machine reaches the coordinator.
func (w *Worker) LocalAddr() net.Addr { return w.local }

// Run returns the run that the worker belongs to, as the coordinator has proven it.
func (w *Worker) Run() gate.Run { return w.run }

// Close closes the connection of a worker that has not served.
func (w *Worker) Close() { w.channel.close() }

// Failed reports an error of this worker to the coordinator, which then sends an order. An error
// other than *hw.Error and *hw.Missing is attributed to the worker's first rank.
func (w *Worker) Failed(err error) {
	r := &report{Kind: reportFailed}
	if !errors.As(err, &r.Fault) && !errors.As(err, &r.Missing) {
		r.Fault = &hw.Error{Call: "execute", Code: "error", Rank: w.first, Lane: -1, Step: -1,
			Text: err.Error()}
	}
	w.channel.send(r)
}

// Serve carries out the coordinator's orders on a backend, and closes the backend at the end. It
// returns nil when the coordinator needs the worker no more. Otherwise its error is what ended the
// run, the loss of the coordinator, or the cause of the context's end.
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
		os.Remove(w.at.Address) // the coordinator is lost: the last worker removes the socket
		os.Remove(filepath.Dir(w.at.Address))
	}
	return w.err
}

// An orphaned error is that of a worker whose coordinator was lost.
type orphaned struct{ fault *hw.Error }

// Error formats the fault.
func (e *orphaned) Error() string { return e.fault.Error() }

// Unwrap returns the fault.
func (e *orphaned) Unwrap() error { return e.fault }

// beat reports at intervals that the worker lives, and its progress.
func (w *Worker) beat(ctx context.Context) {
	for {
		r := &report{Kind: reportBeat, Status: Status{Progress: w.backend.Status().Progress}}
		if w.channel.send(r) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-w.hurry: // the timeout has changed
		case <-time.After(time.Duration(w.pace.Load())):
		}
	}
}

// maxSilence is the number of timeouts without a message of the coordinator after which a worker
// ends.
const maxSilence = 4

// watch closes the connection to a coordinator that has fallen silent. It counts its own ticks and
// reads no clock. So a worker that was stopped, or got no CPU time, first reads what has arrived
// meanwhile.
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

// silence returns the error of a coordinator that has fallen silent.
func (w *Worker) silence() *hw.Error {
	return &hw.Error{Call: "beat", Code: "timeout", Rank: -1, Lane: -1, Step: -1,
		Text: fmt.Sprintf("the coordinator: not heard of for %v",
			maxSilence*time.Duration(w.timeout.Load()))}
}

// listen receives orders until the coordinator says bye, sends the fault of the run, or is lost.
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
		default: // the coordinator sends the next of these after the reply to this one
			if err := w.take(o); err != nil {
				return coordinatorError("read", err)
			}
		}
	}
}

// take queues an order for execution, if the phase allows it. It never blocks, since the end of a
// run must be heard.
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

// do carries out an order and reports the result.
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
		if ctx.Err() == nil { // else it leaves, and the peer that it waited for is not to blame
			w.Failed(err)
		}
		return
	}
	w.phase.Store(int32(after(o.Kind)))
	w.channel.send(&r)
}

// holds returns an error if a part takes more memory than is free here. Ranks in the coordinator's
// process are its caller's business.
func (w *Worker) holds(p *Part) error {
	s, err := p.Schedule()
	if err != nil || s == nil || w.local == nil {
		return err
	}
	need := int64(0)
	for i, rank := range p.Mine {
		need += hw.Alone(s, rank) - int64(len(p.Inputs[i]))
	}
	// not worth reading the system's files, which takes longer than a small job
	const little = 1 << 20
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

// prepare has the backend prepare a part of a job. The job's timeout counts from now on.
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
