package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite expected outputs in testdata and in the README")

// TestMain lets scripts run this binary as the command.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"collsim": main})
}

// TestScripts runs the command as a user does: arguments, streams, files and exit codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":    code,
			"appears": appears,
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

// appears FILE waits until a file is there; go test's limit ends what waits for ever.
func appears(ts *testscript.TestScript, neg bool, args []string) {
	for {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
