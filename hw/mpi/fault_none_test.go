//go:build !unix

package mpi

import "testing"

// Processes are ended by a Unix's signals.

func testErrors(t *testing.T, _ *Executor)   { t.Skip() }
func testLostRank(t *testing.T, _ *Executor) { t.Skip() }
func testCancel(t *testing.T, _ *Executor)   { t.Skip() }
