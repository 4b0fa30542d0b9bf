package cuda

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/rank"
	"collsim/schedule"
	"collsim/unit"
)

// environment names the variable that makes a process a worker: its machine's number, the secret
// and the coordinator's address.
const environment = "COLLSIM_CUDA_MACHINE"

// environ returns the environment that Child reads.
func environ(r rank.Rendezvous) []string {
	return []string{fmt.Sprintf("%s=%d %s %s", environment, r.Worker, r.Secret.Text(), r.Address)}
}

// Child runs the worker of a machine if this process was started as one, and returns the exit code.
// The main of a program that uses this package, and the TestMain of a test, must call it first.
func Child() (code int, child bool) { return childOf(nil) }

// childOf does the work of Child. Tests pass wrap to replace the connections to other machines.
func childOf(wrap func(net.Conn) net.Conn) (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), " ", 3)
	if len(words) != 3 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // a terminal sends it to the coordinator, too, which decides
	number, notOne := strconv.Atoi(words[0])
	secret, err := gate.ParseSecret(words[1])
	if notOne != nil || err != nil {
		return 2, true
	}
	r := rank.Rendezvous{Network: "tcp", Address: words[2], Worker: number, Secret: secret}
	if serve(context.Background(), r, wrap) != nil {
		return 1, true
	}
	return 0, true
}

// Worker executes ranks on the GPUs of one machine. It connects to the rendezvous and follows the
// coordinator's orders until the end. Its error is what ended the run on all machines, or the loss
// of the coordinator. If the driver does not return, the process ends.
func Worker(ctx context.Context, r rank.Rendezvous) error { return serve(ctx, r, nil) }

// serve does the work of Worker. Tests pass wrap to replace the connections to other machines.
func serve(ctx context.Context, r rank.Rendezvous, wrap func(net.Conn) net.Conn) error {
	runtime.LockOSThread() // the only thread that calls the driver
	defer runtime.UnlockOSThread()
	w, err := rank.Come(ctx, r)
	if err != nil {
		return err
	}
	var l net.Listener
	d := newDevice(map[imageName][]byte{})
	if err = d.find(); err == nil {
		l, err = rank.ListenForPeers(r, w.LocalAddr())
	}
	if err != nil {
		w.Failed(err)
		w.Close()
		return err
	}
	m := &machine{Clock: w.Clock, device: d, number: r.Worker, wires: &wires{failed: w.Failed,
		wrap: wrap, doors: rank.NewMesh(r.Worker, l, r.Secret, w.Run()), all: map[int32]net.Conn{}}}
	m.stopped, m.stop = context.WithCancelCause(context.Background())
	return w.Serve(ctx, m, rank.Ready{Address: l.Addr().String(),
		RanOn: hw.Here("cuda", d.version(0))})
}

// A machine is the rank.Backend of a machine's GPUs.
type machine struct {
	rank.Clock
	device    *device
	number    int
	wires     *wires
	stopped   context.Context // ended by stop
	stop      context.CancelCauseFunc
	execution *execution        // of the job; nil for none
	peers     map[int32][][]int // outgoing crossings, by machine
	calls     atomic.Int64      // of the driver when the job was prepared; −1 before

	mu      sync.Mutex // guards the following
	watched *execution // that Status may read; nil for none
	killer  *time.Timer
	closed  bool
}

// Prepare implements rank.Backend.
func (m *machine) Prepare(ctx context.Context, part *rank.Part) error {
	m.calls.Store(-1)
	if m.execution = nil; len(part.Mine) == 0 {
		return nil
	}
	s, err := part.Schedule()
	if err != nil {
		return err
	}
	if err := refusal(s, part.Workers); err != nil {
		return err
	}
	places := machines{count: part.Workers, self: m.number, ranks: part.Ranks}
	for _, number := range part.Mine {
		if places.of(number) != m.number {
			return fmt.Errorf("rank %d is not one of machine %d", number, m.number)
		}
	}
	var peers []rank.Peer
	for _, p := range part.Peers {
		to := int32(places.of(int(p.Rank)))
		if len(peers) == 0 || peers[len(peers)-1].Rank != to {
			peers = append(peers, rank.Peer{Rank: to, Address: p.Address})
		}
	}
	if err := m.wires.connect(ctx, peers, part.Env.Timeout); err != nil {
		return err
	}
	if m.execution, err = newExecution(m.stopped, m.device,
		&task{s, part.Env, places, part.Inputs}); err != nil {
		return err
	}
	m.peers = m.execution.outgoing()
	m.watch(m.execution)
	m.calls.Store(m.device.beat.Load())
	return m.Reset(part.Epoch)
}

// watch sets the execution that Status reads. When it returns, Status no longer reads the previous
// one.
func (m *machine) watch(p *execution) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = p
}

// Reset implements rank.Backend.
func (m *machine) Reset(epoch uint32) error {
	p := m.execution
	p.empty()
	m.wires.begin(&p.mail, epoch)
	if err := p.reset(); err != nil {
		return err
	}
	return p.settle()
}

// Execute implements rank.Backend. The clock is read before and after the GPUs start.
func (m *machine) Execute() ([]rank.Measurement, error) {
	p := m.execution
	before := m.Now()
	if err := p.start(); err != nil {
		return nil, err
	}
	if err := p.await(func() (bool, bool, error) { return p.begun() }); err != nil {
		return nil, err
	}
	after := m.Now()
	var sending sync.WaitGroup
	unsent := make(chan error, len(m.peers))
	for to, lanes := range m.peers {
		lanes := append([][]int{}, lanes...)
		sending.Go(func() { unsent <- m.wires.send(m.stopped, to, lanes) })
	}
	err := p.run(p.ops)
	if err == nil {
		err = p.finish()
	}
	if err != nil {
		m.stop(err)
	}
	sending.Wait()
	close(unsent)
	for e := range unsent {
		err = errors.Join(err, e)
	}
	if err != nil {
		return nil, err
	}
	return m.measured((before+after)/2, (after-before+1)/2)
}

// measured returns the start and the end of each rank. The GPUs started at began, with the error
// bound off.
func (m *machine) measured(began, off unit.Time) ([]rank.Measurement, error) {
	p := m.execution
	start, end, err := p.measure()
	if err != nil {
		return nil, err
	}
	measured := make([]rank.Measurement, len(start))
	var noted []hw.Recording
	if p.env.Trace {
		if noted, err = p.recordings(); err != nil {
			return nil, err
		}
	}
	for i := range measured {
		measured[i] = rank.Measurement{Start: began + start[i], End: began + end[i], Skew: off + p.skew}
		if noted != nil {
			noted[i].Shift(began)
			measured[i].Recording = noted[i]
		}
	}
	return measured, nil
}

// Finish implements rank.Backend.
func (m *machine) Finish() (outputs [][]byte, err error) {
	if m.execution == nil {
		return nil, nil
	}
	m.wires.begin(nil, 0)
	if outputs, err = m.execution.outputs(); err != nil {
		return nil, err
	}
	m.watch(nil)
	m.execution = nil
	return outputs, m.device.free()
}

// Status implements rank.Backend. It reports waiting lanes without a call of the driver.
func (m *machine) Status() (st rank.Status) {
	st.Progress = m.wires.moved.Load() + m.calls.Load()
	if m.calls.Load() < 0 {
		st.Progress = m.device.beat.Load() // while it plans and compiles
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.watched
	if p == nil {
		return st
	}
	st.Progress += p.moved.Load()
	for _, l := range p.lanes {
		over := int(l.over.Load())
		if over == len(l.steps) {
			continue
		}
		w, waits := p.waiting(l, &l.steps[over])
		if waits {
			st.Waits = append(st.Waits, w)
			continue
		}
		st.Calls = append(st.Calls, rank.Call{Rank: w.Rank, Name: fmt.Sprintf(
			"step %d (%s) of lane %d, which its GPU has not ended", w.Step, w.Name, w.Lane)})
	}
	return st
}

// waiting returns the position of a lane, and the lane that it waits for, if any.
func (p *execution) waiting(l *lane, at *subStep) (w schedule.Waiting, waits bool) {
	var step schedule.Step
	cursor := l.program.Walk(l.index)
	for !cursor.Done() && cursor.Step != at.step {
		cursor.Next(l.slices)
	}
	l.program.Load(&cursor, &step)
	w = schedule.Waiting{Rank: l.rank.number, Lane: l.index, Step: int(at.step), Name: step.Name(),
		Chunk: step.Chunk()}
	for i := range at.deps {
		if dep := &at.deps[i]; !p.there(dep) {
			w.For, w.OnRank, w.OnLane = dep.what, dep.rank, dep.lane
			return w, true
		}
	}
	return w, false
}

// there reports whether a dependency is known to have completed.
func (p *execution) there(dep *depended) bool {
	if dep.crossing != 0 {
		return p.mail.crossings[dep.crossing-1].flag.Load() != 0
	}
	of := p.ranks[dep.rank].lanes[dep.lane]
	over := int(of.over.Load())
	return over == len(of.steps) || of.steps[over].end > dep.event
}

// Stop implements rank.Backend. If a call of the driver does not return, only the end of the
// process frees the GPUs, so it is killed.
func (m *machine) Stop(err error) {
	m.stop(err)
	defer m.wires.close() // a sender may wait for a peer that no longer reads
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed && m.killer == nil {
		m.killer = time.AfterFunc(2*time.Second, func() {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
		})
	}
}

// Close implements rank.Backend.
func (m *machine) Close() error {
	m.stop(errors.New("there is nothing more to do"))
	m.wires.close()
	m.watch(nil)
	err := m.device.leave()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed = true; m.killer != nil {
		m.killer.Stop()
		err = nil // the run has ended with an error: the context may be broken
	}
	return err
}
