package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"collsim/internal/tier"
)

var update = flag.Bool("update", false, "rewrite expected outputs in testdata and in the README")

// asCommand has this binary be the command, for tests that no script can be.
const asCommand = "COLLSIM_TEST_COMMAND"

// TestMain lets scripts run this binary as the command.
func TestMain(m *testing.M) {
	if code, is := child(); is {
		os.Exit(code)
	}
	if os.Getenv(asCommand) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"collsim": main})
}

// TestScripts runs the command as a user does: arguments, streams, files and exit codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error { // where arrays are that a script cannot hold
			oracle, err := filepath.Abs(filepath.Join("testdata", "oracle"))
			env.Setenv("ORACLE", oracle)
			return err
		},
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return tier.Long, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":      code,
			"interrupt": interrupt,
		},
	})
}

// code N COMMAND … runs a command that must exit with N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command …")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit code %d; %s is wanted", got, args[0])
	}
}

// interrupt N FILE COMMAND … runs a command, interrupts it when FILE is there, and wants it to exit
// with N; its streams are in the files stdout and stderr then. go test's limit ends what waits for
// ever.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt N file command …")
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Path = filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[2])
	cmd.Err = nil // of looking for it elsewhere
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, &errs
	cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"))
	ts.Check(cmd.Start())
	for {
		if _, err := os.Stat(ts.MkAbs(args[1])); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	got := 0
	if err := cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	ts.Check(os.WriteFile(ts.MkAbs("stdout"), out.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("stderr"), errs.Bytes(), 0o600))
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit code %d; %s is wanted\n%s", got, args[0], errs.String())
	}
}
