package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"collsim/hw/nccl/nccltest"
	"collsim/internal/tier"
)

var update = flag.Bool("update", false, "rewrite expected outputs in testdata and in the README")

// asCommand has this binary be the command, for tests that no script can be.
const asCommand = "COLLSIM_TEST_COMMAND"

// TestMain has this binary be the command where it is called so.
func TestMain(m *testing.M) {
	if code, is := child(); is {
		os.Exit(code)
	}
	if os.Getenv(asCommand) != "" || filepath.Base(os.Args[0]) == "collsim" {
		main()
	}
	os.Exit(tier.Main(m))
}

// inPath puts this binary where programs are looked for, as collsim.
func inPath(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "collsim")))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestScripts runs the command as a user does: arguments, streams, files and exit codes. A command
// is a process where a script says `exec collsim`: where it needs standard input or an environment
// of its own. Scripts that are the same in both tiers are left to the short one.
func TestScripts(t *testing.T) {
	inPath(t)
	here := filepath.Join(repository(t), "cmd", "collsim")
	t.Chdir(here) // and back, in the end
	dir := filepath.Join(here, "testdata", "script")
	var files []string
	if tier.Race { // a command takes long to begin: those with signals, ranks, many points
		for _, name := range []string{"calibrate", "choose", "interrupt", "jsonl", "validate"} {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		Files:         files,
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error { // where arrays are that a script cannot hold
			env.Setenv("ORACLE", filepath.Join(here, "testdata", "oracle"))
			env.Setenv("STANDIN", filepath.Join(here, "..", "..", "hw", "nccl", "standin"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return tier.Long, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"collsim": func(ts *testscript.TestScript, neg bool, args []string) {
				if got := exitCode(ts, "collsim", args); (got != 0) != neg {
					ts.Fatalf("exit code %d", got)
				}
			},
			"code":   code,
			"nccl":   standInForNCCL,
			"signal": sendSignal,
			"end":    end,
		},
	})
}

// code N COMMAND … runs a command that must exit with N. With exec before it, collsim is a process.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command …")
	}
	got := exitCode(ts, args[1], args[2:])
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit code %d; %s is wanted", got, args[0])
	}
}

// oneAtATime has only one command be in this process: a process is in one directory.
var oneAtATime sync.Mutex

// exitCode runs a command and returns what it ends with.
func exitCode(ts *testscript.TestScript, name string, args []string) int {
	if name == "collsim" {
		oneAtATime.Lock()
		defer oneAtATime.Unlock()
		ts.Check(os.Chdir(ts.MkAbs(".")))
		a := &app{in: strings.NewReader(""), out: ts.Stdout(), err: ts.Stderr()}
		return a.main(context.Background(), args)
	}
	if name == "exec" && len(args) > 0 {
		name, args = args[0], args[1:]
	}
	err := ts.Exec(name, args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// standInForNCCL is nccl: the command that follows loads the stand-in for NCCL and CUDA's driver.
func standInForNCCL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: nccl")
	}
	library, err := nccltest.Standin(ts.Getenv("STANDIN"), ts.Getenv("WORK"))
	ts.Check(err)
	ts.Setenv("COLLSIM_LIBNCCL", library)
	ts.Setenv("COLLSIM_LIBCUDA", library)
	ts.Setenv("COLLSIM_STANDIN_DIR", ts.Getenv("WORK"))
}

// signals are those that scripts send.
func signals() map[string]syscall.Signal {
	return map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM,
		"HUP": syscall.SIGHUP}
}

// sendSignal is signal NAME N FILE COMMAND …: it runs a command, sends the signal when FILE is
// there, and wants it to exit with N; its streams are in the files stdout and stderr then. go
// test's limit ends what waits for ever.
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: signal name N file command …")
	}
	got, _, errs := signalled(ts, signals()[args[0]], args[3:], func() {
		for {
			if _, err := os.Stat(ts.MkAbs(args[2])); err == nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	if want, err := strconv.Atoi(args[1]); err != nil || got != want {
		ts.Fatalf("exit code %d; %s is wanted\n%s", got, args[1], errs)
	}
}

// end is end NAME N TEXT COMMAND …: the same for a command that writes no files. It runs the
// command again, for longer and longer, until it has exited by itself with TEXT on standard output.
func end(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: end name N text command …")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	for patience := 30 * time.Millisecond; ; patience *= 2 {
		got, out, errs := signalled(ts, signals()[args[0]], args[3:], func() { time.Sleep(patience) })
		switch {
		case got == want && strings.Contains(out, args[2]):
			return
		case got != want && got >= 0 || patience > time.Minute: // −1: nobody heard it yet
			ts.Fatalf("exit code %d; %d is wanted\n%s", got, want, errs)
		}
	}
}

// signalled runs a command, sends a signal after a while, and returns the exit code, −1 if the
// signal has killed it, and what was printed.
func signalled(ts *testscript.TestScript, s syscall.Signal, args []string,
	wait func()) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Path = filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[0])
	cmd.Err = nil // of looking for it elsewhere
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, &errs
	cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	// A signal that whoever runs the tests ignores (nohup), the command would ignore as well.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, s)
	ts.Check(cmd.Start())
	signal.Stop(heard)
	wait()
	if err := cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		ts.Check(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("stdout"), out.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("stderr"), errs.Bytes(), 0o600))
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
