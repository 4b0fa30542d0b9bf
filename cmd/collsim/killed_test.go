//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw/mpi"
)

// TestKilledRank: a rank that is killed while it executes is named, the exit code is 1, and no
// process is left.
func TestKilledRank(t *testing.T) {
	t.Parallel()
	for _, executor := range []string{"host", "mpi"} {
		t.Run(executor, func(t *testing.T) {
			if executor == "mpi" {
				if _, err := mpi.Available(context.Background(), mpi.Config{}); err != nil {
					t.Skip(err)
				}
			}
			name := filepath.Join(t.TempDir(), "endless.toml")
			require.NoError(t, os.WriteFile(name, []byte(endless), 0o600))
			cmd := command(t, "validate", name, "--hw", executor)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			require.NoError(t, cmd.Start())
			ranks := ranksBelow(t, cmd.Process.Pid, 3)
			require.NoError(t, syscall.Kill(ranks[1], syscall.SIGKILL))
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Wait(), &exit)
			require.Equal(t, exitFailed, exit.ExitCode(), "%s%s", &out, &errs)
			require.Regexp(t, `FAILED: all_reduce/ring/1048576: rank [012]: `, out.String())
			for _, pid := range ranks {
				_, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") // a zombie has none
				require.Error(t, err, "a rank is left")
			}
		})
	}
}

// ranksBelow waits until so many processes that run this program are below another, and busy.
func ranksBelow(t *testing.T, pid, ranks int) []int {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	for {
		var found []int
		for _, p := range below(pid) {
			if exe, err := os.Readlink("/proc/" + strconv.Itoa(p) + "/exe"); err == nil && exe == self {
				found = append(found, p)
			}
		}
		if len(found) == ranks {
			time.Sleep(100 * time.Millisecond) // so that they execute
			return found
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// below lists the processes that a process has started, and those that these have.
func below(pid int) (all []int) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(text)) {
			if p, err := strconv.Atoi(word); err == nil {
				all = append(append(all, p), below(p)...)
			}
		}
	}
	return all
}

// TestKilledWorker: the ranks that a worker has started end with it, however it ends, and validate
// names one of them.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "endless.toml")
	require.NoError(t, os.WriteFile(name, []byte(endless), 0o600))
	here, out, line := waitingFor(t, name, "elsewhere")
	secret, start, ok := strings.Cut(strings.TrimPrefix(line, "on elsewhere, start: "), " collsim ")
	require.True(t, ok, line)
	worker := command(t, strings.Fields(start)...)
	worker.Env = append(worker.Env, secret)
	require.NoError(t, worker.Start())
	ranks := ranksBelow(t, worker.Process.Pid, 3)
	require.NoError(t, worker.Process.Kill())
	worker.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, here.Wait(), &exit)
	require.Equal(t, exitFailed, exit.ExitCode(), out)
	require.Regexp(t, `FAILED: all_reduce/ring/1048576: rank [012]: `, out.String())
	for _, pid := range ranks {
		require.Eventually(t, func() bool {
			_, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") // a zombie has none
			return err != nil
		}, 2*time.Minute, 5*time.Millisecond, "a rank is left")
	}
}
