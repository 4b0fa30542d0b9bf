package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/hw/rank"
	"collsim/internal/memory"
	"collsim/internal/tier"
	"collsim/reference"
	"collsim/schedule"
)

// several is machines that are processes here, the stand-in of each as one of the options says:
// tests of them are parallel.
func several(t *testing.T, options ...string) *Machines {
	t.Helper()
	standinPath(t)
	m, err := NewMachines(Config{Hosts: make([]string, len(options))})
	require.NoError(t, err)
	m.launcher.Environ = func(r rank.Rendezvous) []string {
		return append(environ(r), "COLLSIM_STANDIN="+options[r.Worker])
	}
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// TestMachines: every algorithm, its ranks on two machines, the second with two GPUs, gives the
// bits of the interpreter; one-sided steps from one to the other are refused by name.
func TestMachines(t *testing.T) {
	t.Parallel()
	m := several(t, "seed=6 delay=20", "seed=7 delay=60 devices=2")
	measured, refused := 0, 0
	for i, a := range algos.Table() {
		for j, kind := range a.Kinds {
			if (i+j)%tier.Of(2, 1) != 0 {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			spec := hwtest.AnySpec(kind, []int{4, 6, 3}[i%3], r)
			operators := hwtest.Operators(kind)
			spec.Op = operators[(i+j)%len(operators)].Op
			if kind != collective.Barrier {
				spec.Type = dtype.All()[(i+j)%len(dtype.All())]
			}
			if collective.CheckOp(spec.Op, spec.Type) != nil || spec.Op >= collective.And {
				spec.Op = collective.Sum // no kernel for GPUs has and, or and xor
				if spec.Type == dtype.Bool {
					spec.Type = dtype.Uint8
				}
			}
			s, err := a.Build(spec, algos.Options{})
			if err != nil {
				continue // not for so many ranks
			}
			if err := refusal(s, 2); err != nil {
				require.Regexp(t, `^rank \d+ lane \d+ step \d+: a (get|put|multimem) with rank \d+, `+
					`which is on another machine: between machines there are messages$`, err)
				refused++
				continue
			}
			agrees(t, m, s, hw.Env{Slots: 2 * spec.Ranks * (j % 2), Trace: i%3 == 0,
				Repetitions: 1 + i%2, Iterations: 1 + j%2, Float32: j%3 == 0}, r)
			measured++
		}
	}
	t.Logf("%d executed, %d refused", measured, refused)
	require.Greater(t, measured, tier.Of(15, 40))
	require.Positive(t, refused)
}

// TestMoreMachines: three of them, of which one has no rank of a smaller job; connections with as
// few slots as will do, whose places are used again and again.
func TestMoreMachines(t *testing.T) {
	t.Parallel()
	m := several(t, "seed=1 delay=200", "seed=2", "seed=3 delay=50")
	for i, s := range []*schedule.Schedule{ring(t), lanes(t), ring(t)} {
		agrees(t, m, s, hw.Env{Repetitions: 3, Iterations: 3, Trace: true},
			rand.New(rand.NewPCG(uint64(i), 3)))
	}
}

// TestGraphsOfMachines: a graph of ranks on two machines is cut where one waits for the other; no
// stream waits for a word while it is captured, which the stand-in refuses.
func TestGraphsOfMachines(t *testing.T) {
	t.Parallel()
	m := several(t, "seed=1 delay=50", "seed=2 delay=100 devices=2")
	for _, name := range []string{"ring", "recursive-doubling", "rabenseifner"} {
		a, err := algos.Find(collective.AllReduce, name)
		require.NoError(t, err)
		s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
			Type: dtype.BFloat16, Ranks: 4, Count: 37}, algos.Options{})
		require.NoError(t, err)
		for _, graphs := range tier.Of([]int{1}, []int{1, 2, 4}) {
			g := graphed(t, s, func(rank int) int32 { return int32(rank%graphs + 1) })
			for _, slots := range []int{0, 8} {
				agrees(t, m, g, hw.Env{Slots: slots, Repetitions: 3, Iterations: 2, Trace: slots > 0},
					rand.New(rand.NewPCG(1, 5)))
			}
		}
	}
}

// TestProgramsOfMachines: tensors and kernels, too, are on two machines.
func TestProgramsOfMachines(t *testing.T) {
	t.Parallel()
	m := several(t, "seed=4 delay=30", "seed=5 delay=10")
	measured := 0
	for _, s := range programsOf(t, "../../reference/testdata/programs/*.schedule") {
		if s.Spec.Ranks < 2 || s.Tensors == nil || refusal(s, 2) != nil {
			continue
		}
		given, err := reference.GivenTensors(s, reference.Normal, 6)
		require.NoError(t, err)
		agreesOnTensors(t, m, s, given, hw.Env{Iterations: 2})
		measured++
	}
	t.Logf("%d programs", measured)
	require.Positive(t, measured)
}

// TestSkippedWords: whichever word the second machine does not wait for, the result is wrong, where
// the first is slow: it uses what has not come.
func TestSkippedWords(t *testing.T) {
	t.Parallel()
	a, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
		Type: dtype.Float32, Ranks: 2, Count: 10}, algos.Options{})
	require.NoError(t, err)
	in := quietInputs(s)
	want, err := reference.RunBytes(s, in, reference.RunOptions{})
	require.NoError(t, err)
	for skip := range 4 {
		t.Run(fmt.Sprint(skip), func(t *testing.T) {
			t.Parallel()
			m := several(t, "seed=1 slow=100000", fmt.Sprintf("seed=2 skip=%d", skip))
			result, err := m.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in})
			require.NoError(t, err)
			if skip == 0 || skip == 3 { // a ring of two has two messages to each
				require.Equal(t, want, result.Outputs)
			} else {
				require.NotEqual(t, want, result.Outputs)
			}
		})
	}
}

// TestSkippedCredits: a sender that does not wait until its message was read writes over it.
func TestSkippedCredits(t *testing.T) {
	t.Parallel()
	s := lanes(t)
	in := quietInputs(s)
	want, err := reference.RunBytes(s, in, reference.RunOptions{})
	require.NoError(t, err)
	for skip := range 2 {
		t.Run(fmt.Sprint(skip), func(t *testing.T) {
			t.Parallel()
			m := several(t, fmt.Sprintf("seed=2 skip=%d", skip), "seed=1 slow=100000")
			result, err := m.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in})
			require.NoError(t, err)
			require.Equal(t, skip == 0, bytes.Equal(want[1], result.Outputs[1]))
		})
	}
}

// forever is a job that nobody awaits the end of.
func forever(s *schedule.Schedule, timeout time.Duration) *hw.Job {
	return &hw.Job{Schedule: s, Inputs: quietInputs(s),
		Env: hw.Env{Repetitions: 1 << 20, Timeout: timeout}}
}

// gone waits until processes have ended.
func gone(t *testing.T, processes ...int) {
	t.Helper()
	for _, pid := range processes {
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH },
			10*time.Second, time.Millisecond)
	}
}

// TestLostMachines: one that is killed or stopped is named; the other ends, and what is measured
// next has new ones.
func TestLostMachines(t *testing.T) {
	t.Parallel()
	all := []struct {
		signal syscall.Signal
		code   string
	}{{syscall.SIGKILL, "killed"}, {syscall.SIGSTOP, "timeout"}}
	for _, c := range all[:tier.Of(1, 2)] {
		m := several(t, "seed=1", "seed=2")
		agrees(t, m, ring(t), hw.Env{}, rand.New(rand.NewPCG(2, 1)))
		first, second := m.launcher.Process(0), m.launcher.Process(1)
		timer := time.AfterFunc(200*time.Millisecond, func() { syscall.Kill(second, c.signal) })
		defer timer.Stop()
		_, err := m.Run(context.Background(), forever(ring(t), 2*time.Second))
		var e *hw.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 2, e.Rank, "%v", err)
		require.Equal(t, c.code, e.Code, "%v", err)
		require.Contains(t, e.Text, fmt.Sprintf("process %d", second))
		gone(t, first, second)
		agrees(t, m, ring(t), hw.Env{}, rand.New(rand.NewPCG(2, 1)))
	}
}

// TestHungMachines: a GPU that does not end what it was given is told after the timeout, with who
// waits for it on the other machine; so is a call that does not return, and the process is ended.
func TestHungMachines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ options, want string }{
		{"seed=1 hang=12", `^rank \d: wait: timeout: no progress for 1s: rank \d is in step \d ` +
			`\(\w+\) of lane 0, which its GPU has not ended.*, rank \d lane 0 step \d waits for a message ` +
			`from rank \d lane 0`},
		{"seed=1 block=3", "no progress for 1s"},
		{"seed=1 fault=12", "CUDA_ERROR_ILLEGAL_ADDRESS.*not over, when that was found: rank "},
	} {
		t.Run(c.options, func(t *testing.T) {
			t.Parallel()
			m := several(t, "seed=2", c.options)
			_, err := m.Run(context.Background(), forever(ring(t), time.Second))
			require.Error(t, err)
			require.Regexp(t, c.want, err.Error())
		})
	}
}

// lossyFrame is which frame of a connection a machine of the test does not send.
const lossyFrame = "COLLSIM_TEST_LOSES"

// lossy is a connection that loses a frame, if the environment says so.
func lossy(c net.Conn) net.Conn {
	n, err := strconv.Atoi(os.Getenv(lossyFrame))
	if err != nil {
		return c
	}
	return &lossyConn{Conn: c, left: n}
}

type lossyConn struct {
	net.Conn
	left  int // frames until the one that is lost
	bytes int // of the frame that are still to come
	loses bool
}

func (c *lossyConn) Write(b []byte) (int, error) {
	if c.bytes == 0 {
		c.left--
		c.loses = c.left == 0
		c.bytes = wireHead + int(binary.LittleEndian.Uint64(b[8:]))
	}
	if c.bytes -= len(b); c.loses {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// TestLostMessages: a message that is never sent ends the run, with who waits for it.
func TestLostMessages(t *testing.T) {
	t.Parallel()
	m := several(t, "seed=1", "seed=2")
	with := m.launcher.Environ
	m.launcher.Environ = func(r rank.Rendezvous) []string {
		if r.Worker == 1 {
			return append(with(r), lossyFrame+"=3")
		}
		return with(r)
	}
	_, err := m.Run(context.Background(), forever(ring(t), time.Second))
	var e *hw.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "timeout", e.Code, "%v", err)
	require.ErrorContains(t, err, "waits for a message from rank 3 lane 0")
}

// TestTooMuchMail: what messages between machines take of the host is known when the schedule has
// been planned; where connections hold any number of them, a machine that has no more says so then.
func TestTooMuchMail(t *testing.T) {
	standinPath(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 4, Count: 1 << 20}
	a, err := algos.Find(spec.Kind, "ring")
	require.NoError(t, err)
	s, err := a.Build(spec, algos.Options{})
	require.NoError(t, err)
	planned := func(slots int, has int64) error {
		d := newDevice(compiledOnce)
		require.NoError(t, d.find())
		d.left = func() (memory.Free, bool) {
			left := memory.Free{Bytes: has}
			for _, b := range d.pinned {
				left.Bytes -= int64(len(b))
			}
			return left, true
		}
		given := [][]byte{make([]byte, 4<<20), make([]byte, 4<<20)}
		_, err := newExecution(context.Background(), d, &task{s, hw.Env{Slots: slots, Iterations: 1},
			machines{count: 2}, given})
		require.NoError(t, d.free())
		require.NoError(t, d.leave())
		return err
	}
	// Rank 1 sends six messages of 1 MiB to the other machine, and rank 0 receives six. There is a
	// piece for words besides.
	require.NoError(t, planned(0, 13<<20))
	require.NoError(t, planned(2, 5<<20))
	require.EqualError(t, planned(0, 13<<20-1), "rank 0: memory: too little: messages from and "+
		"to other machines have 12 MiB, and 1 MiB more is needed: this machine has 1048575 B left")
}

// TestWrongCrossings: what a machine says to another that is not of the plan ends the run with an
// error, and no length is believed.
func TestWrongCrossings(t *testing.T) {
	frame := func(epoch, number uint32, size int) []byte {
		b := binary.LittleEndian.AppendUint32(nil, epoch)
		b = binary.LittleEndian.AppendUint32(b, number)
		b = binary.LittleEndian.AppendUint64(b, uint64(size))
		return append(b, bytes.Repeat([]byte{7}, min(max(size, 0), 100))...)
	}
	twice := append(frame(5, 0, 8), frame(5, 0, 8)...)
	for name, c := range map[string]struct {
		says []byte
		want string
	}{
		"right":        {append(frame(5, 0, 8), frame(5, 2, 0)...), ""},
		"a late word":  {frame(4, 9, 0), ""},
		"late bytes":   {frame(4, 0, 8), "machine 1: crossing 0 of repetition 4, in repetition 5"},
		"early":        {frame(6, 0, 8), "crossing 0 of repetition 6, in repetition 5"},
		"number":       {frame(5, 3, 8), "crossing 3 of repetition 5"},
		"large number": {frame(5, 1<<31, 8), "crossing 2147483648"},
		"short":        {frame(5, 0, 7), "crossing 0 with 7 bytes instead of 8"},
		"long":         {frame(5, 0, 1<<40), "crossing 0 with 1099511627776 bytes instead of 8"},
		"negative":     {frame(5, 0, -1), "crossing 0 with -1 bytes instead of 8"},
		"not its own":  {frame(5, 1, 8), "crossing 1, which is from machine 0 to 1"},
		"twice":        {twice, "crossing 0 once more"},
		"cut":          {frame(5, 0, 8)[:20], "unexpected EOF"},
	} {
		w, m := &wires{}, &mail{crossings: []crossing{
			{from: 1, to: 0, size: 8, bytes: make([]byte, 8), flag: &atomic.Uint32{}},
			{from: 0, to: 1, size: 8, bytes: make([]byte, 8), flag: &atomic.Uint32{}},
			{from: 1, to: 0, flag: &atomic.Uint32{}},
		}}
		w.begin(m, 5)
		err := w.read(1, conn{Reader: bytes.NewReader(c.says)})
		if c.want != "" {
			require.ErrorContains(t, err, c.want, name)
			continue
		}
		require.Equal(t, io.EOF, err, name)
		if name == "right" {
			require.Equal(t, bytes.Repeat([]byte{7}, 8), m.crossings[0].bytes)
			require.EqualValues(t, 1, m.crossings[0].flag.Load())
			require.EqualValues(t, 1, m.crossings[2].flag.Load())
		}
		require.Zero(t, m.crossings[1].flag.Load())
	}
}

// conn is a connection on which bytes come.
type conn struct {
	net.Conn
	io.Reader
}

func (c conn) Read(b []byte) (int, error) { return c.Reader.Read(b) }
