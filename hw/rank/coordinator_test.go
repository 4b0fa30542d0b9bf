package rank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw"
)

// mirror is a backend whose ranks give their inputs back, without a schedule. Between the ranks of
// different workers nothing is exchanged.
type mirror struct {
	clock   Clock
	part    *Part
	log     *log
	stop    chan struct{} // closed by Stop
	once    sync.Once
	execute func(m *mirror) error // nil does nothing
	call    string                // that it is in
}

// log is what players have been asked to do.
type log struct {
	mu    sync.Mutex
	parts [][]int
	epoch []uint32
}

func (m *mirror) Prepare(_ context.Context, p *Part) error {
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	m.part = p
	m.log.parts = append(m.log.parts, p.Mine)
	return nil
}

func (m *mirror) Reset(epoch uint32) error {
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	m.log.epoch = append(m.log.epoch, epoch)
	return nil
}

func (m *mirror) Execute() (all []Measurement, err error) {
	start := m.clock.Now()
	if m.execute != nil {
		if err := m.execute(m); err != nil {
			return nil, err
		}
	}
	for range m.part.Mine {
		all = append(all, Measurement{Start: start, End: m.clock.Now()})
	}
	return all, nil
}

func (m *mirror) Finish() ([][]byte, error) { return m.part.Inputs, nil }

func (m *mirror) Status() (st Status) {
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	if m.call != "" {
		st.Calls = []Call{{m.part.Mine[0], m.call}}
	}
	return st
}

func (m *mirror) Stop(error)   { m.once.Do(func() { close(m.stop) }) }
func (m *mirror) Close() error { return nil }

// hang is a repetition that returns when it is stopped.
func hang(m *mirror) error {
	m.log.mu.Lock()
	m.call = "cudaStreamSynchronize"
	m.log.mu.Unlock()
	<-m.stop
	return errors.New("stopped")
}

// crowd launches workers in goroutines of this process, which come by sockets all the same.
type crowd struct {
	log     log
	execute map[int]func(*mirror) error // by worker
	come    func(worker int, w *Worker) // does something else than serving
	running sync.WaitGroup
	leave   context.CancelFunc
	mu      sync.Mutex
	ended   []error // of Serve
}

func (c *crowd) Start(at Rendezvous, workers int, _ func(Ended)) error {
	var coming context.Context
	coming, c.leave = context.WithCancel(context.Background())
	for number := range workers {
		r := at
		r.Worker = number
		c.running.Go(func() {
			w, err := Come(coming, r)
			if err == nil && c.come != nil {
				c.come(number, w)
				return
			}
			if err == nil {
				m := &mirror{clock: w.Clock, log: &c.log, stop: make(chan struct{}), execute: c.execute[number]}
				err = w.Serve(context.Background(), m, Ready{Address: fmt.Sprint("worker ", number),
					RanOn: hw.RanOn{Executor: "test"}})
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ended = append(c.ended, err)
		})
	}
	return nil
}

func (c *crowd) Patience() time.Duration { return 50 * time.Millisecond }

// Stop ends those that have not come.
func (c *crowd) Stop([]int, int, time.Duration) {
	c.leave()
	c.running.Wait()
}

// five is a job of five ranks without a schedule.
func five(env hw.Env) *Job {
	job := &Job{Detail: []byte("give back"), Env: env}
	for rank := range 5 {
		job.Inputs = append(job.Inputs, []byte{byte(rank), 9})
	}
	job.Outputs, job.Env.Iterations = []int64{2, 2, 2, 2, 2}, 1
	job.Env.Repetitions, job.Env.Timeout = max(env.Repetitions, 1), max(env.Timeout, 10*time.Second)
	return job
}

// open is a coordinator of two workers, which the test closes.
func twoWorkers(t *testing.T, network string, c *crowd) *Coordinator {
	t.Helper()
	config := Config{Network: network, Launch: c, Workers: func(int) int { return 2 }}
	if network == "" {
		config = Config{Workers: config.Workers, Here: func(clock Clock) Backend {
			return &mirror{clock: clock, log: &c.log, stop: make(chan struct{})}
		}}
	}
	k := New(config)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	return k
}

// TestSeveralRanksAWorker: ranks are on workers as even as comes out, and what comes of them is in
// their order; workers stay for the next job, and repetitions are numbered on.
func TestSeveralRanksAWorker(t *testing.T) {
	for _, network := range []string{"", "unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			c := &crowd{}
			k := twoWorkers(t, network, c)
			for range 2 {
				r, err := k.Run(context.Background(), five(hw.Env{Repetitions: 3, Warmup: 1}))
				require.NoError(t, err)
				require.Equal(t, [][]byte{{0, 9}, {1, 9}, {2, 9}, {3, 9}, {4, 9}}, r.Outputs)
				require.Len(t, r.Repetitions, 3)
				require.Len(t, r.Repetitions[0].Start, 5)
				require.Equal(t, network == "", r.Skew == 0)
				require.Nil(t, r.Trace)
			}
			slices.SortFunc(c.log.parts, slices.Compare)
			require.Equal(t, [][]int{{0, 1, 2}, {0, 1, 2}, {3, 4}, {3, 4}}, c.log.parts)
			slices.Sort(c.log.epoch)
			require.Equal(t, []uint32{2, 2, 3, 3, 4, 4, 6, 6, 7, 7, 8, 8}, c.log.epoch)
			one := five(hw.Env{})
			one.Inputs, one.Outputs = one.Inputs[:1], one.Outputs[:1]
			r, err := k.Run(context.Background(), one)
			require.NoError(t, err)
			require.Equal(t, [][]byte{{0, 9}}, r.Outputs)
			require.NoError(t, k.Close())
			require.NoError(t, errors.Join(c.ended...))
		})
	}
}

// TestFailure: what one worker meets ends the run of all, and all are told; the next job has new
// workers.
func TestFailure(t *testing.T) {
	fault := &hw.Error{Call: "cudaLaunchKernel", Code: "cudaErrorLaunchFailure", Rank: 3, Lane: 1,
		Step: 7}
	c := &crowd{execute: map[int]func(*mirror) error{0: hang, 1: func(*mirror) error { return fault }}}
	k := twoWorkers(t, "tcp", c)
	_, err := k.Run(context.Background(), five(hw.Env{}))
	require.Equal(t, fault, err)
	require.Equal(t, []error{fault, fault}, c.ended)
	c.execute = map[int]func(*mirror) error{1: func(*mirror) error { return errors.New("plain") }}
	_, err = k.Run(context.Background(), five(hw.Env{}))
	require.EqualError(t, err, "rank 3: execute: error: plain")
	c.execute = nil
	_, err = k.Run(context.Background(), five(hw.Env{}))
	require.NoError(t, err)
}

// TestLeaves: a worker that leaves is who is lost, whomever it was waiting for.
func TestLeaves(t *testing.T) {
	t.Parallel()
	leaves, leave := context.WithCancel(context.Background())
	c := &crowd{come: func(number int, w *Worker) {
		m, ctx := &mirror{clock: w.Clock, log: &log{}, stop: make(chan struct{})}, context.Background()
		m.execute = hang
		if number == 1 {
			ctx = leaves
			m.execute = func(*mirror) error {
				leave()
				return CallError(0, "accept", leaves.Err())
			}
		}
		w.Serve(ctx, m, Ready{})
	}}
	_, err := twoWorkers(t, "tcp", c).Run(context.Background(), five(hw.Env{}))
	require.EqualError(t, err, "rank 3: read: EOF: EOF")
}

// TestHung: of a run in which nothing goes on, it is said which rank is in which function.
func TestHung(t *testing.T) {
	t.Parallel()
	c := &crowd{execute: map[int]func(*mirror) error{1: hang}}
	k := twoWorkers(t, "unix", c)
	job := five(hw.Env{})
	job.Env.Timeout = 600 * time.Millisecond
	_, err := k.Run(context.Background(), job)
	require.EqualError(t, err, "rank 3: wait: timeout: no progress for 600ms: "+
		"rank 3 is in cudaStreamSynchronize")
	require.Len(t, c.ended, 2)

	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("somebody is in a hurry")
	timer := time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	defer timer.Stop()
	_, err = k.Run(ctx, five(hw.Env{}))
	require.ErrorIs(t, err, cause)
	_, err = k.Run(ctx, five(hw.Env{}))
	require.ErrorIs(t, err, cause, "nothing is started")
}

// TestNotAWorker: what workers lack is said as it is; who leaves, speaks nonsense or never comes is
// named.
func TestNotAWorker(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		second func(w *Worker)
		want   string
	}{
		{func(w *Worker) {
			w.Failed(fmt.Errorf("so: %w", &hw.Missing{What: "GPU", Why: "none is here", Get: "buy one"}))
		}, "GPU: none is here; buy one"},
		{func(*Worker) {}, "rank 1: read: EOF: EOF"},
		{func(w *Worker) {
			conn := w.channel.(*wire[order, report]).conn
			conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			conn.Read(make([]byte, 1))
		}, "rank 1: read: error: a frame of 542393671 bytes"},
		{func(w *Worker) {
			posted(w.channel) // it is told to end when the others have waited enough
		}, "rank 1: wait: timeout: 600ms was not enough to get ready"},
	} {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel() // it is mostly waiting
			c := &crowd{come: func(number int, w *Worker) {
				defer w.Close()
				if number == 1 {
					test.second(w)
					return
				}
				w.Serve(context.Background(), &mirror{clock: w.Clock, log: &log{},
					stop: make(chan struct{})}, Ready{})
			}}
			job := five(hw.Env{})
			job.Env.Timeout = 600 * time.Millisecond
			_, err := twoWorkers(t, "tcp", c).Run(context.Background(), job)
			require.EqualError(t, err, test.want)
		})
	}
}

// told waits for what the coordinator says besides beats.
func posted(c channel[order, report]) (o order, err error) {
	for {
		o = order{}
		if err = c.receive(&o); err != nil || o.Kind != orderBeat {
			return o, err
		}
	}
}

// TestTwice: a second worker of a number, and one of a number that is not in the run, are told that
// nobody waits for them, at once, and disturb nobody.
func TestTwice(t *testing.T) {
	t.Parallel()
	var at Rendezvous
	c := &crowd{}
	k := New(Config{Network: "tcp", Launch: startOf{c, &at}, Workers: func(int) int { return 2 }})
	defer k.Close()
	_, err := k.Run(context.Background(), five(hw.Env{}))
	require.NoError(t, err)
	for _, at.Worker = range []int{1, 2} {
		_, err := Come(context.Background(), at)
		require.EqualError(t, err, fmt.Sprintf("dial: error: the coordinator: %d: nobody waits for "+
			"it there, or another has come in its place", at.Worker))
	}
	_, err = k.Run(context.Background(), five(hw.Env{}))
	require.NoError(t, err)
	at.Timeout, at.Address = 300*time.Millisecond, "127.0.0.1:1"
	_, err = Come(context.Background(), at)
	require.ErrorContains(t, err, "dial: ECONNREFUSED: the coordinator: ")
}

// TestLateComer: a worker that came when others had failed already is told of the end, as they are,
// and is not left to find out.
func TestLateComer(t *testing.T) {
	failed := &hw.Error{Call: "cuInit", Code: "error", Rank: 0, Lane: -1, Step: -1}
	for name, end := range map[string]func(*session) error{
		"not awaited any more": func(*session) error { return failed },
		"while a cause is looked for": func(s *session) error {
			return s.explain(event{lost: &lost{"read", io.EOF}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &crowd{leave: func() {}}
			s := newSession(&Config{Launch: c}, 2, time.Second)
			here, there := newPipe()
			s.events <- event{worker: 1, channel: here,
				report: report{Kind: reportHello, Hello: &hello{Worker: 1}}}
			err := end(s)
			s.close(fault(err))
			here.close() // what was sent is received all the same
			var o order
			require.NoError(t, there.receive(&o))
			require.Equal(t, orderAbort, o.Kind)
			require.Equal(t, err, o.Fault)
			require.False(t, s.post(event{}), "nobody listens")
		})
	}
}

// startOf notes where workers are to come to.
type startOf struct {
	*crowd
	at *Rendezvous
}

func (s startOf) Start(at Rendezvous, workers int, ended func(Ended)) error {
	*s.at = at
	return s.crowd.Start(at, workers, ended)
}

// TestMalformed: a worker that answers for other ranks than it has is no worker.
func TestMalformed(t *testing.T) {
	c := &crowd{execute: map[int]func(*mirror) error{1: func(m *mirror) error {
		m.part.Mine = m.part.Mine[:1]
		return nil
	}}}
	_, err := twoWorkers(t, "tcp", c).Run(context.Background(), five(hw.Env{}))
	require.EqualError(t, err, "rank 3: done: malformed: times of 1 ranks instead of 2")
}

// TestEnding: what started a worker knows how it ended, by its number or its host.
func TestEnding(t *testing.T) {
	s := &session{members: []*member{{worker: 0, came: true, hello: hello{Host: "a", Process: 5}},
		{worker: 1, came: true, hello: hello{Host: "b", Process: 6}}}}
	fault := func() *hw.Error {
		return &hw.Error{Call: "process", Code: "killed", Rank: -1, Lane: -1, Step: -1, Text: "ended"}
	}
	require.EqualError(t, s.ending(&Ended{Worker: 1, How: fault()}),
		"rank 1: process: killed: process 6 on b ended")
	require.EqualError(t, s.ending(&Ended{Worker: -1, Host: "a", How: fault()}),
		"rank 0: process: killed: process 5 on a ended")
	require.EqualError(t, s.ending(&Ended{Worker: -1, How: errors.New("all over")}), "all over")
	require.False(t, Reachable("0.0.0.0:7000"))
	require.True(t, Reachable("10.0.0.1:7000"))
	_, err := net.Dial("tcp", "127.0.0.1:1")
	require.Equal(t, "ECONNREFUSED", CallError(0, "dial", err).Code)
}
