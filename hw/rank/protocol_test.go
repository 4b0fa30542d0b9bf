package rank

import (
	"context"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw"
	"collsim/hw/gate"
	"collsim/schedule"
	"collsim/unit"
)

// FuzzProtocol executes both ends of the protocol against a hostile one, which knows the secret or
// does not, and says what a script of bytes has it say: what it should or what it should not, when
// it should or not, as it is or damaged, in part, late, or never. Whatever that is, the honest end
// comes to an end, well or with an error that can be shown, and nothing of it is left. Time is
// that of a bubble (testing/synctest), where nothing waits.
func FuzzProtocol(f *testing.F) {
	honest := make([]byte, 120)
	f.Add([]byte{}, false)
	f.Add([]byte{}, true)
	f.Add(honest, false)
	f.Add(honest, true)
	f.Add([]byte{1, 1, 0x22, 2, 5, 5, 0, 0, 0, 1, 3, 0, 9, 1}, false)
	f.Add([]byte{0, 0, 0, 0, 4, 20, 3, 0, 9, 1}, true)
	f.Add([]byte("\x07GET / HTTP/1.1\r\n\r\n"), false)
	f.Add([]byte("\x07GET / HTTP/1.1\r\n\r\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, worker bool) {
		synctest.Test(t, func(t *testing.T) {
			watchdog := time.AfterFunc(24*time.Hour, func() { panic("it has no end") })
			defer watchdog.Stop()
			if worker {
				againstCoordinator(t, &script{text})
			} else {
				againstWorker(t, &script{text})
			}
		})
	})
}

// shown requires that an error can be shown.
func shown(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	require.NotEqual(t, "<nil>", err.Error())
	require.Less(t, len(err.Error()), 1<<14)
	for line := range strings.SplitSeq(err.Error(), "\n") { // a stall has several
		require.Equal(t, hw.Printable(line), line)
	}
}

// jobOf is a job of two ranks: that gives its inputs back, or a traced one of a schedule.
func jobOf(t *testing.T, b byte) *Job {
	env := hw.Env{Repetitions: 1 + int(b>>6), Iterations: 1, Timeout: time.Second}
	j := &Job{Inputs: [][]byte{make([]byte, 12), make([]byte, 12)}, Env: env}
	if b&1 == 0 {
		j.Detail, j.Outputs = []byte("give back"), []int64{12, 12}
		return j
	}
	j.Schedule, j.Env.Trace = parsed(t), b&2 != 0
	return j
}

// againstWorker has a coordinator run a job, with an honest worker and a hostile one.
func againstWorker(t *testing.T, sc *script) {
	first := sc.next()
	job := jobOf(t, first)
	s := newSession(&Config{}, 2, time.Second)
	at := newPort()
	s.listener = at
	var running sync.WaitGroup
	running.Go(func() {
		if conn := at.dial(); conn != nil {
			serve(t, conn, s.secret, 0)
		}
	})
	running.Go(func() {
		defer at.Close()
		if conn := at.dial(); conn != nil {
			defer conn.Close()
			asWorker(conn, sc, s.secret, first&4 != 0)
		}
	})
	var v *survey
	if job.Schedule != nil {
		var err error
		v, err = look(job.Schedule)
		require.NoError(t, err)
	}
	err := s.gather(t.Context())
	var result *hw.Result
	if err == nil {
		result, err = s.run(t.Context(), job, v)
	}
	shown(t, err)
	var why *hw.Error
	if err == nil {
		require.Len(t, result.Outputs, 2)
		require.Equal(t, job.Inputs[0], result.Outputs[0])
		require.Len(t, result.Outputs[1], 12)
	} else {
		why = fault(err)
	}
	s.close(why)
	running.Wait()
}

// serve is an honest worker.
func serve(t *testing.T, conn net.Conn, secret gate.Secret, number int) {
	defer conn.Close()
	claim := gate.Claim{Service: gate.Coordination, From: int32(number), To: -1}
	run, err := gate.Enter(conn, secret, claim)
	if err != nil {
		shown(t, err)
		return
	}
	w, err := introduce(conn, run, Rendezvous{Worker: number, Secret: secret, Timeout: time.Second},
		StartClock())
	if err != nil {
		shown(t, err)
		return
	}
	shown(t, w.Serve(context.Background(), &strict{t: t, stop: make(chan struct{})}, Ready{}))
}

// asWorker is the second worker, as the script says.
func asWorker(conn *end, sc *script, secret gate.Secret, stranger bool) {
	if stranger {
		conn.Write(sc.some(int(sc.next())))
		if secret = gate.NewSecret(); sc.next()&1 == 0 {
			return
		}
	}
	claim := gate.Claim{Service: gate.Coordination, From: 1, To: -1}
	if _, err := gate.Enter(conn, secret, claim); err != nil {
		return
	}
	w := newWire[order, report](conn, maxOther)
	if w.send(&report{Kind: reportHello, Hello: &hello{Worker: 1, Process: 2}}) != nil {
		return
	}
	w.send(&report{Kind: reportReady, Ready: &Ready{}})
	for range 60 { // of an honest job, 16 are for the clock
		var err error
		switch op := sc.next(); op % 8 {
		case 0:
			err = answer(w, op>>3)
		case 1:
			err = w.send(reportLike(sc.next()))
		default:
			err = rogue(conn, sc, op)
		}
		if err != nil {
			return
		}
	}
}

// rogue is what either end may do that is no message.
func rogue(conn *end, sc *script, op byte) error {
	switch op % 8 {
	case 2:
		conn.Write(sc.some(int(sc.next())))
	case 3:
		sc.crooked(conn)
	case 4:
		time.Sleep(time.Millisecond << (op >> 3 & 15))
	case 5: // a frame of which less comes than it says
		conn.Write([]byte{op, sc.next(), sc.next() & 3, 0, sc.next()})
	case 6:
		return net.ErrClosed
	}
	return nil
}

// answer does what the coordinator says; the upper bits say what is wrong with that.
func answer(w *wire[order, report], wrong byte) error {
	var o order
	if err := w.receive(&o); err != nil {
		return err
	}
	r := &report{}
	switch o.Kind {
	case orderPing:
		r.Kind, r.Clock = reportPong, []unit.Time{5, 0, math.MinInt64, math.MaxInt64}[wrong&3]
	case orderJob, orderReset:
		r.Kind = reportPrepared
	case orderGo:
		r.Kind, r.Measured = reportDone, []Measurement{crookedly(wrong)}
	case orderFinish:
		r.Kind, r.Outputs = reportResult, [][]byte{make([]byte, 12+int(wrong))}
	case orderWhy:
		r.Kind, r.Status.Waits = reportStatus, make([]schedule.Waiting, wrong)
	default:
		return net.ErrClosed
	}
	return w.send(r)
}

// crookedly is a rank of pair measured, with times and recordings that it cannot have.
func crookedly(wrong byte) (p Measurement) {
	extremes := []unit.Time{1, math.MinInt64, math.MaxInt64, -1}
	p.Start, p.End = extremes[wrong&3], extremes[wrong>>2&3]
	p.Estimate = p.End
	if wrong&16 == 0 {
		return p
	}
	stamp := hw.Stamp{Start: p.End, End: p.Start}
	p.Recording.Lanes = [][]hw.Stamp{{stamp, stamp}}
	mark := hw.Mark{Step: int32(wrong & 3), At: p.Start}
	c := hw.Connection{From: 1, To: int32(wrong>>2&3) - 1}
	p.Recording.Sent = []hw.Messages{{Connection: c, Marks: []hw.Mark{mark, mark}}}
	return p
}

// againstCoordinator has a worker serve a hostile coordinator.
func againstCoordinator(t *testing.T, sc *script) {
	a, b := newEnds()
	first := sc.next()
	secret := gate.NewSecret()
	var running sync.WaitGroup
	running.Go(func() { serve(t, a, secret, 1) })
	asCoordinator(b, sc, secret, first&1 != 0)
	b.Close()
	running.Wait()
}

// asCoordinator is the coordinator, as the script says.
func asCoordinator(conn *end, sc *script, secret gate.Secret, stranger bool) {
	if stranger {
		if conn.Write(sc.some(int(sc.next()))); sc.next()&1 == 0 {
			return
		}
		secret = gate.NewSecret()
	}
	if _, err := gate.Admit(conn, secret, gate.NewRun(), func(gate.Claim) bool {
		return true
	}); err != nil {
		return
	}
	w := newWire[report, order](conn, maxOther)
	usual := []orderKind{orderPing, orderJob, orderGo, orderReset, orderGo, orderFinish, orderJob,
		orderFinish, orderBye}
	for i := range 60 {
		var err error
		switch op := sc.next(); op % 8 {
		case 0:
			err = w.send(orderLike(usual[i%len(usual)], op>>3))
		case 1:
			err = w.send(orderLike(orderKind(op>>3), sc.next()))
		case 7:
			err = w.receive(&report{})
		default:
			err = rogue(conn, sc, op)
		}
		if err != nil {
			return
		}
	}
}

// orderLike is an order of a kind; wrong says what is wrong with it.
func orderLike(kind orderKind, wrong byte) *order {
	o := &order{Kind: kind, Epoch: uint32(wrong)}
	if kind == orderAbort {
		o.Fault = &hw.Error{Text: "\x1b", Rank: -int(wrong)}
	}
	if kind != orderJob {
		return o
	}
	o.Part = &Part{Ranks: 2, Workers: 2, Mine: []int{1}, Inputs: [][]byte{make([]byte, 12)},
		Text: pair,
		Env:  hw.Env{Repetitions: 1, Iterations: 1, Timeout: time.Second}}
	switch p := o.Part; wrong & 15 {
	case 1:
		p.Mine, p.Inputs = nil, nil
	case 2:
		p.Text = ""
	case 3:
		p.Text, p.Detail = "", []byte("hang")
	case 4:
		p.Text = strings.Replace(pair, "count 3", "count 4611686018427387904", 1)
	case 5:
		p.Text = strings.Replace(pair, "count 3", "count 0", 1)
	case 6:
		p.Text = pair[:min(int(wrong), len(pair))]
	case 7:
		p.Ranks = math.MaxInt
	case 8:
		p.Env.Timeout, p.Env.Slots, p.Env.Iterations = math.MaxInt64, math.MaxInt, math.MaxInt
	case 9:
		p.Env.Timeout = 1
	case 10:
		p.Mine = []int{int(wrong) - 9}
	case 11:
		p.Inputs[0] = make([]byte, wrong>>4)
	case 12:
		p.Peers = []Peer{{Rank: int32(wrong>>4) - 1, Address: "\x1b"}}
	case 13:
		p.Detail = []byte("hang")
	}
	return o
}
