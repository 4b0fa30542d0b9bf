package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/hw/cuda/cudatest"
)

// machinesOf starts a validation on the GPUs of this machine and of another, which is this one as
// well, and the worker that it asks for.
func machinesOf(t *testing.T, more ...string) (here, worker *exec.Cmd, out, said *bytes.Buffer) {
	t.Helper()
	environment, err := cudatest.Standin(filepath.Join(repository(t), "hw", "cuda", "standin"))
	if err != nil {
		t.Skip(err)
	}
	on := func(standin string, args ...string) *exec.Cmd {
		cmd := command(t, args...)
		cmd.Env = append(cmd.Env, "COLLSIM_STANDIN="+standin)
		for name, value := range environment {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		return cmd
	}
	here = on("seed=1 delay=50", append([]string{"validate", "example:ring", "--hw", "cuda", "--set",
		"collective.bytes=64KiB", "--set", `hardware.timeout="2 s"`, "--hosts", "localhost,elsewhere",
		"--listen", "127.0.0.1:0"}, more...)...)
	out, said = &bytes.Buffer{}, &bytes.Buffer{}
	here.Stdout = out
	r, w, err := os.Pipe()
	require.NoError(t, err)
	here.Stderr = w
	require.NoError(t, here.Start())
	require.NoError(t, w.Close())
	t.Cleanup(func() { r.Close() })
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	start, ok := strings.CutPrefix(strings.TrimSpace(line), "on elsewhere, start: ")
	require.True(t, ok, line)
	secret, start, ok := strings.Cut(start, " collsim ")
	require.True(t, ok, line)
	require.Contains(t, start, "--machine 1")
	worker = on("seed=2 delay=20 devices=2", strings.Fields(start)...)
	worker.Env = append(worker.Env, secret)
	worker.Stderr = said
	require.NoError(t, worker.Start())
	return here, worker, out, said
}

// TestMachinesOfCUDA: from the command line to the GPUs of two machines and back, on the stand-in
// for CUDA: the bits are equal.
func TestMachinesOfCUDA(t *testing.T) {
	here, worker, out, said := machinesOf(t)
	require.NoError(t, here.Wait(), "%s", out)
	require.NoError(t, worker.Wait(), "%s", said)
	require.Contains(t, out.String(), "# executed on cuda (stand-in driver: ordering and plumbing, ")
	require.Regexp(t, `(?m)^# the clocks of two ranks are up to `, out.String())
	require.Regexp(t, `(?m)^ +65536 .* equal$`, out.String())
}

// TestKilledMachine: a worker that is killed ends the validation, which names its ranks.
func TestKilledMachine(t *testing.T) {
	t.Parallel()
	here, worker, out, _ := machinesOf(t, "--set", "hardware.repetitions=100000")
	time.AfterFunc(500*time.Millisecond, func() { worker.Process.Signal(syscall.SIGKILL) })
	require.Error(t, here.Wait())
	require.Error(t, worker.Wait())
	require.Equal(t, 1, here.ProcessState.ExitCode(), "%s", out)
	text := strings.Join(strings.Fields(out.String()), " ")
	require.Contains(t, text, "FAILED: all_reduce/ring/65536: rank 4: ")
}

// TestOneSidedBetweenMachines: a schedule that reads another machine's memory is refused before
// anything is started, with the step; the other points are executed.
func TestOneSidedBetweenMachines(t *testing.T) {
	program, run := onCUDA(t)
	text, code := run("", program, "validate", "example:ring", "--hw", "cuda", "--hosts",
		"localhost,localhost", "--listen", "127.0.0.1:0", "--set", "collective.bytes=64KiB", "--set",
		"collective.kind=reduce_scatter", "--set", `collective.algorithm=["ring","low-contention"]`)
	require.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(text, "\n#", "\n")), " "),
		"left out reduce_scatter/low-contention/65536: rank 0 lane 0 step 15: a get with rank 7, which "+
			"is on another machine: between machines there are messages")
	require.Regexp(t, `(?m)^ +65536 .* equal$`, text)
	require.Zero(t, code, text)
}
