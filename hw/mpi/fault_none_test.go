//go:build !unix

package mpi

import "testing"

// Processes are ended by a Unix's signals.

func testErrors(t *testing.T, _ *Executor) { t.Skip("there are no signals") }
