package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// interruptible returns a context that ends at SIGINT (Ctrl-C), SIGTERM (timeout, docker stop,
// Slurm) or SIGHUP (the terminal is gone). It leaves out a signal that was ignored at the start,
// as nohup does. A second signal ends the program at once. The caller must call stop, and may
// call it twice.
func (a *app) interruptible(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	heard := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(heard, s)
		}
	}
	go func() {
		select {
		case s := <-heard:
			signal.Stop(heard)
			a.heard.Store(&s)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(heard)
		cancel()
	}
}

// outliveReader lets the command go on when the reader of standard output has gone, as head does,
// if there are files to write: rows are printed long before these are. The command still ends by
// SIGPIPE, after everything is written.
func (a *app) outliveReader() {
	if !a.plan.Any() || signal.Ignored(syscall.SIGPIPE) {
		return
	}
	a.outlived = make(chan os.Signal, 1)
	signal.Notify(a.outlived, syscall.SIGPIPE)
}

// endWithReader ends the command by the SIGPIPE that outliveReader has kept from it, if there was
// one.
func (a *app) endWithReader() {
	if a.outlived == nil {
		return
	}
	signal.Stop(a.outlived)
	if errors.Is(a.stdout.err, syscall.EPIPE) {
		_, _ = a.stdout.Write([]byte("\n")) // to where nobody reads: the signal comes again
	}
}

// interruption says which signal has ended the command, and its exit code: 128 and the number.
func (a *app) interruption() (text string, code int) {
	if s := a.heard.Load(); s != nil {
		switch *s {
		case syscall.SIGTERM:
			return "ended by SIGTERM", exitTerminated
		case syscall.SIGHUP:
			return "ended by SIGHUP", exitHungUp
		}
	}
	return "interrupted", exitInterrupted
}

// isInterrupted reports whether an error is that of a context that somebody has ended.
func isInterrupted(err error) bool { return errors.Is(err, context.Canceled) }

// inTurn calls a function for each of what a progress counts, and returns what it gave. When the
// context ends, it returns its error at once with what is finished; the call that has begun ends
// unheard.
func inTurn[T any](ctx context.Context, p *progress, one func(i int) (T, error)) (list []T,
	err error) {
	defer p.end()
	n := len(p.names)
	type outcome struct {
		value  T
		err    error
		panics any
	}
	attempt := func(i int) (o outcome) {
		defer func() {
			if p := recover(); p != nil { // it belongs to the caller
				o.panics = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
		}()
		o.value, o.err = one(i)
		return o
	}
	done := make(chan outcome, n) // no sender blocks
	go func() {
		for i := 0; i < n && ctx.Err() == nil; i++ {
			o := attempt(i)
			if done <- o; o.err != nil || o.panics != nil {
				return
			}
		}
	}()
	for len(list) < n {
		var o outcome
		select {
		case o = <-done:
		case <-ctx.Done():
			select { // what was finished before
			case o = <-done:
			default:
				return list, ctx.Err()
			}
		}
		switch {
		case o.panics != nil:
			panic(o.panics)
		case o.err != nil:
			return list, o.err
		}
		list = append(list, o.value)
		p.step()
	}
	return list, nil
}
