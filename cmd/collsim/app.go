package main

import (
	"io"
	"os"
	"sync/atomic"

	"collsim/internal/output"
	"collsim/page"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitMissing     = 3
	exitBug         = 4
	exitLost        = 5
	exitHungUp      = 129
	exitInterrupted = 130
	exitTerminated  = 143
)

// app is one call of the command.
type app struct {
	in         io.Reader
	out, err   io.Writer
	args       []string
	inputLimit sizeFlag    // what a flag says, 0 for none
	texts      []page.File // of scenarios, for a page
	seed       string      // of the scenarios read so far, for the report of a bug

	stdout *stream                   // what out is
	plan   output.Plan               // files that are read, and those that are going to be written
	kept   bool                      // it knows the standard streams
	heard  atomic.Pointer[os.Signal] // that which has ended the command

	outlived chan os.Signal // takes SIGPIPE, nil where that ends the command at once
}
