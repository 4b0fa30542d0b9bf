package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHarmless: nothing that a terminal acts on is left, and all else is as it was.
func TestHarmless(t *testing.T) {
	for text, want := range map[string]string{
		"plain, a\ttab\nand more: µ, …, 中": "plain, a\ttab\nand more: µ, …, 中",
		"\x1b[2J\a\r\b\x7f\x00":            `\x1b[2J\x07\x0d\x08\x7f\x00`,
		"\u009b31m\u0085":                  `\u009b31m\u0085`,
		"a\u202eb\u2066c\u200f\u061c":      `a\u202eb\u2066c\u200f\u061c`,
		"\x9b31m \xff":                     "\uFFFD31m \uFFFD",
	} {
		require.Equal(t, want, harmless(text))
	}
}

// TestClosedPipe: a reader that has gone ends the command as it does other tools, without a word.
func TestClosedPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd := command(t, "list", "keys")
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	require.NoError(t, r.Close())
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	status := exit.Sys().(syscall.WaitStatus)
	require.True(t, status.Signaled())
	require.Equal(t, syscall.SIGPIPE, status.Signal()) // 141 in a shell
	require.Empty(t, errs.String())
}

// TestLostStream: an error of standard output is in the exit code, whatever the command was.
func TestLostStream(t *testing.T) {
	for _, args := range []string{"version", "list", "example:chain", "init", "help", "run --help"} {
		var errs bytes.Buffer
		a := &app{in: strings.NewReader(""), out: broken{}, err: &errs}
		require.Equal(t, exitLost, a.main(context.Background(), strings.Fields(args)), args)
		require.Equal(t, "collsim: standard output: cannot be written: out of paper\n",
			errs.String(), args)
	}
}

// broken takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("out of paper") }

// TestInTurn: results come in their order; an error, a panic and the end of the context end it,
// with what there is.
func TestInTurn(t *testing.T) {
	square := func(i int) (int, error) { return i * i, nil }
	four := func() *progress {
		return (&app{err: io.Discard}).newProgress("squares", make([]string, 4), true)
	}
	got, err := inTurn(t.Context(), four(), square)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 4, 9}, got)

	boom := errors.New("boom")
	got, err = inTurn(t.Context(), four(), func(i int) (int, error) {
		if i == 2 {
			return 0, boom
		}
		return square(i)
	})
	require.Equal(t, boom, err)
	require.Equal(t, []int{0, 1}, got)

	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan struct{})
	defer close(forever)
	got, err = inTurn(ctx, four(), func(i int) (int, error) {
		if i == 1 {
			cancel()
			<-forever
		}
		return square(i)
	})
	require.True(t, isInterrupted(err))
	require.Equal(t, []int{0}, got)

	defer func() { require.Contains(t, fmt.Sprint(recover()), "a bug\n\n") }()
	_, _ = inTurn(t.Context(), four(), func(int) (int, error) { panic("a bug") })
}
