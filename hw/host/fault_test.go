package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/gate"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
	"collsim/schedule"
)

// endless is a job that takes longer than any test.
func endless(t testing.TB, ranks int, timeout time.Duration) *hw.Job {
	s := ringOf(t, ranks, 1<<12, dtype.Float32)
	in := make([][]byte, ranks)
	for rank := range in {
		in[rank] = make([]byte, 4<<12)
	}
	return &hw.Job{Schedule: s, Inputs: in, Env: hw.Env{Iterations: 1 << 30, Timeout: timeout}}
}

// leftovers are the goroutines, open files and child processes of this program, where the system
// tells them.
func leftovers() (all [3]int, err error) {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return all, err
	}
	threads, err := filepath.Glob("/proc/self/task/*/children")
	children := 0
	for _, path := range threads {
		text, _ := os.ReadFile(path) // a thread may have ended
		children += len(strings.Fields(string(text)))
	}
	return [3]int{runtime.NumGoroutine(), len(files), children}, err
}

// remains returns a function which waits until no more is there than is now, and says what is if
// that takes too long.
func remains() func() error {
	r, w, err := os.Pipe() // with the first one, Go opens files to wait with, and keeps them
	if err != nil {
		return func() error { return err }
	}
	r.Close()
	w.Close()
	before, err := leftovers()
	return func() error {
		if err != nil {
			return nil // they are not told
		}
		var now [3]int
		for since := time.Now(); time.Since(since) < time.Minute; time.Sleep(10 * time.Millisecond) {
			now, _ = leftovers()
			if now[0] <= before[0]+1 && now[1] <= before[1] && now[2] <= before[2] {
				return nil
			}
		}
		return fmt.Errorf("goroutines, files, processes: %v, then %v", before, now)
	}
}

// nothingLeft checks, when the test ends, that as much is there as was before. Of parallel tests,
// TestMain checks it when all have ended.
func nothingLeft(t *testing.T) {
	t.Helper()
	more := remains()
	t.Cleanup(func() { require.NoError(t, more()) })
}

// TestNothingLeft: also after runs that went well.
func TestNothingLeft(t *testing.T) {
	for _, transport := range []Transport{Goroutines, Unix, TCP} {
		t.Run(transport.String(), func(t *testing.T) {
			nothingLeft(t)
			h := open(t, Config{Transport: transport})
			agree(t, h, ringOf(t, 3, 100, dtype.Int32), hw.Env{})
			agree(t, h, ringOf(t, 5, 100, dtype.Int32), hw.Env{})
			if transport == Unix {
				dir := filepath.Dir(h.launcher.Address())
				require.DirExists(t, dir)
				require.NoError(t, h.Close())
				require.NoDirExists(t, dir)
			}
		})
	}
}

// TestStall: a run that cannot go on is ended, and says who waits for whom. On a machine that is so
// busy that the ranks are not heard of meanwhile, it is given longer.
func TestStall(t *testing.T) {
	t.Parallel()
	for _, transport := range []Transport{Goroutines, Unix, TCP} {
		t.Run(transport.String(), func(t *testing.T) {
			t.Parallel() // it is mostly waiting
			h := open(t, Config{Transport: transport})
			agree(t, h, ringOf(t, 3, 10, dtype.Int8), hw.Env{}) // ranks may take long to start
			var err error
			told := ""
			shortest := hwtest.Patient(400 * time.Millisecond)
			for timeout := shortest; timeout < 25*shortest; timeout *= 4 {
				s, in, want := hwtest.Circle(t, timeout)
				_, err = h.Run(context.Background(), &hw.Job{Schedule: s, Inputs: in,
					Env: hw.Env{Timeout: timeout}})
				if told = want; err == nil || !strings.Contains(err.Error(), "not heard of") {
					break
				}
				agree(t, h, ringOf(t, 3, 10, dtype.Int8), hw.Env{})
			}
			require.EqualError(t, err, told)
			var stall *schedule.StallError
			require.ErrorAs(t, err, &stall)
			agree(t, h, ringOf(t, 3, 10, dtype.Int8), hw.Env{}) // it can be used again
		})
	}
}

// TestLostRank: a rank that is killed, or stopped, is named within the timeout, and so is one that
// never comes.
func TestLostRank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		transport Transport
		signal    syscall.Signal
		code      string
	}{{Unix, syscall.SIGKILL, "killed"}, {TCP, syscall.SIGKILL, "killed"},
		{TCP, syscall.SIGSTOP, "timeout"}} {
		t.Run(c.transport.String()+"/"+c.signal.String(), func(t *testing.T) {
			t.Parallel() // it is mostly waiting
			h := open(t, Config{Transport: c.transport})
			agree(t, h, ringOf(t, 4, 10, dtype.Int8), hw.Env{})
			pid := h.launcher.Process(2)
			struck := make(chan time.Time, 1)
			timeout := hwtest.Patient(tier.Of(1200*time.Millisecond, 3*time.Second))
			timer := time.AfterFunc(hwtest.Patient(100*time.Millisecond), func() { // it executes then
				struck <- time.Now()
				syscall.Kill(pid, c.signal)
			})
			defer timer.Stop()
			_, err := h.Run(context.Background(), endless(t, 4, timeout))
			require.Less(t, time.Since(<-struck), 20*timeout) // a busy machine is late
			var e *hw.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, 2, e.Rank)
			require.Equal(t, c.code, e.Code)
			require.Contains(t, e.Text, fmt.Sprintf("process %d", pid))
			require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
			agree(t, h, ringOf(t, 4, 10, dtype.Int8), hw.Env{})
		})
	}
	t.Run("never there", func(t *testing.T) {
		t.Parallel() // it is mostly waiting
		h := open(t, Config{Transport: TCP, Listen: "127.0.0.1:0", Hosts: []string{"", "far"},
			Announce: func(ranks []Rendezvous) { require.Len(t, ranks, 1) }})
		timeout := hwtest.Patient(time.Second)
		_, err := h.Run(context.Background(), endless(t, 2, timeout))
		require.EqualError(t, err, fmt.Sprintf("rank 1: wait: timeout: %v was not enough to come",
			timeout))
	})
}

// speakNonsense speaks to an address as no rank does.
func speakNonsense(t *testing.T, address string) {
	t.Helper()
	for _, says := range []string{"", "GET / HTTP/1.1\r\n\r\n"} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		fmt.Fprint(conn, says)
		require.NoError(t, conn.Close())
	}
}

// TestNonsense: who does not speak as a rank does is sent away, and disturbs nobody: neither the
// coordinator nor a rank that awaits its peers.
func TestNonsense(t *testing.T) {
	nothingLeft(t)
	h := open(t, Config{Transport: TCP})
	agree(t, h, ringOf(t, 3, 10, dtype.Int8), hw.Env{})
	speakNonsense(t, h.launcher.Address())
	agree(t, h, ringOf(t, 3, 1000, dtype.Int8), hw.Env{})

	meshes, all := pairOfMeshes(t, gate.NewSecret())
	speakNonsense(t, all[0].Address)
	require.NoError(t, meshes[1].connect(t.Context(), all[:1], time.Minute))
	require.NoError(t, meshes[0].connect(t.Context(), all[1:], time.Minute))
	for _, m := range meshes {
		m.stopped.Store(true) // which socket ends first is no fault
	}
}

// TestLostIdle: a rank that dies between two jobs is replaced.
func TestLostIdle(t *testing.T) {
	nothingLeft(t)
	h := open(t, Config{Transport: Unix})
	agree(t, h, ringOf(t, 3, 10, dtype.Int8), hw.Env{})
	require.NoError(t, syscall.Kill(h.launcher.Process(1), syscall.SIGKILL))
	require.Eventually(t, func() bool { return h.launcher.Process(1) == 0 }, time.Minute,
		time.Millisecond)
	agree(t, h, ringOf(t, 3, 10, dtype.Int8), hw.Env{})
}

// TestLostAtEveryRank: ranks that were started by hand end with an error that names the lost one.
func TestLostAtEveryRank(t *testing.T) {
	t.Parallel()
	leaves, leave := context.WithCancelCause(context.Background())
	ended := make(chan error, 3)
	h := open(t, Config{Transport: TCP, Listen: "127.0.0.1:0", Hosts: []string{"a", "b", "c", "d"},
		Announce: func(ranks []Rendezvous) {
			for _, r := range ranks {
				go func() {
					if r.Rank == 1 {
						Worker(leaves, r)
						return
					}
					ended <- Worker(context.Background(), r)
				}()
			}
		}})
	job := endless(t, 4, hwtest.Patient(2*time.Second))
	timer := time.AfterFunc(hwtest.Patient(100*time.Millisecond), func() {
		leave(errors.New("power failure"))
	})
	defer timer.Stop()
	_, err := h.Run(context.Background(), job)
	var e *hw.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 1, e.Rank)
	for range 3 {
		require.EqualError(t, <-ended, err.Error())
	}
}

// TestCancel: a context that ends, ends the run, with its cause.
func TestCancel(t *testing.T) {
	t.Parallel()
	cause := errors.New("somebody is in a hurry")
	for _, transport := range []Transport{Goroutines, Unix, TCP} {
		t.Run(transport.String(), func(t *testing.T) {
			t.Parallel() // it is mostly waiting
			h := open(t, Config{Transport: transport})
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
			defer timer.Stop()
			_, err := h.Run(ctx, endless(t, 3, hwtest.Patient(5*time.Second)))
			require.ErrorIs(t, err, cause)
		})
	}
}

// TestOrphans: ranks end when the coordinator's process is killed, and clear up after it.
func TestOrphans(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), orphanage+"=yes")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	var pids [3]int
	var dir string
	_, err = fmt.Sscan(line, &pids[0], &pids[1], &pids[2], &dir)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	for _, pid := range pids {
		require.Eventually(t, func() bool { return gone(pid) }, time.Minute, 5*time.Millisecond)
	}
	require.NoDirExists(t, dir)
}

// gone reports whether a process has ended, whoever has to reap it.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// orphanage has this program start ranks, say which, and wait to be killed.
const orphanage = "COLLSIM_HOST_TEST_ORPHANAGE"

func raiseOrphans() {
	h, err := New(Config{Transport: Unix})
	if err != nil {
		panic(err)
	}
	job := endless(&testing.B{}, 3, 20*time.Second)
	endless := job.Env.Iterations
	job.Env.Iterations = 1
	if _, err := h.Run(context.Background(), job); err != nil {
		panic(err)
	}
	for number := range 3 {
		fmt.Print(h.launcher.Process(number), " ")
	}
	fmt.Println(filepath.Dir(h.launcher.Address()))
	job.Env.Iterations = endless
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	h.Run(ctx, job) // if nobody kills it
}
