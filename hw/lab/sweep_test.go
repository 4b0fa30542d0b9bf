package lab

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// longPlan takes a minute at 65 kB a second.
func longPlan() schedule.Plan {
	return schedule.Plan{Name: "long", Spec: collective.Spec{Kind: collective.SendRecv,
		Type: dtype.Float32, Ranks: 2, Count: 1 << 20}, Lane: func(l *schedule.Lane) {
		if l.Rank == 0 {
			l.Send(1, l.In(0))
		} else {
			l.Recv(0, l.Out(0))
		}
	}}
}

// TestOwnersEnd ends owners of labs in the middle of a run: interrupted, one removes its lab;
// killed, its lab is swept.
func TestOwnersEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		executor string
		signal   syscall.Signal
	}{{"host", syscall.SIGINT}, {"host", syscall.SIGKILL}, {"mpi", syscall.SIGINT},
		{"mpi", syscall.SIGKILL}} {
		t.Run(tt.executor+" "+tt.signal.String(), func(t *testing.T) {
			if tt.signal == syscall.SIGINT {
				t.Parallel() // what is killed is swept, of whomever: one at a time
			}
			if tt.executor == "mpi" {
				needMPI(t)
			}
			testOwnerEnds(t, tt.executor, tt.signal)
		})
	}
}

func testOwnerEnds(t *testing.T, executor string, by syscall.Signal) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	folder, err := os.MkdirTemp("", "owner") // mpirun's owner removes its folder, but not when killed
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	cmd.Env = append(os.Environ(), ownerOfLab+"="+executor, "TMPDIR="+folder)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	if !strings.HasPrefix(line, "runs") {
		cmd.Wait()
		t.Skip(line)
	}
	pid := cmd.Process.Pid
	all := mine(t, pid)
	require.Len(t, all, 4)
	var pids []int // ranks, and of Open MPI daemons and mpirun
	require.Eventually(t, func() bool {
		pids = inside(all)
		return len(pids) >= map[string]int{"host": 2, "mpi": 5}[executor]
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(by))
	cmd.Wait()
	if by == syscall.SIGINT {
		require.Equal(t, 0, cmd.ProcessState.ExitCode())
	} else {
		require.Len(t, mine(t, pid), 4)
		removed, err := Sweep()
		require.NoError(t, err)
		require.GreaterOrEqual(t, removed, 4)
	}
	require.Empty(t, mine(t, pid))
	dirs, err := filepath.Glob(filepath.Join(desks, fmt.Sprintf("%s-%d-*", mark, pid)))
	require.NoError(t, err)
	require.Empty(t, dirs)
	for _, pid := range pids { // of a busy machine, one that has been killed may still be on its way
		require.Eventually(t, func() bool { return born(pid) == "" }, time.Minute,
			10*time.Millisecond, "process %d is left", pid)
	}
}

func TestOnlyTheDeadsAreOrphans(t *testing.T) {
	lives := func(pid int) string { return map[int]string{7: "100"}[pid] }
	for name, want := range map[string]bool{
		"collsim-7-100-0-3":       false, // lives
		"collsim-7-99-0-3":        true,  // another process had the number
		"collsim-8-100-0-control": true,
		"collsim-8-100-0":         false, // not ours
		"collsim-x-100-0-3":       false,
		"collsim--100-0-3":        false,
		"other-8-100-0-3":         false,
		"collsim":                 false,
	} {
		require.Equal(t, want, orphaned(name, lives), name)
	}
	require.False(t, orphaned(owned()+"-0-control", born))
}
