package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endless is a scenario that is played for a very long time.
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

// TestWorkers: ranks of another machine are started as validate says, and play with those here.
func TestWorkers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "short.toml")
	text := strings.Replace(endless, "100000", "3", 1)
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	here := command(t, "validate", name, "--hosts", "localhost,elsewhere", "--listen", "127.0.0.1:0")
	var out bytes.Buffer
	here.Stdout = &out
	said, err := here.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, here.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	start, ok := strings.CutPrefix(strings.TrimSpace(line), "on elsewhere, start: collsim ")
	require.True(t, ok, line)
	worker := command(t, strings.Fields(start)...)
	var complaints bytes.Buffer
	worker.Stdout, worker.Stderr = io.Discard, &complaints
	require.NoError(t, worker.Start())
	require.NoError(t, here.Wait())
	require.NoError(t, worker.Wait(), "%s", &complaints)
	require.Contains(t, out.String(), "(tcp)")
	require.Regexp(t, `(?m)^ +1048576 .* equal$`, out.String())
}
