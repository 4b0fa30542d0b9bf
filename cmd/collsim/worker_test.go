package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// endless is a scenario that is executed for a very long time.
const endless = `[topology]
preset = "full-mesh"
ranks = 3
bandwidth = "1 GB/s"
latency = "10 us"
[collective]
kind = "all_reduce"
algorithm = "ring"
bytes = "1 MiB"
[hardware]
transport = "tcp"
repetitions = 100000
timeout = "5 s"
`

// command is this binary as the command.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asCommand+"=yes")
	return cmd
}

// waitingFor starts a validate of a file whose ranks are on these hosts, some of them elsewhere. It
// returns the output, and the line that says how to start the ranks elsewhere.
func waitingFor(t *testing.T, name, hosts string, env ...string) (here *exec.Cmd,
	out *bytes.Buffer, line string) {
	t.Helper()
	here = command(t, "validate", name, "--hosts", hosts, "--listen", "127.0.0.1:0")
	here.Env = append(here.Env, env...)
	out = &bytes.Buffer{}
	here.Stdout = out
	said, err := here.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, here.Start())
	line, err = bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	return here, out, strings.TrimSpace(line)
}

// TestWorkers: ranks of another machine are started as validate says, and execute with those here.
func TestWorkers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "short.toml")
	text := strings.Replace(endless, "100000", "3", 1)
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	here, out, line := waitingFor(t, name, "localhost,elsewhere")
	start, ok := strings.CutPrefix(line, "on elsewhere, start: ")
	require.True(t, ok, line)
	secret, start, ok := strings.Cut(start, " collsim ")
	require.True(t, ok, line)
	stranger := command(t, strings.Fields(start)...)
	stranger.Env = append(stranger.Env, "COLLSIM_SECRET=0123456789abcdef")
	refused, err := stranger.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(refused), "it does not know the secret of this run")
	// Ranks that nobody waits for are told so at once, those that are there already too.
	for _, ranks := range []string{"3", "99"} {
		words := strings.Fields(start)
		words[len(words)-1] = ranks
		lost := command(t, words...)
		lost.Env = append(lost.Env, secret)
		said, err := lost.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(said), ranks+": nobody waits for it there, or another has come")
	}
	worker := command(t, strings.Fields(start)...)
	worker.Env = append(worker.Env, secret)
	var complaints bytes.Buffer
	worker.Stdout, worker.Stderr = io.Discard, &complaints
	require.NoError(t, worker.Start())
	require.NoError(t, here.Wait())
	require.NoError(t, worker.Wait(), "%s", &complaints)
	require.Contains(t, out.String(), "(tcp)")
	require.Regexp(t, `(?m)^ +1048576 .* equal$`, out.String())
}

// TestWorkersOfAFile: both sides have the secret from a file; it is not shown, and no arguments of
// any process have it.
func TestWorkersOfAFile(t *testing.T) {
	dir := t.TempDir()
	name, file := filepath.Join(dir, "short.toml"), filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(name, []byte(strings.Replace(endless, "100000", "3", 1)), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("5b1e0a9f5b1e0a9f\n"), 0o600))
	here, _, line := waitingFor(t, name, "localhost,elsewhere", "COLLSIM_SECRET_FILE="+file)
	require.NotContains(t, line, "5b1e0a9f")
	start, ok := strings.CutPrefix(line,
		"on elsewhere, with the same secret, start: collsim ")
	require.True(t, ok, line)
	worker := command(t, strings.Fields(start)...)
	worker.Env = append(worker.Env, "COLLSIM_SECRET=5b1e0a9f5b1e0a9f")
	require.NoError(t, worker.Start())
	require.NoError(t, here.Wait())
	require.NoError(t, worker.Wait())
}

// TestArguments: no arguments of a process that validate starts have the secret.
func TestArguments(t *testing.T) {
	name := filepath.Join(t.TempDir(), "endless.toml")
	require.NoError(t, os.WriteFile(name, []byte(endless), 0o600))
	here := command(t, "validate", name)
	here.Env = append(here.Env, "COLLSIM_SECRET=5b1e0a9f5b1e0a9f")
	require.NoError(t, here.Start())
	defer func() {
		here.Process.Signal(os.Interrupt)
		here.Wait()
	}()
	children := 0
	require.Eventually(t, func() bool {
		children = 0
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		require.NoError(t, err)
		for _, path := range stats {
			stat, _ := os.ReadFile(path)
			if strings.Contains(string(stat), ") S "+strconv.Itoa(here.Process.Pid)+" ") {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				require.NotContains(t, string(line), "5b1e0a9f")
				children++
			}
		}
		return len(stats) == 0 || children == 3
	}, 20*time.Second, 10*time.Millisecond)
}
