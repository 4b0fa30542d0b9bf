package rank

import (
	"context"
	"encoding/binary"
	"math"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/internal/memory"
	"collsim/schedule"
)

// says has the second of two workers, who knows the secret, do what a test says instead of serving.
func says(second func(*wire[order, report])) *crowd {
	c := &crowd{}
	c.come = func(number int, w *Worker) {
		defer w.Close()
		if number == 1 {
			second(w.channel.(*wire[order, report]))
			return
		}
		w.Serve(context.Background(), &mirror{clock: w.Clock, log: &log{},
			stop: make(chan struct{})}, Ready{})
	}
	return c
}

// TestWrongReports: a worker that says what it should not, or when it should not, is named. None
// of it is taken for what it is not, and none ends the program.
func TestWrongReports(t *testing.T) {
	t.Parallel()
	ready := &report{Kind: reportReady, Ready: &Ready{}}
	for _, test := range []struct {
		says []*report
		want string
	}{
		{[]*report{{Kind: reportReady}}, "report 2 does not have what it should"},
		{[]*report{{Kind: reportFailed}}, "report 9 does not have what it should"},
		{[]*report{{Kind: 77}}, "report 77 is none"},
		{[]*report{{}}, "report 0 is none"},
		{[]*report{{Kind: reportHello}}, "report 1 does not have what it should"},
		{[]*report{{Kind: reportHello, Hello: &hello{Process: 4}}}, "an introduction of who is known"},
		{[]*report{{Kind: reportBeat, Outputs: [][]byte{{1}}}}, "report 8 does not have what it should"},
		{[]*report{{Kind: reportDone}}, "report 5, which nobody awaits"},
		{[]*report{ready, ready}, "report 2, which nobody awaits"},
		{[]*report{{Kind: reportFailed, Fault: &hw.Error{Rank: 1 << 40, Lane: -1, Step: -1,
			Call: "\x1b[2J", Code: "\a", Text: "a\r\nb"}}},
			`rank 1099511627776: \x1b[2J: \a: a\r\nb`},
		{[]*report{{Kind: reportFailed, Missing: &hw.Missing{What: "\x1b", Why: "\n", Get: "\x00"}}},
			`\x1b: \n; \x00`},
		{[]*report{ready, {Kind: reportStatus, Status: Status{Progress: math.MinInt64}},
			{Kind: reportPong, Clock: math.MinInt64}, {Kind: reportPong}}, "report"},
	} {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel() // it is mostly waiting
			c := says(func(w *wire[order, report]) {
				for _, r := range test.says {
					if w.send(r) != nil {
						return
					}
				}
				posted(w)
			})
			_, err := twoWorkers(t, "tcp", c).Run(context.Background(), five(hw.Env{}))
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "\x1b")
		})
	}
}

// TestLongReport: what a worker may say is bounded by what its ranks have of the job.
func TestLongReport(t *testing.T) {
	t.Parallel()
	c := says(func(w *wire[order, report]) {
		w.send(&report{Kind: reportReady, Ready: &Ready{}})
		for {
			switch o, _ := posted(w); o.Kind {
			case orderPing:
				w.send(&report{Kind: reportPong})
			case orderJob:
				w.send(&report{Kind: reportPrepared})
			case orderGo:
				w.send(&report{Kind: reportDone, Measured: make([]Measurement, 2)})
			case orderFinish:
				w.send(&report{Kind: reportResult, Outputs: [][]byte{make([]byte, 8<<20), {1, 2}}})
			default:
				return
			}
		}
	})
	_, err := twoWorkers(t, "tcp", c).Run(context.Background(), five(hw.Env{}))
	require.EqualError(t, err, "rank 3: read: error: a message is longer than expected")
}

// TestLengths: what a message says of its lengths is not believed: 8 GiB of which nothing comes
// take no more than a few MiB.
func TestLengths(t *testing.T) {
	long := binary.LittleEndian.AppendUint32(nil, maxFrame)
	long = append(long, 0xf8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff) // a gob of 8 GiB, less 1
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := newWire[report, order](&fakeConn{in: strings.NewReader(string(long))}, maxMessage)
	require.Error(t, w.receive(&report{}))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// TestWrongOrders: a worker, too, believes nothing that it has not checked.
func TestWrongOrders(t *testing.T) {
	env := hw.Env{Repetitions: 1, Iterations: 1, Timeout: time.Second}
	for _, test := range []struct {
		order order
		want  string
	}{
		{order{}, "order 0 is none"},
		{order{Kind: 200}, "order 200 is none"},
		{order{Kind: orderJob}, "order 2 does not have what it should"},
		{order{Kind: orderAbort}, "order 7 does not have what it should"},
		{order{Kind: orderBye, Part: &Part{}}, "order 8 does not have what it should"},
		{order{Kind: orderJob, Part: &Part{Env: env}}, "a part of 0 ranks with 0 inputs of a job of 0"},
		{order{Kind: orderJob, Part: &Part{Env: env, Ranks: 2, Workers: 2, Mine: []int{1, 1},
			Inputs: make([][]byte, 2)}}, "a part of 2 ranks"},
		{order{Kind: orderJob, Part: &Part{Env: env, Ranks: 2, Workers: 2, Mine: []int{2},
			Inputs: make([][]byte, 1)}}, "a part of 1 ranks"},
		{order{Kind: orderJob, Part: &Part{Ranks: 2, Workers: 2}},
			"an environment that nobody completed"},
		{order{Kind: orderJob, Part: &Part{Env: env, Ranks: 2, Workers: 2, Peers: []Peer{{Rank: 2}}}},
			"a peer that is rank 2 of 2"},
		{order{Kind: orderJob, Part: &Part{Env: env, Ranks: 2, Workers: 3}}, "2 ranks on 3 workers"},
	} {
		require.ErrorContains(t, test.order.check(), test.want)
	}
	s := parsed(t)
	p := &Part{Env: env, Ranks: 2, Workers: 2, Mine: []int{0}, Inputs: [][]byte{make([]byte, 12)},
		Text: s.String()}
	require.NoError(t, p.check())
	require.NoError(t, p.fits(s))
	p.Inputs[0] = p.Inputs[0][:11]
	_, err := p.Schedule()
	require.EqualError(t, err, "rank 0 has 11 bytes of input instead of 12")
	p.Ranks = 3
	_, err = p.Schedule()
	require.EqualError(t, err, "a schedule of 2 ranks for a job of 3")
}

// TestShaped: a recording is of steps that its rank has.
func TestShaped(t *testing.T) {
	s := parsed(t)
	right := func() *hw.Recording {
		to, from := hw.Connection{From: 0, To: 1}, hw.Connection{From: 1, To: 0}
		return &hw.Recording{Lanes: [][]hw.Stamp{make([]hw.Stamp, 2)},
			Sent: []hw.Messages{{Connection: to, Marks: []hw.Mark{{Step: 1}}}},
			Got:  []hw.Messages{{Connection: from, Marks: []hw.Mark{{Step: 2}}}}}
	}
	require.True(t, shaped(right(), s, 0))
	for name, wrong := range map[string]func(r *hw.Recording){
		"lanes":  func(r *hw.Recording) { r.Lanes = make([][]hw.Stamp, 2) },
		"step 0": func(r *hw.Recording) { r.Sent[0].Marks[0].Step = 0 },
		"step 3": func(r *hw.Recording) { r.Got[0].Marks[0].Step = 3 },
		"lane":   func(r *hw.Recording) { r.Got[0].Connection.ToLane = 1 },
		"lane <": func(r *hw.Recording) { r.Sent[0].Connection.FromLane = -1 },
		"rank":   func(r *hw.Recording) { r.Sent[0].Connection.From = 1 },
		"to":     func(r *hw.Recording) { r.Got[0].Connection.To = 1 },
		"from":   func(r *hw.Recording) { r.Got[0].Connection.From = 7 },
	} {
		r := right()
		wrong(r)
		require.False(t, shaped(r, s, 0), name)
	}
}

// TestTooLittleMemory: a worker that cannot hold its ranks says so before it takes what they need.
func TestTooLittleMemory(t *testing.T) {
	s, err := schedule.Parse(strings.Replace(pair, "count 3", "count 268435456", 1))
	require.NoError(t, err)
	_, there := newPipe()
	w := newWorker(there, StartClock())
	w.local = &net.TCPAddr{}
	p := &Part{Ranks: 2, Mine: []int{1}, Inputs: [][]byte{{}}, schedule: s}
	for has, want := range map[int64]string{10 << 30: "", 5 << 30: "rank 0: memory: too little: " +
		"10 GiB is needed: this machine has 5 GiB left"} {
		w.free = func() (memory.Free, bool) { return memory.Free{Bytes: has}, true }
		if err := w.holds(p); want != "" {
			require.EqualError(t, err, want)
		} else {
			require.NoError(t, err)
		}
	}
	w.free = func() (memory.Free, bool) { return memory.Free{}, false }
	require.NoError(t, w.holds(p))
}

// TestStuckInTheMiddle: a message of the coordinator that has begun must go on; one that has not
// may take for ever.
func TestStuckInTheMiddle(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	w := newWire[report, order](a, maxOther)
	w.alone, w.patience = true, func() time.Duration { return 50 * time.Millisecond }
	received := make(chan error, 1)
	go func() { received <- w.receive(&report{}) }()
	select {
	case err := <-received:
		t.Fatalf("nothing was sent: %v", err)
	case <-time.After(120 * time.Millisecond):
	}
	b.Write([]byte{100, 0, 0, 0, 1})
	require.ErrorContains(t, <-received, "timeout")
}

// TestNotAtAll: no address stands for all of them.
func TestNotAtAll(t *testing.T) {
	_, err := Listen("tcp", ":0")
	require.EqualError(t, err, `":0" names no address of this machine`)
	for address, reached := range map[string]bool{":7000": false, "0.0.0.0:7000": false,
		"[::]:7000": false, "[::0]:7000": false, "localhost:7000": true, "[::1]:7000": true} {
		require.Equal(t, reached, Reachable(address), address)
	}
}

// TestTurnedAway: of a worker that has the wrong secret it is said that somebody was turned away,
// and the worker hears why.
func TestTurnedAway(t *testing.T) {
	t.Parallel()
	var came error
	c := startWith{&crowd{}, func(at Rendezvous, crowd *crowd) {
		at.Secret, at.Worker = gate.NewSecret(), 1
		crowd.running.Go(func() { _, came = Come(context.Background(), at) })
	}}
	k := New(Config{Network: "tcp", Launch: c, Workers: func(int) int { return 2 }})
	job := five(hw.Env{})
	job.Env.Timeout = 600 * time.Millisecond
	_, err := k.Run(context.Background(), job)
	require.EqualError(t, err, "rank 0: wait: timeout: 600ms was not enough to come; "+
		"turned away, without the secret: 1")
	require.EqualError(t, came,
		"dial: error: the coordinator: it does not know the secret of this run")
	require.NoError(t, k.Close())
}

// startWith starts nobody but what a test starts.
type startWith struct {
	*crowd
	start func(Rendezvous, *crowd)
}

func (s startWith) Start(at Rendezvous, _ int, _ func(Ended)) error {
	s.leave = func() {}
	s.start(at, s.crowd)
	return nil
}

// FuzzWorker: whatever a worker that knows the secret says, in whatever state, the run ends, well
// or with an error, and what it has said is not printed as it is. Each byte that is none of a frame
// chooses what is said next, so that the fuzzer finds states as well as bytes.
func FuzzWorker(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{1, 2, 3, 3, 4, 5}, []byte("\x05\x00\x00\x00\x01"))
	f.Add([]byte{2, 8, 3}, []byte{0, 0, 4, 0})
	f.Add([]byte{2, 9, 7}, []byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5, 6}, []byte{})
	f.Fuzz(func(t *testing.T, kinds, raw []byte) {
		t.Parallel() // it is mostly waiting
		c := says(func(w *wire[order, report]) {
			for _, k := range kinds[:min(len(kinds), 40)] {
				if w.send(reportLike(k)) != nil {
					return
				}
			}
			w.conn.Write(raw)
		})
		k := twoWorkers(t, "unix", c)
		job := five(hw.Env{})
		job.Env.Timeout = 2 * time.Second
		if _, err := k.Run(context.Background(), job); err != nil {
			require.NotContains(t, err.Error(), "\x1b")
			require.NotEqual(t, "<nil>", err.Error())
		}
		require.NoError(t, k.Close())
	})
}

// reportLike is a report of a kind; the upper bits say what is wrong with it.
func reportLike(b byte) *report {
	r := &report{Kind: reportKind(b & 15), Clock: 5}
	if b&16 != 0 {
		return r
	}
	switch r.Kind {
	case reportHello:
		r.Hello = &hello{Worker: int(b >> 5), Process: int(b >> 6), Host: "\x1b[31m"}
	case reportReady:
		r.Ready = &Ready{Address: "\x1b", RanOn: hw.RanOn{CPU: "\x1b[2J", Hosts: []string{"\x1b"}}}
	case reportDone:
		r.Measured = make([]Measurement, b>>5)
	case reportResult:
		r.Outputs = make([][]byte, b>>5)
		for i := range r.Outputs {
			r.Outputs[i] = make([]byte, b>>6)
		}
	case reportStatus, reportBeat:
		r.Status.Waits = make([]schedule.Waiting, b>>5)
		r.Status.Progress = int64(b)
		for i := range r.Status.Waits {
			r.Status.Waits[i] = schedule.Waiting{Rank: i, OnRank: -i, Name: "\x1b"}
		}
	case reportFailed:
		if r.Fault = (&hw.Error{Call: "\x1b", Rank: int(b>>5) - 1}); b&32 != 0 {
			r.Fault.Stall = &schedule.StallError{Waits: []schedule.Waiting{{For: "\x1b"}}}
		}
	}
	return r
}

// FuzzReport: a report that was read has nothing that a terminal acts upon, whatever the bytes.
func FuzzReport(f *testing.F) {
	for b := range 256 {
		f.Add(sent(f, reportLike(byte(b)))[4:])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
		var r report
		w := newWire[report, order](&fakeConn{in: strings.NewReader(string(text))}, maxIntroduction)
		err := w.receive(&r)
		if err != nil {
			return
		}
		if r.Fault != nil {
			require.NotContains(t, r.Fault.Call+r.Fault.Code+r.Fault.Text, "\x1b")
		}
		if r.Hello != nil {
			require.NotContains(t, r.Hello.Host+r.Hello.Machine+r.Hello.Order, "\x1b")
		}
		require.NoError(t, r.check(), "what is checked stays so")
	})
}

// FuzzOrder: no order makes a worker panic before it has been checked.
func FuzzOrder(f *testing.F) {
	env := hw.Env{Repetitions: 1, Iterations: 1, Timeout: time.Second}
	for kind := range orderBye + 2 {
		c := &fakeConn{}
		o := order{Kind: kind}
		if kind == orderJob {
			o.Part = &Part{Env: env, Ranks: 2, Workers: 2, Mine: []int{1},
				Inputs: [][]byte{make([]byte, 12)},
				Text:   pair}
		}
		if kind == orderAbort {
			o.Fault = &hw.Error{Text: "\x1b"}
		}
		require.NoError(f, newWire[report, order](c, maxOther).send(&o))
		f.Add(c.out.Bytes()[4:])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
		var o order
		w := newWire[order, report](&fakeConn{in: strings.NewReader(string(text))}, maxIntroduction)
		if w.receive(&o) != nil || o.Part == nil {
			return
		}
		s, err := o.Part.Schedule()
		if err == nil && s != nil {
			for _, rank := range o.Part.Mine {
				require.GreaterOrEqual(t, hw.Alone(s, rank), int64(0))
			}
		}
	})
}
