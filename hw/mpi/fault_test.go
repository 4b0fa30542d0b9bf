//go:build unix

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/algos/openmpi"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
)

// endless is a call that takes far longer than any test.
func endless(ranks int, timeout time.Duration) *Call {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: ranks, Count: 1 << 10}
	return &Call{Spec: spec, Choice: openmpi.Choice{Function: "allreduce", Algorithm: "ring"},
		Inputs: sensitive(&spec, 1), Env: hw.Env{Iterations: 1 << 40, Timeout: timeout}}
}

// process is that of a rank, which mpirun has started.
func (e *Executor) process(number int) int {
	for _, p := range e.processes()[1:] {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p))
		if strings.Contains(string(text), fmt.Sprintf("\x00%s=%d\x00", rankEnvironment, number)) {
			return p
		}
	}
	return 0
}

// processes are mpirun's and the ranks'.
func (e *Executor) processes() []int {
	mpirun := e.launcher.mpirun.cmd.Process.Pid
	all := []int{mpirun}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", mpirun))
	for _, name := range files {
		text, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(text)) {
			if p, err := strconv.Atoi(word); err == nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// alive are those of some processes that have not ended.
func alive(processes []int) (left []int) {
	for _, p := range processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err == nil && !strings.Contains(string(stat), ") Z ") { // whoever has to reap it
			left = append(left, p)
		}
	}
	return left
}

// TestLostRank: a rank that is killed, or stopped, is named within the timeout, and nothing is
// left. The other keeps a processor busy until then. That a rank was killed is seen long before the
// timeout, but not on any machine within a second.
func TestLostRank(t *testing.T) {
	t.Parallel()
	for _, how := range []struct {
		signal syscall.Signal
		code   string
	}{{syscall.SIGKILL, "killed"}, {syscall.SIGSTOP, "timeout"}} {
		t.Run(how.code, func(t *testing.T) {
			d := device(t, Config{})
			d.start(t, 2)
			pid := d.process(1)
			dir, processes := filepath.Dir(d.launcher.at.Address), d.processes()
			require.Len(t, alive(processes), 3)
			struck := make(chan time.Time, 1)
			timeout := hwtest.Patient(tier.Of(800*time.Millisecond, 3*time.Second))
			late := 20 * timeout // as a busy machine is
			if how.signal == syscall.SIGKILL {
				timeout = hwtest.Patient(10 * time.Second)
				late = 2 * timeout
			}
			timer := time.AfterFunc(hwtest.Patient(50*time.Millisecond), func() { // it executes then
				struck <- time.Now()
				syscall.Kill(pid, how.signal)
			})
			defer timer.Stop()
			_, err := d.Perform(context.Background(), endless(2, timeout))
			require.Less(t, time.Since(<-struck), late)
			var e *hw.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, 1, e.Rank, "%s: %v", how.code, e)
			require.Equal(t, how.code, e.Code)
			require.Contains(t, e.Text, fmt.Sprintf("process %d", pid))
			require.Empty(t, alive(processes))
			require.NoDirExists(t, dir)
		})
	}
}

// TestCancel: a context that ends, ends the run, with its cause.
func TestCancel(t *testing.T) {
	d := device(t, Config{})
	cause := errors.New("somebody is in a hurry")
	ctx, cancel := context.WithCancelCause(context.Background())
	d.start(t, 2)
	processes := d.processes()
	job := endless(2, hwtest.Patient(5*time.Second))
	timer := time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	defer timer.Stop()
	_, err := d.Perform(ctx, job)
	require.ErrorIs(t, err, cause)
	require.Empty(t, alive(processes))
}

// testErrors: what the library refuses is named in its own words, with the call and the rank.
func testErrors(t *testing.T, d *Executor) {
	spec := collective.Spec{Kind: collective.Broadcast, Type: dtype.Float32, Ranks: 2, Root: 9,
		Count: 4} // past the checks: there is no such root
	_, err := d.perform(context.Background(), &Call{Spec: spec,
		Choice: openmpi.Choice{Function: "bcast"},
		Inputs: [][]byte{{}, {}}, Env: hw.Env{Timeout: 10 * time.Second}})
	var e *hw.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "MPI_Bcast", e.Call)
	require.Equal(t, "MPI_ERR_ROOT", e.Code)
	require.Equal(t, "invalid root", e.Text)
	require.Contains(t, []int{0, 1}, e.Rank)
}
