package rank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"collsim/hw"
)

// CallError returns the error of a failed call that concerns a rank; −1 is none.
func CallError(rank int, call string, err error) *hw.Error {
	return &hw.Error{Call: call, Code: codeOf(err), Rank: rank, Lane: -1, Step: -1,
		Text: hw.Printable(err.Error())}
}

// codeOf returns the name of the error that a call returned.
func codeOf(err error) string {
	var no syscall.Errno
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, net.ErrClosed):
		return "closed"
	case !errors.As(err, &no):
		return "error"
	}
	for _, known := range []struct {
		no   syscall.Errno
		name string
	}{{syscall.ECONNRESET, "ECONNRESET"}, {syscall.EPIPE, "EPIPE"},
		{syscall.ECONNREFUSED, "ECONNREFUSED"}, {syscall.ENOENT, "ENOENT"},
		{syscall.EHOSTUNREACH, "EHOSTUNREACH"}, {syscall.ENETUNREACH, "ENETUNREACH"},
		{syscall.ETIMEDOUT, "ETIMEDOUT"}, {syscall.EADDRINUSE, "EADDRINUSE"},
		{syscall.EADDRNOTAVAIL, "EADDRNOTAVAIL"}, {syscall.EMFILE, "EMFILE"},
		{syscall.EACCES, "EACCES"}} {
		if no == known.no {
			return known.name
		}
	}
	return fmt.Sprintf("errno %d", int(no))
}
