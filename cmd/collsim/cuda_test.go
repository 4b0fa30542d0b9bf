package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw/cuda/cudatest"
	"collsim/internal/tier"
)

// onCUDA runs commands, of which this binary may be the program, on the stand-in for CUDA, which
// behaves as a text says, and returns what they print and end with.
func onCUDA(t *testing.T) (program string,
	run func(standin string, command ...string) (string, int)) {
	t.Helper()
	environment, err := cudatest.Standin(filepath.Join(repository(t), "hw", "cuda", "standin"))
	if err != nil {
		t.Skip(err)
	}
	program, err = os.Executable()
	require.NoError(t, err)
	return program, func(standin string, command ...string) (string, int) {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(cmd.Environ(), asCommand+"=yes", "COLLSIM_STANDIN="+standin)
		for name, value := range environment {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
}

// TestCUDA: from the command line to the device and back, on the stand-in for CUDA, which names
// itself; the bits are equal, and what the device does wrong is told.
func TestCUDA(t *testing.T) {
	program, on := onCUDA(t)
	run := func(standin string, more ...string) (string, int) {
		return on(standin, append([]string{program, "validate", "example:ring", "--hw", "cuda",
			"--set", "collective.bytes=64KiB", "--set", `hardware.timeout="1 s"`}, more...)...)
	}
	text, code := run("seed=1 delay=50")
	require.Zero(t, code, text)
	require.Contains(t, text, "# executed on cuda (stand-in driver: ordering and plumbing, not CUDA, ")
	require.Regexp(t, `(?m)^ +65536 .* equal$`, text)
	require.NotContains(t, text, "clocks")
	text, code = run("seed=1 delay=50 devices=2")
	require.Zero(t, code, text)
	require.Contains(t, text, "# executed on cuda (2 GPUs: stand-in driver: ordering and plumbing, ")
	require.Regexp(t, `(?m)^# the clocks of two ranks are up to .* apart: times are not more exact$`,
		text)
	require.Regexp(t, `(?m)^ +65536 .* equal$`, text)
	text, code = run("seed=1 delay=50 devices=2", "--json")
	require.Zero(t, code, text)
	require.Regexp(t, `"skew_ps": ?[1-9]`, text)
	text, code = run("fault=40")
	require.Equal(t, 1, code, text)
	require.Contains(t, text, "CUDA_ERROR_ILLEGAL_ADDRESS")
}

// TestTrainingStep: a step forward and backward of the kernels that cuda has, its lengths divided
// by 128, has equal bits on 8 GPUs of the stand-in, and in the long tier in all its channels, and
// on two nodes of them, which average their gradients.
func TestTrainingStep(t *testing.T) {
	t.Parallel()
	program, on := onCUDA(t)
	text, err := os.ReadFile("testdata/cuda-step.toml")
	require.NoError(t, err)
	short := regexp.MustCompile(`(?m)^(shape|algorithm) = .*`).ReplaceAllStringFunc(string(text),
		strings.NewReplacer("8192", "64", "1024", "8", "3584", "28",
			"channels=24", tier.Of("channels=4", "channels=24")).Replace)
	require.Contains(t, short, "shape = [8, 64]")
	file := filepath.Join(t.TempDir(), "step.toml")
	require.NoError(t, os.WriteFile(file, []byte(short), 0o600))
	for nodes := 1; nodes <= tier.Of(1, 2); nodes++ {
		out, code := on("seed=3 delay=20 devices=8", program, "validate", file, "--hw", "cuda",
			"--set", "hardware.warmup=0", "--set", "hardware.repetitions=1",
			"--set", fmt.Sprint("topology.nodes=", nodes))
		require.Zero(t, code, out)
		require.Contains(t, out, "# on cuda the bits are equal, ")
	}
}

// TestAccumulate: cuda adds in float32 where a scenario says so, and its bits are held against
// that; what adds in the type all the same is told.
func TestAccumulate(t *testing.T) {
	const warning = "adds in the type itself: its bits are held against that"
	program, run := onCUDA(t)
	command := func(executor string) []string {
		return []string{program, "validate", "example:ring", "--hw", executor,
			"--set", "collective.count=100", "--set", "collective.dtype=bfloat16",
			"--set", "collective.algorithm=one-shot", "--set", "collective.accumulate=float32"}
	}
	text, code := run("seed=1", command("cuda")...)
	require.Zero(t, code, text)
	require.NotContains(t, text, warning)
	require.Regexp(t, `(?m)^ +200 .* equal$`, text)
	text, code = run("", command("host")...)
	require.Zero(t, code, text)
	require.Contains(t, text, "host "+warning)
}

// TestValidateScript: the script for a machine with GPUs needs the binary alone, ends well on the
// stand-in, and says so where something fails or where there is no GPU.
func TestValidateScript(t *testing.T) {
	t.Parallel()
	program, run := onCUDA(t)
	script := filepath.Join(repository(t), "hw", "cuda", "validate.sh")
	folder := t.TempDir()
	text, code := run("seed=1", script, program, folder, "small")
	require.Zero(t, code, text)
	require.Contains(t, text, "(stand-in driver: ordering and plumbing, not CUDA")
	parts := 0
	_, table, _ := strings.Cut(text, "part         exit  equal differ failed\n")
	for line := range strings.Lines(table) {
		var name string
		var exit, equal, differ, failed int
		_, err := fmt.Sscan(line, &name, &exit, &equal, &differ, &failed)
		require.NoError(t, err, line)
		require.Zero(t, exit+differ+failed, line)
		require.True(t, equal > 0 || name == "times-json" || name == "preset", line)
		parts++
	}
	require.Equal(t, 7, parts)
	preset, err := os.ReadFile(filepath.Join(folder, "preset.toml"))
	require.NoError(t, err)
	require.Contains(t, string(preset), "# Source: cuda (stand-in driver: ordering and plumbing, not ")
	require.Regexp(t, `(?m)^copy_rate = "`, string(preset))
	if tier.Of(false, true) {
		text, code = run("seed=1 fault=300", script, program, t.TempDir(), "small")
		require.Equal(t, 1, code, text)
		require.Regexp(t, `(?m)^algorithms +1 `, text)
	}
	cmd := exec.Command(script, program, t.TempDir(), "small")
	cmd.Env = append(os.Environ(), asCommand+"=yes", "COLLSIM_LIBCUDA=nowhere.so")
	out, _ := cmd.CombinedOutput()
	require.Equal(t, 3, cmd.ProcessState.ExitCode(), string(out))
	require.Contains(t, string(out), "nowhere.so: cannot open shared object file")
}
