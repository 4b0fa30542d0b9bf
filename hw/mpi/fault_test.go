//go:build unix

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
)

// endless is a call that takes far longer than any test.
func endless(ranks int, timeout time.Duration) *Call {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: 1 << 10}
	return &Call{Spec: spec, Choice: Choice{Function: "allreduce", Algorithm: "ring"},
		Inputs: sensitive(&spec, 1), Env: hw.Env{Iterations: 1 << 40, Timeout: timeout}}
}

// processes are mpirun's and the ranks'.
func (d *Device) processes() []int {
	all := []int{d.crew.launcher.cmd.Process.Pid}
	for _, h := range d.crew.hands {
		all = append(all, h.hello.Process)
	}
	return all
}

// alive are those of some processes that have not ended.
func alive(processes []int) (left []int) {
	for _, p := range processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err == nil && !strings.Contains(string(stat), ") Z ") { // whoever has to bury it
			left = append(left, p)
		}
	}
	return left
}

// TestLostRank: a rank that is killed, or stopped, is named within the timeout, and nothing is
// left.
func TestLostRank(t *testing.T) {
	d := device(t)
	for _, how := range []struct {
		signal syscall.Signal
		code   string
	}{{syscall.SIGKILL, "killed"}, {syscall.SIGSTOP, "timeout"}} {
		d.start(t, 3)
		pid := d.crew.hands[2].hello.Process
		dir, processes := d.crew.dir, d.processes()
		require.Len(t, alive(processes), 4)
		struck := make(chan time.Time, 1)
		timer := time.AfterFunc(200*time.Millisecond, func() {
			struck <- time.Now()
			syscall.Kill(pid, how.signal)
		})
		defer timer.Stop()
		const timeout = 3 * time.Second
		_, err := d.Perform(context.Background(), endless(3, timeout))
		require.Less(t, time.Since(<-struck), timeout)
		var e *hw.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 2, e.Rank)
		require.Equal(t, how.code, e.Code)
		require.Contains(t, e.Text, fmt.Sprintf("process %d", pid))
		require.Empty(t, alive(processes))
		require.NoDirExists(t, dir)
	}
}

// TestCancel: a context that ends, ends the run, with its cause.
func TestCancel(t *testing.T) {
	d := device(t)
	cause := errors.New("somebody is in a hurry")
	ctx, cancel := context.WithCancelCause(context.Background())
	d.start(t, 2)
	processes := d.processes()
	timer := time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
	defer timer.Stop()
	_, err := d.Perform(ctx, endless(2, 5*time.Second))
	require.ErrorIs(t, err, cause)
	require.Empty(t, alive(processes))
}

// testErrors: what the library refuses is named in its own words, with the call and the rank.
func testErrors(t *testing.T, d *Device) {
	spec := collective.Spec{Kind: collective.Broadcast, Type: dtype.Float32, Ranks: 2, Root: 9,
		Count: 4} // past the checks: there is no such root
	_, err := d.run(context.Background(), [][]byte{{}, {}}, task{Ranks: 2, Spec: spec,
		Choice: Choice{Function: "bcast"}, Env: hw.Env{Repetitions: 1, Iterations: 1,
			Timeout: 10 * time.Second}}, nil)
	var e *hw.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "MPI_Bcast", e.Call)
	require.Equal(t, "MPI_ERR_ROOT", e.Code)
	require.Equal(t, "invalid root", e.Text)
	require.Contains(t, []int{0, 1}, e.Rank)
}

// testHung: of a run in which nothing goes on in the library, it is said which rank is where.
func testHung(t *testing.T, d *Device) {
	d.start(t, 2)
	w, c, processes := d.crew, endless(2, time.Second), d.processes()
	c.Env.Iterations = 1
	w.timeout = c.Env.Timeout
	for rank, h := range w.hands {
		job := task{Ranks: 2, Spec: c.Spec, Choice: c.Choice, Env: c.Env}
		if rank < 2 {
			job.Input = c.Inputs[rank]
		}
		require.NoError(t, h.channel.send(order{Kind: orderJob, Job: &job}))
	}
	ctx := context.Background()
	_, err := w.await(ctx, reportReady, len(w.hands))
	require.NoError(t, err)
	_, err = w.order(ctx, order{Kind: orderGo}, reportDone, 1) // rank 1 is told nothing
	require.EqualError(t, err, "hw: rank 0: wait: timeout: no progress for 1s: "+
		"rank 0 is in MPI_Barrier")
	w.dismiss(false)
	d.crew = nil
	require.Empty(t, alive(processes))
}
