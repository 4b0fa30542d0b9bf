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

// environment is how Child knows that it is a machine: its number, and where the coordinator is.
const environment = "COLLSIM_CUDA_MACHINE"

// environ is what Child reads.
func environ(r rank.Rendezvous) []string {
	return []string{fmt.Sprintf("%s=%d %s %s", environment, r.Worker, r.Secret.Text(), r.Address)}
}

// Child does the work of a machine if this process was started for that, and returns the code to
// exit with. The main of a program that uses this package, and the TestMain of a test, must call it
// before anything else.
func Child() (code int, child bool) { return childOf(nil) }

// childOf is Child, whose connections to other machines are what wrap makes of them.
func childOf(wrap func(net.Conn) net.Conn) (code int, child bool) {
	words := strings.SplitN(os.Getenv(environment), " ", 3)
	if len(words) != 3 {
		return 0, false
	}
	os.Unsetenv(environment)
	signal.Ignore(os.Interrupt) // the coordinator gets it too, and knows what to do
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

// Worker is the GPUs of one machine: it goes to the rendezvous and executes what the coordinator
// says, until that needs it no more. Its error is what has ended the run on all machines, or that
// the coordinator was lost. Where the driver does not return, the process is ended.
func Worker(ctx context.Context, r rank.Rendezvous) error { return serve(ctx, r, nil) }

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

// machine is the rank.Backend of the GPUs of a machine.
type machine struct {
	rank.Clock
	device    *device
	number    int
	wires     *wires
	stopped   context.Context // when the run is to end
	stop      context.CancelCauseFunc
	execution *execution        // of the job; nil: there is none
	peers     map[int32][][]int // what begins here, by machine
	calls     atomic.Int64      // of the driver, when the job was prepared; −1: it is not yet

	mu      sync.Mutex // of what follows
	watched *execution // whose memory others may look at; nil: there is none
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
			return fmt.Errorf("cuda: rank %d is not one of machine %d", number, m.number)
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

// watch has others see how far an execution is. When it returns, nobody looks at the one before.
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

// Execute implements rank.Backend. The clock is read before the GPUs have begun and after that.
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
	err := p.run(p.tape)
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

// measured is when each rank began and ended: its GPUs began at this time, which may be off by so
// much.
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

// Status implements rank.Backend. What lanes wait for is told without asking the device.
func (m *machine) Status() (st rank.Status) {
	st.Progress = m.wires.moved.Load() + m.calls.Load()
	if m.calls.Load() < 0 {
		st.Progress = m.device.beat.Load() // it plans and compiles
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

// waiting is where a lane is, and what it waits for, if that is another lane.
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

// there reports whether what a sub-step waits for is known to have come.
func (p *execution) there(dep *depended) bool {
	if dep.crossing != 0 {
		return p.mail.crossings[dep.crossing-1].flag.Load() != 0
	}
	of := p.ranks[dep.rank].lanes[dep.lane]
	over := int(of.over.Load())
	return over == len(of.steps) || of.steps[over].end > dep.event
}

// Stop implements rank.Backend. A call of the driver that does not return holds the GPUs until the
// process ends: so it does.
func (m *machine) Stop(err error) {
	m.stop(err)
	defer m.wires.close() // who sends may wait for who does not read any more
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
	m.stop(errors.New("cuda: there is nothing more to do"))
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
