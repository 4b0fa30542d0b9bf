package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRowsAsTheyCome: a group of rows is printed when its last point is done: nobody has read the
// first one on yet, so nothing further is, and files that come in the end are not there.
func TestRowsAsTheyCome(t *testing.T) {
	t.Chdir(t.TempDir())
	const run = "example:compare --set check.numbers=false --quiet --csv all.csv"
	r, w := io.Pipe()
	done := make(chan int)
	go func() {
		a := &app{in: strings.NewReader(""), out: w, err: io.Discard}
		code := a.main(context.Background(), strings.Fields(run))
		_ = w.Close() // it has no error
		done <- code
	}()
	lines := bufio.NewReader(r)
	var printed strings.Builder
	for !strings.Contains(printed.String(), "# all_reduce ") {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		printed.WriteString(line)
	}
	require.NoFileExists(t, "all.csv")
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Equal(t, exitOK, <-done)
	require.FileExists(t, "all.csv")
	printed.Write(rest)
	require.Equal(t, call(t, run), printed.String())
}

// TestReaderGone: who reads the table may go after a few lines; files are written all the same, and
// the command ends as it would have without them.
func TestReaderGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	for _, files := range []string{"", "all.csv"} {
		t.Chdir(t.TempDir())
		r, w, err := os.Pipe()
		require.NoError(t, err)
		args := []string{"example:compare", "--set", "check.numbers=false"}
		if files != "" {
			args = append(args, "--csv", files)
		}
		cmd := command(t, args...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &errs
		require.NoError(t, r.Close())
		require.NoError(t, cmd.Start())
		require.NoError(t, w.Close())
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		status := exit.Sys().(syscall.WaitStatus)
		require.True(t, status.Signaled(), "exit code %d", exit.ExitCode())
		require.Equal(t, syscall.SIGPIPE, status.Signal())
		require.Empty(t, errs.String())
		if files != "" {
			text, err := os.ReadFile(files)
			require.NoError(t, err)
			require.Equal(t, 1+30, strings.Count(string(text), "\n"))
		}
	}
}
